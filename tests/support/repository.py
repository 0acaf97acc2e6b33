"""Where things are in this repository, and what may lie beside it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
# A larger corpus that some machines have next to the clone; nothing depends on it.
SHARED = ROOT.parent / "shared"
HANDOFFS = sorted([*(DATA / "handoffs").iterdir(), *(SHARED / "corpus" / "handoffs").glob("*")])
TRANSCRIPTS = sorted((DATA / "transcripts").glob("*.jsonl"))


def present(*files: Path) -> list[Path]:
    """Return those of *files* that are there."""
    return [file for file in files if file.exists()]
