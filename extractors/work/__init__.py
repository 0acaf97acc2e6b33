"""Works: which session contributes to which, what is open in them, and when a step is closed."""
