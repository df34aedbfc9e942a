"""
What a host does in each scenario with authorization.

Every drive begins as a user's would: a thread starts, the server answers 401, and only
then comes the login. In *assisted* mode the host logs in again where the server asks
for more; in *strict* mode one login is all the client gets, and the rest is its own.
"""

from __future__ import annotations

from mcpconf.client import browser
from mcpconf.client.codex.app_server import describe
from mcpconf.client.codex.registration import SERVER
from mcpconf.client.job import ClientError

TYPE_CHECKING = False  # see job.py
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from mcpconf.client.codex.session import Session

TOOL = "test-tool"
#: The one client id the suite accepts as a client-metadata document's address.
CIMD_CLIENT_ID = "https://conformance-test.local/client-metadata.json"
_STEP_UP_SCOPE = "mcp:write"
_RETRY_ROUNDS = 3


class Login:
    """The logins of one drive."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._record = session.record

    def attempt(self, scopes: tuple[str, ...] = ()) -> str | None:
        """Log in once; None when it succeeded, else why it did not."""
        server, record = self._session.server, self._record
        budget_s = record.budget_s()
        params: dict[str, Any] = {
            "name": SERVER,
            "threadId": self._session.thread_id,
            "timeoutSecs": max(1, int(budget_s)),
        }
        if scopes:
            params["scopes"] = list(scopes)
        registration = record.job.options.get("client_registration")
        if registration is None and record.job.scenario == "auth/offline-access-scope":
            # The scenario offers both ways; this run takes registration, and the two
            # supplemental runs take the client-metadata document.
            registration = "dcr"
        if registration is not None:
            params["clientRegistration"] = registration
        since = len(server.events)
        answer = server.request("mcpServer/oauth/login", params)
        result = answer.get("result")
        url = result.get("authorizationUrl") if isinstance(result, dict) else None
        if not isinstance(url, str):
            return f"login refused: {describe(answer)}"
        login_id = result.get("loginId") if isinstance(result, dict) else None
        try:
            callback = browser.authorize(url, budget_s)
            record.step("authorization-redirect", "safe to deliver")
            browser.deliver(callback, budget_s)
        except browser.UnsafeLogin as problem:
            record.step("authorization-redirect", str(problem), ok=False)
            raise ClientError(f"unsafe login: {problem}") from None
        done = server.wait_for(
            "mcpServer/oauthLogin/completed",
            lambda params: (
                params.get("name") == SERVER
                and params.get("loginId") in {None, login_id}
            ),
            since=since,
        )
        if done.get("success") is True:
            return None
        return f"login failed: {done.get('error')}"

    def require(self, name: str, scopes: tuple[str, ...] = ()) -> None:
        """Log in, which must succeed, and let the app-server take it up."""
        problem = self.attempt(scopes)
        self._record.require(name, problem is None, problem or "")
        self._session.server.result("config/mcpServer/reload", {})
        self._session.start_thread()


def _called(session: Session) -> bool:
    answer = session.try_tool(TOOL, {})
    session.record.step(f"call {TOOL}", describe(answer))
    return "result" in answer


def _plain(session: Session, login: Login) -> None:
    login.require("login")
    session.call_tool(TOOL, {})


def _rejection(session: Session, login: Login) -> None:
    # Any refusal ends the drive well; whether the flow stopped where it should is
    # read from the wire by the judge, not from what the client says.
    problem = login.attempt()
    session.record.require("login-refused", problem is not None, problem or "logged in")


def _step_up(session: Session, login: Login) -> None:
    login.require("login")
    if session.record.job.options.get("auth") == "strict":
        session.call_tool(TOOL, {})
        return
    if not _called(session):
        login.require("login with more scope", (_STEP_UP_SCOPE,))
        session.call_tool(TOOL, {})


def _retry_limit(session: Session, login: Login) -> None:
    strict = session.record.job.options.get("auth") == "strict"
    login.require("login")
    rounds = 1
    while True:
        session.record.require("call refused", not _called(session))
        if strict or rounds == _RETRY_ROUNDS:
            return
        rounds += 1
        login.require(f"login {rounds}", (_STEP_UP_SCOPE,))


def _migration(session: Session, login: Login) -> None:
    login.require("login")
    if session.record.job.options.get("auth") == "strict":
        session.call_tool(TOOL, {})
        return
    if not _called(session):
        login.require("login at the new authorization server")
        session.call_tool(TOOL, {})


_PLAIN = (
    "metadata-default metadata-var1 metadata-var2 metadata-var3 basic-cimd "
    "scope-from-www-authenticate scope-from-scopes-supported "
    "scope-omitted-when-undefined token-endpoint-auth-basic token-endpoint-auth-post "
    "token-endpoint-auth-none pre-registration offline-access-scope "
    "offline-access-not-supported iss-supported iss-not-advertised"
)
_REJECTIONS = (
    "resource-mismatch iss-supported-missing iss-wrong-issuer iss-unexpected "
    "iss-normalized metadata-issuer-mismatch"
)

#: Scenario → what the host does once the first thread has met the server.
SCENARIOS: Mapping[str, Callable[[Session, Login], None]] = {
    **{f"auth/{name}": _plain for name in _PLAIN.split()},
    **{f"auth/{name}": _rejection for name in _REJECTIONS.split()},
    "auth/scope-step-up": _step_up,
    "auth/scope-retry-limit": _retry_limit,
    "auth/authorization-server-migration": _migration,
}


class PreRegistered:
    """What the host knows of its OAuth client before the first login."""

    def __init__(self, client_id: str | None = None, secret: str | None = None) -> None:
        self.client_id = client_id
        self.client_secret = secret


def client_of(scenario: str, context: Mapping[str, Any]) -> PreRegistered:
    """The client a scenario wants configured beforehand."""
    if scenario == "auth/basic-cimd":
        return PreRegistered(CIMD_CLIENT_ID)
    if scenario == "auth/pre-registration":
        return PreRegistered(context["client_id"], context["client_secret"])
    return PreRegistered()
