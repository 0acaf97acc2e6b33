"""Decoding transcript lines and feeding them to the extractors of one session."""
