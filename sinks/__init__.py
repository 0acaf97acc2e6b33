"""Projections of the journal: one file each, one Protocol, each at its own pace."""
