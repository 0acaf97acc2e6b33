"""Where hooks are answered: most are a note to the reader, a starting session is told what was going on."""

import queue
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from flowd.actions.brief import compose, hook_output, record_injection, request_from_hook
from flowd.config.live import LiveSettings
from flowd.config.logs import log
from flowd.daemon.reading.queue import ReaderQueue
from flowd.daemon.reading.reader import Reader
from flowd.daemon.store_gate import StoreGate
from flowd.model.hook_input import HookInput, hook_input
from flowd.system.errors import FlowdError

READ_FIRST_S = 0.3

Answer = Callable[[bytes], None]


class HookHandler:
    """Takes hooks from the control thread; its own thread composes what sessions are told."""

    def __init__(
        self, gate: StoreGate, settings: LiveSettings, hints: ReaderQueue, reader: Callable[[], Reader]
    ) -> None:
        self._gate = gate
        self._settings = settings
        self._hints = hints
        self._reader = reader
        self._starts: queue.SimpleQueue[tuple[HookInput, Answer] | None] = queue.SimpleQueue()

    def take(self, request: Mapping[str, Any], answer: Answer) -> None:
        """Take one hook; *answer* is called with what it should print."""
        raw = request.get("input")
        hook = hook_input(raw if isinstance(raw, dict) else {}, request.get("at"))
        if hook.hook_event_name == "SessionStart":
            self._starts.put((hook, answer))
        else:
            self._hints.put_task(partial(self._reader().on_hook, hook, lambda: answer(b"")))

    def run(self) -> None:
        """Answer starting sessions until closed."""
        try:
            while (start := self._starts.get()) is not None:
                hook, answer = start
                answer(self._tell(hook).encode())
        finally:
            self._gate.database.drop_connection()

    def close(self) -> None:
        """Stop answering."""
        self._starts.put(None)

    def _tell(self, hook: HookInput) -> str:
        """Return what the session is told; nothing, rather than an error, when it cannot be said."""
        self._read_first(hook)
        asked = request_from_hook(hook, self._settings.current)
        try:
            injection = compose(self._gate.database, asked)
            if injection.text and not record_injection(self._gate.database, asked, injection):
                return ""
        except FlowdError as error:
            log.warning("injection_failed", session=hook.session_id, error=str(error))
            return ""
        return hook_output(injection)

    def _read_first(self, hook: HookInput) -> None:
        """Let the reader catch up with this session's transcript before it is spoken of."""
        read = threading.Event()
        self._hints.put_task(partial(self._reader().on_hook, hook, read.set))
        read.wait(READ_FIRST_S)
