"""One of a crowd of writers: adds entries to shared handoffs, and notes each that was acknowledged.

Run as ``python thread_writer.py CORE_DB NOTES ADDS SEED ID...``.
"""

import os
import random
import sys
from pathlib import Path

from flowd.store.database import Database
from flowd.store.threads.threads import Threads


def main(path: str, notes: str, adds: str, seed: str, *ids: str) -> None:
    """Add so many entries, writing ``seq id client content`` to the notes after each one."""
    chance = random.Random(seed)
    database = Database(Path(path), durable=True)
    file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for number in range(int(adds)):
        handoff_id, client = chance.choice(ids), chance.choice(("chat", "code"))
        content = f"{seed}-{number}-" + "x" * chance.randrange(200)
        added = Threads(database).add(
            handoff_id=handoff_id, entry_type="progress", content=content, client=client
        )
        os.write(file, f"{added.entry.seq} {handoff_id} {client} {content}\n".encode())
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
