"""Parse tool calls: their inputs, their results, and the shell commands among them."""

import re
import shlex

import msgspec

from flowd.extractors.transcript.records import NOTHING, RecordBlock

REJECTED = "The user doesn't want to proceed with this tool use"
REASON_OF_REJECTION = "the user said:"
NOTE_AFTER_REASON = "\n\nNote: The user's next message"

CHECKERS = frozenset(
    "pytest tox nox vitest jest tsc eslint golangci-lint mypy pyright rspec phpunit ctest unittest".split()
)
RUNNERS = frozenset(
    "go cargo npm yarn pnpm bun deno npx mise make just task rake gradle gradlew mvn dotnet mix swift "
    "bazel ruff uv".split()
)
CHECKS = ("test", "lint", "check", "verify", "vet", "clippy", "typecheck", "ci")
MAX_COMMAND_CHARACTERS = 400
MAX_REPORT_CHARACTERS = 2000
MAX_MESSAGE_CHARACTERS = 4000
_NAMES = CHECKERS | RUNNERS

_QUOTED_MESSAGE = re.compile(r"(?:-[a-z]*m|--message)[ =]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL)
_COMMITS = re.compile(r"\bgit\s++(?:-\S++\s++(?:[\w.]++=(?:'[^']*'|\"[^\"]*\"|\S+)\s++)?){0,20}+commit\b")
_CHANGES_TO = re.compile(r"\s*cd\s+['\"]?(/[^\s'\"&;]+)['\"]?\s*&&")
_TRAILER = re.compile(r"[A-Z][\w-]*-(?:[Bb]y|[Ii]d|Checkpoint)\s*:|.{0,4}Generated with ")
_PATH = r"['\"]?([^\s'\"<>|&;()$*]+)['\"]?"
_HEREDOC_FILE = re.compile(
    rf"\bcat\s*>>?\s*{_PATH}\s*<<|\bcat\s*<<-?\s*[^\s<>]++\s*>>?\s*{_PATH}|\btee\s+(?:-a\s+)?{_PATH}\s*<<"
)
_IN_PLACE = re.compile(
    r"(?:^|[;&\n(]|\bthen|\bdo)[ \t]*+(?:sed|perl)[ \t]++((?:'[^']*'|\"[^\"]*\"|[^|;&\n'\"])*)"
)
_PATTERN = re.compile(r"[*?${}\[\]]|^\\.$")
_REMOVED = re.compile(r"(?:^|[;&\n])[ \t]*+(?:git[ \t]++)?rm[ \t]++(?:-\w++[ \t]++)*+([^;&|\n]+)")
_CREATED_COMMIT = re.compile(r"^\[(\S+(?: \([\w-]+\))?) ([0-9a-f]{7,12})\] (.+)$", re.MULTILINE)
_FAILURE = re.compile(
    rb"\bFAIL(?:ED|URES?)?\b|\b[1-9]\d* (?:failed|failing|errors?)\b|panic:|Traceback|(?:error|ERROR)\["
)


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
    """Return True if a tool's result reports that the person rejected the call."""
    return text.startswith(REJECTED)


def reason_of_rejection(text: str) -> str:
    """Return the reason that the person gave for the rejection, empty if none."""
    _, _, reason = text.partition(REASON_OF_REJECTION)
    return reason.partition(NOTE_AFTER_REASON)[0].strip()


def check_in(command: str) -> str:
    """Return the part of *command* that runs tests or linters, empty if none."""
    words = command[:MAX_COMMAND_CHARACTERS].replace("/", " ").split()
    if _NAMES.isdisjoint(words):
        return ""
    for index, name in enumerate(words):
        if name in CHECKERS:
            return name
        if name in RUNNERS:
            for distance, verb in enumerate(words[index + 1 : index + 3], 2):
                if verb.startswith(CHECKS):
                    return " ".join(words[index : index + distance])
    return ""


def commit_message(command: str) -> str:
    """Return the message of a ``git commit`` without trailers, empty if there is none."""
    start = command.find("commit")
    document = _here_document(command, start)
    if document:
        return _without_trailers(document)
    quoted = _QUOTED_MESSAGE.findall(command, start, start + MAX_MESSAGE_CHARACTERS)
    return _without_trailers("\n\n".join(double or single for double, single in quoted))


def _here_document(command: str, start: int) -> str:
    """Return the body of the first here-document after *start*, empty if there is none."""
    found = _document_span(command, start)
    return command[found[0] : found[1]] if found else ""


def _document_span(command: str, start: int) -> tuple[int, int] | None:
    opening = command.find("<<", start)
    begin = command.find("\n", opening)
    mark = command[opening + 2 : begin].split(None, 1)[:1] if opening >= 0 and begin >= 0 else []
    word = mark[0].strip("-'\"") if mark else ""
    end = command.find(f"\n{word}", begin) if word else -1
    return (begin + 1, end) if end > begin else None


def without_documents(command: str) -> str:
    """Return *command* without the bodies of its here-documents: they are data, not commands."""
    kept, start = "", 0
    while found := _document_span(command, start):
        kept += command[start : found[0]]
        start = found[1] + 1
    return kept + command[start:]


def _without_trailers(message: str) -> str:
    return "\n".join(line for line in message.split("\n") if not _TRAILER.match(line)).strip()


def commits(command: str) -> bool:
    """Return True if *command* runs ``git commit``."""
    return "commit" in command and _COMMITS.search(command) is not None


def directory(command: str) -> str:
    """Return the directory of a leading ``cd``, empty without one."""
    found = _CHANGES_TO.match(command)
    return found.group(1) if found else ""


def created_commit(output: str) -> tuple[str, str, str] | None:
    """Return branch, short hash and subject of the commit that *output* reports."""
    found = _CREATED_COMMIT.search(output, 0, MAX_REPORT_CHARACTERS)
    return (found.group(1), found.group(2), found.group(3)) if found else None


def written_files(command: str) -> list[str]:
    """Return the files that *command* writes by here-document or edits in place."""
    found: list[str] = []
    if "<<" in command:
        found += [path for groups in _HEREDOC_FILE.findall(command) for path in groups if path]
    if " -i" in command:
        for arguments in _IN_PLACE.findall(command.replace("\\\n", " ")):
            found += _edited_in_place(arguments)
    return found


def _edited_in_place(arguments: str) -> list[str]:
    """Return the files among the arguments of ``sed -i``, without options, scripts and suffixes."""
    try:
        words = shlex.split(arguments)
    except ValueError:
        return []
    if not any(word.startswith("-") and "i" in word for word in words):
        return []
    scripts = {index + 1 for index, word in enumerate(words) if word in ("-e", "--expression", "-f")}
    others = [word for index, word in enumerate(words) if word and word[0] != "-" and index not in scripts]
    return [word for word in (others if scripts else others[1:]) if not _PATTERN.search(word)]


def removed_files(command: str) -> list[str]:
    """Return the files that *command* removes."""
    if "rm " not in command:
        return []
    arguments = " ".join(_REMOVED.findall(command)).split()
    return [argument.strip("'\"") for argument in arguments if not argument.startswith("-")]


def looks_failed(output: bytes) -> bool:
    """Return True if the raw *output* of a check reports a failure near its end."""
    end = output[-MAX_REPORT_CHARACTERS:]
    if b"FAIL" in end or b"fail" in end or b"rror" in end or b"panic" in end or b"Traceback" in end:
        return _FAILURE.search(end) is not None
    return False
