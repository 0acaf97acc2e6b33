"""Handle hook requests: SessionStart returns the text to inject, the reader records the others."""

import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

from flowd.actions.brief import answer_session_start
from flowd.actions.context import Context
from flowd.config.logs import log
from flowd.daemon.hooks.event import HookEvent
from flowd.daemon.store_gate import StoreGate
from flowd.model.hook_input import HookInput, hook_input
from flowd.system.errors import FlowdError

READ_FIRST_S = 0.3

Answer = Callable[[bytes], None]


class HookHandler:
    """Receives hooks from the control thread; its own thread composes the answers to SessionStart."""

    def __init__(self, gate: StoreGate, context: Context, submit: Callable[[HookEvent], None]) -> None:
        self._gate = gate
        self._context = context
        self._submit = submit
        self._starts: queue.SimpleQueue[tuple[HookInput, Answer] | None] = queue.SimpleQueue()

    def handle(self, request: Mapping[str, Any], answer: Answer) -> None:
        """Handle one hook request; *answer* is called later with what the hook should print."""
        raw = request.get("input")
        hook = hook_input(raw if isinstance(raw, dict) else {}, request.get("at"))
        if hook.hook_event_name == "SessionStart":
            self._starts.put((hook, answer))
        else:
            self._submit(HookEvent(hook, lambda _: answer(b"")))

    def run(self) -> None:
        """Answer starting sessions until closed."""
        try:
            while (start := self._starts.get()) is not None:
                hook, answer = start
                answer(self._compose(hook).encode())
        finally:
            self._gate.database.drop_connection()

    def close(self) -> None:
        """Stop answering."""
        self._starts.put(None)

    def _compose(self, hook: HookInput) -> str:
        """Return what the SessionStart hook prints; nothing if it cannot be composed."""
        self._read_first(hook)
        try:
            return answer_session_start(self._context, hook)
        except FlowdError as error:
            log.warning("injection_failed", session=hook.session_id, error=str(error))
            return ""

    def _read_first(self, hook: HookInput) -> None:
        """Let the reader catch up with the session's transcript, within a deadline."""
        read = threading.Event()
        self._submit(HookEvent(hook, lambda _: read.set()))
        read.wait(READ_FIRST_S)
