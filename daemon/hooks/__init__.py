"""Hook events: answered, spooled, turned into checkpoints."""
