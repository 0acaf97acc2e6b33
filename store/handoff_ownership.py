"""Whose a handoff is: several projects may share the name of one directory."""

import os

from flowd.handoff.contract import Document
from flowd.handoff.encoding import encode_path, encode_path_v1
from flowd.store.facts import HandoffMoved, StateChanged
from flowd.store.journal import Journal


class Ownership:
    """Tells the handoffs of projects apart whose directories share one name, by what the files say.

    One is made for one piece of work: it remembers the projects known when it was first asked.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._projects: dict[str, list[str]] | None = None

    def owner(self, path: str, document: Document) -> str:
        """Return the project that *document* is of, by its words or for want of another; else ``""``."""
        candidates = self._candidates(path)
        return self._named(path, document) or (candidates[0] if len(candidates) == 1 else "")

    def is_foreign(self, root: str, path: str, document: Document) -> bool:
        """Say whether *document*, which lies where those of *root* do, is known to be another project's."""
        before = self._before(path)
        if before:
            return before not in (encode_path_v1(root), encode_path(root))
        owner = self._named(path, document)
        # A directory named after a working directory inside the project is the project's as well.
        return bool(owner) and owner != root and not owner.startswith(root + "/")

    def rivals(self, root: str, path: str, document: Document) -> list[str]:
        """Return the other projects that *document* may as well belong to, as far as flowd knows."""
        if self._named(path, document):
            return []
        return [project for project in self._candidates(path) if project != root]

    def _named(self, path: str, document: Document) -> str:
        """Return the project that *document* names, or that the session which wrote it worked in."""
        name = os.path.basename(os.path.dirname(path))
        for project, place in ((document.project, document.project), *self._session(document.session_id)):
            if place and name in (encode_path(place), encode_path_v1(place)):
                return project
        return ""

    def _session(self, session_id: str) -> list[tuple[str, str]]:
        fact = self._journal.fact(f"state:{session_id}") if session_id else None
        if fact is None or not isinstance(fact.body, StateChanged):
            return []
        state = fact.body.state
        return [(state.project, state.project), (state.project, state.cwd)]

    def _candidates(self, path: str) -> list[str]:
        """Return the known projects whose handoffs would lie where *path* is."""
        if self._projects is None:
            self._projects = {}
            for project in self._journal.projects():
                self._projects.setdefault(encode_path(project), []).append(project)
        before = self._before(path)
        known = self._projects.get(os.path.basename(os.path.dirname(path)), [])
        return [project for project in known if not before or encode_path_v1(project) == before]

    def _before(self, path: str) -> str:
        fact = self._journal.fact(f"handoff-moved:{path}")
        return fact.body.from_directory if fact and isinstance(fact.body, HandoffMoved) else ""


def may_be_of(root: str, project: str, path: str) -> bool:
    """Say whether a handoff is the project's, or lies where its handoffs do and names none."""
    return project == root or (not project and os.path.basename(os.path.dirname(path)) == encode_path(root))
