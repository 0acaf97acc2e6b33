"""``flowd config`` and ``flowd reload``: print, change and apply the settings."""

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from flowd.actions.daemon_client import ask, control_socket
from flowd.cli.output import print_json, table
from flowd.cli.parser import add_verb, did_you_mean, examples_of
from flowd.config.config_file import parsed_value, with_value, without_value
from flowd.config.paths import Paths, make_private_dir, resolve_paths
from flowd.config.settings import dotted_items, load_settings, parse_settings
from flowd.system.errors import FlowdError, NotRunningError, SettingsError
from flowd.system.files import atomic_write
from flowd.system.text import cut

MAX_VALUE_WIDTH = 32
# What the daemon reads at its start only.
AT_RESTART = (
    "claude.config_dir",
    "store.path",
    "watch.most_watches",
    "tasks.globs",
    "log.file_mb",
    "log.files_kept",
)
EXAMPLES = """\
  flowd config                                what is in force, and where it comes from
  flowd config set idle.after_minutes 10
  flowd config set handoff_yaml.projects opted_in
  flowd config unset idle.after_minutes       the default again
  flowd config edit                           in $EDITOR; checked before it is saved
  flowd config --defaults                     every setting with its meaning
"""


def add_parser(subparsers: Any) -> None:
    """Add ``flowd config`` and its operations."""
    parser = add_verb(
        subparsers,
        "config",
        "show and change the settings",
        "Print every setting, its value and where the value comes from. A running flowd applies changes by "
        "itself.",
        run,
        examples=EXAMPLES,
    )
    shown = parser.add_mutually_exclusive_group()
    shown.add_argument("--json", action="store_true", help="print them as JSON")
    shown.add_argument("--path", action="store_true", help="print only the path of config.yaml")
    shown.add_argument("--defaults", action="store_true", help="print defaults.yaml, with comments")
    operations = parser.add_subparsers(metavar="OPERATION")
    setting = _add(operations, "set", "set one setting", run_set)
    setting.add_argument("key", metavar="KEY")
    setting.add_argument("value", metavar="VALUE", help="as in YAML: 10, true, null, [a, b]")
    _add(operations, "unset", "return one setting to its default", run_unset).add_argument(
        "key", metavar="KEY"
    )
    _add(operations, "edit", "edit config.yaml in $EDITOR", run_edit)


def _add(operations: Any, name: str, about: str, run: Any) -> argparse.ArgumentParser:
    examples = examples_of(EXAMPLES, name)
    return add_verb(operations, name, about, f"{about.capitalize()}.", run, examples=examples)


def run(arguments: argparse.Namespace) -> int:
    """Print the settings; raise SettingsError naming the key if the file is invalid."""
    file = resolve_paths().config_file
    if arguments.path:
        print(file)
        return 0
    if arguments.defaults:
        print(resources.files("flowd.config").joinpath("defaults.yaml").read_text(encoding="utf-8"), end="")
        return 0
    loaded = load_settings(file)
    items = dotted_items(loaded.settings)
    if arguments.json:
        found = {key: {"value": value, "from": loaded.origins[key]} for key, value in items}
        print_json(found, name="settings")
        return 0
    rows = [("SETTING", "VALUE", "FROM")]
    rows += [(key, _text(value), loaded.origins[key]) for key, value in items]
    print("\n".join(table(rows, shrink={1: 8, 2: 8})))
    return 0


def _text(value: object) -> str:
    text = "-" if value is None else msgspec.json.encode(value).decode().strip('"')
    return cut(text, MAX_VALUE_WIDTH)


def run_set(arguments: argparse.Namespace) -> int:
    """Set the setting, unless the file would be invalid with it."""
    paths = resolve_paths()
    key = _known(arguments.key, paths)
    _save(paths, with_value(_text_of(paths.config_file), key, parsed_value(arguments.value)))
    print(f"{key} is {arguments.value}, in {paths.config_file}")
    return _apply(paths, key)


def run_unset(arguments: argparse.Namespace) -> int:
    """Take the setting out of the file."""
    paths = resolve_paths()
    key = _known(arguments.key, paths)
    before = _text_of(paths.config_file)
    after = without_value(before, key)
    if after == before:
        print(f"{key} has its default already")
        return 0
    _save(paths, after)
    print(f"{key} has its default again")
    return _apply(paths, key)


def run_edit(_: argparse.Namespace) -> int:
    """Open a copy in the editor, and save it if it is valid."""
    paths = resolve_paths()
    if not sys.stdin.isatty():
        raise FlowdError("there is no terminal to edit at", hint="use `flowd config set KEY VALUE`")
    make_private_dir(paths.config_file.parent)
    draft = paths.config_file.with_name(f"{paths.config_file.name}.draft")
    if not draft.exists():
        atomic_write(draft, _text_of(paths.config_file) or _commented_defaults(), mode=0o600)
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or shutil.which("nano") or "vi"
    if subprocess.run([*shlex.split(editor), str(draft)], check=False).returncode != 0:
        raise FlowdError(f"{editor} failed; nothing was changed", hint="set EDITOR to another editor")
    text = draft.read_text(encoding="utf-8")
    try:
        parse_settings(text, str(draft))
    except SettingsError as error:
        raise SettingsError(
            f"not saved: {error}", hint="run `flowd config edit` again: it goes on with your draft"
        ) from error
    _save(paths, text)
    draft.unlink()
    print(f"saved {paths.config_file}")
    return _apply(paths)


def _commented_defaults() -> str:
    text = resources.files("flowd.config").joinpath("defaults.yaml").read_text(encoding="utf-8")
    return "".join(f"# {line}\n" if line else "\n" for line in text.splitlines())


def _known(key: str, paths: Paths) -> str:
    known = [name for name, _ in dotted_items(parse_settings("", str(paths.config_file)).settings)]
    if key not in known:
        raise SettingsError(
            f"there is no setting {key!r}",
            hint=f"{did_you_mean(key, known)}all settings: flowd config",
        )
    return key


def _text_of(file: Path) -> str:
    load_settings(file)  # an unreadable or invalid file is not changed
    return file.read_text(encoding="utf-8") if file.exists() else ""


def _save(paths: Paths, text: str) -> None:
    parse_settings(text, str(paths.config_file))
    make_private_dir(paths.config_file.parent)
    # Of a link, such as dotfile managers create, replace the target.
    atomic_write(os.path.realpath(paths.config_file), text, mode=0o600, keep_mode=True)


def _apply(paths: Paths, key: str = "") -> int:
    """Have a running daemon apply the file now, and print what needs a restart."""
    try:
        _reload(paths)
    except NotRunningError:
        return 0
    if key in AT_RESTART:
        print(f"{key} applies after `flowd restart`")
    else:
        print("flowd has applied it")
    return 0


def add_reload(subparsers: Any) -> None:
    """Add ``flowd reload``."""
    add_verb(
        subparsers,
        "reload",
        "apply changed settings now",
        "Have the running flowd read config.yaml again; it does so by itself within seconds of a change.",
        run_reload,
        examples="  flowd reload\n",
    )


def run_reload(_: argparse.Namespace) -> int:
    """Apply the settings; if they are invalid the old ones stay in force."""
    paths = resolve_paths()
    load_settings(paths.config_file)
    _reload(paths)
    print(f"applied {paths.config_file}; these apply after `flowd restart`: {', '.join(AT_RESTART)}")
    return 0


def _reload(paths: Paths) -> None:
    error = ask(control_socket(paths), "reload")
    if error:
        raise SettingsError(f"flowd keeps its settings: {error}", hint="correct it with `flowd config edit`")
