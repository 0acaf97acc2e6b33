"""Load, merge and save as one step."""

import multiprocessing
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd import handoff
from flowd.handoff.errors import HandoffBusyError
from flowd.handoff.yaml.api import get_handoff_path, merge_into_file
from flowd.handoff.yaml.codec import parse, render
from flowd.handoff.yaml.document import Handoff
from flowd.handoff.yaml.storage import Folder, signature_of
from flowd.redaction.redactor import Redactor

VALID: Handoff = {"goal": "Ship it", "status": "in_progress", "now": "Testing", "timestamp": "t"}
UPDATES = 50


def update_often(root: Path, key: str) -> None:
    """Write fifty values under keys of its own, as a second program would."""
    for number in range(UPDATES):
        handoff.update_handoff({f"{key}{number}": number}, root)


def test_two_processes_updating_different_keys_both_survive(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=update_often, args=(tmp_path, key)) for key in ("left", "right")]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join(60)
        assert writer.exitcode == 0
    loaded = handoff.load_handoff(tmp_path)
    assert loaded is not None
    assert {f"{key}{number}" for key in ("left", "right") for number in range(UPDATES)} <= set(loaded)


def test_threads_of_one_process_wait_for_each_other_too(tmp_path: Path) -> None:
    threads = [threading.Thread(target=update_often, args=(tmp_path, key)) for key in ("a", "b")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    loaded = handoff.load_handoff(tmp_path)
    assert loaded is not None
    assert len([key for key in loaded if key[0] in "ab"]) == 2 * UPDATES


def test_a_lock_held_past_the_deadline_is_told(tmp_path: Path) -> None:
    with Folder(tmp_path) as holder:
        holder.lock()
        with pytest.raises(HandoffBusyError, match="locked by another process"):
            merge_into_file(tmp_path, lambda _: dict(VALID), wait_s=0.01)
    assert merge_into_file(tmp_path, lambda _: dict(VALID)).written


def test_a_file_system_that_locks_only_files_is_served(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import errno
    import fcntl
    import os
    import stat

    flock = fcntl.flock

    def as_nfs_does(descriptor: int, operation: int) -> None:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            raise OSError(errno.EBADF, "Bad file descriptor")
        flock(descriptor, operation)

    monkeypatch.setattr("flowd.system.locks.fcntl.flock", as_nfs_does)
    with Folder(tmp_path) as holder:
        holder.lock()
        with pytest.raises(HandoffBusyError):
            merge_into_file(tmp_path, lambda _: dict(VALID), wait_s=0.01)
    assert merge_into_file(tmp_path, lambda _: dict(VALID)).written


def test_nothing_is_written_when_only_the_timestamp_would_change(tmp_path: Path) -> None:
    first = merge_into_file(tmp_path, lambda _: dict(VALID))
    again = merge_into_file(tmp_path, lambda present: {**(present or {}), "timestamp": "later"})
    assert (first.written, again.written) == (True, False)
    assert first.signature == again.signature == signature_of(str(get_handoff_path(tmp_path)))
    assert again.mapping == VALID


def test_a_caller_may_ask_for_the_timestamp_alone(tmp_path: Path) -> None:
    merge_into_file(tmp_path, lambda _: dict(VALID))
    merged = merge_into_file(tmp_path, lambda present: {**(present or {}), "timestamp": "later"}, touch=True)
    assert merged.written
    assert handoff.load_handoff(tmp_path) == {**VALID, "timestamp": "later"}


def test_a_merge_that_returns_nothing_writes_nothing(tmp_path: Path) -> None:
    merged = merge_into_file(tmp_path, lambda present: present)
    assert (merged.written, merged.mapping, merged.signature) == (False, None, None)
    assert signature_of(str(get_handoff_path(tmp_path))) is None


def test_a_known_file_is_not_parsed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    known = merge_into_file(tmp_path, lambda _: dict(VALID))
    monkeypatch.setattr("flowd.handoff.yaml.api.read_file", None)
    merged = merge_into_file(tmp_path, lambda present: {**(present or {}), "now": "next"}, known=known)
    assert merged.mapping == {**VALID, "now": "next"}


def test_a_file_a_person_changed_is_read_whatever_was_known(tmp_path: Path) -> None:
    known = merge_into_file(tmp_path, lambda _: dict(VALID))
    handoff.get_handoff_path(tmp_path).write_text("# by hand\ngoal: mine\n")
    merged = merge_into_file(tmp_path, lambda present: {**(present or {}), "now": "next"}, known=known)
    assert merged.mapping == {"goal": "mine", "now": "next"}
    assert handoff.get_handoff_path(tmp_path).read_text().startswith("# by hand\n")


def test_what_is_known_cannot_be_changed_through_the_merge(tmp_path: Path) -> None:
    known = merge_into_file(tmp_path, lambda _: {**VALID, "files": ["a"]})

    def careless(present: Handoff | None) -> Handoff | None:
        assert present is not None
        assert isinstance(present["files"], list)
        present["files"].append("b")
        return present

    assert merge_into_file(tmp_path, careless, known=known).written
    assert known.mapping == {**VALID, "files": ["a"]}


def test_a_broken_file_is_kept_and_the_place_is_told(tmp_path: Path) -> None:
    folder = tmp_path / ".flow-guardian"
    folder.mkdir()
    (folder / "handoff.yaml").write_text("[")
    merged = merge_into_file(tmp_path, lambda present: {**VALID, "seen": present})
    assert merged.kept_aside == str(folder / "handoff.yaml.broken-1")
    assert merged.mapping == {**VALID, "seen": None}


def test_a_deleted_project_is_not_made_again(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Failed opening"):
        merge_into_file(tmp_path / "gone", lambda _: dict(VALID))
    assert not (tmp_path / "gone").exists()


def test_a_new_secret_never_reaches_the_disk(tmp_path: Path) -> None:
    token = "ghp" + "_" + "a1B2" * 9
    merged = merge_into_file(
        tmp_path,
        lambda _: {
            **VALID,
            "now": f"push with {token}",
            "decisions": [f"keep {token}"],
            "x": {"password": "swordfish"},
        },
    )
    assert merged.mapping == {
        **VALID,
        "now": "push with [redacted:github-token]",
        "decisions": ["keep [redacted:github-token]"],
        "x": {"password": "[redacted:password]"},
    }
    assert handoff.load_handoff(tmp_path) == merged.mapping


def test_what_a_person_wrote_into_the_file_is_left_to_them(tmp_path: Path) -> None:
    path = handoff.get_handoff_path(tmp_path)
    path.parent.mkdir()
    path.write_text(
        "goal: find why password is hunter2\nstatus: blocked\nnow: n\nnotes: [password is hunter2]\n"
    )
    handoff.update_handoff(
        {"now": "the password is hunter" + "3", "notes": ["password is hunter" + "2", "more"]}, tmp_path
    )
    loaded = handoff.load_handoff(tmp_path)
    assert loaded is not None
    assert loaded["goal"] == "find why password is hunter" + "2"
    assert loaded["now"] == "the password is [redacted:password]"
    assert loaded["notes"] == ["password is hunter" + "2", "more"]


def test_a_caller_brings_a_redactor_with_patterns_of_its_own(tmp_path: Path) -> None:
    redactor = Redactor({"badge": r"BADGE-\d+"})
    merged = merge_into_file(tmp_path, lambda _: {**VALID, "now": "BADGE-77"}, redact=redactor)
    assert merged.mapping == {**VALID, "now": "[redacted:badge]"}


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(st.text(), VALUES, max_size=6))
def test_whatever_is_rendered_is_parsed_back_the_same(mapping: Handoff) -> None:
    mapping.pop("timestamp", None)
    header = "# kept\n"
    text = parse(render(mapping, header))
    assert text.header == header
    assert text.mapping == mapping


@settings(max_examples=200, deadline=None)
@given(st.text(), st.text(alphabet=st.characters(min_codepoint=0xD7F0, max_codepoint=0xE010)))
def test_any_text_of_a_transcript_can_be_saved(words: str, odd: str) -> None:
    from flowd.handoff.yaml.document import validated

    saved = validated({"goal": "g", "status": "blocked", "now": "n", "x": words + odd})
    parsed = parse(render(saved)).mapping
    assert parsed == saved
