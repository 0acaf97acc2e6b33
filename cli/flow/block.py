"""``flow block``: validate structured handoff blocks, convert notes into them, print their schema."""

import argparse
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.cli.flow.document import read_document, replace_document
from flowd.cli.output import print_json
from flowd.cli.parser import add_verb, examples_of
from flowd.extractors.fields.blocks import redacted
from flowd.handoff.block.fields import OUTCOMES
from flowd.handoff.block.find import blocks_in_markdown
from flowd.handoff.block.from_notes.migrate import Migrated, migrate
from flowd.model.block import FoundBlock, HandoffBlock, Violation
from flowd.redaction.data import Redact
from flowd.system.errors import FlowdError

EXAMPLES = """\
  flow block validate tasks/*.md            check every rule of the specification
  flow block validate --json tasks/4.md     as JSON
  flow block migrate notes.md               what the notes would become
  flow block migrate --write notes.md       write it; the old file is kept beside it
  flow block migrate --write --outcome completed notes.md     if the notes do not contain the outcome
  flow block schema > block.schema.json     for editors
"""
YAML_SUFFIXES = (".yaml", ".yml")


class Report(msgspec.Struct, frozen=True):
    """The blocks of one file."""

    file: str
    blocks: list[FoundBlock]

    @property
    def is_valid(self) -> bool:
        """True if no block breaks a rule; also for a file without blocks."""
        return not any(found.violations for found in self.blocks)


def add_parser(subparsers: Any) -> None:
    """Add ``flow block`` and its operations."""
    parser = add_verb(
        subparsers,
        "block",
        "validate and create structured handoff blocks",
        "Validate structured handoff blocks, or convert freeform notes into them.",
        examples=EXAMPLES,
    )
    operations = parser.add_subparsers(metavar="OPERATION")
    about = "validate the blocks of files; exit 1 on violations"
    shown = examples_of(EXAMPLES, "validate")
    json = "print the blocks as JSON"
    check = add_verb(operations, "validate", about, about, validate, examples=shown, json=json)
    check.add_argument("files", nargs="+", metavar="FILE")
    about = "convert freeform notes into a block"
    json = "print block, violations and doubts as JSON"
    make = add_verb(
        operations,
        "migrate",
        about,
        about,
        migrate_file,
        examples=examples_of(EXAMPLES, "migrate"),
        json=json,
    )
    make.add_argument("file", metavar="FILE")
    make.add_argument("--write", action="store_true", help="write it into the file, with a backup beside it")
    make.add_argument("--outcome", choices=OUTCOMES, help="the outcome, if the notes do not contain it")
    about = "print the JSON schema of a block"
    add_verb(operations, "schema", about, about, print_schema, examples=examples_of(EXAMPLES, "schema"))


def validate(arguments: argparse.Namespace) -> int:
    """Print the violations in the blocks of the files; return 1 if there are any."""
    with Context() as context:
        reports = [_report(name, context.redact) for name in arguments.files]
    if arguments.json:
        print_json(reports, name="files")
    else:
        for report in reports:
            _print_report(report)
    return 0 if all(report.is_valid for report in reports) else 1


def migrate_file(arguments: argparse.Namespace) -> int:
    """Print the block that the notes become, or write it; return 1 if it breaks a rule."""
    file = Path(arguments.file)
    with Context() as context:
        migrated = migrate(read_document(file), arguments.outcome, context.redact)
    if migrated is None:
        raise FlowdError(f"{file} already has a block", hint=f"check it with `flow block validate {file}`")
    if migrated.block == HandoffBlock(outcome=migrated.block.outcome):
        raise FlowdError(f"{file} has nothing to put into a block", hint="check that it is a handoff note")
    if arguments.json:
        print_json(migrated._asdict())
    elif not arguments.write:
        print(migrated.section, end="")
    _print_doubts(migrated)
    if migrated.violations:
        return 1
    if arguments.write and not migrated.is_outcome_stated:
        raise FlowdError(
            f"{file} does not contain the outcome of the work",
            hint="give it with --outcome completed|partial|failed|blocked",
        )
    if arguments.write:
        _write(file, migrated)
    return 0


def print_schema(_: argparse.Namespace) -> int:
    """Print the published schema."""
    print(
        resources.files("flowd.handoff.block").joinpath("block.schema.json").read_text(encoding="utf-8"),
        end="",
    )
    return 0


def _report(name: str, redact: Redact) -> Report:
    found = blocks_in_markdown(read_document(Path(name)), name)
    return Report(name, [redacted(each, redact) for each in found])


def _print_report(report: Report) -> None:
    if not report.blocks:
        print(f"{report.file}: no block")
    for found in report.blocks:
        if found.violations:
            for violation in found.violations:
                print(f"{report.file}:{_describe(violation)}")
        missing = f" (missing: {', '.join(found.missing)})" if found.missing else ""
        state = "invalid" if found.violations else "valid"
        print(f"{report.file}:{found.line}: {state}, {found.completeness} % complete{missing}")


def _describe(violation: Violation) -> str:
    value = f" {violation.value!r}" if violation.value else ""
    return f"{violation.line}: {violation.field}{value}: {violation.rule}"


def _print_doubts(migrated: Migrated) -> None:
    for violation in migrated.violations:
        sys.stderr.write(f"violation: {violation}\n")
    if migrated.doubts:
        sys.stderr.write(f"{len(migrated.doubts)} passages are ambiguous: see the comment below the block\n")


def _write(file: Path, migrated: Migrated) -> None:
    if file.suffix.casefold() in YAML_SUFFIXES:
        # A markdown section would break the YAML: write the block into a file of its own.
        target = file.with_suffix(".md")
        if target.exists():
            raise FlowdError(f"{target} already exists", hint="move it away, or copy the block by hand")
        replace_document(target, migrated.section)
        sys.stderr.write(f"wrote {target}\n")
        return
    backup = replace_document(file, migrated.document)
    sys.stderr.write(f"wrote {file}, backup in {backup}\n")
