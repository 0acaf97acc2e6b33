"""core.db: the source of truth; everything else that flowd writes can be rebuilt from it."""
