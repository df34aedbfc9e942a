"""Our own checks of a client, over stdio and HTTP, on the fixture server."""
