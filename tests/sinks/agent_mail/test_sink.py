"""Agent Mail against a server that answers as the real one does: registered once, sent once, found again."""

import json
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from flowd.config.paths import resolve_paths
from flowd.config.settings import AgentMailSettings, LiveSettings
from flowd.handoff.checkpoint_texts import mail_message, thread_id
from flowd.model.checkpoints import checkpoint_fact
from flowd.model.facts import Checkpointed, Fact, Trigger
from flowd.model.session import SessionState
from flowd.sinks.agent_mail.client import AgentMailClient, MailError, NoServerError
from flowd.sinks.agent_mail.mailbox import latest_handoff, send_handoff
from flowd.sinks.agent_mail.sink import AgentMailSink
from flowd.sinks.protocol import RetryLaterError
from tests.support.stand_ins.agent_mail import StandInServer, running_server

PROJECT = "/home/someone/shop"
MESSAGE = mail_message("cp_1", trigger="manual", track="shop:3-lzks", context="Rounding", body="hello")


@pytest.fixture
def server() -> Iterator[StandInServer]:
    with running_server() as server:
        yield server


@pytest.fixture
def mail(server: StandInServer) -> AgentMailSettings:
    """Settings for the stand-in."""
    return AgentMailSettings(
        url=server.url, token_file=None, project=None, agent="GreenCastle", recipient="RedLake"
    )


def tools(server: StandInServer) -> list[str]:
    return [tool for tool, _ in server.calls]


def test_the_first_message_registers_both_sides_and_the_next_only_sends(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    assert send_handoff(PROJECT, MESSAGE, mail) == "RedLake"
    registering = ["ensure_project", "register_agent", "send_message"]
    introducing = ["ensure_project", "register_agent", "set_contact_policy", "send_message"]
    assert tools(server) == registering + introducing
    send_handoff(PROJECT, MESSAGE._replace(id="cp_2"), mail)
    assert tools(server)[7:] == ["send_message"]
    sent = server.messages[0]
    assert (sent["from"], sent["to"], sent["importance"]) == ("GreenCastle", ["RedLake"], "normal")
    assert sent["subject"] == "[HANDOFF:manual] shop:3-lzks - Rounding"
    assert (sent["thread_id"], sent["body_md"]) == ("handoff-shop-3-lzks", "hello")


def test_the_names_used_are_those_that_the_server_gave(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    odd = msgspec.structs.replace(mail, agent="handoff bot!")
    assert send_handoff(PROJECT, MESSAGE, odd) == "RedLake"
    assert (server.messages[0]["from"], server.messages[0]["to"]) == ("TopazHill", ["RedLake"])


def test_the_same_checkpoint_is_sent_once(server: StandInServer, mail: AgentMailSettings) -> None:
    for _ in range(2):
        send_handoff(PROJECT, MESSAGE, mail)
    assert len(server.messages) == 1


def test_tokens_are_kept_for_this_user_only(server: StandInServer, mail: AgentMailSettings) -> None:
    send_handoff(PROJECT, MESSAGE, mail)
    file = resolve_paths().state_dir / "agent_mail.json"
    assert server.tokens["GreenCastle"] in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["agent_mail.json"]


def test_a_server_that_has_forgotten_everything_is_told_again(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    send_handoff(PROJECT, MESSAGE, mail)
    server.tokens.clear()
    server.projects.clear()
    server.open.clear()
    with pytest.raises(MailError):  # one side is made known with each attempt
        send_handoff(PROJECT, MESSAGE._replace(id="cp_2"), mail)
    send_handoff(PROJECT, MESSAGE._replace(id="cp_2"), mail)
    assert len(server.messages) == 2


def test_a_recipient_who_must_approve_is_left_to_do_so(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    server.tokens["RedLake"] = "held by somebody else"
    with pytest.raises(MailError, match="Contact approval required"):
        send_handoff(PROJECT, MESSAGE, mail)
    assert tools(server).count("send_message") == 1
    server.open.add("RedLake")
    assert send_handoff(PROJECT, MESSAGE, mail) == "RedLake"


def test_an_answer_with_is_error_is_a_failure(server: StandInServer, mail: AgentMailSettings) -> None:
    with pytest.raises(MailError, match="absolute directory path"):
        send_handoff(PROJECT, MESSAGE, msgspec.structs.replace(mail, project="relative/path"))
    with pytest.raises(MailError, match="Unknown tool: no_such_tool"):
        AgentMailClient(server.url).call("no_such_tool")


@pytest.mark.parametrize(
    ("mood", "error"), [("500", NoServerError), ("rubbish", MailError), ("silent", NoServerError)]
)
def test_a_server_that_misbehaves_is_a_failure_within_the_limit(
    server: StandInServer,
    mail: AgentMailSettings,
    mood: str,
    error: type[Exception],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("flowd.sinks.agent_mail.client.TIMEOUT_S", 0.5)
    server.mood = mood
    with pytest.raises(error):
        send_handoff(PROJECT, MESSAGE, mail)


def test_an_answer_may_come_as_a_stream(server: StandInServer, mail: AgentMailSettings) -> None:
    server.mood = "stream"
    assert send_handoff(PROJECT, MESSAGE, mail) == "RedLake"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/mcp/", "ftp://x/", "http:///", "http://127.0.0.1:x/"])
def test_where_no_server_is_there_is_none(mail: AgentMailSettings, url: str) -> None:
    with pytest.raises(NoServerError):
        send_handoff(PROJECT, MESSAGE, msgspec.structs.replace(mail, url=url))


def test_the_bearer_token_comes_from_its_file(
    server: StandInServer, mail: AgentMailSettings, tmp_path: Path
) -> None:
    server.bearer = "b-1"
    with pytest.raises(MailError, match="401"):
        send_handoff(PROJECT, MESSAGE, mail)
    (tmp_path / "token").write_text("b-1\n")
    with_token = msgspec.structs.replace(mail, token_file=str(tmp_path / "token"))
    assert send_handoff(PROJECT, MESSAGE, with_token) == "RedLake"


def test_resume_finds_the_newest_handoff_of_its_track(server: StandInServer, mail: AgentMailSettings) -> None:
    assert latest_handoff(PROJECT, "shop", mail) is None
    assert server.calls == []
    for number, track in enumerate(["shop", "shop", "other"]):
        body = f"body {number}"
        message = mail_message(f"cp_{number}", trigger="idle", track=track, context="x", body=body)
        send_handoff(PROJECT, message, mail)
    found = latest_handoff(PROJECT, "shop", mail)
    assert found is not None
    assert (found.body, found.sender, found.subject) == ("body 1", "GreenCastle", "[HANDOFF:idle] shop - x")
    assert latest_handoff(PROJECT, "none", mail) is None
    assert latest_handoff(PROJECT, "shop", msgspec.structs.replace(mail, url=None)) is None


Make = Callable[..., AgentMailSink]


@pytest.fixture
def sink(mail: AgentMailSettings, config: Path, settings: LiveSettings) -> Make:
    def make(**changes: object) -> AgentMailSink:
        wanted = {"url": mail.url, "recipient": mail.recipient, "agent": mail.agent, **changes}
        config.write_text(json.dumps({"agent_mail": wanted}))
        settings.reload()
        return AgentMailSink(settings)

    return make


def fact(trigger: Trigger = "epic-end", project: str = PROJECT, epic: str = "") -> Fact:
    state = SessionState(
        session_id="s-1",
        project=project,
        branch="till",
        goal="Sell apples",
        now="Rounding discounts",
        files=("till.py",),
        learnings=("Floats lose cents with ghp_" + "a1B2" * 9,),
        next=("Print the receipt",),
    )
    return checkpoint_fact(state, trigger, trigger, "", epic=epic)


def test_a_checkpoint_is_mailed_with_its_four_sections(
    server: StandInServer, sink: Make, tmp_path: Path
) -> None:
    track = tmp_path / "shop" / "conductor" / "tracks" / "till:1"
    track.mkdir(parents=True)
    (track / "metadata.json").write_text('{"status": "in_progress"}')
    made = sink()
    made.accept(fact(project=str(tmp_path / "shop"), epic="E1"))
    sent = server.messages[0]
    assert sent["subject"] == "[HANDOFF:epic-end] till:1/E1 - Rounding discounts"
    assert (sent["thread_id"], sent["importance"]) == ("handoff-till-1-E1", "high")
    assert sent["body_md"].splitlines()[:6] == [
        "## Context",
        "- **Track:** till:1",
        "- **Trigger:** epic-end",
        "- **Git:** till@unknown",
        "- **Goal:** Sell apples",
        "- **Now:** Rounding discounts",
    ]
    assert "## Changes\n- `till.py`\n\n## Learnings\n- Floats lose cents with [redacted:" in sent["body_md"]
    assert sent["body_md"].endswith("## Next Steps\n1. [ ] Print the receipt")
    assert made.detail == "handoff-till-1-E1 sent to RedLake"


def test_it_is_off_unless_configured_and_takes_only_handoffs_that_are_news(
    server: StandInServer, sink: Make
) -> None:
    assert sink(url=None).key(fact()) is None
    assert sink(recipient=None).key(fact()) is None
    made = sink()
    assert made.key(fact()) != made.key(fact("idle"))
    assert [made.key(fact(trigger)) for trigger in ("stop", "precompact", "session-end")] == [None] * 3
    old = msgspec.structs.replace(fact(), at=time.time() - 90_000)
    assert made.key(old) is None
    assert server.calls == []


def test_a_server_that_is_away_is_waited_for(sink: Make) -> None:
    made = sink(url="http://127.0.0.1:1/mcp/")
    with pytest.raises(RetryLaterError, match="Agent Mail cannot be reached"):
        made.accept(fact("idle"))
    assert made.detail.startswith("Agent Mail cannot be reached")


@pytest.mark.parametrize(
    ("track", "epic", "thread"),
    [("", "", "handoff-general"), ("a", "E1", "handoff-a-E1"), ("a/b c:é", "", "handoff-a-b-c-")],
)
def test_a_thread_is_named_in_letters_that_servers_take(track: str, epic: str, thread: str) -> None:
    assert thread_id(track, epic) == thread


def test_long_names_stay_apart_and_subjects_short() -> None:
    first, second = thread_id("x" * 200 + "1"), thread_id("x" * 200 + "2")
    assert first != second
    assert len(first) == len(second) == 128
    message = mail_message("i", trigger="idle", track="t", context="word " * 50, body="")
    assert 70 < len(message.subject) <= 80


REAL_SERVER = os.environ.get("FLOWD_TEST_AGENT_MAIL", "")


@pytest.mark.skipif(not REAL_SERVER, reason="FLOWD_TEST_AGENT_MAIL names no server")
def test_a_real_server_delivers_and_is_searched(tmp_path: Path) -> None:
    mail = AgentMailSettings(
        url=REAL_SERVER, token_file=None, project=None, agent="GreenCastle", recipient="RedLake"
    )
    recipient = send_handoff(str(tmp_path), MESSAGE, mail)
    found = latest_handoff(str(tmp_path), "shop:3-lzks", mail)
    assert recipient
    assert found is not None
    assert (found.subject, found.body) == (MESSAGE.subject, MESSAGE.body)


def test_a_mail_says_what_was_done_and_on_which_branch(
    server: StandInServer, sink: Make, tmp_path: Path
) -> None:
    """The branch of the checkout, also where no record named one."""
    shop = tmp_path / "shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").write_text("ref: refs/heads/till\n")
    told = fact(project=str(shop))
    assert isinstance(told.body, Checkpointed)
    state = msgspec.structs.replace(told.body.state, branch="", outcome="Discounts are rounded")
    body = msgspec.structs.replace(told.body, state=state)
    sink().accept(msgspec.structs.replace(told, body=body))
    text = server.messages[0]["body_md"]
    assert "- **Git:** till@" in text
    assert "- **Done:** Discounts are rounded" in text


def test_a_recipient_that_the_server_would_rename_is_refused_with_a_way_out(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    """A mailbox of a name that the server made up is read by nobody."""
    with pytest.raises(MailError, match="'Human'") as refused:
        send_handoff(PROJECT, MESSAGE, msgspec.structs.replace(mail, recipient="Human"))
    assert "agent_mail.recipient" in refused.value.hint
    assert server.messages == []


def test_a_recipient_of_another_program_is_read_all_the_same(
    server: StandInServer, mail: AgentMailSettings
) -> None:
    """Its inbox is not ours to open: what was sent is found in our own outbox, and said if it is not."""
    server.tokens["RedLake"], server.open = "held by somebody else", {"RedLake"}
    message = mail_message("cp_9", trigger="manual", track="shop", context="x", body="the body")
    send_handoff(PROJECT, message, mail)
    found = latest_handoff(PROJECT, "shop", mail)
    assert found is not None
    assert found.body == "the body"


def test_an_idle_mail_after_a_manual_one_with_nothing_new_is_not_sent(
    server: StandInServer, sink: Make
) -> None:
    made = sink()
    made.accept(fact("manual"))
    made.accept(fact("idle"))
    assert [message["subject"][:16] for message in server.messages] == ["[HANDOFF:manual]"]


def test_a_server_without_tokens_is_served(server: StandInServer, mail: AgentMailSettings) -> None:
    """Older servers know no tokens, and refuse arguments that they do not know."""
    server.mood = "no tokens"
    assert send_handoff(PROJECT, MESSAGE, mail) == "RedLake"
    assert latest_handoff(PROJECT, "shop:3-lzks", mail) is not None
