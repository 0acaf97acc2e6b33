"""What was said and done: turns, prompts, tool calls, to-do lists, plans, compactions."""
