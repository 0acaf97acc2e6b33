"""Sinks: projections of the journal, one module or sub-package each, with their own cursors."""
