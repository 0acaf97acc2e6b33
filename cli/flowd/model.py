"""``flowd model``: have your own model word the summaries; off until you agree."""

import argparse
import sys
from typing import Any

from flowd.actions.context import Context, find_project
from flowd.actions.summarise import Prepared, model_status, preview, switch_off, switch_on
from flowd.actions.summary_engine import INSTRUCTIONS, engine_name, most_tokens
from flowd.cli.output import print_json, wrapped
from flowd.cli.parser import add_verb, examples_of
from flowd.config.settings import ModelSettings
from flowd.extractors.work.summary import MAX_DIGEST_CHARACTERS
from flowd.store.summaries import Summaries
from flowd.system.errors import FlowdError

EXAMPLES = """\
  flowd model preview      the bytes that would be sent for the work here
  flowd model on           what is sent, to whom, at what cost; then asks
  flowd model status       what was used today, and what stopped it
  flowd model off
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd model``."""
    parser = add_verb(
        subparsers,
        "model",
        "have your model word the summaries (off by default)",
        "Goal, status, now and next of the work are derived by rules. Your own model can word them instead, "
        "within hard caps. Nothing is sent until you agree.",
        examples=EXAMPLES,
    )
    verbs = parser.add_subparsers(metavar="VERB")
    on = add_verb(
        verbs,
        "on",
        "switch it on",
        "Show what is sent, to whom and the caps, and ask.",
        run_on,
        examples=examples_of(EXAMPLES, "on"),
    )
    on.add_argument("-y", "--yes", action="store_true", help="agree without being asked")
    add_verb(
        verbs,
        "off",
        "switch it off",
        "Send nothing any more, and show what the rules say.",
        run_off,
        examples=examples_of(EXAMPLES, "off"),
    )
    add_verb(
        verbs,
        "status",
        "print what was used",
        "Print whether it is on, what was used today, the caps, and the last failure.",
        run_status,
        examples=examples_of(EXAMPLES, "status"),
        json="print it as JSON",
    )
    add_verb(
        verbs,
        "preview",
        "print what would be sent",
        "Print the digest of the work in this project, byte for byte as it would be sent.",
        run_preview,
        examples=examples_of(EXAMPLES, "preview"),
    )


def run_on(arguments: argparse.Namespace) -> int:
    """Explain, ask, and record the answer."""
    with Context() as context:
        settings = context.settings.model
        for paragraph in explanation(settings):
            print("\n".join(wrapped(paragraph, first="", rest="")) + "\n")
        if not arguments.yes and not _is_confirmed():
            print("still off")
            return 1
        switch_on(context)
    print(f"on: {engine_name(settings)}. `flowd model off` switches it off.")
    return 0


def run_off(_: argparse.Namespace) -> int:
    """Take the consent back."""
    with Context() as context:
        switch_off(context)
    print("off: nothing is sent, and summaries are derived by rules")
    return 0


def run_status(arguments: argparse.Namespace) -> int:
    """Print the meter and the caps."""
    with Context() as context:
        settings = context.settings.model
        status = model_status(Summaries(context.database), settings)
    if arguments.json:
        print_json(status)
        return 0
    lines = [status.line]
    lines.append(f"caps of a work: {settings.tokens_per_work} tokens, ${settings.usd_per_work:g}")
    lines += [f"last failure: {status.last_error}"] if status.last_error else []
    print("\n".join(part for line in lines for part in wrapped(line, first="", rest="  ")))
    return 0


def run_preview(_: argparse.Namespace) -> int:
    """Print the digest on standard output, and its size on standard error."""
    with Context() as context:
        project = find_project()
        prepared: Prepared | None = preview(context, project.root)
    if prepared is None:
        raise FlowdError("there is no work here yet", hint='begin one with `flow save --goal "…"`')
    sys.stdout.write(prepared.digest + "\n")
    size = len(prepared.digest.encode())
    print(f"{size} bytes, at most {most_tokens(prepared.digest)} tokens with the answer", file=sys.stderr)
    return 0


def explanation(settings: ModelSettings) -> list[str]:
    """Return what the person agrees to: what is sent, to whom, when, and what it may cost."""
    engine = engine_name(settings)
    whom = (
        f"To whom: `{engine}`, run on this machine. Where it sends what it gets is its own affair."
        if settings.command
        else f"To whom: your own {engine}, run without tools, hooks and transcript. It sends the request to "
        "the API that you use it with, on your account."
    )
    sent = (
        f"What is sent: {len(INSTRUCTIONS)} characters of instructions and a digest of one work, at most "
        f"{MAX_DIGEST_CHARACTERS} characters: title, branch, plan, steps, names of files, commits, pull "
        "requests, the last check, your requests and the closing replies, newest first. Never the contents "
        "of files. Secrets are masked. `flowd model preview` prints the digest of the work here."
    )
    when = (
        "When: before a compaction, at the end of a session, after a pause, and after a large change. "
        "Never twice for the same digest, one at a time."
    )
    most = (
        f"At most: {settings.tokens_per_day} tokens and ${settings.usd_per_day:g} a day, "
        f"{settings.tokens_per_work} tokens and ${settings.usd_per_work:g} for one work. At a cap it stops."
    )
    back = (
        "What comes back: goal, status, now and next, each refused if it names a file, a branch or a number "
        "that is not in the digest. Your own words and structured blocks rank before it."
    )
    return [sent, whom, when, most, back]


def _is_confirmed() -> bool:
    if not sys.stdin.isatty():
        raise FlowdError(
            "cannot ask: standard input is not a terminal", hint="run `flowd model on --yes` to agree"
        )
    return input("Switch it on? [y/N] ").strip().lower() in ("y", "yes")
