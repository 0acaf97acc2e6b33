"""Secrets: find them in any text and mask them before a byte is written."""
