"""One family of errors: what happened, and a hint what to do."""


class FlowdError(Exception):
    """Base of every error flowd raises on purpose."""

    def __init__(self, what: str, *, hint: str = "") -> None:
        super().__init__(what)
        self.hint = hint


class SettingsError(FlowdError):
    """An invalid setting: names file, key, value and the nearest valid key."""


class StoreError(FlowdError):
    """core.db cannot serve right now. ``condition`` is the word that status shows."""

    def __init__(self, what: str, *, condition: str, hint: str = "") -> None:
        super().__init__(what, hint=hint)
        self.condition = condition


class NotRunningError(FlowdError):
    """The daemon did not answer."""
