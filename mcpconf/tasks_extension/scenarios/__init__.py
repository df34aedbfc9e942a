"""Our scenarios of the tasks extension, by theme."""
