"""Use-cases: what flowd can be asked to do, whoever asks (command line, hook, MCP, daemon)."""
