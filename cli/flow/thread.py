"""``flow thread``: the threads that Claude Chat and Claude Code share, from the command line."""

import argparse
import os
import sys
from collections.abc import Sequence
from typing import Any

from flowd.actions.context import Context
from flowd.cli.output import ago, print_json, table, visible
from flowd.cli.parser import add_verb, examples_of
from flowd.store.threads.records import (
    CLIENTS,
    ENTRY_LIMIT_BYTES,
    ENTRY_TYPES,
    EntryAdded,
    ThreadClosed,
    ThreadCreated,
    ThreadEntry,
    ThreadError,
    ThreadMarked,
    ThreadRecord,
    ThreadRetrieved,
    ThreadRow,
)
from flowd.store.threads.threads import Threads
from flowd.system.errors import FlowdError
from flowd.system.text import one_line
from flowd.system.times import to_seconds

# A person who waits longer than this thinks that the command hangs.
WAIT_S = 3.0
Result = ThreadCreated | ThreadRetrieved | EntryAdded | ThreadMarked | ThreadClosed


def render(result: Result) -> str:
    """Return *result* as lines, with control characters spelt out."""
    match result:
        case ThreadCreated():
            lines = _created(result)
        case ThreadRetrieved():
            lines = _retrieved(result)
        case EntryAdded():
            lines = _added(result)
        case ThreadMarked():
            lines = [f"Read up to entry {result.last_seen} as {result.client}."]
        case ThreadClosed():
            lines = [f"Closed {result.id} ({result.title}). Its entries are deleted."]
    return visible("\n".join(lines))


def _created(result: ThreadCreated) -> list[str]:
    return [
        result.handoff.id,
        f"Created: {result.handoff.title}. Paste this id into the other client.",
        *_redacted(result.redacted),
    ]


def _retrieved(result: ThreadRetrieved) -> list[str]:
    unseen = {entry.seq for entry in result.new_entries}
    lines = [_heading(result.handoff), _news(result)]
    for entry in result.entries:
        lines += ["", *_entry(entry, " (new)" if entry.seq in unseen else "")]
    return lines


def _added(result: EntryAdded) -> list[str]:
    lines = [
        f"Added entry {result.entry.seq} ({result.entry.type}) to {result.handoff.id}.",
        *_redacted(result.redacted),
    ]
    if result.missed_entries:
        lines.append(f"Not seen by you before this write: {len(result.missed_entries)}")
    for entry in result.missed_entries:
        lines += ["", *_entry(entry, " (missed)")]
    return lines


def _heading(handoff: ThreadRecord) -> str:
    project = f" · {handoff.project}" if handoff.project else ""
    return f"{handoff.title}{project} · {handoff.status} · {handoff.id}"


def _news(result: ThreadRetrieved) -> str:
    if result.handoff.status == "completed":
        return f"Completed at {result.handoff.updated_at} UTC; its entries are deleted."
    return f"Entries: {len(result.entries)}, new for you: {result.new_count}"


def _entry(entry: ThreadEntry, mark: str) -> list[str]:
    heading = f"#{entry.seq} {entry.from_client} · {entry.type} · {entry.created_at} UTC{mark}"
    return [heading, *(f"  {line}" for line in entry.content.split("\n"))]


def _redacted(kinds: tuple[str, ...]) -> list[str]:
    return [f"Left out before storing: {', '.join(kinds)}."] if kinds else []


EXAMPLES = """\
  flow thread create "Implement auth" "JWT with refresh tokens." --as chat
  flow thread list
  flow thread get hof_V1StGXR8_Z5jdHi6B-myT
  flow thread add hof_V1StGXR8_Z5jdHi6B-myT question "Expire after 7 or 30 days?"
  flow thread add hof_V1StGXR8_Z5jdHi6B-myT progress - < notes.md
  flow thread read hof_V1StGXR8_Z5jdHi6B-myT
  flow thread close hof_V1StGXR8_Z5jdHi6B-myT
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flow thread`` and its five operations."""
    parser = add_verb(
        subparsers,
        "thread",
        "use the threads shared by Chat and Code",
        "Share a thread of messages between Claude Chat and Claude Code; whoever has its id can use it.",
        examples=EXAMPLES,
    )
    operations = parser.add_subparsers(dest="operation", metavar="OPERATION")
    _add_list(operations)
    _add_create(operations)
    _add_add(operations)
    for name, what in (("get", "show all entries, new ones marked"), ("read", "mark all entries as read")):
        operation = _add_operation(operations, name, what)
        operation.add_argument("id", help="the id of the thread")
        _add_client(operation)
    _add_operation(operations, "close", "delete the entries, complete the thread").add_argument("id")


def run(arguments: argparse.Namespace) -> int:
    """Run the operation and print its result."""
    with Context() as context:
        threads = Threads(context.database, context.redact.redactor, wait_s=WAIT_S)
        try:
            result = _OPERATIONS[arguments.operation](threads, arguments)
        except ThreadError as error:
            error.hint = error.hint or "`flow thread list` has the ids"
            raise
    if arguments.json:
        print_json(result)
    else:
        print(render(result))
    return 0


def _add_operation(operations: Any, name: str, what: str) -> argparse.ArgumentParser:
    about = f"{what[0].upper()}{what[1:]}."
    examples = examples_of(EXAMPLES, name)
    return add_verb(operations, name, what, about, run, examples=examples, json="print the result as JSON")


def _add_list(operations: Any) -> None:
    examples = "  flow thread list\n  flow thread list --all      completed ones too\n"
    about = "List the threads, the latest changed first, with what each client has not read."
    json = "print the threads as JSON"
    operation = add_verb(
        operations, "list", "list the threads", about, run_list, examples=examples, json=json
    )
    operation.add_argument("-a", "--all", action="store_true", help="completed ones too")


def run_list(arguments: argparse.Namespace) -> int:
    """Print the threads."""
    with Context() as context:
        rows = Threads(context.database, wait_s=WAIT_S).listed(completed=arguments.all)
    if arguments.json:
        print_json(rows, name="threads")
    elif rows:
        print("\n".join(_table(rows)))
    else:
        print("no threads: create one with `flow thread create TITLE`")
    return 0


def _table(rows: Sequence[ThreadRow]) -> list[str]:
    cells = [("ID", "CHANGED", "ENTRIES", "UNREAD", "TITLE")]
    for row in rows:
        title = f"{row.title} (completed)" if row.status == "completed" else row.title
        unread = f"code {row.unread_code}, chat {row.unread_chat}"
        cells.append((row.id, ago(to_seconds(row.updated_at)), str(row.entries), unread, one_line(title)))
    return table(cells, shrink={4: 12})


def _add_create(operations: Any) -> None:
    operation = _add_operation(operations, "create", "create a thread")
    operation.add_argument("title", help="a short title")
    operation.add_argument("content", nargs="?", default="-", help="the first entry; - or nothing: stdin")
    operation.add_argument("--project", help="a name for people to tell threads apart")
    _add_client(operation)


def _add_add(operations: Any) -> None:
    operation = _add_operation(operations, "add", "append an entry")
    operation.add_argument("id", help="the id of the thread")
    operation.add_argument("type", choices=ENTRY_TYPES, help="what kind of entry it is")
    operation.add_argument("content", nargs="?", default="-", help="the message; - or nothing: stdin")
    _add_client(operation)


def _add_client(operation: argparse.ArgumentParser) -> None:
    operation.add_argument(
        "--as",
        dest="client",
        choices=CLIENTS,
        default="code" if os.environ.get("CLAUDECODE") else "chat",
        help="whose side you are on (default: chat; code inside Claude Code)",
    )


def _create(threads: Threads, arguments: argparse.Namespace) -> Result:
    return threads.create(
        title=_worded(arguments.title, "the title"),
        content=_worded(_content(arguments.content), "the first entry"),
        project=arguments.project,
        client=arguments.client,
    )


def _get(threads: Threads, arguments: argparse.Namespace) -> Result:
    return threads.get(handoff_id=arguments.id, client=arguments.client)


def _add(threads: Threads, arguments: argparse.Namespace) -> Result:
    return threads.add(
        handoff_id=arguments.id,
        entry_type=arguments.type,
        content=_worded(_content(arguments.content), "the message"),
        client=arguments.client,
    )


def _read(threads: Threads, arguments: argparse.Namespace) -> Result:
    return threads.mark_read(handoff_id=arguments.id, client=arguments.client)


def _close(threads: Threads, arguments: argparse.Namespace) -> Result:
    return threads.close(handoff_id=arguments.id)


def _content(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin.isatty():
        sys.stderr.write("Type the message; end it with Ctrl-D.\n")
    # Read one byte over the limit at most: the pipe may be endless.
    raw = sys.stdin.buffer.read(ENTRY_LIMIT_BYTES + 1)
    if len(raw) > ENTRY_LIMIT_BYTES:
        raise FlowdError(
            f"standard input has more than {ENTRY_LIMIT_BYTES:,} bytes", hint="split it into several entries"
        )
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FlowdError("standard input is not UTF-8 text", hint="convert it first, with iconv") from error


def _worded(text: str, what: str) -> str:
    """Return *text*; raise FlowdError if there is nothing in it."""
    if not text.strip():
        raise FlowdError(f"{what} is empty", hint='for example: flow thread create "Implement auth" "JWT."')
    return text


_OPERATIONS = {"create": _create, "get": _get, "add": _add, "read": _read, "close": _close}
