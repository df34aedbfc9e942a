"""The clients under test: a driver or program for each, and the canaries."""
