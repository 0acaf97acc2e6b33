"""A proxy that adds the bearer token, for clients that cannot send one. It changes nothing else."""

import socket
import threading
from contextlib import suppress

MAX_HEAD_CHARACTERS = 65536
CHUNK = 65536


class TokenProxy:
    """Listens on loopback and passes every request on to *port*. Use as a context manager."""

    def __init__(self, port: int, token: str) -> None:
        self._target = port
        self._added = f"Authorization: Bearer {token}\r\nConnection: close\r\n".encode()
        self._listener = socket.create_server(("127.0.0.1", 0))

    def __enter__(self) -> "TokenProxy":
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    @property
    def url(self) -> str:
        """The MCP endpoint through the proxy."""
        return f"http://localhost:{self._listener.getsockname()[1]}/mcp"

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError), socket.create_connection(("127.0.0.1", self._target)) as server:
            server.sendall(self._with_token(_read_head(client)))
            threading.Thread(target=_pump, args=(client, server), daemon=True).start()
            _pump(server, client)

    def _with_token(self, head: bytes) -> bytes:
        first, _, rest = head.partition(b"\r\n")
        lines = [line for line in rest.split(b"\r\n") if not line.lower().startswith(b"connection:")]
        return first + b"\r\n" + self._added + b"\r\n".join(lines)


def _read_head(client: socket.socket) -> bytes:
    """Return the first bytes of a request, at least up to the end of its headers."""
    head = b""
    while b"\r\n\r\n" not in head and len(head) < MAX_HEAD_CHARACTERS:
        chunk = client.recv(CHUNK)
        if not chunk:
            break
        head += chunk
    return head


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while chunk := source.recv(CHUNK):
            target.sendall(chunk)
        target.shutdown(socket.SHUT_WR)
