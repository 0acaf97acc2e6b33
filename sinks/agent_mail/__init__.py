"""Agent Mail: send a checkpoint as a message to the agent named in the settings."""
