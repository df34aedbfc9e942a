"""
Servers that do next to nothing; whatever passes for them was never looked at.

Each is a program of its own on the standard library: ``python -I -S null.py --port N``.
"""
