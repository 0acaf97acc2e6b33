"""The programs that Claude Code runs for its hooks."""
