"""Vectors that want flowd to write somewhere else."""

from tests.hostile.plants import link, write
from tests.hostile.scene import Scene
from tests.hostile.vector import Vector
from tests.support.git import git

COMPOSE = "services:\n  db:\n    image: postgres\n"


def to_git_config(scene: Scene) -> None:
    """Link the handoff file to git's settings."""
    link(scene.clone / ".flow-guardian" / "handoff.yaml", "../.git/config")


def to_tracked_file(scene: Scene) -> None:
    """Link the handoff file to a file of YAML that git tracks."""
    write(scene.clone / "docker-compose.yml", COMPOSE)
    link(scene.clone / ".flow-guardian" / "handoff.yaml", "../docker-compose.yml")
    git(scene.clone, "add", "--force", ".")
    git(scene.clone, "commit", "-q", "-m", "second")


def folder_inside(scene: Scene) -> None:
    """Link the folder to another one of the repository, with a handoff file that git tracks."""
    write(scene.clone / "settings" / "handoff.yaml", "image: postgres\n")
    link(scene.clone / ".flow-guardian", "settings")
    git(scene.clone, "add", "--force", ".")
    git(scene.clone, "commit", "-q", "-m", "second")


def folder_outside(scene: Scene) -> None:
    """Link the folder to a place outside of the repository."""
    link(scene.clone / ".flow-guardian", scene.outside)


def file_outside(scene: Scene) -> None:
    """Link the handoff file to a file outside of the repository."""
    link(scene.clone / ".flow-guardian" / "handoff.yaml", scene.outside / "victim.yaml")


VECTORS = (
    Vector("handoff.yaml linked to .git/config", to_git_config),
    Vector("handoff.yaml linked to a tracked docker-compose.yml", to_tracked_file),
    Vector(".flow-guardian linked to a folder of the repository", folder_inside),
    Vector(".flow-guardian linked out of the repository", folder_outside),
    Vector("handoff.yaml linked out of the repository", file_outside),
)
