"""What a transcript's place below ``projects/`` says about it. Directory names are never decoded."""

from typing import NamedTuple

from flowd.extractors.transcript.protocol import ProjectPlace


class TranscriptName(NamedTuple):
    """The session that a transcript belongs to, as its path tells."""

    session_id: str
    is_subagent: bool


def transcript_name(relative_path: str) -> TranscriptName | None:
    """Return whose transcript *relative_path* (below ``projects/``) is, or None if it is none."""
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


def local(text: str, place: ProjectPlace) -> str:
    """Return *text* with the paths below the project relative to it, those below home from ``~``."""
    if place.root and place.root != "/" and place.root in text:
        text = text.replace(place.root + "/", "").replace(place.root, ".")
    if place.home and place.home != "/" and place.home + "/" in text:
        text = text.replace(place.home + "/", "~/")
    return text
