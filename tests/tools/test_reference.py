"""docs/commands.md, docs/configuration.md and the man pages have the texts of the code."""

import shutil
import subprocess
from pathlib import Path

import pytest

from flowd.cli import flow, flowd
from flowd.config.settings import dotted_items, load_settings
from tests.support.repository import ROOT
from tools.parsers import commands
from tools.reference import reference_files

MAN_PAGES = [ROOT / "man" / "flow.1", ROOT / "man" / "flowd.1"]


@pytest.mark.parametrize("file", reference_files(), ids=lambda file: str(file.name))
def test_the_file_is_up_to_date(file: Path) -> None:
    assert file.read_text() == reference_files()[file], "run `make reference`"


def test_every_verb_has_a_section_and_help() -> None:
    page = (ROOT / "docs" / "commands.md").read_text()
    for name, module in (("flow", flow), ("flowd", flowd)):
        assert all(f"\n### {name} {verb}\n" in page for verb in module.VERBS)
    for command in commands():
        assert [verb.words for verb in command.verbs if not verb.description] == []


def test_every_setting_has_a_meaning(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    for key, _ in dotted_items(load_settings(tmp_path / "none").settings):
        (row,) = [line for line in page.splitlines() if line.startswith(f"| `{key}` |")]
        assert row.rstrip("| ").rpartition(" | ")[2] != ""


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
@pytest.mark.parametrize("page", MAN_PAGES, ids=lambda page: str(page.name))
def test_the_man_page_is_valid_roff(page: Path) -> None:
    ran = subprocess.run(
        ["groff", "-man", "-ww", "-b", "-z", str(page)], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
