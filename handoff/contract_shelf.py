"""All handoffs of one project: every directory that may hold them, those of other projects left out."""

from collections.abc import Callable

from flowd.handoff.contract import Document
from flowd.handoff.contract_files import Filed, directories_of, handoff_files, text_digest
from flowd.handoff.contract_index import Shelved, write_index
from flowd.handoff.contract_reading import decoded, read_bytes, read_document

# Older ones stay on disk and in core.db; nothing that is decided looks so far back.
MOST_READ = 200

IsForeign = Callable[[str, Document], bool]


def shelf_of(handoffs: str, places: tuple[str, ...], is_foreign: IsForeign) -> list[Shelved]:
    """Return the handoffs of the project whose root and working directory are *places*, newest first."""
    files = [filed for directory in directories_of(handoffs, *places) for filed in handoff_files(directory)]
    files.sort(key=lambda filed: -filed.modified_ns)
    found = [shelved for filed in files[:MOST_READ] if (shelved := shelve(filed)) is not None]
    return [shelved for shelved in found if not is_foreign(shelved.file.path, shelved.document)]


def refresh_index(directory: str) -> str:
    """Bring the index of all handoffs in *directory* up to date; return its path."""
    files = handoff_files(directory)[:MOST_READ]
    return write_index(directory, [shelved for filed in files if (shelved := shelve(filed)) is not None])


def shelve(filed: Filed) -> Shelved | None:
    """Return *filed* with what it says, or None when it went or may not be read."""
    try:
        data = read_bytes(filed.path)
    except OSError:
        return None
    return Shelved(filed, read_document(decoded(data)), text_digest(data))
