"""Who drives a session: a person, or a program that talks to the client."""

import pytest

from tests.support.transcript import Transcript


@pytest.mark.parametrize("entrypoint", ["sdk-cli", "sdk-ts", "sdk-py", "mcp", "claude-code-github-action"])
def test_a_session_that_a_program_drives_is_headless(entrypoint: str) -> None:
    assert Transcript().person("Hello", entrypoint=entrypoint).state.headless


@pytest.mark.parametrize("entrypoint", ["cli", "claude-vscode", "claude-desktop", "remote", "something-new"])
def test_a_session_of_a_person_is_not_headless(entrypoint: str) -> None:
    assert not Transcript().person("Hello", entrypoint=entrypoint).state.headless


def test_a_session_of_a_client_that_does_not_tell_is_a_persons() -> None:
    """Clients before 2.1.78 do not; editors queue prompts just as `claude -p` does."""
    session = Transcript().add("queue-operation", operation="enqueue", content="Hello")
    assert not session.person("Hello").state.headless


def test_once_a_person_was_at_it_a_session_stays_theirs() -> None:
    session = Transcript().person("Hello", entrypoint="sdk-cli")
    assert session.state.headless
    assert not session.person("Going on by hand", entrypoint="cli").state.headless
    assert not session.person("And by a script again", entrypoint="sdk-cli").state.headless


def test_a_subagent_says_nothing_about_its_session() -> None:
    session = Transcript().person("Hello", entrypoint="cli")
    session.is_sidechain = True
    assert not session.person("Search", entrypoint="sdk-cli").state.headless
