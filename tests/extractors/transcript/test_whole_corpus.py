"""Real public sessions, where they are at hand: the state read from them against a careful reader's."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from flowd.cli.flow import main
from tests.support.repository import SHARED

CORPUS = SHARED / "corpus"
FLOORS = {
    "goal": 0.72,
    "now": 0.80,
    "status": 0.85,
    "files": 0.85,
    "insights": 0.78,
    "next": 0.60,
    "total": 0.80,
}
ROW = re.compile(r"^\| (dev-\d+) \|(?:[^|]*\|){4} (\d+) \|", re.MULTILINE)


@pytest.mark.skipif(not (CORPUS / "score.py").exists(), reason="the corpus is not beside this repository")
def test_the_score_stays_above_its_floor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each field by itself, and all together."""
    for name, cut in ROW.findall((CORPUS / "SOURCES.md").read_text()):
        assert (
            main(["extract", str(CORPUS / "transcripts" / f"{name}.jsonl"), "--until-line", cut, "--json"])
            == 0
        )
        (tmp_path / f"{name}.json").write_text(capsys.readouterr().out)
    scored = subprocess.run(
        [sys.executable, CORPUS / "score.py", tmp_path, "--json"], capture_output=True, check=True, timeout=60
    )
    mean = json.loads(scored.stdout)["mean"]
    assert {field: mean[field] for field, floor in FLOORS.items() if mean[field] < floor} == {}
