"""The MCP server, over stdio and HTTP. It holds no logic of its own: it calls the store."""
