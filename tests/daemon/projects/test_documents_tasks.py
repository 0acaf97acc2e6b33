"""Task files of live projects: their blocks become facts, within bounds and without the whole tree."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from flowd.daemon.projects.documents import TaskFiles
from flowd.daemon.reading.watcher import NoWatcher
from tests.support.following import live_redactor
from tests.support.transcript_lines import line

if TYPE_CHECKING:
    from tests.support.daemon_home import DaemonHome

GLOBS = ("**/tasks/*.md", ".claude/**/journal/*.md", "conductor/tracks/**/*.md")
TASK = """# Task 7: Cart

## Handoff

```yaml
outcome: completed
files_created:
  - path: src/cart.py
    purpose: The cart itself
    lines: all
```
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    root.mkdir()
    return root


@pytest.fixture
def tasks(root: Path) -> TaskFiles:
    tasks = TaskFiles(NoWatcher(lambda: None), GLOBS, live_redactor())
    assert tasks.follow(str(root))
    return tasks


def put(path: Path, text: str = TASK) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_files_are_found_where_the_globs_say(root: Path, tasks: TaskFiles) -> None:
    wanted = {
        put(root / "tasks" / "a.md"),
        put(root / "docs" / "tasks" / "b.md"),
        put(root / ".claude" / "journal" / "c.md"),
        put(root / ".claude" / "x" / "journal" / "d.md"),
        put(root / "conductor" / "tracks" / "t1" / "plan.md"),
    }
    for other in (
        "README.md",
        "tasks/a.txt",
        "tasks/deep/e.md",
        ".hidden/tasks/f.md",
        "node_modules/tasks/g.md",
    ):
        put(root / other)
    assert set(tasks.scan(str(root))) == wanted


def test_a_block_is_a_fact_once_until_the_file_changes(root: Path, tasks: TaskFiles) -> None:
    path = put(root / "tasks" / "a.md")
    (fact,) = tasks.facts(path)
    assert fact.project == str(root)
    assert tasks.facts(path) == []
    assert tasks.scan(str(root)) == []


def test_files_of_no_followed_project_say_nothing(root: Path, tasks: TaskFiles, tmp_path: Path) -> None:
    assert tasks.facts(put(tmp_path / "elsewhere" / "tasks" / "a.md")) == []
    assert tasks.facts(str(root / "tasks" / "missing.md")) == []


def test_without_globs_nothing_is_followed(root: Path) -> None:
    assert not TaskFiles(NoWatcher(lambda: None), (), live_redactor()).follow(str(root))


def test_a_task_file_of_a_live_project_reaches_the_graph(daemon_home: "DaemonHome", root: Path) -> None:
    """Found when the project becomes live, and again when a task file is added beside it."""
    put(root / "tasks" / "a.md")
    folder = daemon_home.claude_dir / "projects" / "-shop"
    folder.mkdir(parents=True)
    daemon_home.start()
    (folder / "s1.jsonl").write_bytes(line(1, cwd=str(root), timestamp="2999-01-01T00:00:00Z"))
    delivered = _delivered(daemon_home, at_least=1)
    put(root / "tasks" / "b.md", TASK.replace("Task 7", "Task 8"))
    _delivered(daemon_home, at_least=delivered + 1)


class Watched(NoWatcher):
    """Remembers which directories it was asked to watch."""

    def __init__(self) -> None:
        super().__init__(lambda: None)
        self.directories: set[str] = set()

    def watch(self, directory: str) -> bool:
        self.directories.add(directory)
        return True


def test_directories_where_task_files_may_appear_are_watched_before_they_hold_any(root: Path) -> None:
    for name in ("docs/tasks", "src/deep", "conductor/tracks/t1"):
        (root / name).mkdir(parents=True)
    watcher = Watched()
    tasks = TaskFiles(watcher, GLOBS, live_redactor())
    tasks.follow(str(root))
    assert tasks.scan(str(root)) == []
    watched = {str(root / name) for name in ("docs/tasks", "conductor/tracks/t1")}
    assert watched <= watcher.directories
    # A directory called tasks may be made in any of these.
    assert {str(root), str(root / "docs"), str(root / "src"), str(root / "src/deep")} <= watcher.directories


def test_a_new_directory_is_looked_at_when_it_is_reported(root: Path) -> None:
    watcher = Watched()
    tasks = TaskFiles(watcher, GLOBS, live_redactor())
    tasks.follow(str(root))
    tasks.scan(str(root))
    path = put(root / "docs" / "tasks" / "a.md")
    assert tasks.owns(str(root / "docs"))
    assert tasks.scan(str(root / "docs")) == [path]
    assert str(root / "docs" / "tasks") in watcher.directories


def test_a_task_file_in_a_folder_made_later_reaches_the_graph(daemon_home: "DaemonHome", root: Path) -> None:
    """The folder is new, and so is the folder around it."""
    folder = daemon_home.claude_dir / "projects" / "-shop"
    folder.mkdir(parents=True)
    daemon_home.start()
    (folder / "s1.jsonl").write_bytes(line(1, cwd=str(root), timestamp="2999-01-01T00:00:00Z"))
    daemon_home.wait_for(lambda status: bool(status["sessions"]))
    delivered = _delivered(daemon_home, at_least=0)
    put(root / "docs" / "tasks" / "b.md", TASK)
    _delivered(daemon_home, at_least=delivered + 1)


def _delivered(home: "DaemonHome", at_least: int) -> int:
    def knowledge(status: dict[str, list[dict[str, int]]]) -> int:
        return next(sink["delivered"] for sink in status["sinks"] if sink["name"] == "knowledge")  # type: ignore[comparison-overlap]

    return knowledge(home.wait_for(lambda status: knowledge(status) >= at_least))
