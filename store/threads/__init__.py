"""Threads between Chat and Code: the two tables of their specification."""
