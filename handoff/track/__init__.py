"""Conductor tracks: plan.md, metadata.json, index.md, workflow.md and the track handoffs."""
