"""What a hook's child does when the daemon is away: ``python -m flowd.hooks.fallback FILE | --inject``."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.daemon_client import poke_daemon
from flowd.config.paths import resolve_paths
from flowd.config.settings import load_settings
from flowd.model.hook_input import HookInput, hook_input
from flowd.system.errors import FlowdError
from flowd.system.files import atomic_write
from flowd.workspace.project import FOLDER, resolve_project

DEADLINE_S = 20
MAX_SPOOLED = 500
TRANSCRIPT_WITHIN_S, LOOK_S = 2.0, 0.05
SAVING_EVENTS = ("PreCompact", "Stop", "SessionEnd")


def main(argument: str) -> int:
    """Tell a starting session what is known, or save the state that a spooled event asks for."""
    signal.alarm(DEADLINE_S)  # nobody waits for this process, so it ends itself
    os.umask(0o077)
    if argument == "--inject":
        print(_injection(sys.stdin.buffer.read()), end="", flush=True)
        return 0
    file = Path(argument)
    _sync(file)
    outcome = _saved(file)
    _log(file.parent.parent / "log", outcome)
    _keep_newest(file.parent)
    poke_daemon()  # a daemon that was only slow takes the spool in now
    return 0


def _sync(file: Path) -> None:
    """Make the spooled event outlast a power cut; the hook itself had no time to wait for the disk."""
    with suppress(FileNotFoundError), file.open("rb") as spooled:
        os.fsync(spooled.fileno())


def _injection(raw: bytes) -> str:
    from flowd.actions.brief import session_start_output

    return session_start_output(msgspec.json.decode(raw, type=dict[str, Any]))


def _saved(file: Path) -> str:
    """Save what *file* asks for, and return how it went."""
    try:
        raw = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        hook = hook_input(raw)
        if hook.transcript_path and not _appears(hook.transcript_path):
            file.unlink(missing_ok=True)
            return "no-transcript"  # a session that is not to be kept
        _mask(file, raw)
        return _save(hook)
    except FileNotFoundError:
        return "taken"  # a daemon has come back and has it
    except msgspec.DecodeError:
        file.unlink(missing_ok=True)
        return "unreadable"
    except (FlowdError, OSError) as error:
        return f"not-saved ({error})"


def _appears(transcript: str) -> bool:
    """Return True once the file is there; a client writes it a moment after its first hooks, or never."""
    deadline = time.monotonic() + TRANSCRIPT_WITHIN_S
    while not Path(transcript).expanduser().is_file():
        if time.monotonic() > deadline:
            return False
        time.sleep(LOOK_S)
    return True


def _save(hook: HookInput) -> str:
    from flowd.actions.save_state import save_state

    if hook.hook_event_name not in SAVING_EVENTS:
        return "nothing-to-save"
    if hook.headless or not hook.transcript_path:
        return "left-to-daemon"  # it may be nobody's work
    project = resolve_project(hook.cwd)
    projects = load_settings(resolve_paths().config_file).settings.handoff_yaml.projects
    if project is None or not _wanted(projects, Path(project.root)):
        return "no-project"
    save_state(Path(project.root))
    return "saved"


def _wanted(projects: str, root: Path) -> bool:
    return root.is_dir() and (projects == "all" or (projects == "opted_in" and (root / FOLDER).is_dir()))


def _mask(file: Path, hook: dict[str, Any]) -> None:
    """Replace the spooled event by one without secrets: the hook itself had no time to look for them."""
    from flowd.redaction.data import redact_data
    from flowd.redaction.redactor import redact

    masked = redact_data(hook, redact)
    if masked != hook and file.exists():
        atomic_write(file, msgspec.json.encode(masked))


def _keep_newest(spool: Path) -> None:
    # Names begin with the time. A daemon that never comes back must not let the spool grow for ever.
    for file in sorted(spool.glob("*.json"))[:-MAX_SPOOLED]:
        file.unlink(missing_ok=True)


def _log(folder: Path, outcome: str) -> None:
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    with (folder / "hooks.log").open("a", encoding="utf-8") as log:
        log.write(f"{moment} fallback {outcome}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
