"""``flowd setup``: set everything up, with a question for each step; ends with the checks of doctor."""

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

from flowd.cli.flowd import doctor
from flowd.cli.flowd.install import hooks, login_shell, mcp, plugin, service, shell_completion
from flowd.cli.flowd.install.install import InstallStep
from flowd.cli.flowd.lifecycle import start, watch_catch_up
from flowd.cli.flowd.manager.manager import manager_for
from flowd.cli.output import paint, size
from flowd.cli.parser import add_verb
from flowd.config.paths import Paths, claude_config_dir, resolve_paths
from flowd.config.settings import load_settings
from flowd.system.errors import FlowdError

EXAMPLES = """\
  flowd setup              a question for each step
  flowd setup --yes        without questions: start, at login too, hooks, completion
  flowd setup --yes --claude plugin
  flowd setup --dry-run    what would be written and run
"""
CHOICES = ("hooks", "plugin", "none")


class Question(NamedTuple):
    """One step: what it would do, and how."""

    text: str
    do: Callable[[], None]


def add_parser(subparsers: Any) -> None:
    """Add ``flowd setup``."""
    parser = add_verb(
        subparsers,
        "setup",
        "set everything up, step by step",
        "Start flowd, now and at login, connect it to Claude Code, complete commands with TAB, read the past "
        "sessions, and check everything. `flowd uninstall` undoes it.",
        run,
        examples=EXAMPLES,
    )
    parser.add_argument("-y", "--yes", action="store_true", help="answer every question with yes")
    parser.add_argument("--claude", choices=CHOICES, default="hooks", help="how Claude Code calls flowd")
    parser.add_argument("--dry-run", action="store_true", help="print every change, make none")


def run(arguments: argparse.Namespace) -> int:
    """Ask about each step and take it; return the exit code of doctor."""
    if not (arguments.yes or arguments.dry_run or sys.stdin.isatty()):
        raise FlowdError(
            "cannot ask: standard input is not a terminal", hint="run `flowd setup --yes` to do everything"
        )
    paths = resolve_paths()
    for question in _questions(paths, arguments):
        print(paint(f"\n{question.text}", "bold"))
        if arguments.yes or arguments.dry_run or _is_confirmed():
            _try(question.do)
    if arguments.dry_run:
        return 0
    print(paint("\nCheck everything", "bold"))
    findings = doctor.examine()
    print("\n".join([*map(doctor.line, findings), doctor.summary(findings)]))
    print("\nNow start Claude Code in a project; `flow show` there tells the state of its work.")
    return int(any(finding.level == "trouble" for finding in findings))


def _questions(paths: Paths, arguments: argparse.Namespace) -> list[Question]:
    questions = [_login(paths, dry_run=arguments.dry_run)]
    if arguments.claude == "plugin":
        text = "Register the plugin with Claude Code (hooks, MCP server, commands)?"
        questions.append(Question(text, lambda: _install(plugin, paths, arguments.dry_run, plugin=True)))
    elif arguments.claude == "hooks":
        text = "Have Claude Code call flowd, by hooks in its settings.json (shown, with a backup)?"
        questions.append(Question(text, lambda: _install(hooks, paths, arguments.dry_run, hooks=True)))
        if mcp.is_possible():
            text = "Register flowd's MCP server with Claude Code?"
            step = lambda: _install(mcp, paths, arguments.dry_run, mcp=True, mcp_desktop=False)  # noqa: E731
            questions.append(Question(text, step))
    shell = shell_completion.shell_name()
    text = f"Have TAB complete flowd and flow in {shell}?"
    step = lambda: _install(shell_completion, paths, arguments.dry_run, completion=True)  # noqa: E731
    questions.append(Question(text, step))
    if not arguments.dry_run:
        questions.append(_past(paths))
    return questions


def _login(paths: Paths, *, dry_run: bool) -> Question:
    manager = manager_for(sys.platform)
    if manager.reachable():
        text = f"Start flowd now and at every login ({manager.name})?"
        return Question(text, lambda: _install(service, paths, dry_run))
    file = login_shell.login_file()
    text = f"Start flowd now, and at login by a line in {file} (there is no {manager.name} here)?"

    def start_without_manager() -> None:
        _install(login_shell, paths, dry_run, profile=True)
        if not dry_run:
            print(f"flowd is running (pid {start(paths).pid}); nothing restarts it if it should crash")

    return Question(text, start_without_manager)


def _past(paths: Paths) -> Question:
    """Return the question that shows how far flowd is with reading what it has not seen yet."""
    configured = load_settings(paths.config_file).settings.claude.config_dir
    projects = claude_config_dir(configured) / "projects"
    files = [file for file in projects.rglob("*.jsonl") if file.is_file()] if projects.is_dir() else []
    total = size(sum(file.stat().st_size for file in files))
    text = f"Read your past sessions now ({len(files)} transcripts, {total})?"

    def read() -> None:
        start(paths)
        watch_catch_up(paths)
        print("flowd has read them" if sys.stderr.isatty() else "flowd reads them in the background")

    return Question(text, read)


def _install(step: InstallStep, paths: Paths, dry_run: bool, **chosen: bool) -> None:
    step.install(paths, argparse.Namespace(dry_run=dry_run, **chosen))


def _try(step: Callable[[], None]) -> None:
    """Take the step; one that fails is printed, and the others are taken all the same."""
    try:
        step()
    except FlowdError as error:
        print(f"not done: {error}" + (f"\n  {error.hint}" if error.hint else ""), file=sys.stderr)


def _is_confirmed() -> bool:
    return input("  [Y/n] ").strip().lower() in ("", "y", "yes")
