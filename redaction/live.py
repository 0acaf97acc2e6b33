"""The redactor of a process: follows the patterns of the settings and of each project, also when they change."""

from collections.abc import Callable

from flowd.config.settings import LiveSettings
from flowd.redaction.redactor import Redactor

Patterns = tuple[str, ...]
ProjectPatterns = Callable[[str], Patterns]
MAX_PROJECTS = 64


def no_patterns(_: str) -> Patterns:
    """Return the patterns of a project that has none."""
    return ()


class LiveRedactor:
    """Mask secrets by the built-in rules, by ``redaction.patterns``, and by the patterns of *project*.

    ``of`` returns the redactor for another project: the patterns of one must not touch texts of another.
    """

    def __init__(
        self, settings: LiveSettings, project_patterns: ProjectPatterns = no_patterns, project: str = ""
    ) -> None:
        self._settings = settings
        self._project_patterns = project_patterns
        self._project = project
        self._compiled: dict[str, tuple[Patterns, Patterns, Redactor]] = {}
        self.of(project)

    def __call__(self, text: str) -> str:
        """Return *text* with every secret replaced by ``[redacted:kind]``."""
        return self.redactor(text)

    def of(self, project: str) -> Redactor:
        """Return the redactor for texts of *project*."""
        own = self._settings.current.redaction.patterns
        theirs = self._project_patterns(project) if project else ()
        compiled = self._compiled.get(project)
        if compiled is None or compiled[0] is not own or compiled[1] != theirs:
            if len(self._compiled) >= MAX_PROJECTS:
                self._compiled.clear()
            redactor = Redactor(own)
            compiled = own, theirs, redactor.with_patterns(theirs) if theirs else redactor
            self._compiled[project] = compiled
        return compiled[2]

    def custom_of(self, project: str) -> Redactor | None:
        """Return the redactor for *project* if there are any patterns, None if the built-in rules are all."""
        redactor = self.of(project)
        own, theirs, _ = self._compiled[project]
        return redactor if own or theirs else None

    @property
    def custom(self) -> Redactor | None:
        """The redactor if there are patterns, None if the built-in rules are all there is."""
        return self.custom_of(self._project)

    @property
    def redactor(self) -> Redactor:
        """The redactor for the present patterns, for callers that also need ``find``."""
        return self.of(self._project)
