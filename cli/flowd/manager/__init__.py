"""The service managers: systemd and launchd."""
