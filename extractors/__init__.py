"""Pure functions: decoded records in, state and facts out. No disk, no clock, no network."""
