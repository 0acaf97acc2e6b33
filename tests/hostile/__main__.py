"""Print the table of vectors: ``python -m tests.hostile [WORDS]``, those whose name holds WORDS."""

import sys

from tests.hostile.scene import Scene
from tests.hostile.table import VECTORS
from tests.hostile.vector import put


def main(words: str) -> None:
    """Put every vector and print a row for it."""
    for vector in VECTORS:
        if words in vector.name:
            scene = Scene()
            try:
                harm = put(scene, vector)
            finally:
                scene.close()
            print(f"| {vector.name} | {'; '.join(harm) or 'none'} |", flush=True)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
