"""Writes 200 MB to the descriptor it is given, and says so on the other one."""

import os
import sys

descriptor = int(sys.argv[1])
block = b"x" * 100_000
for _ in range(2000):
    left = block
    while left:
        left = left[os.write(descriptor, left) :]
os.write(3 - descriptor, b"done\n")
