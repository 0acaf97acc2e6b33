"""The redactor of a process: follows the patterns in the settings, also after a reload."""

from flowd.config.settings import LiveSettings
from flowd.redaction.redactor import Redactor


class LiveRedactor:
    """Mask secrets by the built-in rules and by ``redaction.patterns`` as they are now."""

    def __init__(self, settings: LiveSettings) -> None:
        self._settings = settings
        self._compiled = _compile(settings)

    def __call__(self, text: str) -> str:
        """Return *text* with every secret replaced by ``[redacted:kind]``."""
        patterns, redactor = self._compiled
        if patterns is not self._settings.current.redaction.patterns:
            self._compiled = patterns, redactor = _compile(self._settings)
        return redactor(text)

    @property
    def custom(self) -> Redactor | None:
        """The redactor if there are ``redaction.patterns``, None if the built-in rules are all there is."""
        return self.redactor if self._settings.current.redaction.patterns else None

    @property
    def redactor(self) -> Redactor:
        """The redactor for the present patterns, for callers that also need ``find``."""
        self("")
        return self._compiled[1]


def _compile(settings: LiveSettings) -> tuple[tuple[str, ...], Redactor]:
    patterns = settings.current.redaction.patterns
    return patterns, Redactor(patterns)
