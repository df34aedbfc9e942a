"""Servers under test: reached over HTTP, started and stopped, known by name."""
