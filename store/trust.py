"""What the user accepts of a project that came from somebody else: words, and writing to what git tracks."""

import hashlib
import os
import time
from collections.abc import Mapping

import msgspec

from flowd.handoff.errors import TrackedHandoffError
from flowd.handoff.yaml.storage import HANDOFF
from flowd.model.facts import Fact, TrustGranted
from flowd.store.handoff_fields import HandoffYamlState, folder_identity
from flowd.store.journal import Journal
from flowd.workspace.git import enclosing_git_place, tracked_files
from flowd.workspace.project import FOLDER

MAX_CACHED = 1000


def is_trusted(journal: Journal, project: str, shown: HandoffYamlState, foreign: Mapping[str, str]) -> bool:
    """Return True if *foreign* values may be injected into a session.

    They may if flowd created the folder, so that only this user can have edited it, or if the user
    accepted exactly these values with `flow trust`.
    """
    if not foreign or (shown.folder and shown.folder == folder_identity(project)):
        return True
    return granted_trust(journal, project).digest == fields_digest(foreign)


def granted_trust(journal: Journal, project: str) -> TrustGranted:
    """Return what the user has accepted that came with *project*."""
    fact = journal.fact(f"trust:{project}")
    return fact.body if fact is not None and isinstance(fact.body, TrustGranted) else TrustGranted()


def trust_fact(project: str, trust: TrustGranted) -> Fact:
    """Return the fact that *trust* is all the user has accepted of *project*."""
    return Fact(f"trust:{project}", "", project, time.time(), trust)


def fields_digest(foreign: Mapping[str, str]) -> str:
    """Return a digest of exactly these values."""
    return hashlib.blake2b(msgspec.json.encode(dict(foreign)), digest_size=16).hexdigest()


class TrackedGuard:
    """Keeps flowd from changing a handoff.yaml that git tracks, until the user lets it.

    git is asked again only when its index has changed: a write must not wait for a program.
    """

    def __init__(self) -> None:
        self._known: dict[str, tuple[tuple[int, int, int], bool]] = {}

    def check(self, journal: Journal, project: str) -> None:
        """Raise TrackedHandoffError if the handoff.yaml of *project* is not to be written."""
        if self.is_tracked(project) and not granted_trust(journal, project).may_write_tracked:
            path = os.path.join(project, FOLDER, HANDOFF)
            raise TrackedHandoffError(
                f"git tracks {path}, and flowd changes no tracked file unasked",
                hint=f"let it with `flow trust` in {project}, or `git rm --cached` the file",
            )

    def is_tracked(self, project: str) -> bool:
        """Return True if git tracks the handoff.yaml of *project*."""
        version = _index_version(project)
        if version is None:
            return False
        known = self._known.get(project)
        if known is None or known[0] != version:
            if len(self._known) >= MAX_CACHED:
                self._known.clear()
            known = self._known[project] = version, bool(tracked_files(project, f"{FOLDER}/{HANDOFF}"))
        return known[1]


def _index_version(project: str) -> tuple[int, int, int] | None:
    place = enclosing_git_place(project)
    try:
        status = os.stat(os.path.join(place.directory, "index")) if place else None
    except OSError:
        return None
    return (status.st_ino, status.st_mtime_ns, status.st_size) if status else None
