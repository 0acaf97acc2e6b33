"""Send and find handoffs on an Agent Mail server, as an agent whose registration is kept on disk."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from flowd.config.paths import make_private_dir, resolve_paths
from flowd.config.settings import AgentMailSettings
from flowd.handoff.checkpoint_texts import MailMessage, thread_id
from flowd.sinks.agent_mail.client import AgentMailClient, MailError
from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write
from flowd.system.times import utc_now

MAX_SENT = 500
MAX_THREADS = 100
DEFAULT_AGENT = "flowd"
MAX_INBOX = 50
# Errors of the server about an unknown sender or recipient, or a missing token.
_NOT_REGISTERED = re.compile(
    r"not registered|not found|unknown agent|sender_token|registration_token", re.IGNORECASE
)


class KnownAgent(msgspec.Struct, frozen=True):
    """The name that the server assigned, and its token; empty if another program registered it."""

    name: str
    token: str = ""


class _SentMail(msgspec.Struct, frozen=True):
    content: str
    subject: str
    body: str
    sender: str
    at: str


class _MailState(msgspec.Struct):
    agents: dict[str, KnownAgent] = {}
    sent: list[str] = []
    # The last mail of each thread: the inbox it went to may belong to another program.
    threads: dict[str, _SentMail] = {}


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

    def last(self, thread: str) -> _SentMail | None:
        """Return the last mail sent to *thread*."""
        return self._read().threads.get(thread)

    def put_sent(self, identity: str, thread: str, mail: _SentMail) -> None:
        """Record that the message with this id was sent."""
        state = self._read()
        state.sent = [*state.sent, identity][-MAX_SENT:]
        state.threads.pop(thread, None)
        state.threads[thread] = mail
        for oldest in list(state.threads)[:-MAX_THREADS]:
            del state.threads[oldest]
        self._write(state)

    def _read(self) -> _MailState:
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=_MailState)
        except (FileNotFoundError, msgspec.DecodeError):
            return _MailState()

    def _write(self, state: _MailState) -> None:
        make_private_dir(self._file.parent)
        atomic_write(self._file, msgspec.json.encode(state))


class ReceivedMail(NamedTuple):
    """A handoff found on the server."""

    subject: str
    body: str
    sender: str
    created_at: str
    thread_id: str


def is_configured(settings: AgentMailSettings) -> bool:
    """Return True if the settings name a server and a recipient."""
    return bool(settings.url and settings.recipient)


def send_handoff(project: str, message: MailMessage, settings: AgentMailSettings) -> str:
    """Send *message* once and return its recipient; raise MailError or NoServerError on failure."""
    return _Mailbox(project, settings).send(message)


def latest_handoff(
    project: str, track: str, settings: AgentMailSettings, *, epic: str = ""
) -> ReceivedMail | None:
    """Return the newest handoff mailed about *track*, None if there is none or no server is configured.

    Raises MailError or NoServerError if the server fails.
    """
    return _Mailbox(project, settings).latest(thread_id(track, epic)) if is_configured(settings) else None


class _Mailbox:
    def __init__(self, project: str, settings: AgentMailSettings) -> None:
        assert settings.url, "not configured"
        assert settings.recipient, "not configured"
        self._client = AgentMailClient(settings.url, _bearer(settings))
        self._project = settings.project or project
        self._server_project = f"{settings.url} {self._project}"
        self._agent = settings.agent or DEFAULT_AGENT
        self._recipient = settings.recipient
        self._memory = MailMemory()

    def send(self, message: MailMessage) -> str:
        thread = f"{self._server_project} {message.thread_id}"
        last = self._memory.last(thread)
        has_news = message.trigger != "idle" or last is None or last.content != message.content
        if self._memory.was_sent(message.id) or not has_news:
            return self._recipient
        sender = self._memory.agent(self._server_project, self._agent) or self._register(self._agent)
        try:
            self._send(sender, message)
        except MailError as error:
            if not _NOT_REGISTERED.search(str(error)):
                raise
            self._send(self._register_unknown(sender, error), message)
        sent = _SentMail(message.content, message.subject, message.body, sender.name, utc_now())
        self._memory.put_sent(message.id, thread, sent)
        return self._recipient

    def latest(self, thread: str) -> ReceivedMail | None:
        found = [mail for mail in self._received_by_known() if mail.thread_id == thread]
        if found:
            return max(found, key=lambda mail: mail.created_at)
        own = self._memory.last(f"{self._server_project} {thread}")
        return ReceivedMail(own.subject, own.body, own.sender, own.at, thread) if own else None

    def _received_by_known(self) -> list[ReceivedMail]:
        """Return the mails in the first inbox that is ours to read and holds any."""
        for name in (self._recipient, self._agent):
            agent = self._memory.agent(self._server_project, name)
            if agent is not None and (mails := self._inbox(agent)):
                return mails
        return []

    def _send(self, sender: KnownAgent, message: MailMessage) -> None:
        answer = self._client.call(
            "send_message",
            project_key=self._project,
            sender_name=sender.name,
            to=[self._recipient],
            subject=message.subject,
            body_md=message.body,
            thread_id=message.thread_id,
            importance=message.importance,
            **_proof("sender_token", sender),
        )
        if not isinstance(answer, dict) or not answer.get("deliveries"):
            raise MailError("send_message: the server delivered nothing")

    def _register_unknown(self, sender: KnownAgent, error: MailError) -> KnownAgent:
        """Register the agent that *error* reports as unknown; return the sender."""
        if "not registered" not in str(error) or self._recipient not in str(error):
            return self._register(self._agent)
        recipient = self._register(self._recipient)
        if recipient.name != self._recipient:
            raise MailError(
                f"Agent Mail has no agent {self._recipient!r}; it made {recipient.name!r}, unread by anybody",
                hint="set `agent_mail.recipient` to an agent that the server lists, see `flowd config`",
            )
        if recipient.token:
            self._client.call(
                "set_contact_policy",
                project_key=self._project,
                agent_name=recipient.name,
                policy="open",
                registration_token=recipient.token,
            )
        return sender

    def _register(self, name: str) -> KnownAgent:
        self._client.call("ensure_project", human_key=self._project)
        known = self._memory.agent(self._server_project, name)
        if known is not None and known.token:
            try:
                return self._call_register(name, name=known.name, registration_token=known.token)
            except MailError:
                # The token is no longer valid, for example because the server's database was recreated.
                return self._call_register(name, name=name)
        return self._call_register(name, name=name)

    def _call_register(self, key: str, **identity: str) -> KnownAgent:
        answer = self._client.call(
            "register_agent",
            project_key=self._project,
            program="flowd",
            model="none",
            task_description="handoffs",
            **identity,
        )
        if not isinstance(answer, dict) or not isinstance(answer.get("name"), str):
            raise MailError("register_agent: the response has no name")
        token = answer.get("registration_token") or identity.get("registration_token", "")
        agent = KnownAgent(answer["name"], str(token))
        self._memory.put_agent(self._server_project, key, agent)
        return agent

    def _inbox(self, agent: KnownAgent) -> list[ReceivedMail]:
        answer = self._client.call(
            "fetch_inbox",
            project_key=self._project,
            agent_name=agent.name,
            include_bodies=True,
            limit=MAX_INBOX,
            **_proof("registration_token", agent),
        )
        return (
            [_received(mail) for mail in answer if isinstance(mail, dict)] if isinstance(answer, list) else []
        )


def _proof(argument: str, agent: KnownAgent) -> dict[str, str]:
    """Return the token of *agent* as *argument*; older servers know none, and refuse the argument."""
    return {argument: agent.token} if agent.token else {}


def _received(mail: dict[str, Any]) -> ReceivedMail:
    names = ("subject", "body_md", "from", "created_ts", "thread_id")
    return ReceivedMail(*(str(mail.get(name) or "") for name in names))


def _bearer(settings: AgentMailSettings) -> str:
    if settings.token_file is None:
        return ""
    try:
        return Path(settings.token_file).expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise FlowdError(
            f"agent_mail.token_file cannot be read: {error}", hint="see `flowd config`"
        ) from error
