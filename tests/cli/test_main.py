"""Every way a command can end, seen from outside."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from flowd import __version__

DEADLINE_S = 60
PROGRAM = """
import sys
sys.path.insert(0, {folder!r})
from flowd.cli.main import run_command
raise SystemExit(run_command("prog", "About.", "examples:", {{"verb": "a_verb"}}, None))
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
    assert "--help\n" in err
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


def test_the_version_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    from flowd.cli.flowd import main

    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == f"flowd {__version__}\n"
