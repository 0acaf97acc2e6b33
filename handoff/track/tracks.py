"""The conductor's tracks of a project: which there are, and which one is being worked on."""

# ruff: noqa: PTH112, PTH114 - os.path answers False where Path raises

import os
import re
from typing import NamedTuple

from flowd.handoff.errors import HandoffError
from flowd.handoff.track.files import read_track_file
from flowd.handoff.track.metadata import METADATA, NO_METADATA, Metadata, read_metadata
from flowd.system.markdown import read_lines, split_lines

_EPIC = re.compile(r"\b(?:E(?P<short>\d+)|[Ee]pic\s+(?P<long>\d+))\b")


class Phase(NamedTuple):
    """The checkboxes below one heading."""

    title: str
    done: int
    total: int

    @property
    def is_closed(self) -> bool:
        """Whether it has checkboxes and all are done."""
        return self.total > 0 and self.done == self.total

    @property
    def epic(self) -> str:
        """The epic that the heading names, such as ``E1``; empty where it names none."""
        found = _EPIC.search(self.title)
        return f"E{found['short'] or found['long']}" if found else ""


class Plan(NamedTuple):
    """A plan's phases, in order; only those with checkboxes count."""

    phases: tuple[Phase, ...] = ()

    @property
    def done(self) -> int:
        """How many checkboxes are done."""
        return sum(phase.done for phase in self.phases)

    @property
    def total(self) -> int:
        """How many checkboxes there are."""
        return sum(phase.total for phase in self.phases)

    @property
    def current(self) -> Phase | None:
        """The first phase that is not closed, else the last one."""
        unfinished = (phase for phase in self.phases if not phase.is_closed)
        return next(unfinished, self.phases[-1] if self.phases else None)

    @property
    def labels(self) -> dict[str, Phase]:
        """The phases by a short name each: the epic that the heading names, else ``P`` and the number."""
        return {phase.epic or f"P{number}": phase for number, phase in enumerate(self.phases, 1)}

    @property
    def closed(self) -> frozenset[str]:
        """The short names of the phases that are closed."""
        return frozenset(label for label, phase in self.labels.items() if phase.is_closed)


def percent(done: int, total: int) -> int:
    """Return *done* of *total* in whole percent; nothing of nothing is 0."""
    return min(100, done * 100 // total) if total > 0 else 0


def read_plan(text: str) -> Plan:
    """Return the phases of *text*; checkboxes in fenced examples are not counted."""
    phases: list[Phase] = []
    title = ""
    for line in read_lines(split_lines(text)):
        if line.kind == "heading":
            title = line.text
        elif line.box:
            _count(phases, title, is_done=line.is_ticked)
    return Plan(tuple(phases))


def _count(phases: list[Phase], title: str, *, is_done: bool) -> None:
    if not phases or phases[-1].title != title:
        phases.append(Phase(title, 0, 0))
    last = phases[-1]
    phases[-1] = Phase(title, last.done + is_done, last.total + 1)


CONDUCTOR = "conductor"
TRACKS = "tracks"
HANDOFFS = "handoffs"
GENERAL = "general"
PLAN = "plan.md"
# A track without a status may be worked on.
ACTIVE = frozenset({"in_progress", "new", "planned", ""})
MAX_TRACKS = 1000


class Track(NamedTuple):
    """One track, or the project's general handoff folder when no track is being worked on."""

    project: str
    name: str

    @property
    def is_general(self) -> bool:
        """Whether it is for work outside of any track."""
        return not os.path.isdir(self.directory)

    @property
    def has_metadata(self) -> bool:
        """Whether it has a metadata.json; flowd never creates one."""
        return os.path.lexists(os.path.join(self.directory, METADATA))

    @property
    def directory(self) -> str:
        """Where metadata.json and plan.md are."""
        return os.path.join(tracks_directory(self.project), self.name)

    @property
    def handoffs(self) -> str:
        """Where its handoffs are written."""
        return os.path.join(self.project, CONDUCTOR, HANDOFFS, self.name)

    def metadata(self) -> Metadata:
        """Parse metadata.json, empty without one; raise HandoffError if that is not possible."""
        return read_metadata(self.project, self.directory) if self.has_metadata else NO_METADATA

    def plan(self) -> Plan:
        """Parse plan.md; return an empty plan without a readable one."""
        try:
            return read_plan(self.plan_text())
        except HandoffError:
            return Plan()

    def plan_text(self) -> str:
        """Return the text of plan.md, empty without one; raise HandoffError if it cannot be read."""
        return read_track_file(self.project, os.path.join(self.directory, PLAN)) or ""


def has_conductor(project: str) -> bool:
    """Return True if *project* has a ``conductor`` directory that is not a link."""
    folder = os.path.join(project, CONDUCTOR)
    return os.path.isdir(folder) and not os.path.islink(folder)


def tracks_directory(project: str) -> str:
    """Return where the tracks of *project* are."""
    return os.path.join(project, CONDUCTOR, TRACKS)


def tracks_of(project: str) -> list[Track]:
    """Return the tracks of *project*, with a metadata.json or a plan.md, the latest modified first."""
    found = []
    for name in _names(tracks_directory(project)):
        track = Track(project, name)
        modified = _modified_ns(track.directory)
        if modified and not os.path.islink(track.directory):
            found.append((-modified, track))
    return [track for _, track in sorted(found)]


def _modified_ns(directory: str) -> int:
    """Return when metadata.json was modified, without one plan.md, 0 without either."""
    for name in (METADATA, PLAN):
        try:
            return os.stat(os.path.join(directory, name)).st_mtime_ns
        except OSError:
            continue
    return 0


def named_track(project: str, name: str) -> Track | None:
    """Return the track called *name*, if there is one."""
    return next((track for track in tracks_of(project) if track.name == name), None)


class ChosenTrack(NamedTuple):
    """A track with its metadata; None for the general folder and where metadata.json cannot be read."""

    track: Track
    metadata: Metadata | None


def choose_track(project: str, bound: str = "") -> Track:
    """Return the track *bound* to the session, else the latest active one, else the general folder."""
    return read_chosen_track(project, bound).track


def read_chosen_track(project: str, bound: str = "") -> ChosenTrack:
    """Return the track of ``choose_track`` and its metadata; each metadata.json is parsed once at most."""
    tracks = tracks_of(project)
    for track in tracks:
        if bound and track.name == bound:
            return ChosenTrack(track, _metadata_of(track))
    finished: ChosenTrack | None = None
    for track in tracks:
        metadata = _metadata_of(track)
        # One that cannot be read may well be the one: whoever writes to it is told why it is not.
        if metadata is not None and metadata.status not in ACTIVE:
            continue
        plan = track.plan()
        if not plan.total or plan.done < plan.total:
            return ChosenTrack(track, metadata)
        finished = finished or ChosenTrack(track, metadata)
    return finished or ChosenTrack(Track(project, GENERAL), None)


def _metadata_of(track: Track) -> Metadata | None:
    try:
        return track.metadata()
    except HandoffError:
        return None


def _names(directory: str) -> list[str]:
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [name for name in names if not name.startswith(".") and name.isprintable()][:MAX_TRACKS]


class TrackProgress(NamedTuple):
    """Tasks done of all tasks, counted by Beads or by the plan, and the phase of the plan."""

    done: int = 0
    total: int = 0
    phase: Phase | None = None

    @property
    def percent(self) -> int:
        """Whole percent, 0 without any task."""
        return percent(self.done, self.total)
