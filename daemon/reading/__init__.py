"""Watching, tailing and reading transcripts into the journal."""
