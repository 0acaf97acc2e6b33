"""The control socket: JSON lines in and out, for this user only."""

import errno
import os
import queue
import selectors
import socket
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec

from flowd.config.logs import log
from flowd.daemon.control.listening import identity, listen, peer_uid
from flowd.system.errors import FlowdError

MAX_REQUEST_CHARACTERS = 4 << 20
SEND_DEADLINE_S = 1.0
ACCEPT_PAUSE_S = 0.5
OUT_OF_DESCRIPTORS = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)

Handler = Callable[[Mapping[str, Any]], Any]


class Answer(Protocol):
    """Sends the answer to a deferred request; *on_delivered* is called once the client confirms it."""

    def __call__(self, answer: bytes, on_delivered: Callable[[], None] | None = None) -> None: ...


DeferredHandler = Callable[[Mapping[str, Any], Answer], None]


class ControlServer:
    """Answers requests one after the other.

    A deferred handler gets a callback instead of returning an answer. The bytes it passes are sent as they
    are, and the connection is closed after them, or once the client has confirmed them by a byte.
    """

    def __init__(
        self,
        path: Path,
        handlers: Mapping[str, Handler],
        deferred: Mapping[str, DeferredHandler] | None = None,
    ) -> None:
        self._path = path
        self._handlers = handlers
        self._deferred = deferred or {}
        self._answered: queue.SimpleQueue[_Answered] = queue.SimpleQueue()
        self._unconfirmed: dict[socket.socket, Callable[[], None]] = {}
        self._listener = listen(path)
        self._identity = identity(path)
        self._paused_until = 0.0
        self._beat: Callable[[], None] | None = None
        self._wake_in, self._wake_out = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        self._buffers: dict[socket.socket, bytearray] = {}
        self._closing = False

    def run(self) -> None:
        """Serve until closed."""
        self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        self._selector.register(self._wake_out, selectors.EVENT_READ, self._send_answers)
        try:
            while not self._closing:
                for key, _ in self._selector.select(ACCEPT_PAUSE_S if self._paused_until else None):
                    key.data(key.fileobj)
                if self._paused_until and time.monotonic() >= self._paused_until:
                    self._paused_until = 0.0
                    self._selector.register(self._listener, selectors.EVENT_READ, self._accept)
        finally:
            self._release()

    def close(self) -> None:
        """Stop serving; may be called from any thread."""
        self._closing = True
        self._wake()

    def request_beat(self, beat: Callable[[], None]) -> None:
        """Have the thread call *beat*, and see to the socket's place; may be called from any thread."""
        self._beat = beat
        self._wake()

    def _check_place(self) -> None:
        """Listen anew if the socket was removed or replaced: clients would no longer find this one."""
        if identity(self._path) == self._identity:
            return
        try:
            listener = listen(self._path)
        except (OSError, FlowdError) as error:
            log.error("socket_lost", path=str(self._path), error=str(error))
            return
        log.warning("socket_renewed", path=str(self._path))
        with suppress(KeyError):  # not registered while accepting is paused
            self._selector.unregister(self._listener)
        self._listener.close()
        self._listener, self._identity, self._paused_until = listener, identity(self._path), 0.0
        self._selector.register(listener, selectors.EVENT_READ, self._accept)

    def _pause_accepting(self) -> None:
        """Accept nothing for a moment: without descriptors the selector would report the client at once."""
        log.warning("accept_paused", reason="no descriptors left")
        self._selector.unregister(self._listener)
        self._paused_until = time.monotonic() + ACCEPT_PAUSE_S

    def _wake(self) -> None:
        with suppress(OSError):
            self._wake_in.send(b"x")

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError as error:  # the client gave up, or descriptors ran out
            if error.errno in OUT_OF_DESCRIPTORS:
                self._pause_accepting()
            return
        if peer_uid(connection) not in (os.getuid(), 0):
            log.warning("control_refused", reason="peer is another user")
            connection.close()
            return
        connection.setblocking(False)
        self._buffers[connection] = bytearray()
        # Most clients have sent their request by now: reading it here saves a round through the selector.
        self._read(connection)
        if connection in self._buffers:
            self._selector.register(connection, selectors.EVENT_READ, self._read)

    def _read(self, connection: socket.socket) -> None:
        buffer = self._buffers.get(connection)
        if buffer is None:  # dropped earlier in this round
            return
        try:
            received = connection.recv(1 << 16)
            if connection in self._unconfirmed:
                self._confirm(connection, received)
                return
            buffer += received
            while (end := buffer.find(b"\n")) >= 0:
                line = bytes(buffer[:end])
                del buffer[: end + 1]
                answer = self._answer(line, connection)
                if answer:
                    _send(connection, answer + b"\n")
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received or len(buffer) > MAX_REQUEST_CHARACTERS:
            self._drop(connection)

    def _answer(self, line: bytes, connection: socket.socket) -> bytes:
        """Return the answer to *line*, empty if the request is deferred."""
        try:
            request = msgspec.json.decode(line, type=dict[str, Any])
            if request.get("verb") in self._deferred:
                self._deferred[request["verb"]](request, partial(self._answer_later, connection))
                return b""
            handler = self._handlers.get(str(request.get("verb")))
            if handler is None:
                raise FlowdError(
                    f"unknown request {request.get('verb')!r}",
                    hint="run `flowd restart`: its version is another",
                )
            return msgspec.json.encode({"ok": True, "result": handler(request)})
        except (FlowdError, msgspec.DecodeError) as error:
            return _refusal(str(error), getattr(error, "hint", ""))
        except Exception as error:  # noqa: BLE001 one bad request must not end the thread
            log.exception("control_request_failed", error=str(error))
            return _refusal(f"{type(error).__name__}: {error}", "see `flowd logs`")

    def _answer_later(
        self, connection: socket.socket, answer: bytes, on_delivered: Callable[[], None] | None = None
    ) -> None:
        self._answered.put(_Answered(connection, answer, on_delivered))
        self._wake()

    def _confirm(self, connection: socket.socket, received: bytes) -> None:
        on_delivered = self._unconfirmed[connection]
        self._drop(connection)
        if received:
            on_delivered()

    def _send_answers(self, wake: socket.socket) -> None:
        wake.recv(4096)
        if self._beat is not None:
            beat, self._beat = self._beat, None
            beat()
            self._check_place()
        while not self._answered.empty():
            connection, answer, on_delivered = self._answered.get()
            if connection not in self._buffers:
                continue
            try:
                _send(connection, answer)
                if on_delivered is not None:
                    connection.shutdown(socket.SHUT_WR)
                    self._unconfirmed[connection] = on_delivered
                    continue
            except OSError:  # it has not waited
                pass
            self._drop(connection)

    def _drop(self, connection: socket.socket) -> None:
        with suppress(KeyError):  # not registered yet
            self._selector.unregister(connection)
        del self._buffers[connection]
        self._unconfirmed.pop(connection, None)
        connection.close()

    def _release(self) -> None:
        for connection in list(self._buffers):
            self._drop(connection)
        self._selector.close()
        for end in (self._listener, self._wake_in, self._wake_out):
            end.close()
        if identity(self._path) == self._identity:  # not another daemon's
            with suppress(OSError):
                self._path.unlink()


class _Answered(NamedTuple):
    connection: socket.socket
    answer: bytes
    on_delivered: Callable[[], None] | None


def _send(connection: socket.socket, answer: bytes) -> None:
    """Send all of *answer* within a deadline: a client that does not read must not block the others."""
    with suppress(BlockingIOError):
        answer = answer[connection.send(answer) :]
    if answer:
        connection.settimeout(SEND_DEADLINE_S)
        connection.sendall(answer)
        connection.setblocking(False)


def _refusal(error: str, hint: str) -> bytes:
    return msgspec.json.encode({"ok": False, "error": error, "hint": hint})
