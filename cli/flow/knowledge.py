"""``flow knowledge``: search, show, pin, forget, export and import what was learned."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context, find_project
from flowd.actions.knowledge import find_all, find_one, forget_node, shown_project
from flowd.cli.flow.document import read_document
from flowd.cli.output import home_relative, paint, print_json, visible, wrapped
from flowd.cli.parser import add_verb, count_of, examples_of
from flowd.handoff.task_context import NOT_ACCEPTED
from flowd.store.database import Database
from flowd.store.knowledge.context import MappedFile, TaskBlocker, blocked_tasks, blockers_of, files_of
from flowd.store.knowledge.effects import pin
from flowd.store.knowledge.graph import NODE_TYPES, Node
from flowd.store.knowledge.search import (
    MentionRow,
    NodeDetails,
    NodeQuery,
    known_of,
    search,
    tasks_of,
)
from flowd.store.knowledge.transfer import as_dot, as_json, as_mermaid, import_graph, load_graph
from flowd.system.times import local_minute


class TaskDetails(msgspec.Struct, frozen=True):
    """The files of a task, its blockers, and why it is blocked by other tasks."""

    files: list[MappedFile] = []
    blockers: list[TaskBlocker] = []
    blocked_by: list[str] = []


def found_lines(nodes: list[Node], tasks: dict[tuple[str, str], list[str]]) -> Iterator[str]:
    """Yield for each node its id, summary, attributes, and the tasks that found it."""
    for node in nodes:
        mark = (" *" if node.pinned else "") + (" (not accepted)" if node.is_foreign else "")
        yield paint(f"{node.id}{mark}", "bold")
        yield from wrapped(node.summary, first="  ", rest="  ")
        if node.detail:
            yield from wrapped(node.detail, first="    ", rest="    ")
        about = [node.severity or node.status, " ".join(f"#{tag}" for tag in node.tags)]
        about += tasks.get((node.project, node.id), [])
        about += [f"{node.mentions} times" if node.mentions > 1 else "", home_relative(node.project)]
        yield paint("  " + visible(" · ".join(part for part in about if part)), "dim")


def known_lines(known: NodeDetails) -> Iterator[str]:
    """Yield everything that is known about one node."""
    node = known.node
    yield paint(f"{node.id} ({node.type})", "bold")
    if node.is_foreign:
        yield f"  ! this {NOT_ACCEPTED}"
    yield from wrapped(node.summary, first="  ", rest="  ")
    facts = {
        "handle": node.detail,
        "severity": node.severity,
        "status": node.status,
        "where": node.file,
        "tags": ", ".join(node.tags),
        "named": node.given_id,
        "project": home_relative(node.project),
        "pinned": "yes" if node.pinned else "",
    }
    for name, value in facts.items():
        if value:
            yield from _fact(name, value)
    for edge in known.edges:
        relation = (
            f"{edge.kind} {edge.to_id}" if edge.from_id == node.id else f"{edge.from_id} {edge.kind} it"
        )
        yield f"  {'edge':<9}{visible(relation)}"
    for mention in known.told:
        yield from _fact("mention", _mention(mention))


def work_lines(work: TaskDetails) -> Iterator[str]:
    """Yield a task's files and blockers."""
    for file in work.files:
        yield from _fact("file", f"{file.location}: {file.notes}".removesuffix(": "))
    for blocker in work.blockers:
        yield from _fact("blocker", f"{blocker.blocker} ({blocker.state})")
    for reason in work.blocked_by:
        yield from _fact("blocked", reason)


def _fact(name: str, value: str) -> list[str]:
    return wrapped(value, first=f"  {name:<9}", rest=" " * 11)


def _mention(mention: MentionRow) -> str:
    place = mention.provenance
    day = local_minute(place.at) if place.at else "at an unknown time"
    line = f":{place.line}" if place.line else ""
    where = f"in {place.file}{line}" if place.file else f"in the conversation{line and ', line ' + line[1:]}"
    session = f" of session {place.session_id}" if place.session_id else ""
    return f"{day} {where}{session}"


EXAMPLES = """\
  flow knowledge search auth --type pattern      which tasks discovered patterns about auth
  flow knowledge search --severity high          every severe gotcha, pinned and newest first
  flow knowledge show pattern-23ba34338f         who mentioned it, where and when
  flow knowledge pin pattern-23ba34338f          list it first from now on
  flow knowledge forget pattern-23ba34338f       delete it for good
  flow knowledge export --format mermaid --project .
  flow knowledge import graph.json               add the nodes of an export
"""
FORMATS = {"json": as_json, "dot": as_dot, "mermaid": as_mermaid}


def add_parser(subparsers: Any) -> None:
    """Add ``flow knowledge`` and its operations."""
    parser = add_verb(
        subparsers,
        "knowledge",
        "search what was learned, across tasks and sessions",
        "Search and edit the graph of tasks, decisions, patterns, gotchas and insights.",
        examples=EXAMPLES,
    )
    operations = parser.add_subparsers(metavar="OPERATION")
    _add_search(operations)
    show = _add(operations, "show", "show a node, its mentions and its edges", show_node)
    show.add_argument("id", metavar="ID")
    show.add_argument("--json", action="store_true", help="print it as JSON")
    _add(operations, "forget", "delete a node for good", forget).add_argument("id", metavar="ID")
    pinning = _add(operations, "pin", "keep a node, and list it first", pin_node)
    pinning.add_argument("id", metavar="ID")
    pinning.add_argument("--undo", action="store_true", help="remove the pin")
    export = _add(operations, "export", "print the graph", export_graph)
    export.add_argument("--format", choices=FORMATS, default="json", help="default: json")
    taking = _add(operations, "import", "import a knowledge_graph.json", import_file)
    taking.add_argument("file", metavar="FILE")


def search_nodes(arguments: argparse.Namespace) -> int:
    """Print the nodes that match, with the tasks that found them."""
    query = NodeQuery(
        words=" ".join(arguments.words),
        tag=arguments.tag,
        type=arguments.type,
        severity=arguments.severity,
        project=_project(arguments.project),
        most=arguments.most,
    )
    with Context() as context:
        query = query._replace(here=shown_project(context, query.project))
        nodes = search(context.database, query)
        tasks = tasks_of(context.database, nodes)
    if arguments.json:
        found = [msgspec.to_builtins(node) | {"tasks": tasks[node.project, node.id]} for node in nodes]
        print_json(found, name="nodes")
    else:
        print("\n".join(found_lines(nodes, tasks)) or "nothing found")
    return 0


def show_node(arguments: argparse.Namespace) -> int:
    """Print everything that is known about a node, in every project that has it."""
    with Context() as context:
        nodes = find_all(context, arguments.id, _project(arguments.project))
        known = [(known_of(context.database, node), _work(context.database, node)) for node in nodes]
    if arguments.json:
        print_json([_plain(each) | msgspec.to_builtins(work) for each, work in known], name="nodes")
    else:
        print("\n\n".join("\n".join((*known_lines(each), *work_lines(work))) for each, work in known))
    return 0


def forget(arguments: argparse.Namespace) -> int:
    """Delete the node."""
    with Context() as context:
        node = forget_node(context, arguments.id, _project(arguments.project))
    print(f"forgot {node.id}")
    return 0


def pin_node(arguments: argparse.Namespace) -> int:
    """Pin the node, or remove its pin."""
    with Context() as context:
        node = find_one(context, arguments.id, _project(arguments.project))
        pin(context.database, node, pinned=not arguments.undo)
    print(f"{'unpinned' if arguments.undo else 'pinned'} {node.id}")
    return 0


def export_graph(arguments: argparse.Namespace) -> int:
    """Print the graph in the given format."""
    with Context() as context:
        graph = load_graph(context.database, _project(arguments.project))
    sys.stdout.write(FORMATS[arguments.format](graph))
    return 0


def import_file(arguments: argparse.Namespace) -> int:
    """Merge the graph of the file into that of the project."""
    text = read_document(Path(arguments.file))
    project = _project(arguments.project) or find_project().root
    with Context() as context:
        count = import_graph(context.database, text.encode(), project, arguments.file, context.redact)
    print(f"imported {count} nodes")
    return 0


def _add(operations: Any, name: str, what: str, run: Any) -> argparse.ArgumentParser:
    examples = examples_of(EXAMPLES, name)
    operation = add_verb(operations, name, what, what.capitalize(), run, examples=examples)
    operation.add_argument("--project", default="", metavar="DIR", help="of this project only")
    return operation


def _add_search(operations: Any) -> None:
    operation = _add(operations, "search", "search nodes by words, tag, type and severity", search_nodes)
    operation.add_argument("words", nargs="*", metavar="WORDS")
    operation.add_argument("--tag", default="", help="with this tag")
    operation.add_argument("--type", default="", choices=NODE_TYPES, help=", ".join(NODE_TYPES))
    operation.add_argument("--severity", default="", choices=["high", "medium", "low"], help="of gotchas")
    operation.add_argument(
        "-n", "--most", type=count_of, default=20, metavar="N", help="at most N (default 20)"
    )
    operation.add_argument("--json", action="store_true", help="print the nodes as JSON")


def _project(directory: str) -> str:
    return find_project(directory).root if directory else ""


def _work(database: Database, node: Node) -> TaskDetails:
    if node.type != "task":
        return TaskDetails()
    blockers = blockers_of(database, node.project, resolved=True)
    return TaskDetails(
        files=files_of(database, node.project, node.id),
        blockers=[blocker for blocker in blockers if blocker.task == node.id],
        blocked_by=blocked_tasks(database, node.project).get(node.id, []),
    )


def _plain(known: NodeDetails) -> dict[str, Any]:
    return known._asdict() | {"told": [told._asdict() for told in known.told]}
