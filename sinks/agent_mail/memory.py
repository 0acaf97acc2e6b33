"""Who flowd is at an Agent Mail server, and what it has sent: a private file of its own."""

from pathlib import Path

import msgspec

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.system.files import atomic_write

SENT_REMEMBERED = 500


class KnownAgent(msgspec.Struct, frozen=True):
    """A name as the server gave it, and the token that proves it; empty where somebody else holds it."""

    name: str
    token: str = ""


class _MailState(msgspec.Struct):
    agents: dict[str, KnownAgent] = {}
    sent: list[str] = []


class MailMemory:
    """Keeps agents by server, project and the name asked for."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or resolve_paths().state_dir / "agent_mail.json"

    def agent(self, place: str, asked: str) -> KnownAgent | None:
        """Return who was registered there under the name *asked* for."""
        return self._read().agents.get(f"{place} {asked}")

    def put_agent(self, place: str, asked: str, agent: KnownAgent) -> None:
        """Remember a registration."""
        kept = self._read()
        kept.agents[f"{place} {asked}"] = agent
        self._write(kept)

    def was_sent(self, identity: str) -> bool:
        """Say whether the message with this id has gone out."""
        return identity in self._read().sent

    def put_sent(self, identity: str) -> None:
        """Remember that it has."""
        kept = self._read()
        kept.sent = [*kept.sent, identity][-SENT_REMEMBERED:]
        self._write(kept)

    def _read(self) -> _MailState:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_MailState)
        except (FileNotFoundError, msgspec.DecodeError):
            return _MailState()

    def _write(self, kept: _MailState) -> None:
        make_private_dir(self._file.parent)
        atomic_write(self._file, msgspec.json.encode(kept))
