"""Baselines: what a client is known to fail, why, and since when."""
