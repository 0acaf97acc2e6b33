"""Run by a hook while the daemon is away: ``python -m flowd.hooks.fallback FILE | --inject``."""

import os
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.model.client import HookInput, hook_input
from flowd.redaction.data import Redact, redact_data
from flowd.system.errors import FlowdError
from flowd.system.files import temporary_file
from flowd.system.times import iso_seconds
from flowd.workspace.project import FOLDER, resolve_project

DEADLINE_S = 20
MAX_SPOOLED = 500
TRANSCRIPT_WITHIN_S, POLL_S = 2.0, 0.05
SAVING_EVENTS = ("PreCompact", "Stop", "SessionEnd")


def main(argument: str) -> int:
    """Print the briefing of a starting session, or process the spooled event in a file."""
    signal.alarm(DEADLINE_S)  # nobody waits for this process, so it must end by itself
    os.umask(0o077)
    with Context() as context:
        if argument == "--inject":
            _inject(context)
            return 0
        file = Path(argument)
        _sync(file)
        outcome = _process(context, file)
    _log(file.parent.parent / "log", outcome)
    _keep_newest(file.parent)
    poke_daemon(context.paths)  # a daemon that was only slow drains the spool now
    return 0


def _sync(file: Path) -> None:
    """Sync the spooled event to disk; the hook itself had no time for that."""
    with suppress(FileNotFoundError), file.open("rb") as spooled:
        os.fsync(spooled.fileno())


def _inject(context: Context) -> None:
    """Print the briefing for the hook on standard input; record it once it was passed on."""
    from flowd.actions.absence import absence
    from flowd.actions.brief import hook_output, injection_for_start, record_injection

    hook = hook_input(msgspec.json.decode(sys.stdin.buffer.readline(), type=dict[str, Any]))
    # The hook has just found that nothing answers.
    away = absence(context, answers=lambda _: False)
    injection = injection_for_start(context, hook, away)
    os.write(1, hook_output(injection).encode())
    os.close(1)  # the hook reads up to here, and says when the client has it
    if injection.text and sys.stdin.buffer.read(1):
        record_injection(context.database, hook, injection)


def _process(context: Context, file: Path) -> str:
    """Redact the event in *file*, and save the state if it asks for that; return the outcome for the log."""
    try:
        raw = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
        hook = hook_input(raw)
        if hook.transcript_path and not _appears(hook.transcript_path):
            file.unlink(missing_ok=True)
            return "no-transcript"  # of a session that is not to be recorded
        _redact_file(file, raw, context.lenient_redact)
        return _save(context, hook)
    except FileNotFoundError:
        return "taken"  # a daemon is back and has drained it
    except msgspec.DecodeError:
        file.unlink(missing_ok=True)
        return "unreadable"
    except (FlowdError, OSError) as error:
        return f"not-saved ({error})"


def _appears(transcript: str) -> bool:
    """Return True once the transcript exists; a client creates it shortly after its first hooks, or never."""
    deadline = time.monotonic() + TRANSCRIPT_WITHIN_S
    while not Path(transcript).expanduser().is_file():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _save(context: Context, hook: HookInput) -> str:
    from flowd.actions.handoff_yaml import save_state

    if hook.hook_event_name not in SAVING_EVENTS:
        return "nothing-to-save"
    if hook.headless or not hook.transcript_path:
        return "left-to-daemon"  # it may not be part of any work
    project = resolve_project(hook.cwd)
    if project is None or not _is_wanted(context.settings.handoff_yaml.projects, Path(project.root)):
        return "no-project"
    save_state(context, project.root, renew=False)
    return "saved"


def _is_wanted(projects: str, root: Path) -> bool:
    return root.is_dir() and (projects == "all" or (projects == "opted_in" and (root / FOLDER).is_dir()))


def _redact_file(file: Path, raw: dict[str, Any], redact: Redact) -> None:
    """Replace the spooled event by one without secrets; the hook itself had no time to find them."""
    redacted = redact_data(raw, redact)
    if redacted == raw:
        return
    with temporary_file(file, msgspec.json.encode(redacted)) as temporary:
        if file.exists():  # not if a daemon has drained it in the meantime
            os.rename(temporary, file)  # noqa: PTH104 a string is given


def _keep_newest(spool: Path) -> None:
    # Names begin with the time. The spool must not grow without limit if no daemon ever comes back.
    for file in sorted(spool.glob("*.json"))[:-MAX_SPOOLED]:
        file.unlink(missing_ok=True)


def _log(folder: Path, outcome: str) -> None:
    with (folder / "hooks.log").open("a", encoding="utf-8") as log:
        log.write(f"{iso_seconds(time.time())} fallback {outcome}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
