"""TAB: real shells offer the words of ``flowd`` and ``flow``."""

import shutil
import subprocess
from pathlib import Path

import pytest

from flowd.cli import flow, flowd
from flowd.cli.completion import words_of
from flowd.cli.flowd import main

DEADLINE_S = 60
ASK_BASH = """
source "$1"
COMP_WORDS=("${@:2}")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_flowd
echo "${COMPREPLY[*]}"
"""
EXPECTED = [
    (("flowd", "sta"), {"start", "status"}),
    (("flowd", "status", "--j"), {"--json"}),
    (("flowd", "status", "--json", "--w"), {"--watch"}),
    (("/usr/bin/flowd", "completion", ""), {"bash", "zsh", "fish", "-h", "--help"}),
    (("flow", "thr"), {"thread"}),
    (("flow", "thread", "cr"), {"create"}),
    (("flow", "thread", "create", "--pro"), {"--project"}),
]


def script(shell: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["completion", shell]) == 0
    file = tmp_path / f"flowd.{shell}"
    file.write_text(capsys.readouterr().out)
    return file


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S, check=True)
    assert done.stderr == ""
    return done.stdout


def need(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


@pytest.mark.parametrize(("typed", "offered"), EXPECTED)
def test_bash_offers_verbs_and_options(
    typed: tuple[str, ...], offered: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("bash")
    file = script("bash", tmp_path, capsys)
    assert set(run("bash", "--norc", "-c", ASK_BASH, "bash", str(file), *typed).split()) == offered


def test_zsh_takes_the_script_and_binds_both_commands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("zsh")
    file = script("zsh", tmp_path, capsys)
    bound = run("zsh", "-f", "-c", f"source {file}; echo $_comps[flowd] -- $_comps[flow]")
    assert bound.count("_flowd") == 2


@pytest.mark.parametrize(("typed", "offered"), EXPECTED)
def test_fish_offers_verbs_and_options(
    typed: tuple[str, ...], offered: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need("fish")
    file = script("fish", tmp_path, capsys)
    line = " ".join((typed[0].rpartition("/")[2], *typed[1:]))
    lines = run("fish", "--no-config", "-c", f"source {file}; complete -C '{line}'").splitlines()
    found = {line.split("\t")[0] for line in lines}
    assert found == {word for word in offered if typed[-1] or not word.startswith("-")}


def test_every_verb_of_both_commands_is_known() -> None:
    for prog, module in (("flowd", flowd), ("flow", flow)):
        assert {verb.word.text for verb in words_of(prog, module.VERBS).verbs} == set(module.VERBS)


def test_an_unknown_shell_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "tcsh"]) == 2
