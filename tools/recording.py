"""Record the session of the README, docs/recording.svg, from a real run: `make recording`.

A daemon runs in a home of its own. A session of Claude Code is written there, record by record as the client
writes it, and ends in the middle of the work. Everything below a prompt was printed by the command after it.
"""

import json
import os
import subprocess
import sys
import textwrap
import time
import uuid
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from bench.world import World

FILE = Path(__file__).resolve().parents[1] / "docs" / "recording.svg"
PYTHON_DIR = Path(sys.executable).parent
WIDTH, LINE_PX, CHAR_PX, MARGIN_PX = 92, 19, 8.4, 18
CAPTIONS = {
    "killed": "# Claude fixed a bug in a shop and named what is left; then the terminal was closed.",
    "done": "# You have the last word:",
    "inject": "# The next session is told this before its first prompt:",
}


GIT_STEPS = (
    ("init", "--quiet", "-b", "login-timeout"),
    ("add", "."),
    ("-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "-m", "Begin the shop"),
)


class Scene(NamedTuple):
    """A caption, the command that was run, and what it printed."""

    caption: str
    command: str
    output: str


def record() -> list[Scene]:
    """Run the session in a world of its own; return its scenes."""
    with World() as world:
        project = world.root / "home" / "shop"
        project.mkdir()
        earlier = time.time() - 3600
        for name in ("auth.py", "middleware.py"):
            (project / name).touch()
            os.utime(project / name, (earlier, earlier))
        dated = world.environment | {"GIT_COMMITTER_DATE": f"{earlier:.0f} +0000"}
        for words in GIT_STEPS:
            subprocess.run(["git", "-C", str(project), *words], check=True, env=dated)
        world.start()
        _write_session(world, project)
        return [
            _scene(world, project, CAPTIONS["killed"], "flow show"),
            _scene(world, project, CAPTIONS["done"], "flow done 1"),
            _scene(world, project, CAPTIONS["inject"], "flow inject"),
        ]


def _write_session(world: World, project: Path) -> None:
    """Write the transcript of a session that ends in the middle, and wait until it has been read."""
    session = str(uuid.uuid4())
    folder = world.projects / "-home-shop"
    folder.mkdir(parents=True)
    started, written = time.time() - 300, b""
    for number, (kind, message, extra) in enumerate(_messages(project)):
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(started + 20 * number))
        envelope = {"uuid": f"record-{number}", "sessionId": session, "cwd": str(project), "timestamp": stamp}
        whole = {"type": kind, **envelope, "version": "2.1.326", "gitBranch": "login-timeout"}
        written += json.dumps(whole | {"message": message} | extra).encode() + b"\n"
    (folder / f"{session}.jsonl").write_bytes(written)
    world.wait_until_read(len(written))


Record = tuple[str, dict[str, object], dict[str, object]]


def _messages(project: Path) -> list[Record]:
    """Return type, message and further fields of each record."""

    def person(text: str) -> Record:
        return "user", {"role": "user", "content": text}, {}

    def says(text: str) -> Record:
        content = [{"type": "text", "text": text}]
        return "assistant", {"role": "assistant", "content": content, "stop_reason": "end_turn"}, {}

    def tool(name: str, given: dict[str, str], number: int) -> Record:
        content = [{"type": "tool_use", "id": f"call-{number}", "name": name, "input": given}]
        return "assistant", {"role": "assistant", "content": content}, {}

    def result(text: str, number: int) -> Record:
        content = [{"type": "tool_result", "tool_use_id": f"call-{number}", "content": text}]
        return "user", {"role": "user", "content": content}, {"toolUseResult": text}

    return [
        person("Fix the login timeout in auth.py: people are logged out after five minutes"),
        tool("Edit", {"file_path": str(project / "auth.py")}, 1),
        result("ok", 1),
        tool("Bash", {"command": "pytest -q tests/test_auth.py"}, 2),
        result("12 passed", 2),
        says(FIRST_REPLY),
        person("Yes, keep the refresh in the middleware. And never log the token."),
        tool("Edit", {"file_path": str(project / "middleware.py")}, 3),
        result("ok", 3),
        says(SECOND_REPLY),
    ]


FIRST_REPLY = (
    "The timeout was the cookie's max-age: it was set once and never renewed. I decided to refresh the "
    "cookie in the middleware, because the views do not see every request. Shall I go on?"
)
SECOND_REPLY = """\
The middleware now renews the cookie on each request.

What is left:

1. Add a test for a session that is idle for an hour
2. Document SESSION_MAX_AGE in docs/settings.md"""


def _scene(world: World, project: Path, caption: str, command: str) -> Scene:
    environment = world.environment | {
        "PATH": f"{PYTHON_DIR}:{world.environment['PATH']}",
        "COLUMNS": str(WIDTH),
    }
    ran = subprocess.run(
        command, shell=True, cwd=project, env=environment, capture_output=True, text=True, check=False
    )
    if ran.returncode != 0:
        raise RuntimeError(f"{command}: {ran.stdout}{ran.stderr}")
    # The world is a temporary directory; its home is shown as homes are.
    return Scene(caption, command, ran.stdout.replace(str(world.root / "home"), "~").rstrip())


def as_svg(scenes: list[Scene]) -> str:
    """Return *scenes* as a picture of a terminal."""
    lines = [(kind, text) for scene in scenes for kind, text in _lines(scene)]
    rows = [
        f'<text x="{MARGIN_PX}" y="{MARGIN_PX + 34 + LINE_PX * number}" class="{kind}">{escape(text)}</text>'
        for number, (kind, text) in enumerate(lines)
    ]
    width, height = round(WIDTH * CHAR_PX) + 2 * MARGIN_PX, LINE_PX * len(lines) + 2 * MARGIN_PX + 34
    return SVG.format(width=width, height=height, rows="\n".join(rows))


def _lines(scene: Scene) -> list[tuple[str, str]]:
    printed = [
        ("output", part)
        for line in scene.output.splitlines()
        for part in textwrap.wrap(line, WIDTH, break_on_hyphens=False) or [""]
    ]
    caption = [("caption", scene.caption)] if scene.caption else []
    return [*caption, ("command", f"$ {scene.command}"), *printed, ("output", "")]


SVG = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img"
     aria-label="A terminal session with flow: the commands are in the text of docs/index.md">
<style>
text {{ font: 14px ui-monospace, "DejaVu Sans Mono", Menlo, monospace; white-space: pre; fill: #d8dee9 }}
.caption {{ fill: #8fbcbb }}
.command {{ fill: #ffffff; font-weight: bold }}
</style>
<rect width="{width}" height="{height}" rx="8" fill="#20242c"/>
<circle cx="22" cy="20" r="6" fill="#bf616a"/><circle cx="42" cy="20" r="6" fill="#ebcb8b"/>
<circle cx="62" cy="20" r="6" fill="#a3be8c"/>
{rows}
</svg>
"""


def main() -> int:
    """Record, and write the picture."""
    FILE.write_text(as_svg(record()), encoding="utf-8")
    print(f"wrote  {FILE.relative_to(FILE.parents[1])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
