"""What surrounds a session on disk: its project, its git checkout, the client process that runs it."""
