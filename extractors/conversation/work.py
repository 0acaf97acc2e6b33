"""Tool calls and their results."""

from flowd.extractors.conversation import issues, ledger, plans, tools, turns
from flowd.extractors.conversation.tools import ToolInput
from flowd.extractors.fields import files
from flowd.extractors.text import cut, cut_at_sentence, plain, sentences
from flowd.extractors.transcript.memory import Call, Check, Commit, ConversationMemory, Utterance
from flowd.extractors.transcript.records import Record, RecordBlock
from flowd.redaction.redactor import redact

CALLS = 24
UNREAD = frozenset(
    {"Read", "Grep", "Glob", "LS", "ToolSearch", "Skill", "TaskList", "TaskGet", "TaskOutput", "BashOutput"}
)
AGENTS = frozenset({"Agent", "Task"})
SILENT = frozenset({"TodoWrite", "TaskCreate", "TaskUpdate"})


def called(memory: ConversationMemory, block: RecordBlock, record: Record) -> None:
    """Add a tool call to *memory*; of a subagent's call, only its files."""
    turn = memory.turn
    if turn.ended and not record.is_sidechain:
        turn.ended = False
    name = block.name or ""
    if name in UNREAD:
        return
    given = tools.input_of(block)
    edits = memory.files.edits
    files.called(memory.files, block, given, record.cwd or "")
    if memory.files.edits != edits:
        memory.ledger.edited_on = record.timestamp or memory.ledger.edited_on
        ledger.touched(memory.ledger, given.file_path)
    if record.is_sidechain:
        return
    call = _call(memory, name, given)
    call.label = _label(name, given)
    if call.label:
        turn.doing = call.label
        turn.is_final = False
    if block.id:
        memory.calls[block.id] = call
        if len(memory.calls) > CALLS:
            del memory.calls[next(iter(memory.calls))]


def returned(memory: ConversationMemory, block: RecordBlock, record: Record, line: int) -> None:
    """Add a tool's result to *memory*."""
    identity = block.tool_use_id or ""
    if identity in memory.files.calls:
        files.returned(memory.files, block)
    call = memory.calls.pop(identity, None)
    if call is None or block.type != "tool_result":
        return
    if block.is_error:
        _failed(memory, call, tools.result_text(block), record, line)
    elif call.kind in _RESULT_HANDLERS:
        _RESULT_HANDLERS[call.kind](memory, call, block, record, line)


def returned_aside(memory: ConversationMemory, record: Record) -> None:
    """Apply the results of a subagent's calls to its files."""
    content = record.message.content if record.message else None
    if memory.files.calls and isinstance(content, list):
        for block in content:
            files.returned(memory.files, block)


def _call(memory: ConversationMemory, name: str, given: ToolInput) -> Call:
    """Apply the input of a call; return the call to be matched with its result."""
    if name == "Bash":
        return _issue_call(given.command) or _shell_call(given.command)
    if name in files.EDITING:
        memory.edited_at = memory.clock
        return Call("edit")
    if name == "TodoWrite":
        memory.written_todos = plans.written_tasks(given, memory.written_todos)
    elif name == "TaskCreate":
        memory.tasks_made += 1
        plans.create_task(memory.tasks, given, memory.tasks_made)
    elif name == "TaskUpdate":
        plans.update_task(memory.tasks, given)
    elif name == "AskUserQuestion":
        asked = [plain(redact(question.question)) for question in given.questions]
        memory.open_question = cut(" ".join(asked), 300)
        return Call("ask")
    elif name == "ExitPlanMode":
        return _plan_call(memory, given.plan)
    return Call("agent" if name in AGENTS else "")


def _issue_call(command: str) -> Call | None:
    if "bd " not in command:
        return None
    if title := issues.made_in(command):
        return Call("issue", detail=title[:1000])
    closed = issues.closed_in(command)
    return Call("issue closed", detail=" ".join(closed)) if closed else None


def _shell_call(command: str) -> Call:
    if "git " in command and "commit" in command:
        message = tools.commit_message(command)
        if message:
            return Call("commit", detail=message[:1000])
    if "git push" in command or "gh pr create" in command:
        return Call("push")
    check = tools.check_in(command)
    return Call("check", detail=check) if check else Call("")


def _plan_call(memory: ConversationMemory, plan: str) -> Call:
    if plan:
        turns.set_plan(memory, plan)
    title = memory.plan.text if plan and memory.plan else "the plan"
    memory.open_question = f"Go ahead with the plan: {title}?"
    return Call("plan", detail=title)


def _label(name: str, given: ToolInput) -> str:
    """Return the description of a call as written; ``finalize`` converts it to plain text."""
    if name in files.EDITING:
        return f"editing {given.file_path or given.notebook_path}"
    if name in SILENT:
        return ""
    return given.description or given.command.partition("\n")[0]


def _failed(memory: ConversationMemory, call: Call, text: str, record: Record, line: int) -> None:
    if not tools.is_rejection(text):
        if call.kind == "check":
            memory.check = Check(call.detail, False, memory.clock)
            memory.ledger.checked_on = record.timestamp or memory.ledger.checked_on
        return
    memory.open_question = ""
    memory.turn.doing = ""
    label = cut(plain(redact(call.label)), turns.LABEL)
    reason = plain(redact(tools.reason_of_rejection(text)).replace("\n", " "))
    if reason:
        turns.note(
            memory,
            f"The user refused a step ({label}) and said: {reason}",
            "decision",
            7.0,
            record,
            line,
        )
        memory.prompt = Utterance(cut(reason, turns.PROMPT_LENGTH), memory.clock)
    elif call.kind == "check":
        ledger.interrupted_check(memory.ledger, redact(call.detail), record.timestamp or "")


def _answered(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    memory.open_question = ""
    for question, answer in tools.answers_of(record.tool_use_result).items():
        if answer.rstrip().endswith("?"):  # a question in return decides nothing
            continue
        memory.ledger.answers += 1
        asked = cut(plain(redact(question)), 180)
        text = f"{asked} The user answered: {plain(redact(answer))}"
        turns.note(memory, text, "decision", 8.0, record, line)


def _approved(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    memory.open_question = ""
    turns.note(memory, f"The user approved the plan: {call.detail}", "decision", 3.0, record, line)


def _committed(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    made = tools.created_commit(tools.result_text(block))
    subject, _, body = call.detail.partition("\n")
    branch, number, subject = made or ("", "", subject)
    details = " ".join(sentences(plain(body))[:2])
    text = redact(f"{plain(subject).rstrip('.')}. {details}".strip())
    memory.commit = Commit(branch, number, cut(text.partition(". ")[0], 160), memory.clock)
    _note_commit(memory, cut_at_sentence(redact(details), ledger.REQUEST_LENGTH), record)
    turns.note(
        memory,
        f"Committed {number}: {text}" if number else f"Committed: {text}",
        "context",
        3.5,
        record,
        line,
    )


def _note_commit(memory: ConversationMemory, about: str, record: Record) -> None:
    made = memory.commit
    if made:
        note = ledger.CommitNote(made.hash, made.subject, record.timestamp or "", about)
        memory.ledger.commits = [*memory.ledger.commits, note][-ledger.MAX_COMMITS :]
        memory.ledger.committed_on = note.on


def _pushed(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    memory.pushed_at = memory.clock
    memory.ledger.pushed_on = record.timestamp or memory.ledger.pushed_on


def _checked(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    passed = not tools.looks_failed(bytes(block.content))
    ledger.checked(memory.ledger, call.detail)
    memory.ledger.checked_on = record.timestamp or memory.ledger.checked_on
    memory.check = Check(call.detail, passed, memory.clock)


def _issue_made(
    memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int
) -> None:
    issues.made(memory.ledger, call.detail, tools.result_text(block), record.timestamp or "")


def _issue_closed(
    memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int
) -> None:
    issues.closed(memory.ledger, call.detail.split())


def _reported(memory: ConversationMemory, call: Call, block: RecordBlock, record: Record, line: int) -> None:
    turns.report(memory, tools.result_text(block), record, line)


_RESULT_HANDLERS = {
    "agent": _reported,
    "ask": _answered,
    "plan": _approved,
    "commit": _committed,
    "push": _pushed,
    "check": _checked,
    "issue": _issue_made,
    "issue closed": _issue_closed,
}
