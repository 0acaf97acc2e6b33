"""Check Host, Origin, rate and token of every HTTP request before it reaches the server."""

import hmac
import logging
import math
import time
from collections.abc import Callable, Iterable
from urllib.parse import urlsplit

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Addresses:
    """The host names by which the server may be called."""

    def __init__(self, bound: str, allowed: tuple[str, ...] = ()) -> None:
        """Accept the loopback names, the *bound* address, and the *allowed* names."""
        wildcard = bound in ("0.0.0.0", "::", "")  # noqa: S104 compared with, not bound to
        self._names = LOOPBACK | {name.lower() for name in allowed} | (set() if wildcard else {bound.lower()})

    def is_host(self, header: str) -> bool:
        """Return True if a request with this Host header is for this server."""
        return self._known(f"//{header}")

    def is_origin(self, header: str) -> bool:
        """Return True if a page of this origin may call this server."""
        return header.lower().startswith(("http://", "https://")) and self._known(header)

    def _known(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError:
            return False
        only_a_name = not (parts.path or parts.query or parts.fragment or parts.username or parts.password)
        return only_a_name and parts.hostname in self._names


class TokenBucket:
    """A token bucket for the requests of one minute, refilled evenly."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._left = float(per_minute)
        self._clock = clock
        self._filled_at = clock()

    def take(self) -> float:
        """Take one token and return 0, or return the seconds until there is one."""
        now = self._clock()
        refill = (now - self._filled_at) * self._most / 60
        self._left = min(self._most, self._left + refill)
        self._filled_at = now
        if self._left >= 1:
            self._left -= 1
            return 0.0
        return (1 - self._left) * 60 / self._most


OPEN_PATHS = frozenset({"/healthz"})

log = logging.getLogger("flowd.bridge")


class RequestRefusedError(Exception):
    """The request is refused with an HTTP status."""

    def __init__(self, status: int, why: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(why)
        self.status = status
        self.headers = headers or {}


class Guard:
    """ASGI middleware that passes on only requests for this server, with the token and within the rate."""

    def __init__(self, app: ASGIApp, *, token: str, addresses: Addresses, per_minute: int) -> None:
        self._app = app
        self._token = token.encode()
        self._addresses = addresses
        self._owner = TokenBucket(per_minute)
        # Requests without the token have their own bucket: they cannot use up the owner's.
        self._strangers = TokenBucket(per_minute)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, pass on all others."""
        if scope["type"] == "http":
            try:
                self._check(scope)
            except RequestRefusedError as refusal:
                return await _answer(refusal, scope, receive, send)
        return await self._app(scope, receive, send)

    def _check(self, scope: Scope) -> None:
        known = self._knows(_only(scope, b"authorization") or "")
        wait_s = (self._owner if known else self._strangers).take()
        if wait_s:
            raise RequestRefusedError(429, "too many requests", {"Retry-After": str(math.ceil(wait_s))})
        if not self._addresses.is_host(_only(scope, b"host") or ""):
            raise RequestRefusedError(421, "Host is not a name of this server; see flowd serve --allow-host")
        origin = _only(scope, b"origin")
        if origin is not None and not self._addresses.is_origin(origin):
            raise RequestRefusedError(403, "Origin is not allowed; see flowd serve --allow-host")
        if not known and scope["path"] not in OPEN_PATHS:
            raise RequestRefusedError(
                401,
                "a valid bearer token is required; print it with `flowd serve --show-token`",
                {"WWW-Authenticate": 'Bearer realm="flowd"'},
            )

    def _knows(self, authorization: str) -> bool:
        scheme, _, given = authorization.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), self._token)


async def _answer(refusal: RequestRefusedError, scope: Scope, receive: Receive, send: Send) -> None:
    # A flood of requests must not become a flood of log lines.
    if refusal.status != 429:
        log.warning("refused status=%d why=%r", refusal.status, str(refusal))
    await JSONResponse({"error": str(refusal)}, refusal.status, refusal.headers)(scope, receive, send)


def _only(scope: Scope, name: bytes) -> str | None:
    """Return the header of that name, None if there is not exactly one."""
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    found = [value.decode("latin-1") for key, value in headers if key == name]
    return found[0] if len(found) == 1 else ("?" if found else None)
