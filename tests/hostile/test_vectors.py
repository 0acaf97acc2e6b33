"""Nothing that a repository brings along harms it, the machine, or another project."""

from collections.abc import Iterator

import pytest

from tests.hostile.scene import Scene
from tests.hostile.table import VECTORS
from tests.hostile.vector import Vector, put


@pytest.fixture
def scene() -> Iterator[Scene]:
    """Two projects and a daemon."""
    scene = Scene()
    yield scene
    scene.close()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector.name))
def test_a_vector_does_no_harm_and_the_other_project_stays_current(scene: Scene, vector: Vector) -> None:
    assert put(scene, vector) == []
