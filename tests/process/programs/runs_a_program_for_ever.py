"""A runner, to be killed: starts the program in its arguments and waits for it."""

import os
import sys
from pathlib import Path

from mcpconf.process import Program, run

here = Path.cwd()
run(
    Program(
        argv=tuple(sys.argv[1:]),
        cwd=here,
        environment=dict(os.environ),
        stdout=here / "stdout",
        stderr=here / "stderr",
        deadline_s=120.0,
        grace_s=0.2,
        pass_fds=(int(os.environ["ANNOUNCE"]),),
    )
)
