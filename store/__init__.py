"""core.db: the one truth. Everything else flowd writes can be written again from here."""
