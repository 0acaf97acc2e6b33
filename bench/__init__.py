"""flowd beside its floors: what it costs, measured in one run."""
