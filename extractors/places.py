"""Paths in texts, told from where the session works."""

from flowd.extractors.protocol import Place


def local(text: str, place: Place) -> str:
    """Return *text* with the paths below the project relative to it, those below home from ``~``."""
    if place.root and place.root != "/" and place.root in text:
        text = text.replace(place.root + "/", "").replace(place.root, ".")
    if place.home and place.home != "/" and place.home + "/" in text:
        text = text.replace(place.home + "/", "~/")
    return text
