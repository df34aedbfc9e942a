"""
From options to everything a run needs: checked, obtained, written down.

Nothing that is under test is started here, except to ask it for its version. Whatever
is wrong with an option is found before the first case, and nothing is overwritten.
"""

from __future__ import annotations

import os
import secrets
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import mcpconf
from mcpconf.client.manifest import manifest_of
from mcpconf.client.subject import SubjectRecord, resolve_subject
from mcpconf.errors import UsageError
from mcpconf.plan import PlannedCase
from mcpconf.record import (
    AuthMode,
    Policy,
    RevisionPolicy,
    Role,
    Source,
    WarningPolicy,
)
from mcpconf.redaction import redact_text
from mcpconf.report import declared_unsupported
from mcpconf.revision import Revision
from mcpconf.runrecord import RunRecord
from mcpconf.selection import Selection, select
from mcpconf.server.subject import resolve_server
from mcpconf.suite.catalogue import load_catalogue
from mcpconf.suite.install import install_suite, override_suite
from mcpconf.transport import Transport

if TYPE_CHECKING:
    from mcpconf.client.subject import Subject
    from mcpconf.ours import Case
    from mcpconf.selection import Shard
    from mcpconf.server.choice import ServerChoice
    from mcpconf.server.subject import ServerSubject
    from mcpconf.suite.catalogue import Catalogue
    from mcpconf.suite.install import Suite

OUTPUT = Path(".mcpconf")
#: Limit of one scenario's drive, unless the caller says otherwise.
TIMEOUT_S = 45.0
_LONGEST_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a caller may choose; every field is an option of ``mcpconf run``."""

    client: str = "codex"
    binary: Path | None = None
    client_version: str | None = None
    client_command: str | None = None
    #: A server under test; None: a client is, and the options above say which.
    server: ServerChoice | None = None
    auth_mode: AuthMode = AuthMode.ASSISTED
    revisions: tuple[Revision, ...] = tuple(Revision)
    scenarios: tuple[str, ...] = ()
    supplemental: tuple[str, ...] = ()
    transports: tuple[Transport, ...] = tuple(Transport)
    #: One source alone; None: the official scenarios and ours.
    only: Source | None = None
    include_auth: bool = True
    #: A part of the cases; None: all.
    shard: Shard | None = None
    conformance_cli: Path | None = None
    policy: Policy = field(default_factory=Policy)
    jobs: int = field(default_factory=lambda: os.cpu_count() or 1)
    #: Limit of one scenario's drive, in seconds.
    timeout_s: float = TIMEOUT_S
    report: Path | None = None
    artifact_parent: Path | None = None
    keep_artifacts: bool = False
    #: Where runs and the latest report go.
    output_dir: Path = OUTPUT

    @property
    def role(self) -> Role:
        """Whose program is under test."""
        return Role.CLIENT if self.server is None else Role.SERVER

    def command(self) -> tuple[str, ...]:
        """
        The words that choose the same subject and judgement again.

        They are kept with the run, so a secret in a command line is not among them.
        """
        words: list[str] = []
        if self.server is not None:
            words += [redact_text(each) for each in self.server.words]
        elif self.client_command is not None:
            words += ["--client-command", redact_text(self.client_command)]
        elif self.client != "codex":
            words += ["--client", self.client]
        for name in ("binary", "client_version", "conformance_cli"):
            value = getattr(self, name)
            if value is not None:
                words += [f"--{name.replace('_', '-')}", str(value)]
        if self.auth_mode is AuthMode.STRICT:
            words += ["--require-automatic-auth"]
        if self.policy.warnings is not WarningPolicy.FAIL:
            words += ["--warnings", self.policy.warnings.value]
        if self.timeout_s != TIMEOUT_S:
            words += ["--timeout", f"{self.timeout_s:g}"]
        if self.policy.revision is not RevisionPolicy.SAME_ERA:
            words += ["--revision-policy", self.policy.revision.value]
        return tuple(words)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """Everything a run needs, resolved and checked."""

    record: RunRecord
    cases: tuple[Case, ...]
    catalogue: Catalogue
    suite: Suite
    subject: Subject | ServerSubject
    #: Where runs and the latest report go (``.mcpconf``).
    output_dir: Path
    report_path: Path | None
    artifact_parent: Path | None
    keep_artifacts: bool
    jobs: int
    timeout_s: float

    @property
    def launched(self) -> tuple[Case, ...]:
        """The cases that are really launched: the manifest rules out the others."""
        return tuple(
            case
            for case in self.cases
            if declared_unsupported(self.record, case) is None
        )


def new_run_id() -> str:
    """A name no other run has: time to read by, randomness to be alone."""
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")
    return f"{stamp}-{secrets.token_hex(3)}"


def resolve(options: RunOptions) -> Setup:
    """
    Check every option and obtain everything.

    :raises UsageError: an option cannot be honoured.
    :raises ProvisionError: something pinned could not be obtained.
    """
    if options.jobs < 1:
        raise UsageError(f"--jobs {options.jobs}: at least 1")
    if not 0 < options.timeout_s <= _LONGEST_S:
        raise UsageError(
            f"--timeout {options.timeout_s:g}: more than 0, at most {_LONGEST_S:g}"
        )
    catalogue = load_catalogue(role=options.role)
    selection = selection_of(options)
    name = "command" if options.client_command else options.client
    manifest = manifest_of(options.role, name)
    cases = select(selection, catalogue, manifest.variants)
    _check_places(options)
    subject = _subject(options)
    suite = (
        override_suite(options.conformance_cli)
        if options.conformance_cli
        else install_suite()
    )
    if options.artifact_parent is not None:
        options.artifact_parent.mkdir(parents=True, exist_ok=True)
    record = RunRecord(
        run_id=new_run_id(),
        started_at=datetime.now(UTC).isoformat(timespec="milliseconds"),
        tool_version=mcpconf.__version__,
        subject=SubjectRecord.of(subject),
        suite=suite.provenance.to_json(),
        catalogue_version=catalogue.suite_version,
        catalogue_digest=catalogue.digest,
        policy=options.policy,
        auth_mode=options.auth_mode,
        selection=selection,
        cases=tuple((case.key, _options_of(case)) for case in cases),
        command=options.command(),
    )
    return Setup(
        record=record,
        cases=cases,
        catalogue=catalogue,
        suite=suite,
        subject=subject,
        output_dir=options.output_dir.absolute(),
        report_path=options.report and options.report.absolute(),
        artifact_parent=options.artifact_parent and options.artifact_parent.absolute(),
        keep_artifacts=options.keep_artifacts,
        jobs=options.jobs,
        timeout_s=options.timeout_s,
    )


def _subject(options: RunOptions) -> Subject | ServerSubject:
    if options.server is not None:
        return resolve_server(options.server, options.revisions)
    return resolve_subject(
        options.client,
        binary=options.binary,
        version=options.client_version,
        command=options.client_command,
    )


def selection_of(options: RunOptions) -> Selection:
    """
    What the options ask for; a scenario that is named leaves the other source out.

    :raises UsageError: they contradict each other.
    """
    named = {
        Source.OFFICIAL: bool(options.scenarios),
        Source.SUPPLEMENTAL: bool(options.supplemental),
    }
    if options.only is not None:
        sources: tuple[Source, ...] = (options.only,)
        for source in Source:
            if named[source] and source not in sources:
                raise UsageError(
                    f"--only {options.only.value} leaves out the {source.value} "
                    f"scenarios that are named (a nox session may have said it)"
                )
    else:
        sources = tuple(each for each in Source if named[each]) or tuple(Source)
    return Selection(
        role=options.role,
        revisions=options.revisions,
        transports=options.transports,
        sources=sources,
        authentication=options.include_auth,
        official=options.scenarios,
        supplemental=options.supplemental,
        shard=options.shard,
    )


def _options_of(case: Case) -> tuple[tuple[str, str], ...]:
    return tuple(case.options.items()) if isinstance(case, PlannedCase) else ()


def _check_places(options: RunOptions) -> None:
    """
    Refuse a place that cannot be written, before anything is run, made or overwritten.

    :raises UsageError: names the option and what the system says.
    """
    report = options.report
    if report is not None and report.is_dir():
        raise UsageError(f"--report {report}: is a directory")
    if report is not None and report.exists() and not report.is_file():
        # A report replaces what is there; that must not be a device.
        raise UsageError(f"--report {report}: is not a regular file")
    places = {
        "--report": report and report.absolute().parent,
        "--artifact-parent": options.artifact_parent,
        "working directory": options.output_dir,
    }
    for name, place in places.items():
        if place is None:
            continue
        above = (place.absolute(), *place.absolute().parents)
        existing = next(each for each in above if each.exists())
        try:
            with tempfile.TemporaryFile(dir=existing):
                pass
        except OSError as error:
            problem = f"{place}: cannot be written: {error.strerror}"
            raise UsageError(f"{name}: {problem}") from None
