"""Writes bytes that are not UTF-8 and no end of line, and exits."""

import os

os.write(1, b"\xe9t\xe9 \xff\xfe half a line")
os.write(2, b"\x80")
