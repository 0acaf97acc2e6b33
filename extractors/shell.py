"""What a shell command does to the work: files it writes or removes, commits, checks, pushes."""

import re

CHECK = re.compile(
    r"\b(?:pytest|tox|nox|go (?:test|vet)|cargo (?:test|clippy|check)|(?:npm|yarn|pnpm|bun|deno) (?:run )?(?:test|lint|check|typecheck)"
    r"|npx (?:jest|vitest|tsc|eslint)|vitest|jest|tsc|eslint|golangci-lint|ruff check|mypy|rspec|phpunit|ctest|unittest"
    r"|(?:mise run|make|just|task|rake|gradlew?|mvn|dotnet|mix|swift|bazel) (?:[\w.:-]+ )?(?:test|lint|check|verify)[\w:-]*)\b"
)
TEST = re.compile(r"test|spec|jest|tox|nox", re.IGNORECASE)

_HEREDOC_MESSAGE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?\n(.*?)\n\s*\1\b", re.DOTALL)
_QUOTED_MESSAGE = re.compile(r"(?:-[a-z]*m|--message)[ =]*(?:\"((?:[^\"\\]|\\.)*)\"|'([^']*)')", re.DOTALL)
_TRAILER = re.compile(
    r"^(?:[A-Z][\w-]*-[Bb]y|Entire-\w+|Signed-\w+|Change-Id|Co-authored-by)\s*:.*$|^.*Generated with .*$",
    re.MULTILINE,
)
_PATH = r"['\"]?([^\s'\"<>|&;()$*]+)['\"]?"
_HEREDOC_FILE = re.compile(
    rf"\bcat\s*>>?\s*{_PATH}\s*<<|\bcat\s*<<-?\s*\S+\s*>>?\s*{_PATH}|\btee\s+(?:-a\s+)?{_PATH}\s*<<"
)
_IN_PLACE = re.compile(rf"\b(?:sed|perl)\s+(?:-\w+\s+)*-\w*i\b[^|;&\n]*\s{_PATH}\s*(?:$|[;&|\n])")
_REMOVED = re.compile(r"(?:^|[;&\n]\s*)(?:git\s+)?rm\s+(?:-\w+\s+)*([^;&|\n]+)")
_CREATED_COMMIT = re.compile(r"^\[(\S+(?: \([\w-]+\))?) ([0-9a-f]{7,12})\] (.+)$", re.MULTILINE)
_FAILURE = re.compile(
    r"\bFAIL(?:ED|URES?)?\b|\b[1-9]\d* (?:failed|failing|errors?)\b|^(?:ERROR|error)[:\[ ]|panic:|Traceback",
    re.MULTILINE,
)


def commit_message(command: str) -> str:
    """Return the message of a ``git commit`` without its trailers; empty when there is none."""
    if "git " not in command or "commit" not in command:
        return ""
    start = command.find("commit")
    found = _HEREDOC_MESSAGE.search(command, start)
    if found:
        return _TRAILER.sub("", found.group(2)).strip()
    quoted = _QUOTED_MESSAGE.findall(command, start)
    return _TRAILER.sub("", "\n\n".join(double or single for double, single in quoted)).strip()


def created_commit(output: str) -> tuple[str, str, str] | None:
    """Return branch, short hash and subject of the commit that *output* reports."""
    found = _CREATED_COMMIT.search(output)
    return (found.group(1), found.group(2), found.group(3)) if found else None


def written_files(command: str) -> list[str]:
    """Return the files that *command* writes by here-document or edits in place."""
    found = [path for groups in _HEREDOC_FILE.findall(command) for path in groups if path]
    if " -i" in command:
        found += _IN_PLACE.findall(command)
    return found


def removed_files(command: str) -> list[str]:
    """Return the files that *command* removes."""
    if "rm " not in command:
        return []
    arguments = " ".join(_REMOVED.findall(command)).split()
    return [argument.strip("'\"") for argument in arguments if not argument.startswith("-")]


def looks_failed(output: str) -> bool:
    """Tell whether the output of a check reports a failure."""
    return _FAILURE.search(output) is not None
