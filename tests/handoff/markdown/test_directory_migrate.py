"""Directories of the contract's first version: moved or merged, nothing lost, times kept."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.handoff.markdown.directory import migrate_directory, planned_moves

Contents = dict[str, tuple[str, float]]


def filled(directory: Path, contents: Contents) -> None:
    directory.mkdir(parents=True)
    for name, (text, moment) in contents.items():
        (directory / name).write_text(text)
        os.utime(directory / name, (moment, moment))


def held(directory: Path) -> list[tuple[str, float]]:
    return sorted((path.read_text(), path.stat().st_mtime) for path in directory.iterdir())


def test_a_plan_names_only_directories_of_the_first_version(tmp_path: Path) -> None:
    for name in ("-w-my_shop", "-w-shop", ".index", "notes_x"):
        (tmp_path / name).mkdir()
    (tmp_path / "-w-a_file").write_text("x")
    (move,) = planned_moves(str(tmp_path))
    assert (move.source, move.target) == (str(tmp_path / "-w-my_shop"), str(tmp_path / "-w-my-shop"))
    assert not move.merges
    assert (tmp_path / "-w-my_shop").is_dir()
    assert planned_moves(str(tmp_path / "absent")) == []


def test_a_clash_merges_and_keeps_both(tmp_path: Path) -> None:
    filled(tmp_path / "-w-my_shop", {"s.md": ("old", 1000.0), "t.md": ("t", 3000.0)})
    filled(tmp_path / "-w-my-shop", {"s.md": ("new", 2000.0)})
    (move,) = planned_moves(str(tmp_path))
    assert move.merges
    moved = migrate_directory(move)
    assert sorted(Path(path).name for path in moved) == ["s-2.md", "t.md"]
    assert not (tmp_path / "-w-my_shop").exists()
    assert held(tmp_path / "-w-my-shop") == [("new", 2000.0), ("old", 1000.0), ("t", 3000.0)]
    assert planned_moves(str(tmp_path)) == []


def test_folders_and_links_inside_are_taken_along(tmp_path: Path) -> None:
    source = tmp_path / "-w-my_shop"
    filled(source / "archive", {"a.md": ("a", 1.0)})
    (source / "link.md").symlink_to("archive/a.md")
    (tmp_path / "-w-my-shop" / "archive").mkdir(parents=True)
    migrate_directory(planned_moves(str(tmp_path))[0])
    assert (tmp_path / "-w-my-shop" / "archive-2" / "a.md").read_text() == "a"
    assert (tmp_path / "-w-my-shop" / "link.md").is_symlink()


FILES = st.dictionaries(
    st.from_regex(r"[a-c]{1,2}(-2)?\.(md|txt)", fullmatch=True),
    st.tuples(st.text("xyz", max_size=3), st.integers(1, 10**9).map(float)),
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(FILES, FILES, FILES)
def test_whatever_clashes_nothing_is_lost_and_no_time_changes(
    tmp_path_factory: object, first: Contents, second: Contents, third: Contents
) -> None:
    root: Path = tmp_path_factory.mktemp("handoffs")  # type: ignore[attr-defined]  # pytest's factory
    for name, contents in (("-w-my_shop", first), ("-w-my shop", second), ("-w-my-shop", third)):
        filled(root / name, contents)
    before = sorted(value for contents in (first, second, third) for value in contents.values())
    for move in planned_moves(str(root)):
        migrate_directory(move)
    assert held(root / "-w-my-shop") == before
    assert os.listdir(root) == ["-w-my-shop"]
