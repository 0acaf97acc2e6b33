"""Branch, commits and changed files of a checkout; git itself is started only for the last."""

# ruff: noqa: PTH100, PTH112 - os.path answers False where Path raises, as for a folder that may not be entered
import os
import re
from pathlib import Path
from typing import NamedTuple

from flowd.system.files import read_line, read_tail, read_whole
from flowd.system.processes import DeadlineExceededError, run_program, safe_search_path, scrubbed_environment

_BRANCHES = "refs/heads/"
# Repositories in the reftable format keep this fixed text in HEAD; the branch is stored elsewhere.
_REFTABLE_PLACEHOLDER = ".invalid"
_SHORT_SHA = 7
MAX_CONFIG_BYTES = 1 << 16
_URL = re.compile(r"^[ \t]*+url[ \t]*+=[ \t]*+(\S+)", re.MULTILINE)
_SCHEME = re.compile(r"^(?:[a-z+]+://)?(?:[^@/]+@)?", re.IGNORECASE)


class GitPlace(NamedTuple):
    """The git directory of one checkout, and that of its repository."""

    directory: str
    common: str
    worktree: str

    @property
    def head(self) -> str:
        """Path of the HEAD file that names this checkout's branch."""
        return os.path.join(self.directory, "HEAD")


def git_place(checkout: str) -> GitPlace | None:
    """Return the git directories of the checkout at *checkout*, None if it is not one."""
    marker = os.path.join(checkout, ".git")
    if os.path.isdir(marker):
        directory = os.path.realpath(marker)
        # A link to the repository of another checkout does not make this one a part of it.
        return GitPlace(directory, marker if Path(marker).is_symlink() else directory, "")
    kind, _, target = read_line(marker).partition(":")
    if kind != "gitdir" or not target.strip():
        return None
    return _linked_place(marker, os.path.realpath(os.path.join(checkout, target.strip())))


def enclosing_git_place(path: str, stop_at: frozenset[str] = frozenset()) -> GitPlace | None:
    """Return the nearest checkout around *path*, never looking into the directories of *stop_at*."""
    while path not in stop_at:
        if place := git_place(path):
            return place
        parent = os.path.dirname(path)
        if parent == path:
            break
        path = parent
    return None


def read_branch(root: str | os.PathLike[str]) -> str:
    """Return the branch checked out at *root*, a short commit id when detached, or ``""``."""
    place = enclosing_git_place(os.path.abspath(root))
    return _branch_of(read_line(place.head)) if place else ""


def origin(root: str) -> str:
    """Return what *root* is in the repository that ``origin`` names, the same in each clone; ``""`` without.

    A linked worktree has none: it is found through its repository.
    """
    checkout = _checkout_of(root)
    place = git_place(checkout) if checkout else None
    if place is None or place.worktree:
        return ""
    url = _URL.search(_config(place).partition('[remote "origin"]')[2].partition("\n[")[0])
    return f"{_normalised(url.group(1))} {os.path.relpath(root, checkout)}" if url else ""


def _config(place: GitPlace) -> str:
    try:
        return read_whole(os.path.join(place.common, "config"), MAX_CONFIG_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _checkout_of(path: str) -> str:
    """Return the nearest directory upwards that is a checkout, ``""`` if there is none."""
    while not os.path.lexists(os.path.join(path, ".git")):
        parent = os.path.dirname(path)
        if parent == path:
            return ""
        path = parent
    return path


def _normalised(url: str) -> str:
    """Return *url* without what differs between the ways to write it: scheme, user, ``.git``."""
    bare = _SCHEME.sub("", url.strip()).removesuffix("/").removesuffix(".git")
    host, colon, path = bare.partition(":")
    return f"{host}/{path}" if colon and "/" not in host else bare


def _linked_place(marker: str, directory: str) -> GitPlace:
    """Return the place that the file *marker* names; only a worktree that it knows shares its repository."""
    common = read_line(os.path.join(directory, "commondir"))
    if common:
        common = os.path.realpath(os.path.join(directory, common))
        back = read_line(os.path.join(directory, "gitdir"))
        is_of_it = directory == os.path.join(common, "worktrees", os.path.basename(directory))
        if is_of_it and (
            not back or os.path.realpath(os.path.join(directory, back)) == os.path.realpath(marker)
        ):
            return GitPlace(directory, common, os.path.basename(directory))
    # A submodule: its directory below .git/modules of a checkout around it is a whole repository.
    around, _, name = directory.partition("/.git/modules/")
    is_own = bool(name) and os.path.realpath(marker).startswith(os.path.join(around, ""))
    return GitPlace(directory, directory if is_own else marker, "")


def _branch_of(head: str) -> str:
    kind, _, reference = head.partition(":")
    if kind == "ref":
        name = reference.strip().removeprefix(_BRANCHES)
        return name if name != _REFTABLE_PLACEHOLDER and name.isprintable() else ""
    is_commit = len(head) in (40, 64) and all(letter in "0123456789abcdef" for letter in head)
    return head[:_SHORT_SHA] if is_commit else ""


TAIL_BYTES = 64 << 10
SHORT_SHA = 7
_OF_COMMITS = (b"commit", b"merge", b"pull", b"cherry-pick", b"revert")


class ReflogEntry(NamedTuple):
    """One movement of HEAD."""

    commit: str
    at: int
    is_commit: bool
    subject: str


def reflog(root: str) -> list[ReflogEntry]:
    """Return the movements of the checkout around *root*, oldest first, as far back as the tail goes."""
    place = enclosing_git_place(root)
    if place is None:
        return []
    try:
        lines = read_tail(os.path.join(place.directory, "logs", "HEAD"), TAIL_BYTES).split(b"\n")
    except (OSError, ValueError):
        return []
    return [entry for line in lines if (entry := _entry(line)) is not None]


def committed_at(root: str) -> float:
    """Return when the last commit was made in the checkout around *root*, 0 without any."""
    return max((entry.at for entry in reflog(root) if entry.is_commit), default=0)


def pushed_at(root: str, branch: str) -> float:
    """Return when *branch* was last pushed to ``origin`` from here, 0 if it never was."""
    place = enclosing_git_place(root)
    if place is None or not branch:
        return 0
    log = os.path.join(place.common, "logs", "refs", "remotes", "origin", *branch.split("/"))
    try:
        lines = read_tail(log, TAIL_BYTES).split(b"\n")
    except (OSError, ValueError):
        return 0
    pushes = [entry.at for line in lines if line.endswith(b"\tupdate by push") and (entry := _entry(line))]
    return max(pushes, default=0)


def commits_between(root: str, start: float, end: float, most: int) -> list[str]:
    """Return the subjects of the latest *most* commits from *start* to *end*, oldest first."""
    found = [entry.subject for entry in reflog(root) if entry.is_commit and start <= entry.at <= end]
    return [subject for subject in found if subject][-most:]


def head_commit(root: str) -> str:
    """Return the short id of the commit that is checked out, or ``""`` if the reflog is empty."""
    entries = reflog(root)
    return entries[-1].commit[:SHORT_SHA] if entries else ""


def _entry(line: bytes) -> ReflogEntry | None:
    who, _, action = line.partition(b"\t")
    words = who.split(b" ", 2)
    try:
        at = int(who.rsplit(b" ", 2)[1])
        commit = words[1].decode("ascii")
    except (IndexError, ValueError):
        return None
    subject = action.partition(b": ")[2].decode("utf-8", "replace").strip()
    return ReflogEntry(
        commit, at, action.startswith(_OF_COMMITS), subject if action.startswith(b"commit") else ""
    )


DEADLINE_S = 3.0
MAX_FILES = 40
# The configuration of a repository may name programs (fsmonitor, hooks, filters, submodules with theirs) and
# another directory as its worktree; asking what changed must run none of them and look nowhere else.
_GIT = (
    *("git", "--no-pager", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
)
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--ignore-submodules=all", "--", ".")
_FILTER_NAMES = ("--includes", "--null", "--name-only", "--get-regexp", r"^filter\.")
_SETTINGS = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # A partial clone would fetch what it lacks, by a program that its configuration names.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
}
# Others would name another repository, its parts, or programs.
_INHERITED = ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")


def uncommitted_files(root: str) -> list[str]:
    """Return the files with uncommitted changes, relative to *root*; none without git or in no repository."""
    top = top_of(root)
    if not top:
        return []
    try:
        status = _git(root, top, _STATUS, _without_filters(root, top))
    except (OSError, DeadlineExceededError):
        return []
    names = [entry[3:] for entry in status.split("\0") if len(entry) > 3]
    # git names them from the top of the repository, which the project may lie below.
    inside = [os.path.relpath(os.path.join(top, name), root) + "/" * name.endswith("/") for name in names]
    return [name for name in inside if name.isprintable()][:MAX_FILES]


def tracked_files(root: str, *names: str) -> frozenset[str]:
    """Return those of *names*, and of the files below them, that git tracks; all relative to *root*."""
    top = top_of(root)
    if not top:
        return frozenset()
    try:
        found = _git(root, top, ("ls-files", "-z", "--", *names), {})
    except (OSError, DeadlineExceededError):
        return frozenset()
    return frozenset(found.split("\0")) - {""}


def top_of(root: str) -> str:
    """Return the nearest checkout at or above *root*, ``""`` if there is none."""
    here = Path(root)
    return next((str(place) for place in (here, *here.parents) if git_place(str(place))), "")


def _without_filters(root: str, top: str) -> dict[str, str]:
    """Return the configuration that switches off every filter the repository itself defines."""
    names = {
        name.rpartition(".")[0]
        for scope in ("--local", "--worktree")
        for name in _git(root, top, ("config", scope, *_FILTER_NAMES), {}).split("\0")
        if name
    }
    off = {"clean": "", "process": "", "required": "false"}
    return {f"{name}.{key}": value for name in sorted(names) for key, value in off.items()}


def _git(root: str, top: str, arguments: tuple[str, ...], overrides: dict[str, str]) -> str:
    env = {
        name: value
        for name, value in scrubbed_environment().items()
        if not name.startswith("GIT_") or name in _INHERITED
    }
    env |= {**_SETTINGS, "GIT_WORK_TREE": top, "PATH": safe_search_path(outside=top)}
    # As variables, not as -c: a name with "=" in it would end up as another setting.
    env["GIT_CONFIG_COUNT"] = str(len(overrides))
    for number, (key, value) in enumerate(overrides.items()):
        env |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    command = (*_GIT, *arguments)
    result = run_program(command, cwd=root, env=env, timeout_s=DEADLINE_S, errors="surrogateescape")
    return result.stdout if result.code == 0 else ""
