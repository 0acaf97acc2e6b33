"""Parse the path of a transcript: its session, or a subagent of it. Directory names are never decoded."""

from typing import NamedTuple

from flowd.extractors.transcript.protocol import ProjectPlace


class TranscriptName(NamedTuple):
    """The session that a transcript belongs to, derived from its path."""

    session_id: str
    is_subagent: bool


def transcript_name(relative_path: str) -> TranscriptName | None:
    """Return the session of the transcript at *relative_path* (below ``projects/``), None for other files."""
    parts = relative_path.split("/")
    if len(parts) < 2 or not parts[-1].endswith(".jsonl"):
        return None
    stem = parts[-1].removesuffix(".jsonl")
    if len(parts) == 2:
        # Clients 2.0 put subagents beside the sessions; their records name the parent.
        return TranscriptName("" if stem.startswith("agent-") else stem, stem.startswith("agent-"))
    if parts[2] == "subagents" and stem.startswith("agent-"):
        return TranscriptName(parts[1], True)
    return None


def relative_paths(text: str, place: ProjectPlace) -> str:
    """Return *text* with paths relative to the project, or starting with ``~`` below home."""
    if place.root and place.root != "/" and place.root in text:
        text = text.replace(place.root + "/", "").replace(place.root, ".")
    if place.home and place.home != "/" and place.home + "/" in text:
        text = text.replace(place.home + "/", "~/")
    return text
