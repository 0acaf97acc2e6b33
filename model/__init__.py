"""The values that travel between rooms: facts, session state, handoff blocks, triggers. Frozen, no I/O."""
