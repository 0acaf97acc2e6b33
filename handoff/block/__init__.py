"""Structured handoff blocks: find them in markdown, check them, write them."""
