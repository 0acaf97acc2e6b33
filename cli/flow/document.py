"""Documents that a person names on the command line: read whole, replaced whole."""

import itertools
import shutil
from pathlib import Path

from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write

LARGEST = 10_000_000


def read_document(file: Path) -> str:
    """Return the text of *file*, or raise saying why it cannot be read."""
    try:
        if file.stat().st_size > LARGEST:
            raise FlowdError(f"{file} is larger than {LARGEST // 1_000_000} MB", hint="name a smaller file")
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FlowdError(f"{file} is not UTF-8 text: {error.reason}") from error
    except OSError as error:
        raise FlowdError(f"cannot read {file}: {error.strerror}", hint="check its name and mode") from error


def replace_document(file: Path, text: str) -> Path | None:
    """Make *text* the content of *file* in one step; return the copy of what was there, if anything was."""
    try:
        file = file.resolve()
        backup = _backed_up(file) if file.exists() else None
        atomic_write(file, text, keep_mode=True)
    except OSError as error:
        raise FlowdError(
            f"cannot write {file}: {error.strerror}", hint="check its directory's mode"
        ) from error
    return backup


def _backed_up(file: Path) -> Path:
    names = (f"{file.name}.bak{number or ''}" for number in itertools.count())
    backup = next(place for name in names if not (place := file.with_name(name)).exists())
    shutil.copy2(file, backup)
    return backup
