"""Convert free-form notes to a structured block."""
