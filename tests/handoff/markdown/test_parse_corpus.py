"""Whole documents of many styles: those of tests/data, and a larger corpus where there is one."""

from pathlib import Path

import pytest

from flowd.handoff.markdown.parse import decoded, read_bytes, read_document
from tests.support.repository import HANDOFFS


@pytest.mark.parametrize("path", HANDOFFS, ids=lambda path: path.name)
def test_a_real_document_has_a_purpose_and_sections(path: Path) -> None:
    document = read_document(decoded(read_bytes(path)))
    assert document.purpose != "(no summary)"
    assert document.sections
    assert document.items("done", "next", "context")


@pytest.mark.parametrize("path", HANDOFFS, ids=lambda path: path.name)
def test_every_prefix_of_a_real_document_is_read(path: Path, tmp_path: Path) -> None:
    """A document that is just being written is cut anywhere."""
    data = path.read_bytes()
    for end in range(0, len(data), max(1, len(data) // 40)):
        (tmp_path / "cut.md").write_bytes(data[:end])
        assert read_document(decoded(read_bytes(tmp_path / "cut.md"))).purpose
