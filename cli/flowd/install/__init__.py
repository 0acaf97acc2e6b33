"""`flowd install` and `flowd uninstall`: the service, the hooks, the MCP server."""
