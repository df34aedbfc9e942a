"""Our own MCP server: three revisions, two transports, and every fault we know."""
