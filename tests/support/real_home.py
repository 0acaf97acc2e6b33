"""A guard around the real home: whatever touches it in this process is an error."""

import os
import pwd
import sys
import tempfile
from pathlib import Path
from typing import Any, Self

from tests.support.repository import ROOT

_EVENTS = frozenset(
    "open os.chdir os.chmod os.chown os.link os.listdir os.mkdir os.remove os.rename os.rmdir os.scandir "
    "os.symlink os.truncate os.utime shutil.rmtree sqlite3.connect".split()
)


class RealHomeError(BaseException):
    """A test reached for the real home. No handler of the product may take it for an ordinary error."""


class RealHomeGuard:
    """Raises when a file below the real home is opened, listed or changed, and remembers which."""

    def __init__(self, home: str, *, allowed: tuple[str, ...]) -> None:
        self.home = home
        self.touched: list[str] = []
        self._allowed = allowed

    @classmethod
    def install(cls) -> Self:
        """Guard the home of this user from now on, until the process ends."""
        # A clone, its virtualenv and the interpreter may well be below the home.
        own = {
            str(ROOT),
            sys.prefix,
            sys.base_prefix,
            tempfile.gettempdir(),
            *filter(os.path.isabs, sys.path),
        }
        guard = cls(_below(pwd.getpwuid(os.getuid()).pw_dir), allowed=tuple(map(_below, own)))
        sys.addaudithook(guard.audit)
        return guard

    def audit(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Raise RealHomeError if *event* concerns a file below the home."""
        if event in _EVENTS and arguments:
            for each in arguments[:2]:
                if isinstance(each, str | bytes | os.PathLike):
                    self._check(os.fsdecode(each).removeprefix("file:"))

    def _check(self, path: str) -> None:
        if path.startswith(self.home) and not path.startswith(self._allowed):
            self.touched.append(path)
            raise RealHomeError(path)


def _below(folder: str | Path) -> str:
    return os.path.join(folder, "")
