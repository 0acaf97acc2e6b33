"""The command lines: ``flowd`` controls the daemon, ``flow`` is for people and agents at work."""
