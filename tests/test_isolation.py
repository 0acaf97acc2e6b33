"""Tests are isolated: they use their own home, and share helpers only through tests/support."""

import ast
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.real_home import RealHomeError, RealHomeGuard
from tests.support.repository import ROOT

TESTS = ROOT / "tests"
# Tests of the repository itself, of real programs, and helpers: these mirror no folder of code.
NOT_MIRRORED = {"data", "e2e", "hostile", "support"}
TEST_FILES = [
    file
    for file in sorted(path.relative_to(TESTS) for path in TESTS.rglob("test_*.py"))
    if len(file.parts) > 1 and file.parts[0] not in NOT_MIRRORED
]


@pytest.mark.parametrize("touch", [Path.open, Path.mkdir, sqlite3.connect])
def test_the_real_home_cannot_be_touched(touch: Callable[[Path], object], real_home: RealHomeGuard) -> None:
    file = Path(real_home.home) / ".claude" / "settings.json"
    with pytest.raises(RealHomeError):
        touch(file)
    assert real_home.touched == [str(file)]
    real_home.touched.clear()


@pytest.mark.parametrize("file", TEST_FILES, ids=str)
def test_a_test_file_has_the_path_of_the_module_it_tests(file: Path) -> None:
    """tests/<room>/<sub-package>/test_<module>[_<aspect>].py; a package counts as a module."""
    folder, name = ROOT / file.parent, file.stem.removeprefix("test_")
    assert folder.is_dir(), f"there is no {file.parent}/"
    known = {each.stem for each in folder.iterdir() if each.suffix == ".py"} | {folder.name}
    assert any(name == module or name.startswith(f"{module}_") for module in known)


def test_no_test_imports_from_another_test() -> None:
    imported = {
        (str(file.relative_to(ROOT)), node.module)
        for file in TESTS.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("tests.")
    }
    assert not {pair for pair in imported if pair[1].rpartition(".")[2].startswith(("test_", "conftest"))}
