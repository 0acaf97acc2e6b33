"""The layout holds: names mean what they should, and the checks really find what they are there for."""

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent
LAYERS = (
    "cli bridge daemon hooks actions sinks extractors store handoff workspace redaction config model system "
    "systemd launchd"
).split()
NOT_COPIED = shutil.ignore_patterns(".*", "tests", "bench", "*.egg-info", "__pycache__", "docs", "plugin")


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository's code, with its links, to plant mistakes in."""
    target = tmp_path_factory.mktemp("copy") / "flowd"
    shutil.copytree(ROOT, target, symlinks=True, ignore=NOT_COPIED)
    for folder in ("tests", "bench"):
        (target / folder).mkdir()
    return target


def run(copy: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = dict(os.environ) | {"PYTHONPATH": str(copy / "src"), "MYPY_CACHE_DIR": str(copy / ".mypy")}
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def test_daemon_imported_from_the_root_is_python_daemon() -> None:
    """The folder daemon/ has no __init__.py, or it would hide the package of that name."""
    script = "import daemon, sys; print(daemon.__file__, hasattr(daemon, 'DaemonContext'))"
    found = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert not Path(found[0]).is_relative_to(ROOT / "daemon")
    assert found[1] == "True"
    assert not (ROOT / "daemon" / "__init__.py").exists()


@pytest.mark.parametrize("layer", LAYERS)
def test_each_folder_is_reached_by_a_relative_link(layer: str) -> None:
    link = ROOT / "src" / "flowd" / layer
    assert link.is_symlink()
    assert link.readlink() == Path("../..") / layer
    assert link.resolve() == ROOT / layer


def test_python_daemon_is_imported_in_one_module_only() -> None:
    files = [path for layer in LAYERS for path in (ROOT / layer).rglob("*.py")]
    importing = re.compile(r"^\s*(from daemon |import daemon\b)", re.MULTILINE)
    found = [str(file.relative_to(ROOT)) for file in files if importing.search(file.read_text("utf-8"))]
    assert found == ["cli/flowd/run.py"]


def test_a_planted_type_error_is_found(copy: Path) -> None:
    """mypy reads the folders through the links, at their real names."""
    planted = copy / "daemon" / "planted.py"
    planted.write_text(
        '"""Planted."""\n\nfrom flowd.daemon.reading.queue import ReaderQueue\n\nReaderQueue().put(1)\n'
    )
    try:
        found = run(copy, str(BIN / "mypy"), "src/flowd/daemon/planted.py")
    finally:
        planted.unlink()
    assert found.returncode == 1, found.stdout + found.stderr
    assert 'src/flowd/daemon/planted.py:5: error: Argument 1 to "put" of "ReaderQueue"' in found.stdout


def test_a_planted_upward_import_is_found(copy: Path) -> None:
    planted = copy / "store" / "planted.py"
    planted.write_text('"""Planted."""\n\nfrom flowd.daemon.reading import queue as queue\n')
    try:
        found = run(copy, str(BIN / "lint-imports"), "--no-cache")
    finally:
        planted.unlink()
    assert found.returncode == 1, found.stdout + found.stderr
    assert "Imports point downwards only BROKEN" in found.stdout
    assert "flowd.store.planted -> flowd.daemon.reading.queue" in found.stdout


MAX_MODULE_LINES = 300


def modules() -> list[Path]:
    rooms = [ROOT / layer for layer in LAYERS]
    return [path for room in rooms for path in room.rglob("*.py")]


def test_no_module_is_longer_than_a_sitting() -> None:
    lengths = {path: len(path.read_text().splitlines()) for path in modules()}
    assert {
        str(path.relative_to(ROOT)): length for path, length in lengths.items() if length > MAX_MODULE_LINES
    } == {}


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path in modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(ROOT)))
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
