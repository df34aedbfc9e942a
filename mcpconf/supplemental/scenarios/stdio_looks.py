"""What the checks of `stdio_faults` look at: processes, signals, what is left."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from mcpconf.supplemental.finding import (
    Finding,
    Kind,
    broken,
    holds,
    not_applicable,
    unobserved,
)
from mcpconf.supplemental.looks import (
    ended,
    failed,
    got_text,
    has_error_result,
    is_error,
    taken_or_failed,
)
from mcpconf.supplemental.observation import StepState

if TYPE_CHECKING:
    from mcpconf.supplemental.observation import Observation, ServerView
    from mcpconf.supplemental.scenario import Look

#: The variable that a client is told to give to its server, and one that is its own.
SETTING, SECRET = "MCPCONF_FIXTURE_SETTING", "EXAMPLE_API_TOKEN"


def _serving(view: ServerView, text: str) -> set[int]:
    """The processes that answered this echo."""
    return {
        each.pid
        for each in view.calls("echo")
        if each.params.get("arguments") == {"text": text}
        and (answer := view.answer_to(each)) is not None
        and answer.result is not None
    }


def works(text: str, profile: str) -> Look:
    """
    The steps ``connect`` and ``call`` went well, and the host got this text.

    It came from a process that had served the fault, and from no other.
    """

    def look(seen: Observation) -> Finding:
        opened = seen.step("connect")
        if opened.state is not StepState.OK:
            return broken(f"the opening {ended(opened)}")
        found = got_text("call", text)(seen)
        faulty = {each.pid for each in seen.subject.faults(profile)}
        if found.kind is Kind.HOLDS and not _serving(seen.subject, text) & faulty:
            return unobserved("the server that answered had not served the fault")
        return found

    return look


def waits_for_start(text: str) -> Look:
    """As `works`; and nothing was asked twice before the first answer."""

    def look(seen: Observation) -> Finding:
        found = works(text, "slow-start")(seen)
        if found.kind is not Kind.HOLDS:
            return found
        for pid in _serving(seen.subject, text):
            first = min(e.index for e in seen.subject.sent if e.pid == pid)
            early = Counter(
                each.method
                for each in seen.subject.requests()
                if each.pid == pid and each.index < first
            )
            method, count = early.most_common(1)[0]
            if count > 1:
                return broken(f"{method} came {count} times before it was answered")
        return found

    return look


def works_or_fails(text: str) -> Look:
    """As `works`; or one of the two steps ended with an error, in time."""

    def look(seen: Observation) -> Finding:
        if seen.step("connect").state is not StepState.OK:
            return failed("connect")(seen)
        return taken_or_failed("call", text)(seen)

    return look


def fails_soon_after_exit(name: str, limit_s: float) -> Look:
    """The step ended with an error, soon after the last process had ended."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        exits = [each.t_ms for each in seen.subject.of_type("exit")]
        exits = [each for each in exits if each <= step.t1_ms]
        if not exits:
            return unobserved("no server ended before the step did")
        late_s = (step.t1_ms - max(exits)) / 1000
        if is_error(step) and late_s > limit_s:
            return broken(f"the error came {late_s:.1f} s after that: {ended(step)}")
        return failed(name)(seen)

    return look


def survives_exit(name: str, *, earlier: bool = False) -> Look:
    """The step, in which a server ended (or before it), echoed its name or failed."""

    def look(seen: Observation) -> Finding:
        step = seen.step(name)
        end_ms = step.t0_ms if earlier else step.t1_ms
        faults = [each.t_ms for each in seen.subject.faults("exit-after-calls")]
        if not any(
            (earlier or step.t0_ms <= t_ms) and t_ms <= end_ms for t_ms in faults
        ):
            when = "before" if earlier else "during"
            return unobserved(f"no server ended {when} the call")
        return taken_or_failed(name, name)(seen)

    return look


def no_undecodable_result(seen: Observation) -> Finding:
    """What is not UTF-8 was no result, and the client is still there."""
    step, following = seen.step("invalid-utf8"), seen.step("after-invalid-utf8")
    if step.state is StepState.OK and not has_error_result(step):
        return broken("the host was given what cannot be decoded")
    if following.state is not StepState.OK and not is_error(following):
        return broken(f"the next call {ended(following)}")
    return holds(f"the call {ended(step)}; the next {following.state}")


def _processes(view: ServerView) -> list[int]:
    return [each.pid for each in view.of_type("start")]


def nothing_survives(seen: Observation) -> Finding:
    """No process of the client's tree outlived it."""
    left = seen.aftermath.survivors
    if left:
        return broken(f"still there after the client: {', '.join(left)}")
    if not seen.subject.received:
        return unobserved("nothing was ever asked of the server")
    return holds("no process of the client's was left")


def terminates_first(seen: Observation) -> Finding:
    """SIGTERM came to every server that would not leave, before anything harder."""
    view = seen.subject
    told = {e.pid for e in view.of_type("signal") if e.value.get("name") == "SIGTERM"}
    started = _processes(view)
    if not started:
        return unobserved("no server was started")
    spared = [pid for pid in started if pid not in told]
    if not spared:
        return holds("every server was sent SIGTERM")
    if seen.aftermath.survivors:
        return not_applicable("the client did not end its server at all")
    return broken("a server was killed without SIGTERM")


def closes_input_first(seen: Observation) -> Finding:
    """The end of its input came to a server before any signal."""
    view = seen.subject
    closed = {
        each.pid: each.index
        for each in view.of_type("connection")
        if each.value.get("event") == "closed" and each.value.get("by") == "client"
    }
    for signal in view.of_type("signal"):
        if signal.index < closed.get(signal.pid, signal.index):
            return broken(f"{signal.value.get('name')} came before the end of input")
        if signal.pid not in closed:
            return broken(f"{signal.value.get('name')} came, and no end of input")
    started = _processes(view)
    if not started:
        return unobserved("no server was started")
    if any(pid not in closed for pid in started):
        return broken("a server's input was never closed")
    return holds("every server's input ended before anything else was done to it")


def may_leave_by_itself(seen: Observation) -> Finding:
    """No signal came to a server that was about to leave."""
    view = seen.subject
    signals = view.of_type("signal")
    if signals:
        return broken(
            f"{signals[0].value.get('name')} came before the server had left by itself"
        )
    started = _processes(view)
    if not started:
        return unobserved("no server was started")
    left = {e.pid for e in view.of_type("exit") if e.value.get("code") == 0}
    if any(pid not in left for pid in started):
        return broken("a server was killed while it was leaving")
    return holds("every server had the time to leave by itself")


def children_are_gone(seen: Observation) -> Finding:
    """When a connection was closed the server's process had ended."""
    step = seen.step("close")
    if step.state is not StepState.OK:
        return unobserved(f"the close {ended(step)}")
    if step.children:
        return broken(f"still there after the close: {', '.join(step.children)}")
    return holds("no process of the client's was left after the close")


def has_setting(seen: Observation) -> Finding:
    """Every server was given the variable that was configured for it."""
    started = seen.subject.of_type("start")
    if not started:
        return unobserved("no server was started")
    if any(SETTING not in each.value.get("environment", ()) for each in started):
        return broken(f"the server was not given {SETTING}")
    return holds(f"the server was given {SETTING}")


def has_no_secret(seen: Observation) -> Finding:
    """No server was given what is the client's own."""
    started = seen.subject.of_type("start")
    if not started:
        return unobserved("no server was started")
    if any(SECRET in each.value.get("environment", ()) for each in started):
        return broken(f"the server was given {SECRET}, which is the client's")
    return holds(f"the client's {SECRET} did not reach the server")


def no_temporary_files(seen: Observation) -> Finding:
    """The client's directory for temporary files is empty again."""
    left = seen.aftermath.temporary
    if left:
        return broken(f"left in the temporary directory: {', '.join(left[:10])}")
    return holds("the temporary directory is empty")


def no_ports(seen: Observation) -> Finding:
    """With every connection closed nothing of the client's listens on a port."""
    ports = seen.aftermath.listening
    if ports:
        return broken(f"listened on {len(ports)} ports after the last close")
    return holds("nothing listened after the last close")


def no_more_descriptors(seen: Observation) -> Finding:
    """
    What is open does not grow with every connection.

    A socket may be on its way out while it is counted; a leak grows each time.
    """
    counts = [seen.step(f"close-{number}").fds for number in (1, 2, 3)]
    known = [each for each in counts if each is not None]
    if len(known) < len(counts):
        return not_applicable("descriptors cannot be counted on this system")
    said = f"{', '.join(map(str, known))} descriptors after three connections"
    if known[0] < known[1] < known[2]:
        return broken(said)
    return holds(said)
