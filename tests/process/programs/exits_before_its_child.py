"""Exits first; its child notices that, tidies up for a moment, and exits too."""

import os
import select

lives, hold = os.pipe()
if os.fork() == 0:
    os.close(hold)
    os.read(lives, 1)  # until the parent is gone
    select.select([], [], [], 0.1)
    os.write(1, b"the child was last\n")
