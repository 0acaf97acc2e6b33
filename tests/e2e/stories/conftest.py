"""The fixture of the stories."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.clock import Clock, can_be_moved
from tests.e2e.fake_api import FakeApi
from tests.e2e.place import Place
from tests.e2e.running_flowd import RunningFlowd
from tests.e2e.story import Story

COMMANDS = Path(__file__).parents[3] / "plugin" / "commands"
PERSON = {"user.name": "Ann", "user.email": "ann@example.com"}


@pytest.fixture
def clock(place: Place, tmp_path: Path) -> Clock:
    """The clock of every program of the story. flowd starts with it, so it is set up before."""
    if not can_be_moved():
        pytest.skip("Linux and a C compiler are needed to move the clock")
    clock = Clock(tmp_path / "clock")
    place.environment.update(clock.variables)
    return clock


@pytest.fixture
def settled_in(place: Place) -> None:
    """A home in which the client has been used before: it asks nothing at its start."""
    del place.environment["CLAUDE_CODE_ENTRYPOINT"]
    place.environment.update(
        PATH=f"{Path(sys.executable).parent}{os.pathsep}{place.environment['PATH']}",
        CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION="false",
    )
    settings = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [place.environment["ANTHROPIC_API_KEY"][-20:]], "rejected": []},
        "projects": {
            str(place.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}
        },
    }
    shutil.copytree(COMMANDS, place.home / ".claude" / "commands")
    (place.home / ".claude.json").write_text(json.dumps(settings))


@pytest.fixture
def story(
    clock: Clock, settled_in: None, place: Place, fake_api: FakeApi, flowd: RunningFlowd, claude: Path
) -> Iterator[Story]:
    """Sessions of a person in a terminal, in a repository with one commit."""
    for name, value in PERSON.items():
        subprocess.run(["git", "-C", str(place.project), "config", name, value], check=True)
    story = Story(place, fake_api, flowd, claude, clock)
    story.day(10)
    story.git("switch", "-q", "-c", "main")
    (place.project / "README.md").write_text("# Shop\n")
    story.git("add", "README.md")
    story.git("commit", "-q", "-m", "Begin")
    with story.exits:
        yield story
