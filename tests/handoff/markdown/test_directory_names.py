"""The names of handoff directories."""

import json
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flowd.handoff.markdown.directory import (
    HandoffNameError,
    directory_name,
    encode_path,
    encode_path_v1,
    is_v1_name,
)
from tests.support.repository import DATA, SHARED, present

PAIRS = present(DATA / "encoded_paths.json", SHARED / "corpus" / "encoded_paths.json")
MAX_CLIENT_NAME = 200
PATHS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1).map(
    "/{}".format
)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/Users/modha/Repos/claude-suite", "-Users-modha-Repos-claude-suite"),
        ("/Users/modha/.claude", "-Users-modha--claude"),
        ("/d/My Drive (a@b.c)/x~y_z", "-d-My-Drive--a-b-c--x-y-z"),
    ],
)
def test_the_contracts_examples_are_encoded_as_it_says(path: str, name: str) -> None:
    assert encode_path(path) == name


@pytest.mark.parametrize("file", PAIRS, ids=lambda file: file.parent.name)
def test_names_agree_with_the_clients_where_both_rules_do(file: Path) -> None:
    """The client counts UTF-16 units and shortens; up to 200 characters of the basic plane both agree."""
    pairs = [(pair["cwd"], pair["dir"]) for pair in json.loads(file.read_text(encoding="utf-8"))]
    common = [(cwd, name) for cwd, name in pairs if max(cwd) < "\U00010000" and len(cwd) <= MAX_CLIENT_NAME]
    assert len(common) >= 10
    assert [(cwd, encode_path(cwd)) for cwd, _ in common] == common


@settings(deadline=None)
@given(PATHS)
def test_encoding_is_safe_keeps_the_length_and_is_stable(path: str) -> None:
    name = encode_path(path)
    assert re.fullmatch(r"[a-zA-Z0-9-]+", name)
    assert len(name) == len(path)
    assert name.startswith("-")
    assert encode_path(name) == name


@settings(deadline=None)
@given(PATHS)
def test_a_name_of_the_first_version_leads_to_the_one_of_the_second(path: str) -> None:
    before = encode_path_v1(path)
    assert encode_path(before) == encode_path(path)
    assert is_v1_name(before) == (before != encode_path(path))


def test_the_shells_rule_gives_the_same_name(tmp_path: Path) -> None:
    place = tmp_path / "My Drive (a@b)" / "naïve_日本.x~y"
    place.mkdir(parents=True)
    shell = subprocess.run(
        ["sh", "-c", "pwd -P | sed 's/[^a-zA-Z0-9-]/-/g'"],
        cwd=place,
        env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert directory_name(str(place)) == shell.stdout.strip()


def test_a_symlinked_working_directory_gives_the_physical_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert directory_name(str(tmp_path / "link")) == directory_name(str(tmp_path / "real"))
    assert directory_name(str(tmp_path / "link")).endswith("-real")


def test_a_name_too_long_for_a_file_is_told_clearly() -> None:
    path = "/" + "/".join(["d" * 100] * 3)
    with pytest.raises(HandoffNameError, match=r"name of 303 bytes; 255 are possible") as told:
        directory_name(path)
    assert "core.db" in told.value.hint
    assert len(directory_name("/" + "d" * 254)) == 255
