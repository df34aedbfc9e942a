"""Exits with the code it is given."""

import sys

sys.exit(int(sys.argv[1]))
