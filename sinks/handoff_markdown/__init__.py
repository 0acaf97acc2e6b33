"""Automatic handoff documents in ~/.claude/handoffs, one per session."""
