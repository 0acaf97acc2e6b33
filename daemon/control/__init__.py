"""The control socket: server, request handlers, status values."""
