"""A suite, asked what it holds: catalogues are generated here, by running it."""
