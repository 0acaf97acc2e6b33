"""Connections that send no request are closed: they must not use up the places of those that do."""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_WITHIN_S = 10.0
MAX_SILENT = 100


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that drops a connection whose request is not complete within ``REQUEST_WITHIN_S``.

    Any local user can connect before showing a token. Of more than ``MAX_SILENT`` such connections the
    oldest gives way, so a client that sends its request at once always finds a place.
    """

    silent: "dict[BoundedProtocol, asyncio.TimerHandle]" = {}  # noqa: RUF012 shared by all connections on purpose

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Accept the connection and start its deadline."""
        super().connection_made(transport)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self.request_arrived()
        super().connection_lost(exc)

    def handle_events(self) -> None:
        """Handle what was received; a request that has arrived has no deadline."""
        super().handle_events()
        cycle: Any = self.cycle
        if cycle is not None and not cycle.response_complete:
            self.request_arrived()

    def on_response_complete(self) -> None:
        """Expect the next request of a kept connection."""
        super().on_response_complete()
        if not self.transport.is_closing():
            self._expect_request()

    def _expect_request(self) -> None:
        self.request_arrived()
        while len(self.silent) >= MAX_SILENT:
            oldest = next(iter(self.silent))
            oldest.request_arrived()
            oldest.transport.abort()
        self.silent[self] = asyncio.get_running_loop().call_later(REQUEST_WITHIN_S, self._expired)

    def _expired(self) -> None:
        self.request_arrived()
        self.transport.abort()

    def request_arrived(self) -> None:
        """Stop the deadline."""
        timer: Any = self.silent.pop(self, None)
        if timer is not None:
            timer.cancel()
