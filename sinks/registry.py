"""The sinks, made once for the daemon. A new one is one file, one line here, one test file."""

from flowd.config.live import LiveSettings
from flowd.sinks.agent_mail.sink import AgentMailSink
from flowd.sinks.beads.sink import Beads
from flowd.sinks.core_db import CoreDb
from flowd.sinks.handoff_markdown.sink import HandoffIndex, HandoffMarkdown
from flowd.sinks.handoff_yaml import HandoffYaml
from flowd.sinks.idle_timer import IdleTimer
from flowd.sinks.knowledge import Knowledge
from flowd.sinks.protocol import Sink
from flowd.sinks.track.sink import TrackHandoffs
from flowd.store.database import Database


def make_sinks(database: Database, settings: LiveSettings) -> tuple[Sink, ...]:
    """Return every sink, in the order status shows them."""
    return (
        CoreDb(database),
        HandoffYaml(database, settings),
        Beads(settings),
        AgentMailSink(settings),
        IdleTimer(database),
        HandoffMarkdown(database, settings),
        HandoffIndex(),
        Knowledge(database),
        TrackHandoffs(database, settings),
    )
