"""A crowd of processes that all open one core.db at the same instant, round after round.

Run as ``python migrator.py FOLDER PROCESSES ROUNDS [CORE_DB]``: each round uses a core.db of its own, a
copy of CORE_DB where one is given. Prints one line for each process that was refused.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

from flowd.store.migrations import migrate
from flowd.system.errors import FlowdError


def at_once(processes: int, action: Callable[[], None]) -> int:
    """Run *action* in so many processes that start together; return how many failed."""
    waiting, start = os.pipe()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            os.close(start)
            os.read(waiting, 1)  # returns when the parent closes its end
            os._exit(_run(action))
        children.append(child)
    os.close(waiting)
    os.close(start)
    return sum(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0 for child in children)


def _run(action: Callable[[], None]) -> int:
    try:
        action()
    except (FlowdError, OSError, sqlite3.Error) as error:
        os.write(1, f"{type(error).__name__}: {error}\n".encode())
        return 1
    return 0


def main(folder: str, processes: str, rounds: str, template: str = "") -> int:
    """Return 0 if no process was refused."""
    failed = 0
    for number in range(int(rounds)):
        path = Path(folder) / str(number) / "core.db"
        path.parent.mkdir(parents=True)
        if template:
            shutil.copy(template, path)
        failed += at_once(int(processes), lambda path=path: migrate(path))  # type: ignore[misc]  # bound now
        shutil.rmtree(path.parent)
    return int(failed > 0)


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
