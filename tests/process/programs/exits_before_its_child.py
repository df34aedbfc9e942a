"""Exits first; its child notices that, and exits too."""

import os

lives, hold = os.pipe()
if os.fork() == 0:
    os.close(hold)
    os.read(lives, 1)  # until the parent is gone
    os.write(1, b"the child was last\n")
