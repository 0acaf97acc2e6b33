"""Which track of the conductor a session works on, by a person's or a command's word."""

import time

from flowd.store.facts import Fact, TrackBound
from flowd.store.journal import Journal


def bound_track(journal: Journal, session_id: str) -> str:
    """Return the track that the session was bound to last, ``""`` if to none."""
    fact = journal.fact(f"track:{session_id}") if session_id else None
    return fact.body.track if fact is not None and isinstance(fact.body, TrackBound) else ""


def binding_fact(session_id: str, project: str, track: str) -> Fact:
    """Return the fact that the session works on *track*."""
    return Fact(f"track:{session_id}", session_id, project, time.time(), TrackBound(track))
