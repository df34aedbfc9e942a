"""Faults in who may use the extension, and how others are told that they may not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, ClassVar

from mcpconf.fixture_server.admission import HEADER_MISMATCH, MISSING_CAPABILITY
from mcpconf.fixture_server.call import RpcError
from mcpconf.fixture_server.profile.tasks_fault import (
    HTTP_ONLY,
    LISTEN,
    METHODS,
    Refused,
    TaskFault,
)
from mcpconf.fixture_server.task_conduct import EXTENSION

if TYPE_CHECKING:
    from mcpconf.fixture_server.call import Call
    from mcpconf.fixture_server.profile.base import Profile
    from mcpconf.fixture_server.task_conduct import Conduct

    Result = dict[str, Any]

_OK = 200


class LegacyDeclaration(TaskFault):
    """``capabilities.tasks`` does not declare the extension."""

    name = "tasks-legacy-declaration"
    title = "takes the capabilities.tasks of 2025-11-25 for a declaration"

    def arm(self, conduct: Conduct) -> None:
        """Take it."""
        self._good = conduct.declares
        conduct.declares = self._declares

    def _declares(self, call: Call) -> bool:
        if self._good(call):
            return True
        is_legacy = isinstance(call.session.client_capabilities.get("tasks"), dict)
        if is_legacy:
            self.fault(self.title, call)
        return is_legacy


class SessionMemory(TaskFault):
    """Only the request itself declares the extension."""

    name = "tasks-session-memory"
    title = "remembers a clientInfo that has declared the extension once"

    def arm(self, conduct: Conduct) -> None:
        """Remember."""
        self._known = set[str]()
        self._good = conduct.declares
        conduct.declares = self._declares

    def _declares(self, call: Call) -> bool:
        info = call.session.client_info
        client = None if info is None else json.dumps(info, sort_keys=True)
        if self._good(call):
            if client is not None:
                self._known.add(client)
            return True
        if client not in self._known:
            return False
        self.fault(self.title, call)
        return True


class AdvertisesLegacy(TaskFault):
    """The server has no ``capabilities.tasks``."""

    name = "tasks-advertises-legacy"
    title = "server/discover has the capabilities.tasks of 2025-11-25, too"

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Add it."""
        self.fault(self.title)
        calls: Result = {"tools": {"call": {}}}
        capabilities["tasks"] = {"list": {}, "cancel": {}, "requests": calls}


class AdvertisedTrue(TaskFault):
    """The extension's settings are an object."""

    name = "tasks-advertised-true"
    title = "server/discover says true where the extension's settings are"

    def capabilities(self, capabilities: dict[str, Any]) -> None:
        """Say so."""
        self.fault(self.title)
        capabilities["extensions"][EXTENSION] = True


class Ungated(TaskFault):
    """A request of the extension declares it."""

    name = "tasks-ungated"
    title = "tasks/get, tasks/update and tasks/cancel need no declaration"
    methods_served: ClassVar[tuple[str, ...]] = METHODS

    def arm(self, conduct: Conduct) -> None:
        """Let them in."""
        self._declares = conduct.declares
        conduct.is_gated = self._is_gated

    def _is_gated(self, call: Call) -> bool:
        if call.method not in self.methods_served:
            return True
        if not self._declares(call):
            self.fault(self.title, call)
        return False


class GetUngated(Ungated):
    """A ``tasks/get`` declares the extension."""

    name, title = "tasks-get-ungated", "tasks/get needs no declaration"
    methods_served = ("tasks/get",)


class UpdateUngated(Ungated):
    """A ``tasks/update`` declares the extension."""

    name, title = "tasks-update-ungated", "tasks/update needs no declaration"
    methods_served = ("tasks/update",)


class CancelUngated(Ungated):
    """A ``tasks/cancel`` declares the extension."""

    name, title = "tasks-cancel-ungated", "tasks/cancel needs no declaration"
    methods_served = ("tasks/cancel",)


class ListenUngated(Ungated):
    """A subscription to tasks declares the extension."""

    name = "tasks-listen-ungated"
    title = "subscriptions/listen with taskIds needs no declaration"
    methods_served = (LISTEN,)


class _Missing(Refused):
    """The refusal of a request without the declaration is another."""

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:  # noqa: ARG002
        """Change that one only."""
        if error.code != MISSING_CAPABILITY:
            return error
        if "extensions" not in error.data["requiredCapabilities"]:
            return error
        return self.instead(error)

    def instead(self, error: RpcError) -> RpcError:
        """Give the other."""
        raise NotImplementedError


class Missing32003(_Missing):
    """The code of a missing capability is -32021."""

    name, title = "tasks-missing-32003", "the code is -32003 where it should be -32021"

    def instead(self, error: RpcError) -> RpcError:
        """The code of the drafts."""
        return RpcError(-32003, error.message, error.data, status=error.status)


class MissingNoData(_Missing):
    """-32021 names the capability in its data."""

    name, title = "tasks-missing-no-data", "-32021 has no data"

    def instead(self, error: RpcError) -> RpcError:
        """Leave it out."""
        return RpcError(error.code, error.message, status=error.status)


class MissingDataList(_Missing):
    """``requiredCapabilities`` has the shape of a client's capabilities."""

    name, title = "tasks-missing-data-list", "requiredCapabilities is a list of names"

    def instead(self, error: RpcError) -> RpcError:
        """A list."""
        data = {"requiredCapabilities": [EXTENSION]}
        return RpcError(error.code, error.message, data, status=error.status)


class MissingStatus200(_Missing):
    """-32021 is HTTP 400."""

    name, title = "tasks-missing-status-200", "-32021 comes with HTTP 200"
    transports = HTTP_ONLY

    def instead(self, error: RpcError) -> RpcError:
        """The status of a result."""
        return RpcError(error.code, error.message, error.data, status=_OK)


class NamesUnchecked(TaskFault):
    """``Mcp-Name`` of a ``tasks/`` request is its task's id."""

    name = "tasks-names-unchecked"
    title = "takes any Mcp-Name on tasks/get, tasks/update and tasks/cancel"
    transports = HTTP_ONLY
    methods_served: ClassVar[tuple[str, ...]] = METHODS

    def arm(self, conduct: Conduct) -> None:
        """Overlook it."""
        self._good = conduct.check_name
        conduct.check_name = self._check

    def _check(self, call: Call, task_id: str) -> None:
        try:
            self._good(call, task_id)
        except RpcError:
            if call.method not in self.methods_served:
                raise
            self.fault(self.title, call)


class GetNameUnchecked(NamesUnchecked):
    """``Mcp-Name`` of ``tasks/get`` is its task's id."""

    name, title = "tasks-get-name-unchecked", "takes any Mcp-Name on tasks/get"
    methods_served = ("tasks/get",)


class UpdateNameUnchecked(NamesUnchecked):
    """``Mcp-Name`` of ``tasks/update`` is its task's id."""

    name, title = "tasks-update-name-unchecked", "takes any Mcp-Name on tasks/update"
    methods_served = ("tasks/update",)


class CancelNameUnchecked(NamesUnchecked):
    """``Mcp-Name`` of ``tasks/cancel`` is its task's id."""

    name, title = "tasks-cancel-name-unchecked", "takes any Mcp-Name on tasks/cancel"
    methods_served = ("tasks/cancel",)


class MismatchStatus200(Refused):
    """-32020 is HTTP 400."""

    name = "tasks-mismatch-status-200"
    title = "-32020 for an Mcp-Name on tasks/ methods comes with HTTP 200"
    transports = HTTP_ONLY

    def change_error(self, call: Call, error: RpcError) -> RpcError | Result:
        """Give it the status of a result."""
        if error.code != HEADER_MISMATCH or call.method not in METHODS:
            return error
        return RpcError(error.code, error.message, error.data, status=_OK)


PROFILES: tuple[type[Profile], ...] = (
    LegacyDeclaration,
    SessionMemory,
    AdvertisesLegacy,
    AdvertisedTrue,
    Ungated,
    GetUngated,
    UpdateUngated,
    CancelUngated,
    ListenUngated,
    Missing32003,
    MissingNoData,
    MissingDataList,
    MissingStatus200,
    NamesUnchecked,
    GetNameUnchecked,
    UpdateNameUnchecked,
    CancelNameUnchecked,
    MismatchStatus200,
)
