"""The conductor's rules for handoffs of a project, and which handoffs the track sink is about to write."""

import os
import re
import time
from typing import Any, NamedTuple

from flowd.config.settings import Settings
from flowd.handoff.errors import HandoffError
from flowd.handoff.track.beads import TrackBeads
from flowd.handoff.track.files import read_track_file
from flowd.handoff.track.tracks import has_conductor
from flowd.model.facts import Checkpointed, Fact
from flowd.system.regex_cost import find_problem
from flowd.system.times import iso_millis
from flowd.system.yaml_text import YamlTextError, load_yaml

# The triggers of the conductor, by priority. No event of flowd has more than one of them.
PRIORITIES = ("pre-finish", "epic-end", "epic-start", "design-end", "idle", "manual")
ALWAYS = frozenset({"design-end", "pre-finish", "manual"})
MAX_PATTERNS = 20
MAX_KNOWN = 1000
_MAPPING = re.compile(r"^handoff:[ \t]*\n(?:(?:[ \t]+.*|[ \t]*)(?:\n|\Z))+", re.MULTILINE)
# The triggers whose checkpoints become handoffs of a track without a command.
AUTOMATIC_TRIGGERS = frozenset({"design-end", "epic-start", "epic-end", "pre-finish", "idle"})
MAX_WAIT_S = 10.0


class TrackRules(NamedTuple):
    """The rules of a project; ``warnings`` name the ignored ones."""

    disabled: frozenset[str] = frozenset()
    quiet: bool = False
    idle: bool = True
    patterns: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def allows(self, trigger: str) -> bool:
        """Return True if *trigger* may create a handoff by itself."""
        if trigger in ALWAYS:
            return True
        return trigger in PRIORITIES and trigger not in self.disabled and (trigger != "idle" or self.idle)


def read_rules(project: str) -> TrackRules:
    """Return the rules of *project*, the defaults without a workflow.md that has some."""
    try:
        text = read_track_file(project, os.path.join(project, "conductor", "workflow.md"))
    except HandoffError as error:
        return TrackRules(warnings=(f"workflow.md is ignored: {error}",))
    found = _MAPPING.search(text) if text and "handoff:" in text else None
    return _rules(found[0]) if found else TrackRules()


_known_patterns: dict[str, tuple[tuple[int, int, int], tuple[str, ...]]] = {}


def project_patterns(project: str) -> tuple[str, ...]:
    """Return the ``secrets_patterns`` of *project*, reading workflow.md only when it has changed."""
    try:
        status = os.lstat(os.path.join(project, "conductor", "workflow.md"))
    except (OSError, ValueError):
        return ()
    version = (status.st_ino, status.st_mtime_ns, status.st_size)
    known = _known_patterns.get(project)
    if known is None or known[0] != version:
        if len(_known_patterns) >= MAX_KNOWN:
            _known_patterns.clear()
        known = _known_patterns[project] = version, read_rules(project).patterns
    return known[1]


def _rules(text: str) -> TrackRules:
    try:
        value = load_yaml(text)
    except YamlTextError as error:
        return TrackRules(warnings=(f"workflow.md: the handoff section is ignored: {error}",))
    handoff = value.get("handoff") if isinstance(value, dict) else None
    return _from_mapping(handoff) if isinstance(handoff, dict) else TrackRules()


def _from_mapping(handoff: dict[Any, Any]) -> TrackRules:
    automatic = handoff.get("auto_triggers")
    switches = automatic if isinstance(automatic, dict) else {}
    patterns, warnings = _patterns(handoff.get("secrets_patterns"))
    return TrackRules(
        disabled=frozenset(str(name) for name, wanted in switches.items() if wanted is False),
        quiet=handoff.get("quiet") is True,
        idle=_is_idle_on(handoff),
        patterns=patterns,
        warnings=warnings,
    )


def _is_idle_on(handoff: dict[Any, Any]) -> bool:
    thresholds = (handoff.get(name) for name in ("idle_threshold_minutes", "idle_threshold"))
    is_zero = any(value == 0 and value is not False for value in thresholds)
    return handoff.get("idle_prompt_enabled") is not False and not is_zero


def _patterns(value: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    good, warnings = [], []
    for pattern in value[:MAX_PATTERNS] if isinstance(value, list) else []:
        problem = find_problem(pattern)
        if problem:
            warnings.append(f"workflow.md: secrets_patterns: {pattern!r:.60} {problem}")
        else:
            good.append(pattern)
    return tuple(good), tuple(warnings)


def track_handoff_pending(fact: Fact, track: TrackBeads | None, settings: Settings) -> bool:
    """Return True if the track sink is about to write the handoff of *fact*; False after MAX_WAIT_S."""
    checkpoint = fact.body
    if not isinstance(checkpoint, Checkpointed) or checkpoint.trigger not in AUTOMATIC_TRIGGERS:
        return False
    if track is None or time.time() > fact.at + MAX_WAIT_S or not settings.conductor.enabled:
        return False
    if track.last_handoff >= iso_millis(fact.at):
        return False
    return has_conductor(fact.project) and read_rules(fact.project).allows(checkpoint.trigger)
