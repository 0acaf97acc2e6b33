"""A person's words about a project, and whether those in its handoff.yaml are a person's of this machine."""

import hashlib
import time
from collections.abc import Mapping
from typing import Any

import msgspec

from flowd.model.facts import Fact, TrackBound, TrustGranted, UserFieldsSaved
from flowd.store.handoff_yaml_state import HandoffYamlState, folder_identity
from flowd.store.journal import Journal

# What a person says stands in these fields; flowd fills them only where nobody has.
GUARDED = ("goal", "status", "hypothesis", "outcome")

UserFields = dict[str, str | list[str]]


def user_fields(journal: Journal, project: str) -> tuple[UserFields, float]:
    """Return what a person last said in each field, and when they last said anything."""
    fact = journal.fact(f"words:{project}")
    if fact is None or not isinstance(fact.body, UserFieldsSaved):
        return {}, 0.0
    return dict(fact.body.said), fact.at


def user_fields_fact(journal: Journal, project: str, said: UserFields, session_id: str) -> Fact:
    """Return the fact that adds *said* to what was said before."""
    before, _ = user_fields(journal, project)
    return Fact(f"words:{project}", session_id, project, time.time(), UserFieldsSaved(before | said))


def untrusted_fields(present: Mapping[str, Any], shown: HandoffYamlState, said: UserFields) -> dict[str, str]:
    """Return the guarded values of a handoff.yaml that neither flowd nor ``flow save`` put there."""
    return {
        field: str(present[field])
        for field in GUARDED
        if present.get(field)
        and not shown.is_ours(field, present[field])
        and said.get(field) != present[field]
    }


def is_trusted(journal: Journal, project: str, shown: HandoffYamlState, foreign: Mapping[str, str]) -> bool:
    """Say whether *foreign* words may be told to a session.

    They may when flowd made the folder itself, so that only this user can have edited it, or when a
    person accepted exactly these words.
    """
    if not foreign or (shown.folder and shown.folder == folder_identity(project)):
        return True
    fact = journal.fact(f"trust:{project}")
    return (
        fact is not None
        and isinstance(fact.body, TrustGranted)
        and fact.body.digest == fields_digest(foreign)
    )


def trust_fact(project: str, foreign: Mapping[str, str]) -> Fact:
    """Return the fact that a person accepts *foreign*."""
    return Fact(f"trust:{project}", "", project, time.time(), TrustGranted(fields_digest(foreign)))


def fields_digest(foreign: Mapping[str, str]) -> str:
    """Return what identifies exactly these words."""
    return hashlib.blake2b(msgspec.json.encode(dict(foreign)), digest_size=16).hexdigest()


def bound_track(journal: Journal, session_id: str) -> str:
    """Return the track that the session was bound to last, ``""`` if to none."""
    fact = journal.fact(f"track:{session_id}") if session_id else None
    return fact.body.track if fact is not None and isinstance(fact.body, TrackBound) else ""


def binding_fact(session_id: str, project: str, track: str) -> Fact:
    """Return the fact that the session works on *track*."""
    return Fact(f"track:{session_id}", session_id, project, time.time(), TrackBound(track))
