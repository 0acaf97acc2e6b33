"""The most recent sessions, updated by the reader and read by the control thread."""

import time
from collections.abc import Iterable
from typing import NamedTuple

import msgspec

from flowd.daemon.control.status import SessionLine
from flowd.model.session import SessionState, latest_activity, phase_of

SESSIONS_SHOWN = 50
RENDERED_FOR_S = 1.0


class RecentSession(NamedTuple):
    """A session's state, and how far its transcript has been read."""

    state: SessionState
    lag_bytes: int
    progress_at: float


class RenderedLines(NamedTuple):
    """The sessions rendered as JSON, valid until *until* (monotonic)."""

    shown: tuple[RecentSession, ...]
    idle_after_s: float
    until: float
    lines: msgspec.Raw


class RecentSessions:
    """A bounded table; ``lines`` reads a tuple that is replaced as a whole, so it needs no lock."""

    def __init__(self) -> None:
        self._entries: dict[str, RecentSession] = {}
        self._shown: tuple[RecentSession, ...] = ()
        self._rendered = RenderedLines((), 0.0, 0.0, msgspec.Raw(b"[]"))

    def update(self, sessions: Iterable[RecentSession]) -> None:
        """Replace *sessions* in the table and publish it; drop all but the latest sessions."""
        self._entries.update((session.state.session_id, session) for session in sessions)
        if len(self._entries) > 2 * SESSIONS_SHOWN:
            latest = sorted(self._entries.items(), key=_latest_first)[:SESSIONS_SHOWN]
            self._entries = dict(latest)
        self._shown = tuple(self._entries.values())

    def active_in(self, root: str) -> list[str]:
        """Return the sessions of the project at *root* that have neither ended nor vanished."""
        return [
            entry.state.session_id
            for entry in self._entries.values()
            if entry.state.project == root and not (entry.state.vanished_at or entry.state.ended_at)
        ]

    def latest_active_in(self, root: str) -> str:
        """Return the session that was active last in the project at *root*, ``""`` if none."""
        latest = sorted(
            self.active_in(root), key=lambda session: latest_activity(self._entries[session].state)
        )
        return latest[-1] if latest else ""

    def lines(self, idle_after_s: float, gone: frozenset[str] = frozenset()) -> msgspec.Raw:
        """Return the latest sessions as JSON, most recent first; *gone* are those whose client was killed.

        Rendered again when a session changed or the rendering expired (benchmark row: status round trip).
        """
        shown, rendered, now = self._shown, self._rendered, time.monotonic()
        if rendered.shown is not shown or rendered.idle_after_s != idle_after_s or rendered.until < now:
            entries = sorted(shown, key=lambda entry: -latest_activity(entry.state))[:SESSIONS_SHOWN]
            lines = [_line(entry, idle_after_s, gone) for entry in entries]
            encoded = msgspec.Raw(msgspec.json.encode(lines))
            rendered = self._rendered = RenderedLines(shown, idle_after_s, now + RENDERED_FOR_S, encoded)
        return rendered.lines


def _latest_first(item: tuple[str, RecentSession]) -> float:
    return -latest_activity(item[1].state)


def _line(entry: RecentSession, idle_after_s: float, gone: frozenset[str]) -> SessionLine:
    state = entry.state
    return SessionLine(
        session_id=state.session_id,
        project=state.project or state.cwd,
        title=state.title or state.goal,
        phase=phase_of(state, idle_after_s, gone),
        last_activity_at=latest_activity(state),
        last_progress_at=entry.progress_at,
        lag_bytes=entry.lag_bytes,
        records=state.records,
    )
