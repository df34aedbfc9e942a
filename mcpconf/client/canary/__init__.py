"""
Programs that follow the suite's contract badly, each named for what it does.

A run with one of them must never look like a run with a client: they are the floor
that a pass has to rise above. Standard library only, for any Python, isolated or not.
"""
