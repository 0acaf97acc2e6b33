"""The agents that flowd registered on Agent Mail servers, and the mails that it sent: a private file."""

from pathlib import Path

import msgspec

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.system.files import atomic_write

MAX_SENT = 500


class KnownAgent(msgspec.Struct, frozen=True):
    """The name that the server assigned, and its token; empty if another program registered it."""

    name: str
    token: str = ""


class _MailState(msgspec.Struct):
    agents: dict[str, KnownAgent] = {}
    sent: list[str] = []


class MailMemory:
    """Stores agents by server, project and requested name, and the ids of sent mails."""

    def __init__(self, file: Path | None = None) -> None:
        self._file = file or resolve_paths().state_dir / "agent_mail.json"

    def agent(self, server_project: str, name: str) -> KnownAgent | None:
        """Return the agent registered there under the requested *name*."""
        return self._read().agents.get(f"{server_project} {name}")

    def put_agent(self, server_project: str, name: str, agent: KnownAgent) -> None:
        """Store a registration."""
        state = self._read()
        state.agents[f"{server_project} {name}"] = agent
        self._write(state)

    def was_sent(self, identity: str) -> bool:
        """Return True if the message with this id was sent."""
        return identity in self._read().sent

    def put_sent(self, identity: str) -> None:
        """Record that the message with this id was sent."""
        state = self._read()
        state.sent = [*state.sent, identity][-MAX_SENT:]
        self._write(state)

    def _read(self) -> _MailState:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_MailState)
        except (FileNotFoundError, msgspec.DecodeError):
            return _MailState()

    def _write(self, state: _MailState) -> None:
        make_private_dir(self._file.parent)
        atomic_write(self._file, msgspec.json.encode(state))
