"""Begin an epic of a conductor track: summarise it, create the epic-start handoff, bind the session."""

import time

import msgspec

from flowd.actions.daemon_client import poke_daemon
from flowd.actions.handoff.project import ProjectHandoffs
from flowd.actions.handoff.track import (
    AskAboutWorkers,
    ResumedTrack,
    TrackCreated,
    create_in_track,
    find_track,
    summarise_track,
)
from flowd.handoff.track.tracks import Track
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Fact
from flowd.store.handoff_fields import binding_fact
from flowd.system.errors import FlowdError


class BegunEpic(msgspec.Struct, frozen=True):
    """The track as it was found, and the handoff that marks the start of the epic."""

    track: ResumedTrack
    created: TrackCreated


def begin_epic(
    handoffs: ProjectHandoffs, track_name: str, epic: str = "", ask: AskAboutWorkers | None = None
) -> BegunEpic:
    """Begin *epic*, by default the first open one of the track."""
    track = find_track(handoffs, track_name)
    if track is None:
        raise FlowdError(
            "the conductor is switched off", hint="set `conductor.enabled: true`, see `flowd config`"
        )
    summary = summarise_track(handoffs.context, track)
    checkpoint = _checkpoint(handoffs, track, epic or _first_open(track))
    created = create_in_track(handoffs.context, track, checkpoint, ask)
    assert created is not None, "epic-start is a trigger of the conductor"
    if not created.cancelled:
        handoffs.journal.append(*_facts(handoffs, track, checkpoint))
        poke_daemon(handoffs.context.paths)
    return BegunEpic(summary, created)


def _checkpoint(handoffs: ProjectHandoffs, track: Track, epic: str) -> Fact:
    state = msgspec.structs.replace(handoffs.state(), project=handoffs.root)
    moment = f"epic-start:{track.name}:{epic}:{time.time()}"
    return checkpoint_fact(state, "epic-start", moment, "", track=track.name, epic=epic)


def _facts(handoffs: ProjectHandoffs, track: Track, checkpoint: Fact) -> list[Fact]:
    session = handoffs.context.session_id
    return [checkpoint, *([binding_fact(session, handoffs.root, track.name)] if session else [])]


def _first_open(track: Track) -> str:
    labels = track.plan().labels
    return next((label for label, phase in labels.items() if not phase.is_closed), "")
