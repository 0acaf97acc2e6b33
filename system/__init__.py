"""Operating-system helpers that know nothing of flowd: files, locks, processes, times, texts."""
