"""``flow block``: check structured handoff blocks, turn freeform notes into them, print their schema."""

import argparse
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from flowd.cli.flow.document import read_document, replace_document
from flowd.extractors.fields.blocks import redacted
from flowd.handoff.block.fields import OUTCOMES
from flowd.handoff.block.find import blocks_in_markdown
from flowd.handoff.block.from_notes.migrate import Migrated, migrate
from flowd.model.block import FoundBlock, HandoffBlock, Violation
from flowd.system.errors import FlowdError

EXAMPLES = """\
examples:
  flow block validate tasks/*.md            every rule of the specification, with lines
  flow block validate --json tasks/4.md     the same for programs
  flow block migrate notes.md               what the notes would become
  flow block migrate --write notes.md       write it; the old file stays beside it
  flow block migrate --write --outcome completed notes.md     when the notes do not say how it ended
  flow block schema > block.schema.json     for editors
"""
YAML_SUFFIXES = (".yaml", ".yml")


class Report(msgspec.Struct, frozen=True):
    """What is in one file."""

    file: str
    blocks: list[FoundBlock]

    @property
    def is_valid(self) -> bool:
        """Tell whether no block of the file breaks a rule; a file without blocks breaks none."""
        return not any(found.violations for found in self.blocks)


def add_parser(subparsers: Any) -> None:
    """Describe the verb and its operations."""
    parser = subparsers.add_parser(
        "block",
        help="check and make structured handoff blocks",
        description="Check structured handoff blocks, or make them of freeform notes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    operations = parser.add_subparsers(metavar="OPERATION", required=True)
    check = operations.add_parser("validate", help="check the blocks of files; exit 1 on violations")
    check.add_argument("files", nargs="+", metavar="FILE")
    check.add_argument("--json", action="store_true", help="print what was found as JSON")
    check.set_defaults(run=validate)
    make = operations.add_parser("migrate", help="turn freeform notes into a block")
    make.add_argument("file", metavar="FILE")
    make.add_argument(
        "--write", action="store_true", help="write it into the file, keeping a backup beside it"
    )
    make.add_argument("--outcome", choices=OUTCOMES, help="how it ended, when the notes do not say")
    make.add_argument("--json", action="store_true", help="print block, violations and doubts as JSON")
    make.set_defaults(run=migrate_file)
    operations.add_parser("schema", help="print the JSON schema of a block").set_defaults(run=print_schema)


def validate(arguments: argparse.Namespace) -> int:
    """Print what is wrong with the blocks of the files; 1 if anything is."""
    reports = [_report(name) for name in arguments.files]
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(reports)).decode())
    else:
        for report in reports:
            _print_report(report)
    return 0 if all(report.is_valid for report in reports) else 1


def migrate_file(arguments: argparse.Namespace) -> int:
    """Print the block that the notes become, or write it; 1 when it would break a rule."""
    file = Path(arguments.file)
    migrated = migrate(read_document(file), arguments.outcome)
    if migrated is None:
        raise FlowdError(f"{file} holds a block already", hint=f"check it: flow block validate {file}")
    if migrated.block == HandoffBlock(outcome=migrated.block.outcome):
        raise FlowdError(f"{file} says nothing that a block could hold", hint="is it a handoff note at all?")
    if arguments.json:
        print(msgspec.json.format(msgspec.json.encode(migrated._asdict())).decode())
    elif not arguments.write:
        print(migrated.section, end="")
    _print_doubts(migrated)
    if migrated.violations:
        return 1
    if arguments.write and not migrated.is_outcome_stated:
        raise FlowdError(
            f"{file} does not say how the work ended",
            hint="say it: --outcome completed|partial|failed|blocked",
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


def _report(name: str) -> Report:
    found = blocks_in_markdown(read_document(Path(name)), name)
    return Report(name, [redacted(each) for each in found])


def _print_report(report: Report) -> None:
    if not report.blocks:
        print(f"{report.file}: no block")
    for found in report.blocks:
        if found.violations:
            for violation in found.violations:
                print(f"{report.file}:{_told(violation)}")
        missing = f" (missing: {', '.join(found.missing)})" if found.missing else ""
        state = "invalid" if found.violations else "valid"
        print(f"{report.file}:{found.line}: {state}, {found.completeness} % complete{missing}")


def _told(violation: Violation) -> str:
    value = f" {violation.value!r}" if violation.value else ""
    return f"{violation.line}: {violation.field}{value}: {violation.rule}"


def _print_doubts(migrated: Migrated) -> None:
    for violation in migrated.violations:
        sys.stderr.write(f"breaks a rule: {violation}\n")
    if migrated.doubts:
        sys.stderr.write(f"{len(migrated.doubts)} passages are ambiguous; the comment below the block asks\n")


def _write(file: Path, migrated: Migrated) -> None:
    if file.suffix.casefold() in YAML_SUFFIXES:
        # A markdown section would break the YAML: the block gets a document of its own.
        target = file.with_suffix(".md")
        if target.exists():
            raise FlowdError(f"{target} exists already", hint="move it away, or copy the block by hand")
        replace_document(target, migrated.section)
        sys.stderr.write(f"wrote {target}\n")
        return
    backup = replace_document(file, migrated.document)
    sys.stderr.write(f"wrote {file}, the former one is {backup}\n")
