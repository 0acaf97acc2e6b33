"""Every way a command can end, seen from outside."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd import __version__
from flowd.cli import flow, flowd
from flowd.cli.parser import Command, add_from

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

DEADLINE_S = 60
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from flowd.cli.main import run_command
from flowd.cli.parser import Command, Verb
raise SystemExit(run_command(Command("prog", "About.", "examples:", {{"verb": Verb("a_verb", "does it")}})))
"""
VERB = """
import sys, time
from flowd.system.errors import FlowdError

def add_parser(subparsers):
    subparsers.add_parser("verb", help="does it").set_defaults(run=run)

def run(arguments):
{body}
"""

Prog = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def prog(tmp_path: Path) -> Iterator[Prog]:
    """Starts a command whose one verb does *body*; none outlives its test."""
    with ExitStack() as started:

        def start(body: str, *words: str) -> "subprocess.Popen[str]":
            (tmp_path / "a_verb.py").write_text(VERB.format(body="    " + body.replace("\n", "\n    ")))
            script = PROGRAM.format(folder=str(tmp_path))
            process = subprocess.Popen(
                [sys.executable, "-c", script, *(words or ("verb",))],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                # Whoever runs the tests in the background ignores interrupts, and so would the command.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )
            started.enter_context(process)
            started.callback(process.kill)
            return process

        yield start


def ended(process: "subprocess.Popen[str]") -> tuple[int, str, str]:
    out, err = process.communicate(timeout=DEADLINE_S)
    return process.returncode, out, err


def test_the_code_of_the_verb_is_the_code_of_the_command(prog: Prog) -> None:
    assert ended(prog("print('done')\nreturn 0")) == (0, "done\n", "")
    assert ended(prog("return 3")) == (3, "", "")


def test_what_could_not_be_done_is_one_line_and_a_hint(prog: Prog) -> None:
    assert ended(prog("raise FlowdError('it broke', hint='mend it')")) == (
        1,
        "",
        "prog: it broke\n  mend it\n",
    )
    assert ended(prog("raise FlowdError('it broke')")) == (1, "", "prog: it broke\n")


@pytest.mark.parametrize("words", [("nonsense",), ("verb", "--nonsense"), ("--nonsense",)])
def test_wrong_usage_is_two_and_says_what_to_try(prog: Prog, words: tuple[str, ...]) -> None:
    code, out, err = ended(prog("return 0", *words))
    assert (code, out) == (2, "")
    assert re.search(r"try: prog( verb)? --help\n|all commands: prog help\n", err)
    assert "Traceback" not in err


def test_a_bug_is_seventy_with_a_private_report_that_holds_no_secret(prog: Prog, private_home: Path) -> None:
    secret = "ghp_" + "a1B2" * 9
    code, _, err = ended(prog(f"raise ValueError('token {secret}')"))
    assert code == 70
    assert err.startswith("prog: this is a bug: ValueError: token ")
    (report,) = private_home.rglob("bug-*.txt")
    assert str(report) in err
    text = report.read_text()
    assert "Traceback" in text
    assert __version__ in text
    assert secret not in text + err
    assert report.stat().st_mode & 0o777 == 0o600
    assert report.parent.stat().st_mode & 0o777 == 0o700


def test_a_bug_is_told_on_the_terminal_when_no_report_can_be_written(prog: Prog, private_home: Path) -> None:
    (private_home / ".local").write_text("in the way")
    (private_home / "Library").write_text("in the way")
    code, _, err = ended(prog("raise ValueError('x')"))
    assert code == 70
    assert "Traceback" in err


def test_a_reader_that_leaves_is_no_news(prog: Prog) -> None:
    process = prog("for _ in range(100_000):\n    print('x' * 100)\nreturn 0")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.wait(DEADLINE_S) == 0
    assert process.stderr.read() == ""
    process.stderr.close()


def test_an_interrupt_is_130_without_a_traceback(prog: Prog) -> None:
    process = prog("print('here', flush=True)\ntime.sleep(600)")
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    os.kill(process.pid, signal.SIGINT)
    assert ended(process) == (130, "", "\n")


@pytest.mark.parametrize("command", ["flowd", "flow"])
def test_help_names_every_verb_in_80_columns_and_gives_examples(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib import import_module

    module = import_module(f"flowd.cli.{command}")
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as exited:
        module.main(["--help"])
    assert exited.value.code == 0
    shown = capsys.readouterr().out
    assert [verb for verb in module.VERBS if not re.search(rf"^    {verb}( |$)", shown, re.MULTILINE)] == []
    assert "examples:" in shown


@pytest.mark.parametrize("command", ["flowd", "flow"])
def test_every_verb_has_a_help_of_its_own(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from importlib import import_module

    module = import_module(f"flowd.cli.{command}")
    for verb in module.VERBS:
        with pytest.raises(SystemExit) as exited:
            module.main([verb, "--help"])
        assert exited.value.code == 0
        assert f"usage: {command} {verb}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [flow.COMMAND, flowd.COMMAND], ids=["flow", "flowd"])
def test_the_table_of_verbs_has_the_help_that_the_verbs_have(command: Command) -> None:
    parser = argparse.ArgumentParser()
    verbs = parser.add_subparsers()
    for verb in command.verbs.values():
        add_from(verb.place, verbs)
    added = {each.dest: each.help for each in verbs._choices_actions}
    assert added == {name: verb.help for name, verb in command.verbs.items()}


@pytest.mark.parametrize("command", [flow.COMMAND, flowd.COMMAND], ids=["flow", "flowd"])
def test_every_help_page_has_an_example(command: Command) -> None:
    parser = argparse.ArgumentParser(prog=command.prog)
    verbs = parser.add_subparsers()
    for verb in command.verbs.values():
        add_from(verb.place, verbs)
    pages = list(help_pages(parser))
    assert len(pages) > len(command.verbs) / 2
    assert [page.prog for page in pages if "examples:\n  " not in (page.epilog or "")] == []


def help_pages(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield below
                yield from help_pages(below)


def test_the_help_of_a_command_imports_no_verb() -> None:
    script = "import sys; from flowd.cli.flow import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    script += (
        "print([name for name in sys.modules if name.startswith(('flowd.cli.flow.', 'msgspec', 'yaml'))])"
    )
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("main", "words", "hint"),
    [
        (flow.main, ["shwo"], "did you mean show? "),
        (flow.main, ["status"], "did you mean flowd status? "),
        (flowd.main, ["handoff"], "did you mean flow handoff? "),
        (flow.main, ["show", "--jsn"], "did you mean --json? try: flow show --help"),
        (flow.main, ["thread", "gt", "x"], "did you mean get? try: flow thread --help"),
        (flow.main, ["show", "extra"], "try: flow show --help"),
        (flow.main, ["save", "--status", "complete"], "did you mean completed? "),
        (flow.main, ["sessions", "-n", "-5"], "try: flow sessions --help"),
        (flow.main, ["sessions", "-n", "99999999999999999999"], "try: flow sessions --help"),
        (flowd.main, ["serve", "--port", "99999"], "try: flowd serve --help"),
        (flow.main, ["-C"], "try: flow -C DIR VERB"),
    ],
)
def test_a_slip_is_wrong_usage_and_the_nearest_word_is_named(
    main: Callable[[Sequence[str]], int], words: list[str], hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert hint in capsys.readouterr().err.splitlines()[-1]


def test_help_is_a_verb_too(capsys: pytest.CaptureFixture[str]) -> None:
    for words, usage in (
        (["help"], "flow [-h]"),
        (["help", "thread", "get"], "flow thread get"),
        (["thread"], "flow thread"),
    ):
        with suppress(SystemExit):
            assert flow.main(words) == 0
        assert capsys.readouterr().out.startswith(f"usage: {usage}")


def test_a_command_runs_in_another_directory(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PWD", str(tmp_path))
    assert flow.main(["-C", str(project), "show"]) == 0
    assert str(project) in capsys.readouterr().out
    monkeypatch.chdir(tmp_path)
    assert flow.main(["-C", str(tmp_path / "nope"), "show"]) == 1
    assert "cannot change into" in capsys.readouterr().err


def test_bare_flow_shows_the_work_and_outside_of_a_project_the_help(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(project)
    assert flow.main([]) == 0
    shown = capsys.readouterr().out
    assert str(project) in shown
    assert "all commands: flow help" in shown
    monkeypatch.chdir("/")
    with pytest.raises(SystemExit) as exited:
        flow.main([])
    assert exited.value.code == 0
    assert "usage: flow" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code"), [(["shwo", "--json"], 2), (["extract", "--json", "nope.jsonl"], 1)]
)
def test_errors_are_json_where_json_is_wanted(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert flow.main(words) == code
    printed = capsys.readouterr()
    answer = json.loads(printed.out)
    assert (answer["schema_version"], answer["exit_code"], printed.err) == (1, code, "")
    assert answer["error"]
    assert answer["hint"]


def test_what_does_not_run_is_three(daemon_home: "DaemonHome") -> None:
    assert daemon_home.command("retry").returncode == 3


def test_the_state_of_the_machine_is_no_bug(prog: Prog) -> None:
    body = "import errno, os\nraise PermissionError(errno.EACCES, os.strerror(errno.EACCES), '/some/where')"
    code, _, err = ended(prog(body))
    assert (code, err.splitlines()[0]) == (1, "prog: cannot use /some/where: Permission denied")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_behind_the_output_is_one_line(tmp_path: Path) -> None:
    command = f"{sys.executable} -m flowd completion bash"
    for output, why in (("/dev/full", "No space left on device"), ("&-", "it is closed")):
        run = subprocess.run(
            ["sh", "-c", f"{command} >{output}"], capture_output=True, text=True, check=False
        )
        assert run.returncode == 1
        assert run.stderr.splitlines()[0] == f"flowd: cannot write the output: {why}"
        assert len(run.stderr.splitlines()) == 2


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    from flowd.cli.flowd import main

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"flowd {__version__}\n"
