"""Prompts: which records hold text that a person typed, and that text."""

import re

import msgspec

from flowd.extractors.transcript.records import NOTHING, Record

# User records that the client writes itself. Newer clients flag them; these prefixes catch older ones.
PSEUDO_PROMPTS = (
    "<local-command-",
    "<bash-",
    "<task-notification>",
    "<system-reminder>",
    "<ci-monitor-event>",
    "<cross-session-message",
    "<user-prompt-submit-hook>",
    "<session-start-hook>",
    "<flow-guardian-context>",
    "Caveat: The messages below",
    "[Request interrupted by user",
    "Base directory for this skill:",
    "This session is being continued from a previous conversation",
    "API Error",
)
INTERRUPTION = "[Request interrupted by user"
WARM_UP = "Warmup"
TASK_HEAD = 200

_COMMAND = re.compile(r"<command-(?:name|message)>")
_ARGUMENTS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_REMINDER = re.compile(r"<(system-reminder|ide_\w+|local-command-\w+)>.*?</\1>", re.DOTALL)
_IMAGE = re.compile(r"\[Image(?: #\d+|: source: [^\]]*)\]\s*")


class QueuedCommand(msgspec.Struct):
    """A prompt typed while the assistant was busy, as an attachment carries it."""

    type: str = ""
    prompt: str | list[dict[str, object]] | None = None
    command_mode: str | None = msgspec.field(default=None, name="commandMode")


_queued = msgspec.json.Decoder(QueuedCommand)


def human_words(record: Record) -> str:
    """Return what a person typed in a user or attachment *record*, empty if nothing."""
    if record.is_sidechain or record.is_meta or record.is_compact_summary:
        return ""
    if record.type == "attachment":
        queued = _queued_prompt(record)
        return own_words(queued) if queued else ""
    if record.tool_use_result is not NOTHING or not _from_person(record):
        return ""
    return own_words(_message_text(record))


def own_words(text: str) -> str:
    """Return the typed part of a prompt: the arguments of a slash command, no text of the client."""
    text = text.strip()
    if _COMMAND.match(text):
        found = _ARGUMENTS.search(text)
        text = found.group(1).strip() if found else ""
        return text if len(text.split()) > 2 else ""
    if "-reminder>" in text or "<ide_" in text:
        text = _REMINDER.sub("", text).strip()
    if text.startswith(PSEUDO_PROMPTS) or text == WARM_UP or (text.startswith("{") and is_client_text(text)):
        return ""
    return _IMAGE.sub("", text).strip() if "[Image" in text else text


def is_client_text(text: str) -> bool:
    """Return True if queued *text* is of the client: a command, a notification, a task's JSON (2.1.45-49)."""
    return text.startswith(("<", "/")) or (text.startswith("{") and '"task_id"' in text[:TASK_HEAD])


def is_interruption(record: Record) -> bool:
    """Return True if *record* reports that the person interrupted the assistant."""
    return not record.is_sidechain and _message_text(record).startswith(INTERRUPTION)


def _from_person(record: Record) -> bool:
    if record.prompt_source == "system":
        return False
    return record.origin is None or record.origin.kind in (None, "human")


def _message_text(record: Record) -> str:
    content = record.message.content if record.message else None
    if isinstance(content, str):
        return content
    if not content or any(block.type == "tool_result" for block in content):
        return ""
    return "\n".join(block.text for block in content if block.type == "text" and block.text)


def _queued_prompt(record: Record) -> str:
    raw = bytes(record.attachment)
    if b'"queued_command"' not in raw:
        return ""
    try:
        queued = _queued.decode(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    if queued.type != "queued_command" or queued.command_mode not in (None, "prompt"):
        return ""
    if isinstance(queued.prompt, list):
        return "\n".join(str(block.get("text") or "") for block in queued.prompt)
    return queued.prompt or ""
