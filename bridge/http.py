"""The server over streamable HTTP: the MCP endpoint and /healthz behind the guard."""

import asyncio
import logging
import socket
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from flowd import __version__
from flowd.bridge.addresses import Addresses
from flowd.bridge.guard import Guard
from flowd.bridge.listener import WebServer, listening
from flowd.bridge.server import ThreadServer
from flowd.config.errors import StoreError
from flowd.store import schema
from flowd.store.threads import Threads

PATH = "/mcp"
# JSON may write each byte of a 1 MB entry as six (a control character as \u0001).
LARGEST_REQUEST_BYTES = 8 * 1024 * 1024
MOST_SESSIONS = 1000

log = logging.getLogger("flowd.bridge")


class HttpOptions(NamedTuple):
    """Where to listen, and for whom."""

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
        max_request_body_size=LARGEST_REQUEST_BYTES,
        max_sessions=MOST_SESSIONS,
        # The guard has checked Host and Origin already, and knows the names that the person allowed.
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
        """Say whether core.db answers, without a word about what is in it."""
        try:
            await server.run(lambda threads: schema.is_current(threads.database))
        except StoreError as error:
            return JSONResponse({"status": error.condition}, 503)
        return JSONResponse({"status": "ok", "version": __version__})

    return healthz
