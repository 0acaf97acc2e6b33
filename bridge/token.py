"""The bearer token of the HTTP server: created on first use, readable by its owner only."""

import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from flowd.config.paths import make_private_dir
from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write

TOKEN_BYTES = 32
MAX_FILE_CHARACTERS = 1024


def token_file(state_dir: Path) -> Path:
    """Return the file of the token."""
    return state_dir / "serve.token"


def load_token(state_dir: Path) -> str:
    """Return the token, creating it on first use; raise FlowdError if others could have read it."""
    path = token_file(state_dir)
    make_private_dir(state_dir)
    if not os.path.lexists(path):
        _make(path)
    return _read(path)


def _make(path: Path) -> None:
    # Two servers that start at the same time must end with the same token.
    with suppress(FileExistsError):
        atomic_write(path, secrets.token_urlsafe(TOKEN_BYTES) + "\n", exclusive=True)


def _read(path: Path) -> str:
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except OSError as error:
        raise FlowdError(f"cannot read the token {path}: {error.strerror}", hint=_REMEDY) from error
    with os.fdopen(file) as stream:
        about = os.fstat(stream.fileno())
        token = stream.read(MAX_FILE_CHARACTERS).strip()
    if about.st_uid != os.geteuid() or stat.S_IMODE(about.st_mode) & 0o077:
        raise FlowdError(f"the token {path} can be read by others", hint=_REMEDY)
    if len(token) < TOKEN_BYTES:
        raise FlowdError(f"the token {path} is too short", hint=_REMEDY)
    return token


_REMEDY = "delete the file; flowd creates a new token, which you then give to the clients"
