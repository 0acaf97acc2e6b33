"""Handoff documents in ~/.claude/handoffs: parse any style, render ours, find them by time."""
