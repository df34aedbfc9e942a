"""
A client that opens a connection, lists the tools and leaves: it never uses one.

``python list_only.py URL``. As content with every answer as ``initialize_only``.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

# Python's isolated mode (-I) leaves the program's own directory out of the path.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

if TYPE_CHECKING:
    from mcpconf.client.canary.initialize_only import connection_of
else:
    from initialize_only import connection_of

if __name__ == "__main__":
    connection = connection_of(sys.argv[-1])
    if connection.open() or connection.is_stateless:
        # Without a handshake a refused opening refuses nothing else.
        connection.request("tools/list", {})
