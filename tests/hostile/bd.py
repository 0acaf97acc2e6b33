#!/usr/bin/env python3
"""A bd that runs the hook of the repository after an update, as the real one does."""

import json
import os
import subprocess
import sys

ISSUES = ".beads/issues.json"
HOOK = ".beads/hooks/on_update"

with open(ISSUES) as file:
    issues = json.load(file)
verb, *words = sys.argv[1:]
if verb == "update":
    with open(ISSUES, "w") as file:
        json.dump([issue | {"notes": words[-1]} for issue in issues], file)
    if os.access(HOOK, os.X_OK):
        subprocess.run([HOOK], check=False)
    print(f"Updated issue: {words[0]}")
else:
    print(json.dumps([issue for issue in issues if verb == "list" or issue["id"] == words[0]]))
