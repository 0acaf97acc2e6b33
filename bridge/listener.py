"""A port of our own, and a web server on it that leaves when it is told to."""

import asyncio
import errno
import logging
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

from flowd.config.errors import FlowdError

MOST_CONNECTIONS = 200
GRACE_S = 1


@contextmanager
def listening(host: str, port: int) -> Iterator[socket.socket]:
    """Give the block a listening socket, or say in one line why there is none."""
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
    """uvicorn without its ten wake-ups a second, whose SIGTERM is a normal end."""

    def __init__(self, app: ASGIApp, *, ready: Callable[[], None]) -> None:
        """Serve *app* and call *ready* once it answers; logging stays as this process has set it."""
        super().__init__(
            uvicorn.Config(
                app,
                log_config=None,
                access_log=False,
                server_header=False,
                date_header=False,
                proxy_headers=False,
                ws="none",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=GRACE_S,
            )
        )
        self._ready = ready
        self._told_to_stop = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at the first signal; at the second, without waiting for anyone."""
        loop = asyncio.get_running_loop()
        for each in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(each, self._stop)
        try:
            yield
        finally:
            for each in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(each)
                # The process is leaving; one more signal must not turn that into a crash.
                signal.signal(each, signal.SIG_IGN)

    async def main_loop(self) -> None:
        """Say that it answers, and sleep until told to stop."""
        self._ready()
        await self._told_to_stop.wait()

    def _stop(self) -> None:
        # Clients keep a stream open for as long as they can; cutting it now is no error of anyone's.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        self.force_exit = self._told_to_stop.is_set()
        self.should_exit = True
        self._told_to_stop.set()


def _cannot_listen(host: str, port: int, error: OSError) -> FlowdError:
    if error.errno == errno.EADDRINUSE:
        return FlowdError(
            f"port {port} on {host} is taken, perhaps by another flowd serve",
            hint="stop that one, or choose another with --port or serve.port",
        )
    return FlowdError(f"cannot listen on {host} port {port}: {error.strerror or error}")
