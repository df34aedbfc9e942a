"""
``python -m mcpconf.fixture_server``, or ``python -I -S`` and the name of this file.

The second is for stdio, which needs the standard library alone, and starts sooner:
nothing else is looked for. Clients start a server in every case over stdio.
"""

import gc
import os
import sys

gc.disable()  # what is imported stays
if not __package__:
    # Started as a file, with no site-packages: the package is two levels up.
    sys.path.append(__file__.rsplit("mcpconf", 1)[0])
# No transport of ours is encrypted, and asyncio does without where there is no ssl.
sys.modules["ssl"] = None  # type: ignore[assignment]

from mcpconf.fixture_server.cli import main  # noqa: E402 (needs the lines above)

gc.freeze()
gc.enable()

if __name__ == "__main__":
    code = main()
    # All is written and closed; to take the interpreter apart is work for nobody.
    sys.stderr.flush()
    os._exit(code)
