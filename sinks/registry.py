"""The registry of sinks. A new sink is one module, one line here, one test file."""

from flowd.config.settings import LiveSettings
from flowd.redaction.data import Redact
from flowd.sinks.agent_mail.sink import AgentMailSink
from flowd.sinks.beads.sink import BeadsSink
from flowd.sinks.core_db import CoreDbSink
from flowd.sinks.handoff_markdown import HandoffIndexSink, HandoffMarkdownSink
from flowd.sinks.handoff_yaml import HandoffYamlSink
from flowd.sinks.idle_timer import IdleTimerSink
from flowd.sinks.knowledge import KnowledgeSink
from flowd.sinks.protocol import Sink
from flowd.sinks.track.sink import TrackSink
from flowd.store.database import Database


def make_sinks(database: Database, settings: LiveSettings, redact: Redact) -> tuple[Sink, ...]:
    """Return every sink, in the order status shows them."""
    return (
        CoreDbSink(database),
        HandoffYamlSink(database, settings, redact),
        BeadsSink(settings, redact),
        AgentMailSink(settings, redact),
        IdleTimerSink(database),
        HandoffMarkdownSink(database, settings, redact),
        HandoffIndexSink(redact),
        KnowledgeSink(database),
        TrackSink(database, settings, redact),
    )
