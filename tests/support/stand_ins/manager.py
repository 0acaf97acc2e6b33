"""A stand-in for systemctl and launchctl that really runs what the unit says, and nothing else.

Called as ``manager.py STATE NAME WORDS...``; STATE/calls lists every call, a file STATE/away
makes the manager unreachable, a file STATE/busy makes one bootstrap fail, as launchd does after a bootout.
"""

import os
import plistlib
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

DEADLINE_S = 30.0
STATE = Path(sys.argv[1])
UNIT = Path(os.environ["HOME"]) / ".config/systemd/user/flowd.service"
LINK = UNIT.parent / "default.target.wants" / UNIT.name


def running_pid() -> int:
    """Return the process started for the unit, 0 when it has ended (or is only waiting to be buried)."""
    try:
        pid = int((STATE / "pid").read_text())
        return 0 if Path(f"/proc/{pid}/stat").read_text().rsplit(")")[-1].split()[0] == "Z" else pid
    except (OSError, ValueError):
        return 0


def start(command: list[str], environment: dict[str, str]) -> None:
    """Run *command* with the few variables that a manager gives."""
    given = {"HOME": os.environ["HOME"], **environment}
    process = subprocess.Popen(
        command, env=given, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    (STATE / "pid").write_text(str(process.pid))


def stop() -> None:
    """End the unit's process and wait for its end."""
    deadline = time.monotonic() + DEADLINE_S
    if pid := running_pid():
        os.kill(pid, signal.SIGTERM)
    while running_pid() and time.monotonic() < deadline:
        time.sleep(0.02)


def systemctl(words: list[str]) -> None:
    """Do what ``systemctl --user`` does, as far as flowd needs it."""
    match words:
        case ["show", "--property=MainPID", "--value", _]:
            print(running_pid())
        case ["is-enabled", _]:
            print("enabled" if LINK.is_symlink() else "disabled")
        case ["enable", _]:
            LINK.parent.mkdir(exist_ok=True)
            LINK.unlink(missing_ok=True)
            LINK.symlink_to(UNIT)
        case ["restart" | "start", _]:
            stop()
            lines = UNIT.read_text().splitlines()
            program = next(line for line in lines if line.startswith("ExecStart="))
            given = [
                shlex.split(line.partition("=")[2])[0] for line in lines if line.startswith("Environment=")
            ]
            start(shlex.split(program.partition("=")[2]), dict(pair.split("=", 1) for pair in given))
        case ["stop", _]:
            stop()
        case ["disable", "--now", _]:
            stop()
            LINK.unlink(missing_ok=True)
        case ["daemon-reload"] | ["show", "--property=Version"]:
            pass
        case _:
            sys.exit(f"unknown: {words}")


def launchctl(words: list[str]) -> None:
    """Do what ``launchctl`` does, as far as flowd needs it."""
    match words:
        case ["print", target] if target.count("/") == 2:
            if not (STATE / "loaded").exists():
                sys.exit(113)
            print(f"{target} = {{\n\tstate = running\n\tpid = {running_pid()}\n}}")
        case ["bootstrap", _, file]:
            if (STATE / "busy").exists():
                (STATE / "busy").unlink()
                sys.exit("Bootstrap failed: 5: Input/output error")
            agent = plistlib.loads(Path(file).read_bytes())
            start(agent["ProgramArguments"], agent["EnvironmentVariables"])
            (STATE / "loaded").touch()
        case ["bootout", _]:
            stop()
            (STATE / "loaded").unlink()
            (STATE / "busy").touch()
        case ["print" | "enable", _]:
            pass
        case _:
            sys.exit(f"unknown: {words}")


if __name__ == "__main__":
    name, words = sys.argv[2], sys.argv[3:]
    with (STATE / "calls").open("a") as calls:
        calls.write(f"{name} {' '.join(words)}\n")
    if (STATE / "away").exists():
        sys.exit("Failed to connect to bus")
    if name == "systemctl":
        assert words.pop(0) == "--user"
        systemctl(words)
    else:
        launchctl(words)
