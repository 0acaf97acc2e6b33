"""Texts of user records: what a person typed, subagent reports, compaction summaries."""

import re

import msgspec

from flowd.extractors.text import cut_at_sentence, pieces, plain
from flowd.extractors.transcript.records import NOTHING, Record
from flowd.redaction.redactor import redact

SECTION_LENGTH = 700
MAX_ITEMS = 6

_SECTION_HEADING = re.compile(
    r"^[ \t]*+(?:#++[ \t]*+)?(?:\*\*)?\d{1,2}\.[ \t]++(?:\*\*)?([A-Z][A-Za-z &/]+?)(?:\*\*)?:(?:\*\*)?[ \t]*",
    re.MULTILINE,
)
_ENDING = re.compile(
    r"\n[ \t]*+(?:</summary>|Please continue the conversation|If you need specific|Continue the conversation)"
)
_NOTHING = re.compile(r"^(?:none|no pending|n/a|nothing)\b", re.IGNORECASE)
MAX_PATHS = 20
MAX_HEADING_CHARACTERS = 1000
BULLETS = ("- ", "* ", "• ")

_NOTIFICATION = "<task-notification>"
_PATH = re.compile(r"`([\w./@+~-]*/[\w.@+-]*\.\w{1,8})(?::\d[\d-]*)?`")
_FILES_HEADING = re.compile(
    r"\bfiles?\b.{0,20}\b(?:touched|changed|modified|edited|created|updated|written)\b", re.IGNORECASE
)
_EDITING = re.compile(
    r"\b(?:edited|modified|changed|updated|created|added|wrote|rewrote|fixed)\b[^`\n]{0,80}`", re.IGNORECASE
)
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
# Every client writes the name first for what it does by itself, such as /compact, and the message first for
# what it sends to the model.
_CLIENT_COMMAND = "<command-name>"
_FLOW_COMMAND = re.compile(r"<command-name>/(?:[\w-]+:)?flow-\w+</command-name>")
_ARGUMENTS, _ARGUMENTS_END = "<command-args>", "</command-args>"
_REMINDER = re.compile(r"<(/?)(system-reminder|ide_\w+|local-command-\w+)>")
_IMAGE = re.compile(r"\[Image(?: #\d+|: source: [^\[\]]*)\]\s*")


class CompactionSummary(msgspec.Struct):
    """The parts of a compaction summary that extractors use."""

    request: str = ""
    current: str = ""
    next_step: str = ""
    pending: list[str] = []
    fixes: list[str] = []
    at: int = 0


def read_summary(text: str, at: int) -> CompactionSummary:
    """Parse the numbered sections of *text*; *at* is the number of its record."""
    sections = _sections(redact(_ENDING.split(text, maxsplit=1)[0]))
    return CompactionSummary(
        request=_prose(sections.get("primary request", "")),
        current=_prose(sections.get("current work", "")),
        next_step=_prose(sections.get("optional next", "") or sections.get("next step", "")),
        pending=_items(sections.get("pending tasks", "")),
        fixes=_items(sections.get("errors and", "")) + _items(sections.get("problem solving", "")),
        at=at,
    )


def _sections(text: str) -> dict[str, str]:
    """Return the sections by the first two words of their headings."""
    parts = _SECTION_HEADING.split(text)
    return {
        " ".join(heading.lower().split()[:2]): body
        for heading, body in zip(parts[1::2], parts[2::2], strict=False)
    }


def _prose(section: str) -> str:
    words = " ".join(plain(piece.text) for piece in pieces(section))
    return cut_at_sentence(words, SECTION_LENGTH)


def _items(section: str) -> list[str]:
    found = [plain(piece.text) for piece in pieces(section)]
    return [cut_at_sentence(item, 300) for item in found if len(item) > 10 and not _NOTHING.match(item)][
        :MAX_ITEMS
    ]


def notified_report(text: str) -> str:
    """Return the report in the notification of a finished background task, empty if there is none."""
    if not text.startswith(_NOTIFICATION):
        return ""
    return text.partition("<result>")[2].partition("</result>")[0]


def edited_in(report: str) -> list[str]:
    """Return the paths that *report* lists under a heading such as "Files changed" or names as edited."""
    found: list[str] = []
    above = ""
    for line in report.split("\n"):
        bare = line.lstrip()
        is_item = bare.startswith(BULLETS)
        above = above if is_item or not bare else bare
        # Few lines contain a path: skip the expensive patterns for the others.
        path = _PATH.search(bare) if "`" in bare and "/" in bare else None
        if path and (
            (is_item and _FILES_HEADING.search(above, 0, MAX_HEADING_CHARACTERS)) or _EDITING.search(bare)
        ):
            found.append(path.group(1))
    return list(dict.fromkeys(found))[:MAX_PATHS]


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
    return own_words(message_text(record))


def own_words(text: str) -> str:
    """Return the typed part of a prompt: the arguments of a slash command, no text of the client.

    What is asked of the client or of flowd is no request of the work.
    """
    text = text.strip()
    if text.startswith(_CLIENT_COMMAND) or is_flow_command(text):
        return ""
    if _COMMAND.match(text):
        arguments, end, _ = text.partition(_ARGUMENTS)[2].partition(_ARGUMENTS_END)
        text = arguments.strip() if end else ""
        return text if len(text.split()) > 2 else ""
    if "-reminder>" in text or "<ide_" in text:
        text = _without_reminders(text).strip()
    if text.startswith(PSEUDO_PROMPTS) or text == WARM_UP or (text.startswith("{") and is_client_text(text)):
        return ""
    return _IMAGE.sub("", text).strip() if "[Image" in text else text


def is_flow_command(text: str) -> bool:
    """Return True if *text* is one of flowd's slash commands."""
    return text.startswith("<command-") and _FLOW_COMMAND.search(text) is not None


def is_typed(record: Record) -> bool:
    """Return True if a person typed the user *record*, be it a command."""
    return record.tool_use_result is NOTHING and not record.is_meta and _from_person(record)


def message_text(record: Record) -> str:
    """Return the text of a user *record*, empty for results of tools."""
    content = record.message.content if record.message else None
    if isinstance(content, str):
        return content
    if not content or any(block.type == "tool_result" for block in content):
        return ""
    return "\n".join(block.text for block in content if block.type == "text" and block.text)


def _without_reminders(text: str) -> str:
    """Return *text* without what the client added: from each opening tag to its first closing one."""
    tags = [(match[2], match.start(), match.end(), not match[1]) for match in _REMINDER.finditer(text)]
    closed: dict[str, int] = {}
    ends: list[int] = []
    for name, _, end, is_opening in reversed(tags):
        ends.append(closed.get(name, 0))
        if not is_opening:
            closed[name] = end
    kept, position = "", 0
    for (_, start, _, is_opening), end in zip(tags, reversed(ends), strict=True):
        if is_opening and end and start >= position:
            kept += text[position:start]
            position = end
    return kept + text[position:]


def is_client_text(text: str) -> bool:
    """Return True if queued *text* is of the client: a command, a notification, a task's JSON (2.1.45-49)."""
    return text.startswith(("<", "/")) or (text.startswith("{") and '"task_id"' in text[:TASK_HEAD])


def is_interruption(record: Record) -> bool:
    """Return True if *record* reports that the person interrupted the assistant."""
    return not record.is_sidechain and message_text(record).startswith(INTERRUPTION)


def _from_person(record: Record) -> bool:
    if record.prompt_source == "system":
        return False
    return record.origin is None or record.origin.kind in (None, "human")


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
