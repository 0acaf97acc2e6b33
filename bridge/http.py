"""The MCP server over streamable HTTP: the MCP endpoint and /healthz, behind the guard."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from flowd import __version__
from flowd.bridge.guard import Addresses, Guard
from flowd.bridge.server import ThreadServer
from flowd.store import schema
from flowd.store.threads.threads import Threads
from flowd.system.errors import FlowdError, StoreError

REQUEST_WITHIN_S = 10.0
MAX_SILENT = 100


class BoundedProtocol(H11Protocol):
    """HTTP/1.1 that drops a connection whose request is not complete within ``REQUEST_WITHIN_S``.

    Any local user can connect before showing a token. Of more than ``MAX_SILENT`` such connections the
    oldest is closed, so a client that sends its request at once can always connect.
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


MAX_CONNECTIONS = 200
GRACE_S = 1


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a listening socket; raise FlowdError if the port cannot be bound."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen()
        except OSError as error:
            raise _cannot_listen(host, port, error) from error
        yield listener
    finally:
        listener.close()


class WebServer(uvicorn.Server):
    """uvicorn without its ten wake-ups per second, and with SIGTERM as a normal end."""

    def __init__(self, app: ASGIApp, *, ready: Callable[[], None]) -> None:
        """Serve *app* and call *ready* once it answers; do not configure logging."""
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                ws="none",
                http=BoundedProtocol,
                limit_concurrency=MAX_CONNECTIONS,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._ready = ready
        self._told_to_stop = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal; at the second, without waiting for open requests."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        try:
            yield
        finally:
            for each in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(each)
                # The process is about to exit: another signal must not turn that into a crash.
                signal.signal(each, signal.SIG_IGN)

    async def main_loop(self) -> None:
        """Call *ready*, and sleep until a signal comes."""
        self._ready()
        await self._told_to_stop.wait()

    def _stop(self) -> None:
        # Clients keep a stream open as long as they can; closing it now is not an error.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.force_exit = self._told_to_stop.is_set()
        self.should_exit = True
        self._told_to_stop.set()


def _cannot_listen(host: str, port: int, error: OSError) -> FlowdError:
    if error.errno == errno.EADDRINUSE:
        return FlowdError(
            f"port {port} on {host} is in use, perhaps by another flowd serve",
            hint="stop that one, or choose another with --port or serve.port",
        )
    return FlowdError(
        f"cannot listen on {host} port {port}: {error.strerror or error}",
        hint="--host takes an address of this machine; the usual one is 127.0.0.1",
    )


PATH = "/mcp"
# JSON may escape each byte of a 1 MB entry as six (\u0001).
MAX_REQUEST_BYTES = 8 * 1024 * 1024

log = logging.getLogger("flowd.bridge")


class HttpOptions(NamedTuple):
    """Where to listen, and which requests to accept."""

    host: str
    port: int
    token: str
    allowed_hosts: tuple[str, ...]
    requests_per_minute: int


def run_http(threads: Threads, options: HttpOptions) -> None:
    """Serve until SIGTERM or SIGINT."""
    with listening(options.host, options.port) as listener, ThreadServer(threads) as server:
        asyncio.run(_serve(server, listener, options))


def make_app(server: ThreadServer, options: HttpOptions) -> ASGIApp:
    """Return the guarded application."""
    app = server.protocol.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=MAX_REQUEST_BYTES,
        # The tools keep no state between calls: nothing to expire, and a restart breaks no client.
        stateless_http=True,
        # The guard has already checked Host and Origin, with the names from --allow-host.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        custom_starlette_routes=[Route("/healthz", _healthz(server))],
    )
    addresses = Addresses(options.host, options.allowed_hosts)
    return Guard(app, token=options.token, addresses=addresses, per_minute=options.requests_per_minute)


async def _serve(server: ThreadServer, listener: socket.socket, options: HttpOptions) -> None:
    host, port = listener.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}{PATH}"
    app = make_app(server, options)
    web = WebServer(app, ready=lambda: log.info("listening url=%s", url))
    await web.serve([listener])
    log.info("stopped")


def _healthz(server: ThreadServer) -> Callable[[Request], Awaitable[Response]]:
    async def healthz(_: Request) -> Response:
        """Report whether core.db answers, and nothing else."""
        try:
            await server.run(lambda threads: schema.is_current(threads.database))
        except StoreError as error:
            return JSONResponse({"status": error.condition}, 503)
        return JSONResponse({"status": "ok", "version": __version__})

    return healthz
