"""The facts of checkpoints, identified by session and event."""

import hashlib
import time

import msgspec

from flowd.model.facts import Checkpointed, Fact, Trigger
from flowd.model.session import SessionState

MANUAL_WINDOW_S = 5


def checkpoint_fact(
    state: SessionState,
    trigger: Trigger,
    event: str,
    message: str,
    *,
    track: str = "",
    epic: str = "",
    fired_at: float = 0.0,
) -> Fact:
    """Return the fact of one checkpoint; the same session and event give the same id.

    It carries the time at which the event happened, however late it is recorded.
    """
    key = f"{state.session_id}:checkpoint:{event}"
    identity = "cp_" + hashlib.blake2b(key.encode(), digest_size=10).hexdigest()
    body = Checkpointed(identity, trigger, state, message, track, epic)
    now = time.time()
    return Fact(key, state.session_id, state.project, min(fired_at or now, now), body)


def checkpoint_event(trigger: Trigger, state: SessionState) -> str:
    """Return the id of the event that a checkpoint records: another event, another checkpoint."""
    if trigger == "precompact":
        return f"precompact:{state.compactions}"
    if trigger in ("idle", "session-end"):
        return f"{trigger}:{state.last_activity_at}"
    if trigger == "manual":
        return f"manual:{_digest(state)}:{int(time.time() // MANUAL_WINDOW_S)}"
    return f"{trigger}:{_digest(state)}"


def _digest(state: SessionState) -> str:
    """Return a digest of the state without its times."""
    undated = msgspec.structs.replace(state, last_activity_at=0, touched_at=0, stopped_at=0, records=0)
    return hashlib.blake2b(msgspec.json.encode(undated), digest_size=8).hexdigest()
