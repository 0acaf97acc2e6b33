"""A cloned repository may bring any .flow-guardian; nothing outside the project is read or written."""

import os
from pathlib import Path

import pytest

from flowd import handoff
from flowd.handoff.errors import UnsafeHandoffError

VALID = {"goal": "Ship it", "status": "in_progress", "now": "Testing"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return an empty project beside a folder it has no business with."""
    (tmp_path / "project").mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "handoff.yaml").write_text("goal: theirs\nstatus: blocked\nnow: theirs\n")
    return tmp_path / "project"


def outside(project: Path) -> dict[str, str]:
    """Return all that lies in the folder beside the project."""
    return {path.name: path.read_text() for path in (project.parent / "outside").iterdir()}


def plant(project: Path, text: str) -> Path:
    """Put a handoff with *text* into the project."""
    (project / ".flow-guardian").mkdir()
    path = project / ".flow-guardian" / "handoff.yaml"
    path.write_text(text)
    return path


def assert_refused(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Assert that reading says None with one warning, and writing raises, leaving the outside alone."""
    before = outside(project)
    assert handoff.load_handoff(project) is None
    assert len(caplog.records) == 1
    for write in (handoff.save_handoff, handoff.update_handoff):
        with pytest.raises(UnsafeHandoffError, match="link") as caught:
            write(VALID, project)
        assert "remove the symbolic link" in caught.value.hint
    assert outside(project) == before


def test_a_folder_linked_out_of_the_project_is_refused(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / ".flow-guardian").symlink_to(project.parent / "outside")
    assert_refused(project, caplog)
    with pytest.raises(UnsafeHandoffError):
        handoff.clear_handoff(project)


def test_a_dangling_folder_link_is_refused_and_makes_nothing(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (project / ".flow-guardian").symlink_to(project.parent / "nowhere")
    assert_refused(project, caplog)
    assert not (project.parent / "nowhere").exists()


@pytest.mark.parametrize("name", ["handoff.yaml", "not-yet"])
def test_a_file_linked_out_of_the_project_is_refused(
    project: Path, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    (project / ".flow-guardian").mkdir()
    (project / ".flow-guardian" / "handoff.yaml").symlink_to(project.parent / "outside" / name)
    assert_refused(project, caplog)


def test_clearing_removes_the_link_and_not_what_it_points_to(project: Path) -> None:
    (project / ".flow-guardian").mkdir()
    (project / ".flow-guardian" / "handoff.yaml").symlink_to(project.parent / "outside" / "handoff.yaml")
    before = outside(project)
    assert handoff.clear_handoff(project)
    assert outside(project) == before


@pytest.mark.parametrize("target", ["state", "notes"])
def test_a_folder_linked_to_another_of_the_project_is_refused(
    project: Path, caplog: pytest.LogCaptureFixture, target: str
) -> None:
    (project / "state").mkdir()
    (project / ".flow-guardian").symlink_to(target)
    assert_refused(project, caplog)
    assert not (project / "notes").exists()


@pytest.mark.parametrize("target", ["../.git/config", "../docker-compose.yml", "other.yaml"])
def test_a_file_linked_to_another_of_the_project_is_refused(
    project: Path, caplog: pytest.LogCaptureFixture, target: str
) -> None:
    """git's own settings, a file of YAML that git tracks: none of them is a handoff."""
    link = plant(project, "").with_name("handoff.yaml")
    link.unlink()
    link.symlink_to(target)
    victim = (link.parent / target).resolve()
    victim.parent.mkdir(exist_ok=True)
    victim.write_text("image: postgres\n")
    assert_refused(project, caplog)
    assert victim.read_text() == "image: postgres\n"


def test_directories_where_flowd_keeps_its_own_files_do_not_stop_it(project: Path) -> None:
    """A temporary file to sweep away and five broken files to make room for are directories."""
    broken = plant(project, "goal: [")
    for name in (".handoff.yaml.1-a.tmp", *(f"handoff.yaml.broken-{number}" for number in range(1, 6))):
        (broken.parent / name / "full").mkdir(parents=True)
    handoff.save_handoff(VALID, project)
    assert handoff.load_handoff(project) == handoff.load_handoff(project)
    assert "Ship it" in broken.read_text()


def test_a_project_reached_through_a_link_works(project: Path) -> None:
    link = project.parent / "link"
    link.symlink_to(project)
    handoff.save_handoff(VALID, link)
    assert handoff.load_handoff(project) == handoff.load_handoff(link)


def test_a_huge_file_is_not_read(project: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = plant(project, "goal: g\n")
    os.truncate(path, 100 * 1024 * 1024)
    assert handoff.load_handoff(project) is None
    assert "104857600 bytes" in caplog.text


ALIAS_BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{this}: &{this} [{','.join(['*' + last] * 9)}]\n"
    for last, this in zip("abcdefgh", "bcdefghi", strict=True)
)
HOSTILE = [
    ALIAS_BOMB,
    "a: &a\n  - *a\n",
    "a: &a {b: *a}\n",
    "goal: !!python/object/apply:os.system ['touch planted']\n",
    "goal: !!python/name:os.system\n",
    "goal: !custom x\n",
    "[" * 100_000,
    "- " * 100_000,
    "? " * 100_000,
    "a: " + "{b: " * 3_000 + "}" * 3_000,
    "a: " + "9" * 5_000,
    "? [a, b]\n: c\n",
    "a: 2026-99-99\n",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_document_is_none_and_kept_aside(
    project: Path, caplog: pytest.LogCaptureFixture, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    path = plant(project, text)
    assert handoff.load_handoff(project) is None
    assert len(caplog.records) == 1
    handoff.save_handoff(VALID, project)
    assert (path.parent / "handoff.yaml.broken-1").read_text() == text
    assert not (project / "planted").exists()


def test_a_few_aliases_of_a_careful_person_are_taken(project: Path) -> None:
    plant(project, "goal: &g Ship & go * on\nstatus: blocked\nnow: *g\n")
    loaded = handoff.load_handoff(project)
    assert loaded == {"goal": "Ship & go * on", "status": "blocked", "now": "Ship & go * on"}


def test_a_fifo_does_not_hang_and_is_kept_aside(project: Path) -> None:
    (project / ".flow-guardian").mkdir()
    path = project / ".flow-guardian" / "handoff.yaml"
    os.mkfifo(path)
    assert handoff.load_handoff(project) is None
    handoff.save_handoff(VALID, project)
    assert path.is_file()
    assert (path.parent / "handoff.yaml.broken-1").is_fifo()


def test_a_directory_in_the_files_place_is_kept_aside(project: Path) -> None:
    path = project / ".flow-guardian" / "handoff.yaml"
    path.mkdir(parents=True)
    (path / "inside").write_text("kept")
    assert handoff.load_handoff(project) is None
    handoff.save_handoff(VALID, project)
    assert (path.parent / "handoff.yaml.broken-1" / "inside").read_text() == "kept"


def test_a_file_in_the_folders_place_is_a_clear_error(project: Path) -> None:
    (project / ".flow-guardian").write_text("")
    with pytest.raises(OSError, match=r"Failed opening .*Not a directory"):
        handoff.save_handoff(VALID, project)
