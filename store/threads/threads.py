"""The five operations on threads, each one transaction on core.db."""

import random
import sqlite3
import string
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import Protocol

from flowd.redaction.redactor import Redactor
from flowd.store.conditions import MOVED, shape_error
from flowd.store.database import Database
from flowd.store.threads.records import (
    CLIENTS,
    ENTRY_LIMIT_BYTES,
    ENTRY_TYPES,
    LABEL_LIMIT_BYTES,
    Client,
    EntryAdded,
    EntryType,
    ThreadClosed,
    ThreadCounts,
    ThreadCreated,
    ThreadEntry,
    ThreadError,
    ThreadMarked,
    ThreadRecord,
    ThreadRetrieved,
    ThreadRow,
    ThreadText,
    check_text,
    one_of,
)
from flowd.system.errors import StoreError

ID_PREFIX = "hof_"
ID_ALPHABET = string.ascii_letters + string.digits + "_-"
ID_LENGTH = 21
# Other programs may give longer ids than flowd does.
MAX_ID_CHARACTERS = 40
_random = random.SystemRandom()

_HANDOFF = """
    select id, title, project, coalesce(chat_last_seen, 0), coalesce(code_last_seen, 0),
           coalesce(status, 'active'), created_at, updated_at
    from handoffs where id = ?"""
_ENTRIES = """
    select seq, handoff_id, from_client, type, content, created_at
    from handoff_entries where handoff_id = ? and seq > ? order by seq"""
_LATEST = "select coalesce(max(seq), 0) from handoff_entries where handoff_id = ?"
_ADD = """
    insert into handoff_entries (handoff_id, from_client, type, content, created_at)
    values (?, ?, ?, ?, datetime('now'))"""
_CREATE = """
    insert into handoffs (id, title, project, chat_last_seen, code_last_seen, status, created_at, updated_at)
    values (?, ?, ?, 0, 0, 'active', datetime('now'), datetime('now'))"""
_SET_CURSOR: dict[Client, str] = {
    "chat": "update handoffs set chat_last_seen = ? where id = ?",
    "code": "update handoffs set code_last_seen = ? where id = ?",
}
_TOUCH = "update handoffs set updated_at = datetime('now') where id = ?"
_COMPLETE = """
    update handoffs set status = 'completed', updated_at = datetime('now')
    where id = ? and status is not 'completed'"""
_LIST = """
    select h.id, h.title, h.project, coalesce(h.status, 'active'), count(e.seq),
           coalesce(sum(e.seq > coalesce(h.chat_last_seen, 0)), 0),
           coalesce(sum(e.seq > coalesce(h.code_last_seen, 0)), 0), h.updated_at
    from handoffs h left join handoff_entries e on e.handoff_id = h.id
    where ? or h.status is not 'completed'
    group by h.id order by h.updated_at desc, h.rowid desc"""
# The index on handoff_id also holds seq, so no entry's content is read for the counts.
_COUNTS = """
    select count(distinct h.id),
           coalesce(sum(e.seq > coalesce(h.chat_last_seen, 0)), 0),
           coalesce(sum(e.seq > coalesce(h.code_last_seen, 0)), 0)
    from handoffs h left join handoff_entries e on e.handoff_id = h.id
    where h.status is not 'completed'"""


class Threads:
    """The threads of one core.db; everything written is redacted."""

    def __init__(
        self, database: Database, redactor: Redactor | None = None, *, wait_s: float | None = None
    ) -> None:
        """Use *database*, and the default redactor if none is given; wait up to *wait_s* for its lock."""
        self.database = database
        self._wait_s = MAX_WAIT_S if wait_s is None else wait_s
        self._redactor = redactor or Redactor()

    def create(self, *, title: str, content: str, client: str, project: str | None = None) -> ThreadCreated:
        """Create a thread with *content* as its first entry, which its writer has seen."""
        writer = one_of("as_client", client, CLIENTS)
        texts = ThreadText(self._redactor)
        title = texts.checked("title", title, LABEL_LIMIT_BYTES)
        project = project and texts.checked("project", project, LABEL_LIMIT_BYTES)
        content = texts.checked("content", content, ENTRY_LIMIT_BYTES)
        handoff_id = new_id()
        with writing(self.database, timeout_s=self._wait_s) as connection:
            connection.execute(_CREATE, (handoff_id, title, project))
            entry = _append(connection, handoff_id, writer, "context", content)
            handoff = _handoff(connection, handoff_id)
        return ThreadCreated(handoff=handoff, entries=(entry,), redacted=texts.redacted)

    def listed(self, *, completed: bool = False) -> tuple[ThreadRow, ...]:
        """Return the threads, the latest changed first; the completed ones only with *completed*."""
        with reading(self.database, timeout_s=self._wait_s) as connection:
            return tuple(ThreadRow(*row) for row in connection.execute(_LIST, (completed,)))

    def get(self, *, handoff_id: str, client: str) -> ThreadRetrieved:
        """Return the thread with all its entries; no cursor moves."""
        reader, handoff_id = one_of("as_client", client, CLIENTS), handoff_id.strip()
        with reading(self.database, timeout_s=self._wait_s) as connection:
            handoff = _handoff(connection, handoff_id)
            entries = _entries(connection, handoff_id, after=0)
        unseen = tuple(entry for entry in entries if entry.seq > handoff.last_seen(reader))
        return ThreadRetrieved(handoff=handoff, entries=entries, new_entries=unseen, new_count=len(unseen))

    def add(self, *, handoff_id: str, entry_type: str, content: str, client: str) -> EntryAdded:
        """Append an entry; return it with the other client's entries that the writer had not seen."""
        writer = one_of("as_client", client, CLIENTS)
        kind, handoff_id = one_of("type", entry_type, ENTRY_TYPES), handoff_id.strip()
        texts = ThreadText(self._redactor)
        content = texts.checked("content", content, ENTRY_LIMIT_BYTES)
        with writing(self.database, timeout_s=self._wait_s) as connection:
            before = _active(connection, handoff_id)
            unseen = _entries(connection, handoff_id, after=before.last_seen(writer))
            entry = _append(connection, handoff_id, writer, kind, content)
            handoff = _handoff(connection, handoff_id)
        missed = tuple(other for other in unseen if other.from_client != writer)
        return EntryAdded(handoff=handoff, entry=entry, missed_entries=missed, redacted=texts.redacted)

    def mark_read(self, *, handoff_id: str, client: str) -> ThreadMarked:
        """Move the client's cursor to the latest entry."""
        reader, handoff_id = one_of("as_client", client, CLIENTS), handoff_id.strip()
        with writing(self.database, timeout_s=self._wait_s) as connection:
            _handoff(connection, handoff_id)
            (latest,) = connection.execute(_LATEST, (handoff_id,)).fetchone()
            connection.execute(_SET_CURSOR[reader], (latest, handoff_id))
        return ThreadMarked(marked_read=True, client=reader, last_seen=latest)

    def close(self, *, handoff_id: str) -> ThreadClosed:
        """Delete the entries and mark the thread completed; idempotent."""
        handoff_id = handoff_id.strip()
        with writing(self.database, timeout_s=self._wait_s) as connection:
            handoff = _handoff(connection, handoff_id)
            connection.execute("delete from handoff_entries where handoff_id = ?", (handoff_id,))
            connection.execute(_COMPLETE, (handoff_id,))
        return ThreadClosed(closed=True, id=handoff.id, title=handoff.title)


def counts(database: Database) -> ThreadCounts:
    """Return the number of active threads and of unseen entries per client, without retries."""
    with reading(database, timeout_s=0) as connection:
        return ThreadCounts(*connection.execute(_COUNTS).fetchone())


def new_id() -> str:
    """Return an id that cannot be guessed: it is the only key to a thread."""
    return ID_PREFIX + "".join(_random.choice(ID_ALPHABET) for _ in range(ID_LENGTH))


def _handoff(connection: sqlite3.Connection, handoff_id: str) -> ThreadRecord:
    # An id has a fixed length: a whole page in its place is searched for and repeated in part only.
    if len(handoff_id) > MAX_ID_CHARACTERS:
        raise ThreadError(f"Handoff '{handoff_id[:MAX_ID_CHARACTERS]}…' not found.")
    check_text("id", handoff_id, LABEL_LIMIT_BYTES)
    row = connection.execute(_HANDOFF, (handoff_id,)).fetchone()
    if row is None:
        raise ThreadError(f"Handoff '{handoff_id}' not found.")
    return ThreadRecord(*row)


def _active(connection: sqlite3.Connection, handoff_id: str) -> ThreadRecord:
    handoff = _handoff(connection, handoff_id)
    if handoff.status == "completed":
        raise ThreadError(f"Handoff '{handoff_id}' is already completed.")
    return handoff


def _entries(connection: sqlite3.Connection, handoff_id: str, *, after: int) -> tuple[ThreadEntry, ...]:
    return tuple(ThreadEntry(*row) for row in connection.execute(_ENTRIES, (handoff_id, after)))


def _append(
    connection: sqlite3.Connection, handoff_id: str, writer: Client, kind: EntryType, content: str
) -> ThreadEntry:
    seq = connection.execute(_ADD, (handoff_id, writer, kind, content)).lastrowid
    assert seq is not None
    connection.execute(_SET_CURSOR[writer], (seq, handoff_id))
    connection.execute(_TOUCH, (handoff_id,))
    (entry,) = _entries(connection, handoff_id, after=seq - 1)
    return entry


# SQLite polls for its lock without a queue, so that one of many waiters can starve past the busy timeout.
MAX_WAIT_S = 60.0
MAX_PAUSE_S = 0.02


class OpenTransaction(Protocol):
    """Opens a write transaction on core.db."""

    def __call__(self) -> AbstractContextManager[sqlite3.Connection]: ...


@contextmanager
def writing(database: Database, *, timeout_s: float = MAX_WAIT_S) -> Iterator[sqlite3.Connection]:
    """Run the block as one write, waiting up to *timeout_s* for the lock."""
    with ExitStack() as stack, _shape_checked(database):
        yield _enter(stack, database.transaction, timeout_s)


@contextmanager
def reading(database: Database, *, timeout_s: float = MAX_WAIT_S) -> Iterator[sqlite3.Connection]:
    """Run the block's queries on one snapshot, waiting up to *timeout_s* for it."""
    with ExitStack() as stack, _shape_checked(database):
        yield _enter(stack, lambda: _snapshot(database), timeout_s)


def _enter(stack: ExitStack, open_transaction: OpenTransaction, timeout_s: float) -> sqlite3.Connection:
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            return stack.enter_context(open_transaction())
        except StoreError as error:
            if error.condition != "locked" or time.monotonic() >= deadline:
                raise
            # Some refusals come at once, without SQLite's own wait: pause instead of spinning.
            time.sleep(random.uniform(0.001, MAX_PAUSE_S))  # noqa: S311 jitter, no secret


@contextmanager
def _snapshot(database: Database) -> Iterator[sqlite3.Connection]:
    with database.reading() as connection:
        connection.execute("begin")
        try:
            # The snapshot starts with the first query, not with begin: run one while a retry is possible.
            connection.execute("select 1 from sqlite_master limit 1").fetchone()
            yield connection
        finally:
            if connection.in_transaction:
                connection.execute("rollback")


_COLUMNS = {
    "handoffs": "id title project chat_last_seen code_last_seen status created_at updated_at",
    "handoff_entries": "seq handoff_id from_client type content created_at",
}


@contextmanager
def _shape_checked(database: Database) -> Iterator[None]:
    """Convert an SQL error into a StoreError if another program's tables have the names of the threads'."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.IntegrityError, StoreError) as error:
        if isinstance(error, StoreError) and error.condition != MOVED[0]:
            raise
        problem = _problem_of_shape(database)
        if problem is None:
            raise
        raise shape_error(database.path, problem) from error


def _problem_of_shape(database: Database) -> str | None:
    """Return what is wrong with the tables of the threads, None if nothing is."""
    try:
        with database.reading() as connection:
            for table, wanted in _COLUMNS.items():
                kind = connection.execute(
                    "select type from sqlite_master where name = ?", (table,)
                ).fetchone()
                if kind is None or kind[0] != "table":
                    return f"there is no table {table}" if kind is None else f"{table} is a {kind[0]}"
                present = {row[1] for row in connection.execute(f"pragma table_info({table})")}
                missing = [column for column in wanted.split() if column not in present]
                if missing:
                    return f"{table} has no column {missing[0]}"
    except StoreError:
        return None
    return None
