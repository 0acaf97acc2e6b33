"""The MCP server, over stdio and HTTP. It holds no logic: it calls the store."""
