"""The official conformance suite: its pin, its Node, one scenario at a time."""
