"""The index of each handoff directory, kept in step with what lies there."""

import os

from flowd.handoff.contract_shelf import refresh_index
from flowd.store.facts import Fact, HandoffTaken


class HandoffIndex:
    """Writes one table per handoff directory; nothing is held, for the directory itself says all."""

    name = "handoff_index"
    debounce_s = 2.0
    is_prompt = False

    def key(self, fact: Fact) -> str | None:
        """Return the directory: one look at it stands for every change before."""
        return os.path.dirname(fact.body.path) if isinstance(fact.body, HandoffTaken) else None

    def accept(self, fact: Fact) -> None:
        """Bring the index of the directory up to date, unless the directory has gone."""
        directory = self.key(fact)
        if directory and os.path.isdir(directory):  # noqa: PTH112 answers, never raises
            refresh_index(directory)

    def flush(self) -> None:
        """Do nothing: what was accepted is written."""
