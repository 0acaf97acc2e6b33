"""File locks with a deadline."""

import os
from pathlib import Path

from flowd.system.locks import is_locked, wait_for_lock


def test_a_lock_excludes_others_until_its_descriptor_is_closed(tmp_path: Path) -> None:
    (tmp_path / "lock").touch()
    first, second = (os.open(tmp_path / "lock", os.O_RDWR) for _ in range(2))
    try:
        assert not is_locked(second)
        assert wait_for_lock(first, 0)
        assert is_locked(second)
        assert not wait_for_lock(second, 0.01)
        os.close(first)
        assert wait_for_lock(second, 5)
    finally:
        os.close(second)
