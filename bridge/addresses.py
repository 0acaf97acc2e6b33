"""Which Host and Origin are ours: no page in a browser may reach this server by a trick of DNS."""

from urllib.parse import urlsplit

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class Addresses:
    """The names under which the server may be called."""

    def __init__(self, bound: str, allowed: tuple[str, ...] = ()) -> None:
        """Accept the loopback names, the address bound to, and the names that the person *allowed*."""
        wildcard = bound in ("0.0.0.0", "::", "")  # noqa: S104 compared with, not bound to
        self._names = LOOPBACK | {name.lower() for name in allowed} | (set() if wildcard else {bound.lower()})

    def is_host(self, header: str) -> bool:
        """Say whether a request with this Host header was meant for us."""
        return self._known(f"//{header}")

    def is_origin(self, header: str) -> bool:
        """Say whether a page of this origin may call us."""
        return header.lower().startswith(("http://", "https://")) and self._known(header)

    def _known(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            _ = parts.port
        except ValueError:
            return False
        only_a_name = not (parts.path or parts.query or parts.fragment or parts.username or parts.password)
        return only_a_name and parts.hostname in self._names
