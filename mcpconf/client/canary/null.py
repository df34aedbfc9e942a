"""A client that says it did its part, and did nothing."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    sys.exit(0)
