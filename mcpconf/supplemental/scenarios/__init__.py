"""Our scenarios, by theme; each module is data and the checks that read it."""
