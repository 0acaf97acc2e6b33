"""Log what a person wants to know of a working flowd: sessions that appear, files that are written."""

import time

from flowd.config.logs import log
from flowd.model.facts import Fact, StateChanged

# What is older is history that is being read for the first time.
FRESH_S = 3600.0
# A session at work changes its handoff.yaml every second; one line a minute is enough.
REPEAT_S = 60.0
MAX_REMEMBERED = 1000
# What each sink that writes outside core.db writes.
WRITES = {
    "handoff_yaml": "handoff.yaml",
    "handoff_markdown": "handoff document",
    "beads": "Beads note",
    "track": "track handoff",
    "agent_mail": "mail",
    "share": "shared copy",
}


class ActivityLog:
    """Logs activity as it happens, each thing at most once a minute. Used by one thread."""

    def __init__(self) -> None:
        self._logged: dict[str, float] = {}

    def sessions_seen(self, facts: list[Fact]) -> None:
        """Log the sessions at work that appear in *facts* for the first time."""
        for fact in facts:
            if (
                isinstance(fact.body, StateChanged)
                and _is_fresh(fact)
                and fact.session_id not in self._logged
            ):
                self._remember(fact.session_id)
                log.info("session_seen", session=fact.session_id[:8], project=fact.project)

    def delivered(self, sink: str, key: str, fact: Fact) -> None:
        """Log that *sink* has written what *fact* is about."""
        now = time.monotonic()
        if sink not in WRITES or not _is_fresh(fact) or now - self._logged.get(key, -REPEAT_S) < REPEAT_S:
            return
        self._remember(key)
        log.info("written", what=WRITES[sink], project=fact.project, session=fact.session_id[:8])

    def _remember(self, key: str) -> None:
        if len(self._logged) >= MAX_REMEMBERED:
            self._logged.clear()
        self._logged[key] = time.monotonic()


def _is_fresh(fact: Fact) -> bool:
    return time.time() - fact.at < FRESH_S
