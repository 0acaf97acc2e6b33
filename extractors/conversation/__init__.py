"""Turns, prompts, tool calls, to-do lists, plans, compactions."""
