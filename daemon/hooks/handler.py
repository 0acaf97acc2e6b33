"""Hook events on their way to the reader: from the control socket, or from the spool at the next start."""

import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flowd.actions.brief import (
    SAME_START_S,
    Injection,
    hook_output,
    injection_for_start,
    record_injection,
)
from flowd.actions.context import Context
from flowd.config.logs import log
from flowd.daemon.control.server import Answer
from flowd.daemon.store_gate import StoreGate
from flowd.model.client import HookInput, hook_input
from flowd.system.errors import FlowdError


class HookEvent(NamedTuple):
    """A hook's input; ``on_done`` is called once, with True if the event was stored.

    ``is_retry``: there was no transcript of its session when it came.
    """

    input: HookInput
    on_done: Callable[[bool], None]
    is_retry: bool = False


READ_FIRST_S = 0.3


class HookHandler:
    """Receives hooks from the control thread; its own thread composes the answers to SessionStart."""

    def __init__(self, gate: StoreGate, context: Context, submit: Callable[[HookEvent], None]) -> None:
        self._gate = gate
        self._context = context
        self._submit = submit
        self._tasks: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        # Starts that were answered, and not recorded yet: when, by session and source.
        self._answered: dict[tuple[str, str], float] = {}

    def handle(self, request: Mapping[str, Any], answer: Answer) -> None:
        """Handle one hook request; *answer* is called later with what the hook should print."""
        raw = request.get("input")
        hook = hook_input(raw if isinstance(raw, dict) else {}, request.get("at"))
        if hook.hook_event_name == "SessionStart":
            self._tasks.put(partial(self._start, hook, answer))
        else:
            self._submit(HookEvent(hook, lambda _: answer(b"")))

    def run(self) -> None:
        """Answer starting sessions until closed."""
        try:
            while (task := self._tasks.get()) is not None:
                task()
        finally:
            self._gate.database.drop_connection()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread call *beat*."""
        self._tasks.put(beat)

    def close(self) -> None:
        """Stop answering."""
        self._tasks.put(None)

    def _start(self, hook: HookInput, answer: Answer) -> None:
        """Answer a starting session; what it was given is recorded once its hook confirms that it has it."""
        injection = self._compose(hook)
        output = hook_output(injection).encode("utf-8", "replace")
        if not injection.text:
            answer(output)
            return
        self._answered[hook.session_id, hook.source] = time.monotonic()
        answer(output, lambda: self._tasks.put(partial(self._record, hook, injection)))

    def _record(self, hook: HookInput, injection: Injection) -> None:
        try:
            record_injection(self._context.database, hook, injection)
            size = len(injection.text.encode("utf-8", "replace"))
            log.info("session_briefed", session=hook.session_id[:8], project=hook.cwd, bytes=size)
        except FlowdError as error:
            log.warning("injection_not_recorded", session=hook.session_id, error=str(error))

    def _is_answered(self, hook: HookInput) -> bool:
        """Return True if the same start was answered a moment ago: two hooks of one session came at once."""
        now = time.monotonic()
        self._answered = {key: at for key, at in self._answered.items() if now - at < SAME_START_S}
        return (hook.session_id, hook.source) in self._answered

    def _compose(self, hook: HookInput) -> Injection:
        """Return what a starting session is given; nothing if it cannot be composed."""
        self._read_first(hook)
        try:
            return Injection("") if self._is_answered(hook) else injection_for_start(self._context, hook)
        except FlowdError as error:
            log.warning("injection_failed", session=hook.session_id, error=str(error))
        except Exception as error:  # noqa: BLE001 the content of one project must not end the thread
            log.exception("injection_failed", session=hook.session_id, error=repr(error))
        return Injection("")

    def _read_first(self, hook: HookInput) -> None:
        """Wait until the reader has caught up with the session's transcript, within a deadline."""
        read = threading.Event()
        self._submit(HookEvent(hook, lambda _: read.set()))
        read.wait(READ_FIRST_S)


MAX_BYTES = 4 << 20
MAX_EVENTS = 1000
MAX_DIGITS = 19


class Spool:
    """A directory with one file per hook input, named by the time of the hook."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def events(self) -> Iterator[HookEvent]:
        """Yield the spooled events, oldest first; each removes its file when it has been stored."""
        try:
            files = sorted(self._directory.glob("*.json"))[:MAX_EVENTS]
        except OSError:
            return
        for file in files:
            hook = _read(file)
            if hook is None:
                file.unlink(missing_ok=True)
            else:
                yield HookEvent(hook, partial(_remove, file))


def _remove(file: Path, stored: bool) -> None:
    if stored:
        file.unlink(missing_ok=True)


def _read(file: Path) -> HookInput | None:
    try:
        if file.stat().st_size > MAX_BYTES:
            raise ValueError("too large")
        raw = msgspec.json.decode(file.read_bytes())
        if not isinstance(raw, dict):
            raise ValueError("not an object")
    except (OSError, ValueError) as error:
        log.warning("spooled_hook_dropped", file=file.name, error=str(error))
        return None
    return hook_input(raw, _time_in(file.name))


def _time_in(name: str) -> float:
    """Return when the hook was fired, in seconds; file names begin with it, in nanoseconds."""
    first = name.partition("-")[0]
    return int(first) / 1e9 if first.isdecimal() and len(first) <= MAX_DIGITS else 0.0
