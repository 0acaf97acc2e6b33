"""The bearer token: made once, private, and refused when it is not."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from flowd.bridge.token import load_token, token_file
from flowd.system.errors import FlowdError


def test_a_token_is_made_on_first_use_for_the_owner_only(tmp_path: Path) -> None:
    token = load_token(tmp_path / "state")
    file = token_file(tmp_path / "state")
    assert len(token) >= 43
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700
    assert load_token(tmp_path / "state") == token
    assert [each.name for each in file.parent.iterdir()] == [file.name]


def test_many_that_start_at_once_agree_on_one_token(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        tokens = set(pool.map(lambda _: load_token(tmp_path), range(40)))
    assert len(tokens) == 1


def test_a_token_that_others_can_read_is_refused(tmp_path: Path) -> None:
    load_token(tmp_path)
    token_file(tmp_path).chmod(0o644)
    with pytest.raises(FlowdError, match="can be read by others") as refused:
        load_token(tmp_path)
    assert "delete the file" in refused.value.hint


def test_a_link_or_a_stub_is_no_token(tmp_path: Path) -> None:
    token_file(tmp_path).symlink_to("/etc/hostname")
    with pytest.raises(FlowdError, match="cannot read the token"):
        load_token(tmp_path)
    token_file(tmp_path).unlink()
    token_file(tmp_path).touch(0o600)
    with pytest.raises(FlowdError, match="too short"):
        load_token(tmp_path)


def test_show_token_prints_the_token_and_nothing_else(flowd: Any, tmp_path: Path) -> None:
    shown = flowd("serve", "--show-token")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == token_file(tmp_path / "state").read_text()
