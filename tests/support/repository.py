"""Where things are in this repository, and what may lie beside it."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data"
# A larger corpus that some machines have next to the clone; nothing depends on it.
SHARED = ROOT.parent / "shared"
