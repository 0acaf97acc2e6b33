"""The step of ``flowd install`` that has Claude Code call flowd, by hooks in the user's settings.json."""

import argparse
import difflib
import hashlib
import os
import tempfile
from pathlib import Path

from flowd.cli.flowd.install.hook_settings import (
    checked,
    events_of,
    plugin_enabled,
    with_hooks,
    without_hooks,
)
from flowd.cli.flowd.install.settings_file import SettingsFile
from flowd.config.paths import Paths, claude_config_dir
from flowd.config.settings import load_settings
from flowd.hooks.command import (
    LAUNCHER,
    OLDEST_VERSION,
    TIMEOUTS_S,
    hook_entries,
    known_events,
    write_launcher,
)
from flowd.model.client import Version, parse_version
from flowd.system.errors import FlowdError
from flowd.system.processes import run_program, scrubbed_environment
from flowd.workspace.clients import find_client

VERSION_DEADLINE_S = 20.0
# Nobody listens there: nothing may leave this machine because flowd asks the client about itself.
NO_API = "http://127.0.0.1:9"


def client_version(program: str | None) -> Version | None:
    """Return the version of *program*; None if there is no program or it prints none in time."""
    if program is None:
        return None
    with tempfile.TemporaryDirectory(prefix="flowd-client-") as folder:
        try:
            environment = sealed_environment(folder)
            ran = run_program(
                [program, "--version"], cwd=folder, env=environment, timeout_s=VERSION_DEADLINE_S
            )
        except (FlowdError, OSError):
            return None
    return parse_version(ran.stdout) if ran.code == 0 else None


def sealed_environment(folder: str) -> dict[str, str]:
    """Return an environment in which the client has *folder* for its home, no credentials and no API."""
    kept = {
        name: value for name, value in scrubbed_environment().items() if not name.startswith("ANTHROPIC_")
    }
    return kept | {
        "HOME": folder,
        "TMPDIR": folder,
        "CLAUDE_CONFIG_DIR": folder,
        "ANTHROPIC_BASE_URL": NO_API,
        "NO_PROXY": "127.0.0.1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def client_name(version: Version | None) -> str:
    """Return the client as it is named to people."""
    return f"Claude Code {'.'.join(map(str, version))}" if version else "Claude Code"


EMPTY = "{}\n"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option that asks for this step."""
    parser.add_argument(
        "--hooks", action="store_true", help="only the hooks of Claude Code, in its settings.json"
    )


def install(paths: Paths, arguments: argparse.Namespace) -> None:
    """Merge hooks for the events that the client knows into settings.json; show the change, keep a backup."""
    if not arguments.hooks:
        return
    version = client_version(find_client())
    events = known_events(version)
    file = _settings_file(paths)
    before = file.read()
    settings = checked(before or EMPTY, file.file)
    after = with_hooks(before or EMPTY, hook_entries(paths, events))
    _change(file, before, after, dry_run=arguments.dry_run)
    print(f"hooks    {', '.join(events)}: known to {_client(version)}")
    if plugin_enabled(settings):
        print("the flowd plugin is enabled too: its hooks do nothing while these are installed")
    if not arguments.dry_run:
        write_launcher(paths)


def uninstall(paths: Paths, arguments: argparse.Namespace) -> None:
    """Take flowd's hooks out of settings.json; everything else in it stays as it is."""
    file = _settings_file(paths)
    before = file.read()
    if before:
        checked(before, file.file)
        _change(file, before, _as_it_was(file, before, paths), dry_run=arguments.dry_run)
    launcher = paths.state_dir / LAUNCHER
    if not arguments.hooks and not arguments.dry_run:
        launcher.unlink(missing_ok=True)


def _client(version: Version | None) -> str:
    if version is None:
        return f"every client since {client_name(OLDEST_VERSION)}; none here prints its version"
    return client_name(version)


def _as_it_was(file: SettingsFile, text: str, paths: Paths) -> str:
    """Return *text* without flowd's hooks: the very text from before them, if nothing has changed since."""
    removed = without_hooks(text)
    if removed == text:
        return text
    entries = hook_entries(paths, [event for event in TIMEOUTS_S if event in events_of(text)])
    earlier = (each for each in file.backups() if without_hooks(each or EMPTY) == (each or EMPTY))
    return next((each for each in earlier if with_hooks(each or EMPTY, entries) == text), removed)


def _change(file: SettingsFile, before: str, after: str, *, dry_run: bool) -> None:
    if after == before:
        print(f"unchanged  {file.file}")
        return
    print(_difference(file.file, before, after))
    if dry_run:
        print(f"would change  {file.file}")
        return
    backup = file.replace(before, after)
    print(f"changed  {file.file}\nbackup   {backup}")


def _difference(file: Path, before: str, after: str) -> str:
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), f"{file} (now)", f"{file} (new)", lineterm=""
    )
    return "\n".join(lines)


def _settings_file(paths: Paths) -> SettingsFile:
    configured = load_settings(paths.config_file).settings.claude.config_dir
    file = claude_config_dir(configured) / "settings.json"
    # Several Claude directories may be in use; each has a separate series of backups.
    name = hashlib.blake2b(os.fsencode(file.absolute()), digest_size=6).hexdigest()
    return SettingsFile(file, paths.state_dir / "backups" / f"claude-{name}")
