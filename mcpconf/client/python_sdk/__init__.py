"""The Python SDK's client, as a program that follows the suite's contract."""
