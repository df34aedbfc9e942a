"""
The program the suite starts for every scenario: run one driver, leave one record.

``python -I -S entry.py JOB URL``, or without a URL where the job is of a supplemental
scenario: its servers are in the job. Whatever goes wrong in here is recorded as an
adapter fault and never as a property of the client.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from mcpconf.client.job import Record

_ARGUMENTS = 3


def main(arguments: list[str]) -> int:
    """Drive one client; 0 done, 1 client error, 69 unsupported, 70 our own fault."""
    # Started as a file, with no site-packages: the package is two levels up.
    sys.path.insert(0, __file__.rsplit("mcpconf", 1)[0])
    from mcpconf.client import job as jobs  # needs the path above

    if len(arguments) not in {_ARGUMENTS - 1, _ARGUMENTS}:
        return _usage()
    try:
        job = jobs.load_job(arguments[1])
    except OSError:
        return _usage()
    if (len(arguments) == _ARGUMENTS) is not (job.kind == "official"):
        return _usage()
    if job.kind != "official":
        # It is beside the client's home, and says all steps ahead of their time.
        os.unlink(arguments[1])
    record = jobs.Record(job)
    verdict, error = jobs.DriverVerdict.DONE, None
    try:
        _drive(record, *arguments[2:])
    except jobs.ClientError as problem:
        verdict, error = jobs.DriverVerdict.CLIENT_ERROR, str(problem)
    except jobs.Unsupported as problem:
        verdict, error = jobs.DriverVerdict.UNSUPPORTED, str(problem)
    except Exception:  # noqa: BLE001 (an adapter fault, whatever it is)
        import traceback  # only when something broke

        verdict, error = jobs.DriverVerdict.ADAPTER_FAULT, traceback.format_exc()
    failed = record.failed_steps()
    if verdict is jobs.DriverVerdict.DONE and failed:
        verdict, error = jobs.DriverVerdict.CLIENT_ERROR, "; ".join(failed)
    record.write(verdict, error)
    return {
        jobs.DriverVerdict.DONE: 0,
        jobs.DriverVerdict.CLIENT_ERROR: 1,
        jobs.DriverVerdict.UNSUPPORTED: jobs.UNSUPPORTED_EXIT,
        jobs.DriverVerdict.ADAPTER_FAULT: 70,
    }[verdict]


def _drive(record: Record, *url: str) -> None:
    """Only what is needed is imported: every scenario pays for it."""
    # ruff: noqa: PLC0415
    if record.job.driver == "codex":
        if url:
            from mcpconf.client.codex import driver as codex

            codex.drive(record, *url)
        else:
            from mcpconf.client.codex import supplemental

            supplemental.drive(record)
    else:
        from mcpconf.client import command

        if url:
            command.drive(record, *url)
        else:
            command.drive_steps(record)


def _usage() -> int:
    sys.stderr.write("usage: entry.py JOB [URL]\n")
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv))
