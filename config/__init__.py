"""Settings, paths and logging."""
