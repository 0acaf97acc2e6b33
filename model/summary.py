"""A summary: goal, status, now and next of a work, worded by the person's own model, as frozen values."""

from typing import Literal

import msgspec

from flowd.model.session import Status, Trigger

# The checkpoints at which a model is asked; "change" is a work that has changed a lot since.
Moment = Literal["precompact", "idle", "session-end", "change"]
CHECKPOINT_MOMENTS: tuple[Trigger, ...] = ("precompact", "idle", "session-end")


class Summary(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The accepted fields of one answer; an empty field was not given, or was refused.

    ``basis`` is what the work's sessions had done when it was made: status, now and next hold only as
    long as nothing was done since.
    """

    goal: str = ""
    status: Status | None = None
    now: str = ""
    next: tuple[str, ...] = ()
    model: str = ""
    at: float = 0.0
    basis: str = ""

    @property
    def is_empty(self) -> bool:
        """Whether no field was accepted."""
        return not (self.goal or self.status or self.now or self.next)


class ModelStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The model's part of status: whether it is on, its meter, its caps, and what stopped it."""

    is_on: bool = False
    engine: str = ""
    reason: str = ""
    calls_today: int = 0
    tokens_today: int = 0
    tokens_per_day: int = 0
    usd_today: float = 0.0
    usd_per_day: float = 0.0
    last_error: str = ""
    last_at: float = 0.0

    @property
    def line(self) -> str:
        """Whether the model is on, and its meter, in one line for people."""
        if not self.is_on:
            return f"model {self.reason}"
        used = f"{self.calls_today} calls, {self.tokens_today} of {self.tokens_per_day} tokens today"
        line = f"model on ({self.engine}): {used}, ${self.usd_today:.4f} of ${self.usd_per_day:g}"
        trouble = self.reason or (f"last failure: {self.last_error}" if self.last_error else "")
        return f"{line}; {trouble}" if trouble else line
