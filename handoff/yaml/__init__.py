"""handoff.yaml: the five functions of its specification, parsing, merging, durable writing."""
