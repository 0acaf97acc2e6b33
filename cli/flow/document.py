"""Read and replace documents that are given on the command line."""

import itertools
import shutil
from pathlib import Path

from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write

MAX_BYTES = 10_000_000


def read_document(file: Path) -> str:
    """Return the text of *file*; raise FlowdError if it is unreadable, too large or not UTF-8."""
    try:
        if file.stat().st_size > MAX_BYTES:
            raise FlowdError(
                f"{file} is larger than {MAX_BYTES // 1_000_000} MB", hint="choose a smaller file"
            )
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FlowdError(f"{file} is not UTF-8 text: {error.reason}", hint="convert it with iconv") from error
    except OSError as error:
        raise FlowdError(
            f"cannot read {file}: {error.strerror}", hint="check its name and permissions"
        ) from error


def replace_document(file: Path, text: str) -> Path | None:
    """Replace *file* by *text* atomically; return the backup of its former content, None without one."""
    try:
        file = file.resolve()
        backup = _backed_up(file) if file.exists() else None
        atomic_write(file, text, keep_mode=True)
    except OSError as error:
        raise FlowdError(
            f"cannot write {file}: {error.strerror}", hint="check the permissions of its directory"
        ) from error
    return backup


def _backed_up(file: Path) -> Path:
    names = (f"{file.name}.bak{number or ''}" for number in itertools.count())
    backup = next(place for name in names if not (place := file.with_name(name)).exists())
    shutil.copy2(file, backup)
    return backup
