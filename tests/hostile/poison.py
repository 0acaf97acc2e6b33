"""Vectors that want to stop, freeze, crash or hang what reads them."""

import json
import os

from tests.hostile.plants import TASK, beads, block, handoff, link, track, write
from tests.hostile.scene import Scene
from tests.hostile.vector import Vector

FAR_AWAY_S = 9_500_000_000  # past the year 2262
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]\n" for n in range(1, 10)
)


def _record(scene: Scene, **fields: object) -> None:
    known = {"type": "user", "uuid": "odd", "sessionId": "clone", "cwd": str(scene.clone), **fields}
    scene.write(scene.clone, json.dumps(known).encode() + b"\n")


def nested_line(scene: Scene) -> None:
    """Write a line of a thousand nested levels into a transcript."""
    deep = b"[" * 1_200 + b"]" * 1_200
    scene.write(scene.clone, b'{"type":"user","uuid":"deep","message":{"content":' + deep + b"}}\n")


def far_file_time(scene: Scene) -> None:
    """Date a transcript and a task file past 2262."""
    scene.work(scene.clone)
    write(scene.clone / TASK, block())
    for path in (scene.transcript(scene.clone), scene.clone / TASK):
        os.utime(path, (FAR_AWAY_S, FAR_AWAY_S))


def nul_in_cwd(scene: Scene) -> None:
    """Name a working directory with a NUL."""
    _record(scene, cwd=f"{scene.clone}/\0x", message={"role": "user", "content": "Add a page to the site"})


def surrogates(scene: Scene) -> None:
    """Write text that no encoding can hold."""
    raw = b'{"type":"user","uuid":"s","sessionId":"clone","cwd":"/src/\\ud800","message":'
    scene.write(
        scene.clone, raw + b'{"role":"user","content":"Add \\ud83d to the \\udfff page of the site"}}\n'
    )


def surrogate_key(scene: Scene) -> None:
    """Write a key that no encoding can hold into a track's metadata."""
    folder = track(scene)
    write(folder / "metadata.json", '{"track_id":"login","status":"in_progress","handoff":{"\\ud800":1}}')


def odd_name(scene: Scene) -> None:
    """Name a task file in bytes that are not UTF-8."""
    (scene.clone / "tasks").mkdir()
    name = os.fsdecode(b"00\xff\xfe.md")
    write(scene.clone / "tasks" / name, block())


def hook_with_nul(scene: Scene) -> None:
    """Fire a hook that names a transcript with a NUL."""
    scene.hook("Stop", transcript_path="/src/\0/x.jsonl")
    scene.hook("PreCompact", transcript_path="/src/\0/x.jsonl", session_id="a\0b")


def blanks_in_plan(scene: Scene) -> None:
    """Write a heading with 20,000 blanks into a plan."""
    folder = track(scene)
    write(folder / "plan.md", "# Plan\n\n## Epic" + " " * 20_000 + "1\n- [x] one\n")


def create_handoff(scene: Scene) -> None:
    """Ask for a handoff in the track."""
    scene.run("flow", "handoff", "create", "--purpose", "Half of the login page")


def costly_patterns(scene: Scene) -> None:
    """Write patterns that take for ever into the rules of the conductor."""
    track(scene)
    costly = "".join(f"    - '{pattern}'\n" for pattern in (".*" * 25 + "x", "(a+)+$", "(?:x|xx)*y"))
    write(scene.clone / "conductor" / "workflow.md", f"handoff:\n  secrets_patterns:\n{costly}")


def brackets(scene: Scene) -> None:
    """Nest 200,000 lists in the rules of the conductor."""
    track(scene)
    write(scene.clone / "conductor" / "workflow.md", "handoff:\n  x: " + "[" * 200_000 + "\n")


def bomb_in_rules(scene: Scene) -> None:
    """Multiply aliases in the rules of the conductor."""
    track(scene)
    indented = "".join(f"  {line}\n" for line in BOMB.splitlines())
    write(scene.clone / "conductor" / "workflow.md", f"handoff:\n{indented}  quiet: *a9\n")


def bomb_in_handoff(scene: Scene) -> None:
    """Multiply aliases in the handoff file."""
    write(scene.clone / ".flow-guardian" / "handoff.yaml", f"{BOMB}goal: *a9\nstatus: in_progress\n")


def nested_handoff(scene: Scene) -> None:
    """Nest 10,000 mappings in the handoff file."""
    write(scene.clone / ".flow-guardian" / "handoff.yaml", "goal: " + "{a: " * 10_000 + "\n")


def tagged_handoff(scene: Scene) -> None:
    """Write tags into the handoff file that make objects of Python."""
    call = f"!!python/object/apply:os.system ['touch {scene.pwned}']"
    write(scene.clone / ".flow-guardian" / "handoff.yaml", f"goal: {call}\nstatus: in_progress\nnow: x\n")


def device_as_task(scene: Scene) -> None:
    """Link a task file to a terminal that never has anything to read."""
    link(scene.clone / TASK, "/dev/ptmx")
    link(scene.clone / "tasks" / "002.md", "/dev/zero")


def pipe_as_task(scene: Scene) -> None:
    """Put a pipe in the place of a task file."""
    (scene.clone / "tasks").mkdir()
    os.mkfifo(scene.clone / TASK)


def beads_lock(scene: Scene) -> None:
    """Put a device and a pipe in the place of the lock of Beads."""
    beads(scene)
    link(scene.clone / ".beads" / ".exclusive-lock", "/dev/ptmx")


def beads_pipe(scene: Scene) -> None:
    """Put a pipe in the place of the lock of Beads and of its redirection."""
    beads(scene)
    os.mkfifo(scene.clone / ".beads" / ".exclusive-lock")
    os.mkfifo(scene.clone / ".beads" / "redirect")


def git_log_pipe(scene: Scene) -> None:
    """Put a pipe in the place of git's log of HEAD."""
    (scene.clone / ".git" / "logs" / "HEAD").unlink()
    os.mkfifo(scene.clone / ".git" / "logs" / "HEAD")


def handoff_pipe(scene: Scene) -> None:
    """Put a pipe in the place of the handoff file."""
    (scene.clone / ".flow-guardian").mkdir()
    os.mkfifo(scene.clone / ".flow-guardian" / "handoff.yaml")


def huge_handoff(scene: Scene) -> None:
    """Make a handoff file of 100 MB."""
    handoff(scene)
    with (scene.clone / ".flow-guardian" / "handoff.yaml").open("r+b") as file:
        file.truncate(100 << 20)


VECTORS = (
    Vector("a line of 1,200 levels in a transcript", nested_line),
    Vector("files dated past 2262", far_file_time),
    Vector("a working directory with NUL", nul_in_cwd),
    Vector("lone surrogates in a transcript", surrogates),
    Vector("metadata.json with a lone surrogate as key", surrogate_key, create_handoff),
    Vector("a task file whose name is not UTF-8", odd_name),
    Vector("a hook that names a path with NUL", lambda _: None, hook_with_nul),
    Vector("20,000 blanks in a heading of plan.md", blanks_in_plan, create_handoff),
    Vector("costly secrets_patterns in workflow.md", costly_patterns, create_handoff),
    Vector("200,000 brackets in workflow.md", brackets, create_handoff),
    Vector("aliases that multiply in workflow.md", bomb_in_rules, create_handoff),
    Vector("aliases that multiply in handoff.yaml", bomb_in_handoff),
    Vector("10,000 levels in handoff.yaml", nested_handoff),
    Vector("tags of Python in handoff.yaml", tagged_handoff),
    Vector("a task file linked to a device", device_as_task),
    Vector("a task file that is a pipe", pipe_as_task),
    Vector(".beads/.exclusive-lock linked to a device", beads_lock),
    Vector(".beads/.exclusive-lock and redirect are pipes", beads_pipe),
    Vector(".git/logs/HEAD is a pipe", git_log_pipe),
    Vector("handoff.yaml is a pipe", handoff_pipe),
    Vector("handoff.yaml of 100 MB", huge_handoff),
)
