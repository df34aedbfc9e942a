"""Client and server of different revisions."""

from __future__ import annotations

from dataclasses import replace

from mcpconf.fixture_server.profile.negotiation import UNKNOWN_NEW, UNKNOWN_OLD
from mcpconf.revision import Revision
from mcpconf.supplemental.scenario import (
    CONTROL,
    HANDSHAKE,
    STATELESS,
    CheckDefinition,
    Level,
    Scenario,
    connect,
    listing,
)
from mcpconf.supplemental.scenarios.negotiation_looks import (
    look_at_choice,
    look_at_fallback,
    look_at_no_common,
    look_at_nothing_else,
    look_at_offer,
    look_at_offers,
    look_at_refused_attempts,
    look_at_refused_handshake,
    look_at_retry,
    look_at_stateless_requests,
    unknown_version,
)

_LIFECYCLE = "basic/lifecycle"
_VERSIONING = "basic/versioning"
_LIFECYCLE_2025 = (
    "https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle"
)
_BOUND = "(No page demands it; the bound of 20 attempts is ours.)"
_STEPS = (*CONTROL, connect(), listing())

_OLD_SERVER = Scenario(
    name="negotiation-old-server",
    title="a client of 2026-07-28 on a server of 2025-11-25",
    revisions=STATELESS,
    server_revision={Revision.V2026_07_28: Revision.V2025_11_25},
    any_era=True,
    has_control=True,
    steps=_STEPS,
    checks=(
        CheckDefinition(
            id="old-server-is-recognised",
            sentence="A client that an older server refuses falls back to initialize, "
            "or reports a clear error; it does not go on with stateless requests. (The "
            "bound of 20 for one that sends no server/discover is ours.)",
            page=_VERSIONING,
            level=Level.SHOULD,
            looks_for="no stateless request after server/discover was refused but "
            "another server/discover, and initialize or an error of connect or list",
            look=look_at_stateless_requests,
            needs=("connect",),
            broken=("stays_stateless_on_old_server",),
        ),
        CheckDefinition(
            id="fallback-offers-handshake-version",
            sentence="A client that falls back should offer a version that has a "
            "handshake, and complete it, or leave when it is answered.",
            page=_LIFECYCLE_2025,
            level=Level.SHOULD,
            looks_for="initialize with a version before 2026-07-28, initialized, and "
            "a list that succeeds",
            look=look_at_fallback,
            needs=("connect", "list"),
            broken=("offers_modern_in_handshake",),
        ),
    ),
)

_MODERN_SERVER = Scenario(
    name="negotiation-modern-server",
    title="a client of a handshake revision on a server of 2026-07-28 alone",
    revisions=HANDSHAKE,
    server_revision=dict.fromkeys(HANDSHAKE, Revision.V2026_07_28),
    any_era=True,
    has_control=True,
    request_timeout_s=2.0,
    steps=_STEPS,
    checks=(
        CheckDefinition(
            id="refused-initialize-is-reported",
            sentence="A client whose initialize is refused reports the error, or goes "
            "on as the revision does that the server names; it does not wait on.",
            page=_LIFECYCLE,
            level=Level.SHOULD,
            looks_for="the refusal of initialize, and an error of connect or list "
            "that is not a time-out, or stateless requests that succeed",
            look=look_at_refused_handshake,
            needs=("connect",),
            broken=("ignores_errors",),
        ),
        CheckDefinition(
            id="nothing-after-refused-initialize",
            sentence="Initialization is the first interaction; where it fails no "
            "other follows.",
            page=_LIFECYCLE,
            level=Level.MUST,
            looks_for="no initialized and no request of the handshake era after the "
            "refusal",
            look=look_at_nothing_else,
            needs=("connect",),
            broken=("goes_on_after_refused_initialize",),
        ),
        CheckDefinition(
            id="refused-initialize-is-not-repeated",
            sentence=f"A client does not try a refused handshake for ever. {_BOUND}",
            page=_LIFECYCLE,
            level=Level.SHOULD,
            looks_for="at most 20 initialize requests",
            look=look_at_refused_attempts,
            needs=("connect",),
            broken=("shakes_hands_again_and_again",),
        ),
    ),
)


def _unknown(version: str, year: str) -> Scenario:
    profile = f"agrees-on-{year}"
    return Scenario(
        name=f"negotiation-unknown-{year}",
        title=f"initialize is answered with {version}",
        revisions=HANDSHAKE,
        profiles=(profile,),
        has_control=True,
        request_timeout_s=2.0,
        steps=_STEPS,
        checks=(
            CheckDefinition(
                id=f"unknown-version-{year}-ends-connection",
                sentence="A client that does not support the version in the server's "
                "response disconnects. (That it may try again, 20 times at most, is "
                "ours.)",
                page=_LIFECYCLE,
                level=Level.SHOULD,
                looks_for=f"nothing after the answer with {version} but another "
                "attempt, and an error of connect or list that is not a time-out",
                look=unknown_version(profile),
                provoked_by=(profile,),
                needs=("connect",),
                broken=("agrees_to_any_version",),
            ),
        ),
    )


_NO_COMMON = Scenario(
    name="negotiation-no-common-version",
    title="every request is refused by -32022, naming unknown versions alone",
    revisions=STATELESS,
    profiles=("no-common-version",),
    any_era=True,
    has_control=True,
    request_timeout_s=2.0,
    steps=_STEPS,
    checks=(
        CheckDefinition(
            id="no-common-version-is-reported",
            sentence="Where no version is common to both, the client surfaces an "
            "error; it does not try for ever. (The bound of 20 requests is ours.)",
            page=_VERSIONING,
            level=Level.SHOULD,
            looks_for="at most 20 requests that are refused, and an error of connect "
            "or list that is not a time-out",
            look=look_at_no_common,
            provoked_by=("no-common-version",),
            needs=("connect",),
            broken=("retries_refused_version",),
        ),
    ),
)

_COMMON = Scenario(
    name="negotiation-common-version",
    title="the first request is refused by -32022, naming a version both speak",
    revisions=STATELESS,
    profiles=("first-request-unsupported",),
    steps=(connect(), listing()),
    checks=(
        CheckDefinition(
            id="common-version-is-tried",
            sentence="A client that is told which versions a server supports selects "
            "one that it supports, too, and retries.",
            page=_VERSIONING,
            level=Level.SHOULD,
            looks_for="a request with the revision's version after the refusal, on "
            "the same stdio process and without a handshake, and a list that succeeds",
            look=look_at_retry,
            provoked_by=("first-request-unsupported",),
            needs=("connect", "list"),
            broken=("ignores_supported_versions",),
        ),
    ),
)

#: A server that refuses the leg's version once cannot tell over HTTP who chose it from
#: who began anew. Here they differ; but not every client can be told what to offer.
_CHOICE = Scenario(
    name="negotiation-choice",
    title=f"an offer of {UNKNOWN_NEW} is refused by -32022, naming the leg's version",
    revisions=STATELESS,
    any_era=True,
    has_control=True,
    request_timeout_s=2.0,
    steps=(*CONTROL, connect(offer=UNKNOWN_NEW), listing()),
    checks=(
        CheckDefinition(
            id="named-version-is-chosen",
            sentence="A client whose version is refused selects one that it supports "
            "among those that the refusal names, and retries with that.",
            page=_VERSIONING,
            level=Level.SHOULD,
            looks_for=f"a request with {UNKNOWN_NEW} that is refused, one with the "
            "revision's version after it, on the same stdio process and without a "
            "handshake, and a list that succeeds",
            look=look_at_choice,
            needs=("connect", "list"),
            broken=("offers_the_refused_version_again",),
        ),
    ),
)


def _as_worded(check: CheckDefinition) -> tuple[CheckDefinition, CheckDefinition]:
    """A demand of the handshake (MUST), and good advice without one (SHOULD)."""
    return (
        replace(check, revisions=HANDSHAKE),
        replace(check, revisions=STATELESS, level=Level.SHOULD),
    )


_OFFER = Scenario(
    name="negotiation-wrong-offer",
    title=f"the client is told to speak {UNKNOWN_NEW}, which is no version",
    any_era=True,
    has_control=True,
    request_timeout_s=2.0,
    steps=(*CONTROL, connect(offer=UNKNOWN_NEW), listing()),
    checks=(
        *_as_worded(
            CheckDefinition(
                id="wrong-offer-is-dropped",
                sentence="A version that the server does not speak is not used: the "
                "client reports an error, or goes on with one that both speak.",
                page=_LIFECYCLE,
                stateless_page=_VERSIONING,
                level=Level.MUST,
                looks_for=f"no message that declares {UNKNOWN_NEW} after the server's "
                "answer to the offer but another attempt, and no such agreement",
                look=look_at_offer,
                needs=("connect",),
                broken=("keeps_a_refused_offer",),
            ),
        ),
        CheckDefinition(
            id="wrong-offer-is-not-repeated",
            sentence="A client does not offer for ever a version that the server does "
            f"not speak. {_BOUND}",
            page=_LIFECYCLE,
            stateless_page=_VERSIONING,
            level=Level.SHOULD,
            looks_for=f"at most 20 requests that offer {UNKNOWN_NEW}",
            look=look_at_offers,
            needs=("connect",),
            broken=("retries_refused_version",),
        ),
    ),
)

SCENARIOS: tuple[Scenario, ...] = (
    _OLD_SERVER,
    _MODERN_SERVER,
    _unknown(UNKNOWN_OLD, "1999"),
    _unknown(UNKNOWN_NEW, "2099"),
    _NO_COMMON,
    _COMMON,
    _CHOICE,
    _OFFER,
)
