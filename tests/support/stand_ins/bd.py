"""A bd for tests: keeps issues in .beads/issues.json and behaves as the environment says.

STAND_IN_BD holds words: ``exit-1`` (an unknown id is an error), ``object`` (no array around one issue),
``old`` (no --append-notes, no --all), ``refuse`` (--notes never over other notes), ``forget`` (an update does
nothing), ``slow``, ``hang`` (for good, deaf to TERM, with a child), ``hang-update``, ``busy`` (the database
is locked). The file .beads/mood, where there is one, says it instead. BD_JSON_ENVELOPE=1 is the real
program's own switch.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

BEADS = Path(".beads")
MOOD = BEADS / "mood"
WAYS = (MOOD.read_text() if MOOD.exists() else os.environ.get("STAND_IN_BD", "")).split()
DATA = BEADS / "issues.json"


def main(words: list[str]) -> int:
    if not DATA.exists():
        return complain("Error: no beads database found\nHint: run 'bd init' to create a database", 1)
    with (BEADS / "calls").open("a") as calls:
        session = [name for name in os.environ if name.startswith("CLAUDE")]
        calls.write(
            json.dumps({"pid": os.getpid(), "words": [word[:80] for word in words], "session": session})
            + "\n"
        )
    if "hang" in WAYS or ("hang-update" in WAYS and words[0] == "update"):
        hang()
    if "slow" in WAYS:
        time.sleep(0.3)
    if "busy" in WAYS:
        return complain("Error: failed to open database: database is locked", 1)
    with (BEADS / "mutex").open("w") as mutex:
        fcntl.flock(mutex, fcntl.LOCK_EX)
        return {"show": show, "list": list_issues, "update": update}[words[0]](words[1:])


def show(words: list[str]) -> int:
    issue = load().get(words[0])
    if issue is None:
        return unknown("fetching", words[0])
    return tell(issue if "object" in WAYS else [issue])


def list_issues(words: list[str]) -> int:
    if "--all" in words and "old" in WAYS:
        return complain("Error: unknown flag: --all", 1)
    everything = "--all" in words or "all" in words
    found = [issue for issue in load().values() if everything or issue["status"] != "closed"]
    if "in_progress" in words:
        found = [issue for issue in found if issue["status"] == "in_progress"]
    if "--parent" in words:
        parent = words[words.index("--parent") + 1]
        found = [issue for issue in found if issue["id"].startswith(f"{parent}.")]
    return tell(found if "--limit" in words else found[:50])


def update(words: list[str]) -> int:
    identity, flag, text = words
    if flag == "--append-notes" and "old" in WAYS:
        return complain("Error: unknown flag: --append-notes", 1)
    issues = load()
    if identity not in issues:
        return unknown("resolving", identity)
    notes = issues[identity].get("notes", "")
    if flag == "--notes" and notes and "refuse" in WAYS:
        return complain(f"Error: {identity}: notes differ, nothing replaced", 1)
    merged = f"{notes}\n{text}" if flag == "--append-notes" and notes else text
    if "forget" not in WAYS:
        issues[identity] |= {"notes": merged, "updated_at": datetime.now(UTC).isoformat()}
        DATA.write_text(json.dumps(issues))
    print(f"✓ Updated issue: {identity}")
    return 0


def load() -> dict[str, Any]:
    issues: dict[str, Any] = json.loads(DATA.read_text())
    return issues


def tell(value: object) -> int:
    print("⚠ a notice that is no JSON", file=sys.stderr)
    enveloped = os.environ.get("BD_JSON_ENVELOPE") == "1"
    print(json.dumps({"schema_version": 1, "data": value} if enveloped else value))
    return 0


def unknown(action: str, identity: str) -> int:
    return complain(f'Error {action} {identity}: no issue found matching "{identity}"', int("exit-1" in WAYS))


def complain(text: str, code: int) -> int:
    print(text, file=sys.stderr)
    return code


def hang() -> NoReturn:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    subprocess.Popen(["sleep", "600"])
    while True:
        time.sleep(600)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
