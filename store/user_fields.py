"""The fields that a user saved for a project, and whether values found in its handoff.yaml are trusted."""

import hashlib
import time
from collections.abc import Collection, Mapping
from typing import Any

import msgspec

from flowd.model.facts import Fact, TrackBound, TrustGranted, UserFieldsSaved
from flowd.store.handoff_yaml_state import HandoffYamlState, folder_identity
from flowd.store.journal import Journal

# A user's value in these fields is kept; flowd fills them only if they are empty.
GUARDED = ("goal", "status", "hypothesis", "outcome")

RESET_BY_GOAL = ("status", "outcome")

UserFields = dict[str, str | list[str]]


def user_fields(journal: Journal, project: str) -> tuple[UserFields, float]:
    """Return the user's last value of each field, and when the user last saved one."""
    fact = journal.fact(f"words:{project}")
    if fact is None or not isinstance(fact.body, UserFieldsSaved):
        return {}, 0.0
    return dict(fact.body.said), fact.at


def user_fields_fact(
    journal: Journal,
    project: str,
    fields: UserFields,
    session_id: str,
    *,
    cleared: Collection[str] = (),
    work: str = "",
) -> Fact:
    """Return the fact that adds *fields* to those saved before for the same *work*, without *cleared*."""
    now = time.time()
    before = journal.fact(f"words:{project}")
    body = before.body if before and isinstance(before.body, UserFieldsSaved) else UserFieldsSaved({})
    if work and body.work and body.work != work:  # what was saved for other work ends with it
        body = UserFieldsSaved({})
    gone = set(cleared)
    if "goal" in gone:  # and what the goal reset with it
        gone |= {field for field in RESET_BY_GOAL if body.at.get(field) == body.at.get("goal")}
    kept = {field: value for field, value in body.said.items() if field not in gone}
    then = before.at if before else now
    at = {field: body.at.get(field, then) for field in kept} | dict.fromkeys(fields, now)
    return Fact(f"words:{project}", session_id, project, now, UserFieldsSaved(kept | fields, at, work))


def untrusted_fields(
    present: Mapping[str, Any], shown: HandoffYamlState, saved: UserFields
) -> dict[str, str]:
    """Return the guarded values of a handoff.yaml that neither flowd nor ``flow save`` wrote."""
    return {
        field: str(present[field])
        for field in GUARDED
        if present.get(field)
        and not shown.is_ours(field, present[field])
        and saved.get(field) != present[field]
    }


def is_trusted(journal: Journal, project: str, shown: HandoffYamlState, foreign: Mapping[str, str]) -> bool:
    """Return True if *foreign* values may be injected into a session.

    They may if flowd created the folder, so that only this user can have edited it, or if the user
    accepted exactly these values with `flow trust`.
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
    """Return the fact that the user accepts *foreign*."""
    return Fact(f"trust:{project}", "", project, time.time(), TrustGranted(fields_digest(foreign)))


def fields_digest(foreign: Mapping[str, str]) -> str:
    """Return a digest of exactly these values."""
    return hashlib.blake2b(msgspec.json.encode(dict(foreign)), digest_size=16).hexdigest()


def bound_track(journal: Journal, session_id: str) -> str:
    """Return the track that the session is bound to, ``""`` if none."""
    fact = journal.fact(f"track:{session_id}") if session_id else None
    return fact.body.track if fact is not None and isinstance(fact.body, TrackBound) else ""


def binding_fact(session_id: str, project: str, track: str) -> Fact:
    """Return the fact that the session works on *track*."""
    return Fact(f"track:{session_id}", session_id, project, time.time(), TrackBound(track))
