"""Our checks of the tasks extension (SEP-2663), on a server at a URL."""
