"""What a vector is, and how it is put to flowd."""

import re
from collections.abc import Callable
from typing import NamedTuple

from tests.hostile.scene import STRANGER_SAYS, Scene

TAG = "flow-guardian-context"


class Vector(NamedTuple):
    """Something a repository brings along. ``plant`` puts it there; ``act`` is what a person does next."""

    name: str
    plant: Callable[[Scene], None]
    act: Callable[[Scene], None] = lambda _: None
    # Begin with hooks that find no daemon, in a home without core.db.
    without_daemon: bool = False


def put(scene: Scene, vector: Vector) -> list[str]:
    """Return what goes wrong when a person works beside and in a repository that holds *vector*."""
    scene.work(scene.own)
    if not vector.without_daemon:
        scene.start()
        scene.check_own_project("before anything hostile is there")
    vector.plant(scene)
    before = scene.snapshot(scene.clone, scene.outside)
    if vector.without_daemon:
        _start_hooks(scene)
        scene.start(scene.clone)
    scene.work(scene.clone)
    vector.act(scene)
    _visit(scene)
    scene.check_own_project("after the visit")
    scene.stop()
    scene.start(scene.clone)
    scene.check_own_project("after a restart")
    _judge(scene, before)
    return scene.harm


def _start_hooks(scene: Scene) -> None:
    _judge_context(scene, "hook SessionStart", scene.hook("SessionStart"))
    scene.hook("PreCompact")


def _visit(scene: Scene) -> None:
    """Do what people do in a project, and what the client does by itself."""
    _start_hooks(scene)
    _judge_context(scene, "SessionStart of the other project", scene.hook("SessionStart", scene.own))
    scene.run("flow", "trust")
    scene.run("flow", "show")
    scene.run("flow", "save", "Stopped for today")
    _judge_context(scene, "flow inject", scene.run("flow", "inject"))
    scene.run("flow", "context", "task-900")
    scene.run("flow", "knowledge", "search", "evil", cwd=scene.own)
    scene.hook("Stop")


def _judge_context(scene: Scene, name: str, text: str) -> None:
    if STRANGER_SAYS in text:
        scene.note(f"{name} gives words of a stranger to the model")
    if len(re.findall(rf"<\s*/\s*{TAG}", text)) > 1:
        scene.note(f"{name} lets words of a stranger end the block of context")


def _judge(scene: Scene, before: object) -> None:
    if scene.pwned.exists():
        scene.note("a program of the repository has run")
    after = scene.snapshot(scene.clone, scene.outside)
    assert isinstance(before, dict)
    scene.harm += [f"{path} is gone" for path in before.keys() - after.keys()]
    scene.harm += [
        f"{path.removeprefix(str(scene.home))} was changed"
        for path in before.keys() & after.keys()
        if before[path] != after[path]
    ]
    scene.harm += [
        f"{path.removeprefix(str(scene.home))} was made"
        for path in after.keys() - before.keys()
        if path.startswith(str(scene.outside))
    ]
