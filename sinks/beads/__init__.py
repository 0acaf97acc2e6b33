"""Beads: keeps the note of the issue being worked on."""
