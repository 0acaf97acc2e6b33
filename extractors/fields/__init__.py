"""One module per field of the session state: goal, progress, files, findings and so on."""
