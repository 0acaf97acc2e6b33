"""Programs that write files of the repository from its code: `make reference`, `make recording`."""
