"""Vectors that want a program of the repository to run."""

import os

from tests.hostile.plants import PYTHON, RUN, beads, git_setting, script, write
from tests.hostile.scene import Scene
from tests.hostile.vector import Vector

MODULES = ("flowd/__init__.py", "click.py", "struct.py", "sqlite_utils.py", "yaml.py", "sitecustomize.py")


def modules(scene: Scene) -> None:
    """Plant Python modules under the names of those that flowd and its children import."""
    for name in MODULES:
        write(scene.clone / name, PYTHON)


def restart_by_command(scene: Scene) -> None:
    """Let the person start the daemon with the command, in the repository."""
    scene.stop()
    scene.run("flowd", "start")
    scene.run("flowd", "restart")
    scene.run("flowd", "stop")
    scene.start(scene.clone)


def first_use(scene: Scene) -> None:
    """Let the person use a verb where there is no core.db yet."""
    scene.stop()
    for file in (scene.home / "data").glob("core.db*"):
        file.unlink()
    scene.run("flow", "save", "First words")
    scene.run("flow", "thread", "list")
    scene.start()


def over_mcp(scene: Scene) -> None:
    """Let a client start the MCP server in the repository where there is no core.db."""
    scene.stop()
    for file in (scene.home / "data").glob("core.db*"):
        file.unlink()
    scene.run("flowd", "mcp")
    scene.start()


def clean_filter(scene: Scene) -> None:
    """Set a filter that git runs to compare a file."""
    filtered(scene)
    git_setting(scene, f'[filter "x"]\n\tclean = {script(scene.clone / "x.sh")}\n')


def file_monitor(scene: Scene) -> None:
    """Set a program that git asks for changed files."""
    git_setting(scene, f"[core]\n\tfsmonitor = {script(scene.clone / 'x.sh')}\n")


def git_hooks(scene: Scene) -> None:
    """Plant hooks that git runs when its index is written."""
    for name in ("post-index-change", "pre-auto-gc", "reference-transaction", "fsmonitor-watchman"):
        script(scene.clone / ".git" / "hooks" / name)
        script(scene.clone / "hooks" / name)
    git_setting(scene, f"[core]\n\thooksPath = {scene.clone / 'hooks'}\n")
    os.utime(scene.clone / "README.md", (1, 1))


def pagers(scene: Scene) -> None:
    """Set every other program that git may start: pager, editor, diff, text conversion, credentials."""
    program = script(scene.clone / "x.sh")
    write(scene.clone / ".gitattributes", "*.md diff=x\n")
    write(scene.clone / "README.md", "# changed\n")
    git_setting(
        scene,
        f"[core]\n\tpager = {program}\n\teditor = {program}\n\tsshCommand = {program}\n"
        f"\taskPass = {program}\n"
        f"[pager]\n\tstatus = {program}\n\tconfig = {program}\n[diff]\n\texternal = {program}\n"
        f'[diff "x"]\n\ttextconv = {program}\n\tcommand = {program}\n[credential]\n\thelper = {program}\n'
        f"[alias]\n\tstatus = !{program}\n\tconfig = !{program}\n",
    )


def beads_hook(scene: Scene) -> None:
    """Plant a hook that bd runs after an update."""
    beads(scene)
    write(scene.clone / ".beads" / "hooks" / "on_update", f"#!/bin/sh\n{RUN}").chmod(0o755)


def filtered(scene: Scene) -> None:
    """Have a changed file compared through the filter ``x``."""
    write(scene.clone / ".gitattributes", "* filter=x\n")
    # Of the same length: only then git looks into the file.
    write(scene.clone / "README.md", "# klone\n")


VECTORS = (
    Vector("modules of Python, `flowd start` in the clone", modules, restart_by_command),
    Vector("modules of Python, verbs without a core.db", modules, first_use),
    Vector("modules of Python, hooks without daemon and core.db", modules, without_daemon=True),
    Vector("modules of Python, MCP over stdio", modules, over_mcp),
    Vector("filter.clean in .git/config", clean_filter),
    Vector("filter.clean, hook without daemon", clean_filter, without_daemon=True),
    Vector("core.fsmonitor names a program", file_monitor),
    Vector("core.hooksPath and .git/hooks", git_hooks),
    Vector(".beads/hooks/on_update", beads_hook),
)
