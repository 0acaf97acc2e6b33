"""What is watched beside transcripts: git HEAD, tracks, task files, handoff documents."""
