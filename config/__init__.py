"""Settings, paths, logging and the family of errors: everything else stands on these."""
