"""
Verdicts about MCP programs that can be trusted.

A run is *launch*, then *judge*: the launcher stores evidence and decides nothing,
the judge reads evidence and starts nothing. See ``docs/architecture.md``.
"""

__version__ = "0.1.0"
