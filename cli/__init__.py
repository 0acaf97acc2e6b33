"""The faces people type at: ``flowd`` and ``flow``, one file per verb."""
