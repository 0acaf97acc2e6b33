"""Invented transcripts, written line by line as Claude Code writes them."""

import json
from typing import Any

from flowd.extractors.transcript.protocol import ProjectPlace
from flowd.extractors.transcript.session import SessionMemory, read_transcript
from flowd.model.session import SessionState

ROOT = "/home/ada/shop"
PLACE = ProjectPlace(root=ROOT, home="/home/ada")


class Transcript:
    """A session in the making; each method adds the record of one event."""

    def __init__(self) -> None:
        self.lines: list[bytes] = []
        self.is_sidechain = False

    def add(self, kind: str, **fields: Any) -> "Transcript":
        """Add a record of *kind* with the envelope that the client gives it."""
        number = len(self.lines) + 1
        record = {
            "type": kind,
            "uuid": f"record-{number}",
            "sessionId": "session-1",
            "timestamp": f"2026-03-01T10:{number // 60:02}:{number % 60:02}.000Z",
            "cwd": ROOT,
            "gitBranch": "carts",
            "version": "2.1.100",
            "isSidechain": self.is_sidechain,
            **fields,
        }
        self.lines.append(json.dumps(record).encode() + b"\n")
        return self

    def person(self, text: str, **fields: Any) -> "Transcript":
        """The person types *text*."""
        return self.add("user", message={"role": "user", "content": text}, **fields)

    def assistant(self, text: str, stop_reason: str | None = None, **fields: Any) -> "Transcript":
        """The assistant says *text*."""
        message = {
            "role": "assistant",
            "content": [{"type": "text", "text": text}],
            "stop_reason": stop_reason,
        }
        return self.add("assistant", message=message, **fields)

    def call(self, tool: str, **given: Any) -> "Transcript":
        """The assistant calls *tool*; the next ``result`` answers it."""
        block = {"type": "tool_use", "id": f"call-{len(self.lines) + 1}", "name": tool, "input": given}
        return self.add("assistant", message={"role": "assistant", "content": [block]})

    def result(self, text: str = "ok", *, is_error: bool = False, **tool_use_result: Any) -> "Transcript":
        """The tool called last returns *text*."""
        block = {
            "type": "tool_result",
            "tool_use_id": f"call-{len(self.lines)}",
            "content": text,
            "is_error": is_error,
        }
        message = {"role": "user", "content": [block]}
        return self.add("user", message=message, toolUseResult=tool_use_result or text)

    def run(self, command: str, output: str = "ok", *, is_error: bool = False) -> "Transcript":
        """The assistant runs *command* in the shell, and it comes back."""
        return self.call("Bash", command=command).result(output, is_error=is_error)

    def edit(self, path: str) -> "Transcript":
        """The assistant edits the file at *path*, relative to the project."""
        return self.call("Edit", file_path=f"{ROOT}/{path}").result()

    def commit(self, subject: str, number: str = "abc1234") -> "Transcript":
        """The assistant commits everything."""
        return self.run(f'git commit -m "{subject}"', f"[carts {number}] {subject}\n 1 file changed")

    @property
    def data(self) -> bytes:
        """The whole transcript."""
        return b"".join(self.lines)

    @property
    def memory(self) -> SessionMemory:
        """What is remembered of it."""
        return read_transcript(self.data).memory

    @property
    def state(self) -> SessionState:
        """The state that it ends in."""
        return self.memory.state("session-1", PLACE)

    @property
    def insights(self) -> list[str]:
        """The texts of its insights."""
        return [one.insight for one in self.state.insights]


def eventful() -> Transcript:
    """Return a session in which a little of everything happens."""
    session = (
        Transcript()
        .person("Add a total to the cart page, it is missing")
        .assistant("Let me look:", "tool_use")
    )
    session.edit("src/cart.py").run("go test ./...", "--- FAIL: TestTotal", is_error=True)
    session.assistant(
        "The issue is that vouchers are silently ignored because they have no price.", "tool_use"
    )
    session.call("TaskCreate", subject="Price the vouchers").result()
    session.call("TaskUpdate", taskId="1", status="in_progress").result()
    session.call("AskUserQuestion", questions=[{"question": "Round half up?"}])
    session.result("answered", answers={"Round half up?": "To even"}).edit("src/voucher.py").run(
        "go test ./..."
    )
    session.call("TaskUpdate", taskId="1", status="completed").result().commit("Price vouchers")
    session.assistant("Committed. Two ways on:\n\nA. Push now\nB. Wait for review\n\nWhich one?").person("b")
    session.add("system", subtype="away_summary", content="We're adding a cart total. Next: wait for review.")
    session.add("ai-title", aiTitle="Cart total").assistant("Waiting.", "end_turn").person(
        "Also show the tax please"
    )
    session.call("Edit", file_path="/home/ada/shop/src/tax.py")
    return session
