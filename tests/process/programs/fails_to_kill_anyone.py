"""A supervisor whose every signal is lost, as if its program ran as someone else."""

import json
import os
import signal
import sys
from pathlib import Path

from mcpconf import supervisor, supervisor_launch, supervisor_tree

kill = os.kill
os.kill = os.killpg = lambda *_: None
supervisor_launch.REAP_S = 0.2
here = Path.cwd()
spec = {
    "argv": sys.argv[1:],
    "cwd": str(here),
    "environment": dict(os.environ),
    "stdout": str(here / "stdout"),
    "stderr": str(here / "stderr"),
    "deadline_s": 0.1,
    "grace_s": 0.1,
    "max_output_bytes": 0,
    "pass_fds": [int(os.environ["ANNOUNCE"])],
    "subreaper": True,
}
answer = supervisor.supervise(supervisor_launch.Launch(spec))
for survivor in supervisor_tree.own_children():
    kill(survivor, signal.SIGKILL)
sys.stdout.write(json.dumps(answer))
