"""Conductor tracks: writes the handoff, the history and the index of a track."""
