"""Free-form notes turned into a structured block."""
