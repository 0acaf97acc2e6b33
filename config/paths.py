"""Where flowd's files live: platformdirs, with an environment override for each root."""

import os
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import platformdirs

# sockaddr_un holds 108 bytes on Linux and 104 on macOS; stay below both.
MAX_SOCKET_PATH = 100


class Paths(NamedTuple):
    """Every path that flowd itself reads or writes."""

    config_file: Path
    data_dir: Path
    state_dir: Path
    runtime_dir: Path

    @property
    def database(self) -> Path:
        """core.db, unless the settings name another."""
        return self.data_dir / "core.db"

    def database_at(self, configured: str | None) -> Path:
        """core.db where the settings put it, else at its default path."""
        return Path(configured).expanduser() if configured else self.database

    @property
    def lock(self) -> Path:
        """The file that a running daemon holds locked."""
        return self.state_dir / "flowd.lock"

    @property
    def log_dir(self) -> Path:
        """Rotated log files."""
        return self.state_dir / "log"

    @property
    def spool_dir(self) -> Path:
        """Where hooks leave events that no daemon accepted."""
        return self.state_dir / "spool"

    @property
    def socket(self) -> Path:
        """The control socket; at a shorter path if the default one is too long for the kernel."""
        natural = self.runtime_dir / "flowd.sock"
        if len(os.fsencode(natural)) <= MAX_SOCKET_PATH:
            return natural
        import hashlib

        digest = hashlib.blake2b(os.fsencode(natural), digest_size=6).hexdigest()
        return Path(tempfile.gettempdir()) / f"flowd-{os.getuid()}-{digest}" / "flowd.sock"


def resolve_paths() -> Paths:
    """Return flowd's paths for this user and environment, creating nothing."""
    directories = platformdirs.PlatformDirs("flowd", appauthor=False)
    config = os.environ.get("FLOWD_CONFIG")
    return Paths(
        config_file=Path(config).absolute() if config else Path(directories.user_config_dir) / "config.yaml",
        data_dir=_overridden("FLOWD_DATA_DIR", directories.user_data_dir),
        state_dir=_overridden("FLOWD_STATE_DIR", directories.user_state_dir),
        runtime_dir=_overridden("FLOWD_RUNTIME_DIR", _runtime_dir(directories.user_state_dir)),
    )


def claude_config_dir(configured: str | None = None) -> Path:
    """Return Claude Code's own directory: the *configured* one, else CLAUDE_CONFIG_DIR, else the usual."""
    if configured:
        return Path(configured).expanduser()
    override = os.environ.get("CLAUDE_CONFIG_DIR")
    return Path(override) if override else Path.home() / ".claude"


def make_private_dir(path: Path) -> None:
    """Create *path* and its missing parents readable by this user only."""
    # mkdir(parents=True) would give the parents the mode of the umask.
    for directory in (*reversed(path.parents), path):
        if not directory.is_dir():
            directory.mkdir(mode=0o700, exist_ok=True)


def _overridden(variable: str, default: str) -> Path:
    return Path(os.environ.get(variable) or default).absolute()


def _runtime_dir(default_state_dir: str) -> str:
    """Return the directory of the control socket: it moves with an overridden state directory.

    Without a private runtime directory the state directory is the safe place: it is this user's own,
    while platformdirs' fallbacks are shared (/tmp, with a warning) or emptied by cleaners (macOS).
    """
    overridden = os.environ.get("FLOWD_STATE_DIR")
    if overridden:
        return overridden
    private = os.environ.get("XDG_RUNTIME_DIR", "")
    if sys.platform == "linux" and private and _is_own(private) and os.access(private, os.W_OK | os.X_OK):
        return os.path.join(private, "flowd")
    return default_state_dir


def _is_own(directory: str) -> bool:
    """Return True if *directory* belongs to this user: another owner could replace the socket in it."""
    try:
        return os.stat(directory).st_uid == os.getuid()
    except OSError:
        return False
