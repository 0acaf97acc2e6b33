"""A Claude Code for tests: ``claude.py VERSION EVENTS words…``, where EVENTS are those that it knows.

As a client before 2.1.76 it drops a settings.json that names another event. ``broken`` for EVENTS: it only
tells its version.
"""

import json
import os
import subprocess
import sys
from pathlib import Path


def main(version: str, known: str, words: list[str]) -> int:
    if words == ["--version"]:
        print(f"{version} (Claude Code)")
        return 0
    settings = json.loads((Path(os.environ["CLAUDE_CONFIG_DIR"]) / "settings.json").read_text())
    if known == "broken" or not set(settings["hooks"]) <= set(known.split(",")):
        print("Not logged in · Please run /login")
        return 1
    for event in ("SessionStart", "UserPromptSubmit"):
        command = settings["hooks"][event][0]["hooks"][0]["command"]
        subprocess.run(["sh", "-c", command], input=b"{}", check=False)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
