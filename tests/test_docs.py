"""The repository's own documents agree with each other and with the code."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from flowd import __version__
from tests.support.repository import ROOT

DECISIONS = ROOT / "docs" / "decisions"
HEADINGS = ["## Context", "## Decision", "## Consequence"]


def release_notes(tag: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, str(ROOT / ".ci" / "release-notes"), tag]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_every_decision_is_in_the_index() -> None:
    listed = re.findall(r"^\| (\d{3}) \| \[(.+)\]\((.+)\) \|$", (DECISIONS / "README.md").read_text(), re.M)
    files = sorted(file.name for file in DECISIONS.glob("[0-9]*.md"))
    assert [file for _, _, file in listed] == files
    for number, title, file in listed:
        assert file.startswith(f"{number}-")
        assert (DECISIONS / file).read_text().startswith(f"# {number}. {title}\n")


@pytest.mark.parametrize("file", sorted(DECISIONS.glob("[0-9]*.md")), ids=lambda file: str(file.stem))
def test_a_decision_has_context_decision_and_consequence(file: Path) -> None:
    text = file.read_text()
    assert re.findall(r"^## .*$", text, re.M) == HEADINGS


def test_every_released_version_has_its_date_and_the_newest_comes_first() -> None:
    headings = re.findall(r"^## (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.M)
    assert headings[0] == "Unreleased"
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", heading) for heading in headings[1:])
    dates = [heading.partition(" - ")[2] for heading in headings[1:]]
    assert dates == sorted(dates, reverse=True)


def test_a_release_takes_its_notes_from_the_changelog() -> None:
    notes = release_notes(f"v{__version__}")
    assert (notes.returncode, notes.stderr) == (0, "")
    assert notes.stdout.strip() in (ROOT / "CHANGELOG.md").read_text()


def test_a_tag_that_is_not_the_version_is_refused() -> None:
    refused = release_notes("v999.0.0")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert __version__ in refused.stderr
