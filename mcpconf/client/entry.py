"""
The program the suite starts for every scenario: run one driver, leave one record.

``python -I -S entry.py JOB URL``. Whatever goes wrong in here is recorded as an
adapter fault and never as a property of the client.
"""

from __future__ import annotations

import sys

_ARGUMENTS = 3


def main(arguments: list[str]) -> int:
    """Drive one client; 0 done, 1 client error, 69 unsupported, 70 our own fault."""
    # Started as a file, with no site-packages: the package is two levels up.
    sys.path.insert(0, __file__.rsplit("mcpconf", 1)[0])
    from mcpconf.client import job as jobs  # noqa: PLC0415 (needs the path above)

    if len(arguments) != _ARGUMENTS:
        sys.stderr.write("usage: entry.py JOB URL\n")
        return 64
    job = jobs.load_job(arguments[1])
    record = jobs.Record(job)
    verdict, error = jobs.DriverVerdict.DONE, None
    try:
        if job.driver == "codex":
            from mcpconf.client.codex import driver as codex  # noqa: PLC0415

            codex.drive(record, arguments[2])
        else:
            from mcpconf.client import command  # noqa: PLC0415 (only what is needed)

            command.drive(record, arguments[2])
    except jobs.ClientError as problem:
        verdict, error = jobs.DriverVerdict.CLIENT_ERROR, str(problem)
    except jobs.Unsupported as problem:
        verdict, error = jobs.DriverVerdict.UNSUPPORTED, str(problem)
    except Exception:  # noqa: BLE001 (an adapter fault, whatever it is)
        import traceback  # noqa: PLC0415 (only when something broke)

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


if __name__ == "__main__":
    sys.exit(main(sys.argv))
