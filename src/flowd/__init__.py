"""flowd keeps the thread of your work with Claude from breaking."""

__version__ = "0.1.0"
