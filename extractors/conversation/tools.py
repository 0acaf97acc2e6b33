"""Parse the inputs and results of tool calls."""

import msgspec

from flowd.extractors.transcript.records import NOTHING, RecordBlock

REJECTED = "The user doesn't want to proceed with this tool use"
REASON_OF_REJECTION = "the user said:"
NOTE_AFTER_REASON = "\n\nNote: The user's next message"


class Option(msgspec.Struct):
    """One option of a question."""

    label: str = ""
    description: str = ""


class AskedQuestion(msgspec.Struct):
    """One question of an AskUserQuestion call."""

    question: str = ""
    options: list[Option] = []


class TodoInput(msgspec.Struct, rename={"active_form": "activeForm"}):
    """One entry of a written to-do list."""

    content: str = ""
    status: str = ""
    active_form: str = ""


class ToolInput(msgspec.Struct, rename={"task_id": "taskId", "active_form": "activeForm"}):
    """The input fields of all tools together; each tool sets a few."""

    command: str = ""
    description: str = ""
    file_path: str = ""
    notebook_path: str = ""
    plan: str = ""
    questions: tuple[AskedQuestion, ...] = ()
    todos: tuple[TodoInput, ...] = ()
    subject: str = ""
    task_id: str = ""
    status: str = ""
    active_form: str = ""


class QuestionAnswers(msgspec.Struct):
    """What the person answered, by question."""

    answers: dict[str, str] = {}


class _TextBlock(msgspec.Struct):
    type: str = ""
    text: str | None = None


_inputs = msgspec.json.Decoder(ToolInput, strict=False)
_answers = msgspec.json.Decoder(QuestionAnswers)
_result_text = msgspec.json.Decoder(str | list[_TextBlock] | None)
_no_input = ToolInput()


def input_of(block: RecordBlock) -> ToolInput:
    """Return the input of a tool call, an empty one if it cannot be parsed."""
    if block.input is NOTHING:
        return _no_input
    try:
        return _inputs.decode(block.input)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _no_input


def result_text(block: RecordBlock) -> str:
    """Return the text of a tool's result."""
    if block.content is NOTHING:
        return ""
    try:
        content = _result_text.decode(block.content)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ""
    if isinstance(content, list):
        return "\n".join(part.text for part in content if part.text)
    return content or ""


def answers_of(result: msgspec.Raw) -> dict[str, str]:
    """Return the answers by question."""
    try:
        return _answers.decode(result).answers
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return {}


def is_rejection(text: str) -> bool:
    """Return True if a tool's result says that the person rejected the call."""
    return text.startswith(REJECTED)


def reason_of_rejection(text: str) -> str:
    """Return the reason that the person gave for the rejection, empty if none."""
    _, _, reason = text.partition(REASON_OF_REJECTION)
    return reason.partition(NOTE_AFTER_REASON)[0].strip()
