"""A settings file that belongs to someone else: read whole, backed up, replaced at once, never blindly."""

import os
import stat
import time
from pathlib import Path

from flowd.config.errors import FlowdError
from flowd.config.paths import make_private_dir

BACKUPS_KEPT = 5


class SettingsFile:
    """One file, by the name people know; a link is followed to the file that a dotfiles manager keeps."""

    def __init__(self, file: Path, backups: Path) -> None:
        self.file = file
        self._target = Path(os.path.realpath(file))
        self._backups = backups

    def read(self) -> str:
        """Return the text, empty when there is no such file."""
        try:
            return self._target.read_bytes().decode("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise FlowdError(f"{self.file} cannot be read: {error}", hint="nothing was changed") from error

    def replace(self, before: str, after: str) -> Path:
        """Keep *before* as a backup and make the file hold *after*; empty means that there is no file.

        Raises when the file no longer holds *before*: the client writes its settings too.
        """
        backup = self._back_up(before)
        try:
            self._write(before, after)
        except OSError as error:
            raise FlowdError(f"{self.file} cannot be written: {error.strerror}") from error
        return backup

    def backups(self) -> list[str]:
        """Return the kept texts, the newest first."""
        files = sorted(self._backups.glob(f"{self.file.name}.*"), reverse=True)
        return [file.read_bytes().decode("utf-8", "replace") for file in files]

    def _write(self, before: str, after: str) -> None:
        if not after:
            self._refuse_if_changed(before)
            self._target.unlink(missing_ok=True)
            return
        make_private_dir(self._target.parent)
        draft = self._target.with_name(f".{self._target.name}.flowd-{os.getpid()}")
        try:
            self._draft(draft, after)
            self._refuse_if_changed(before)
            draft.replace(self._target)
        finally:
            draft.unlink(missing_ok=True)

    def _draft(self, draft: Path, text: str) -> None:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            if self._target.exists():
                os.fchmod(descriptor, stat.S_IMODE(self._target.stat().st_mode))
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(descriptor)

    def _refuse_if_changed(self, before: str) -> None:
        if self.read() != before:
            raise FlowdError(f"{self.file} has just been changed by another program", hint="run it again")

    def _back_up(self, text: str) -> Path:
        make_private_dir(self._backups)
        backup = self._backups / f"{self.file.name}.{time.time_ns()}"
        backup.touch(mode=0o600)
        backup.write_bytes(text.encode("utf-8"))
        for old in sorted(self._backups.glob(f"{self.file.name}.*"))[:-BACKUPS_KEPT]:
            old.unlink(missing_ok=True)
        return backup
