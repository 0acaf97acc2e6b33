"""Asks the person's model at the moments that matter; the sink worker gives it its thread and its cursor."""

import time
from collections.abc import Callable

from flowd.actions.context import Context
from flowd.actions.summarise import Outcome, is_on, summarise
from flowd.model.facts import Checkpointed, Fact, WorkChanged
from flowd.model.session import latest_activity
from flowd.model.summary import CHECKPOINT_MOMENTS, Moment
from flowd.sinks.protocol import RetryLaterError
from flowd.store.journal import Journal
from flowd.store.summaries import Summaries

# Older moments are history: a catch-up must not spend anything.
FRESH_S = 6 * 3600.0


class SummarySink:
    """Hands moments to ``summarise``, one at a time. A moment that fails is not tried again."""

    name = "model"
    debounce_s = 5.0
    low_latency = False

    def __init__(self, context: Context, announce: Callable[[int], None]) -> None:
        self._context = context
        self._announce = announce
        self._store = Summaries(context.database)
        self._is_on = False
        self._seen: tuple[int, object] | None = None

    def key(self, fact: Fact) -> str | None:
        """Return the session of a moment, None while the model is off."""
        moment = _moment(fact)
        return f"{moment}:{fact.session_id}" if moment and self._may_ask() else None

    def accept(self, fact: Fact) -> None:
        """Ask the model about the work of *fact*'s session; a failure is shown, and not tried again."""
        moment = _moment(fact)
        if moment is None:
            return
        outcome = summarise(self._context, fact.project, fact.session_id, moment)
        if outcome is Outcome.BUSY:
            raise RetryLaterError("another call of the model is running")
        if outcome is Outcome.ANSWERED:
            self._announce(Journal(self._context.database).newest())

    def flush(self) -> None:
        """Do nothing: every call is settled when it ends."""

    def _may_ask(self) -> bool:
        """Return True if the model is on; looked up again when core.db or the settings have changed."""
        settings = self._context.settings.model
        seen = self._context.database.version(), settings
        if seen != self._seen:
            self._seen, self._is_on = seen, is_on(self._store, settings)
        return self._is_on


def _moment(fact: Fact) -> Moment | None:
    """Return the moment that *fact* is, None if it is none, or history."""
    body = fact.body
    if isinstance(body, Checkpointed):
        is_fresh = time.time() - latest_activity(body.state) < FRESH_S
        is_moment = is_fresh and not body.is_visitor and body.trigger in CHECKPOINT_MOMENTS
        return body.trigger if is_moment else None  # type: ignore[return-value]  # one of the moments
    if isinstance(body, WorkChanged) and not body.work.is_tentative:
        return "change" if time.time() - body.work.touched_at < FRESH_S else None
    return None
