"""The five operations on handoff threads, on a real core.db."""

import re

import msgspec
import pytest

from flowd.store.database import Database
from flowd.store.threads import threads
from flowd.store.threads.records import ENTRY_LIMIT_BYTES, ENTRY_TYPES, ThreadCreated, ThreadError
from flowd.store.threads.threads import Threads
from flowd.system.errors import StoreError

NOBODY = "hof_" + "x" * 21


def opened(database: Database, client: str = "chat", content: str = "the plan") -> ThreadCreated:
    return Threads(database).create(title="auth", content=content, client=client, project="hlg")


def row_count(database: Database, table: str) -> int:
    with database.reading() as connection:
        return int(connection.execute(f"select count(*) from {table}").fetchone()[0])


def test_an_id_is_hof_and_21_characters_of_the_nanoid_alphabet() -> None:
    ids = {threads.new_id() for _ in range(500)}
    assert len(ids) == 500
    assert all(re.fullmatch(r"hof_[A-Za-z0-9_-]{21}", each) for each in ids)
    assert set("".join(each[4:] for each in ids)) == set(threads.ID_ALPHABET)


def test_create_returns_the_record_and_one_context_entry(database: Database) -> None:
    result = msgspec.to_builtins(opened(database))
    assert set(result) == {"handoff", "entries"}
    assert set(result["handoff"]) == {
        *("id", "title", "project", "status"),
        *("chat_last_seen", "code_last_seen", "created_at", "updated_at"),
    }
    (entry,) = result["entries"]
    assert set(entry) == {"seq", "handoff_id", "from_client", "type", "content", "created_at"}
    assert (entry["from_client"], entry["type"], entry["content"]) == ("chat", "context", "the plan")
    assert (result["handoff"]["title"], result["handoff"]["project"]) == ("auth", "hlg")
    assert result["handoff"]["status"] == "active"


def test_timestamps_are_utc_to_the_second_without_letters(database: Database) -> None:
    created = opened(database)
    for stamp in (created.handoff.created_at, created.handoff.updated_at, created.entries[0].created_at):
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", stamp or "")


def test_the_creators_cursor_is_the_real_seq_in_every_handoff(database: Database) -> None:
    for _ in range(3):
        created = opened(database, client="code")
        assert created.handoff.code_last_seen == created.entries[0].seq
        assert created.handoff.chat_last_seen == 0
        assert Threads(database).get(handoff_id=created.handoff.id, client="code").new_count == 0
        assert Threads(database).get(handoff_id=created.handoff.id, client="chat").new_count == 1


def test_get_shows_all_and_new_entries_and_moves_no_cursor(database: Database) -> None:
    created = opened(database)
    first = Threads(database).get(handoff_id=created.handoff.id, client="code")
    again = Threads(database).get(handoff_id=created.handoff.id, client="code")
    assert first == again
    assert first.entries == first.new_entries == created.entries
    assert set(msgspec.to_builtins(first)) == {"handoff", "entries", "new_entries", "new_count"}


def test_add_moves_only_the_writers_cursor(database: Database) -> None:
    created = opened(database)
    added = Threads(database).add(
        handoff_id=created.handoff.id, entry_type="decision", content="30 days", client="chat"
    )
    assert added.handoff.chat_last_seen == added.entry.seq
    assert added.handoff.code_last_seen == 0
    assert set(msgspec.to_builtins(added)) == {"handoff", "entry", "missed_entries"}


def test_add_returns_what_the_other_side_wrote_unseen(database: Database) -> None:
    created = opened(database)
    added = Threads(database).add(
        handoff_id=created.handoff.id, entry_type="progress", content="begun", client="code"
    )
    assert added.missed_entries == created.entries
    assert Threads(database).get(handoff_id=created.handoff.id, client="code").new_count == 0


def test_add_after_reading_misses_nothing(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    Threads(database).mark_read(handoff_id=handoff_id, client="code")
    added = Threads(database).add(handoff_id=handoff_id, entry_type="done", content="ok", client="code")
    assert added.missed_entries == ()


def test_every_entry_type_is_taken_and_kept(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    for kind in ENTRY_TYPES:
        Threads(database).add(handoff_id=handoff_id, entry_type=kind, content=kind, client="code")
    entries = Threads(database).get(handoff_id=handoff_id, client="chat").entries
    assert [entry.type for entry in entries] == ["context", *ENTRY_TYPES]
    assert [entry.seq for entry in entries] == sorted(entry.seq for entry in entries)


def test_mark_read_leaves_nothing_new_for_that_client_only(database: Database) -> None:
    created = opened(database)
    marked = Threads(database).mark_read(handoff_id=created.handoff.id, client="code")
    assert msgspec.to_builtins(marked) == {
        "marked_read": True,
        "client": "code",
        "last_seen": created.entries[0].seq,
    }
    Threads(database).add(handoff_id=created.handoff.id, entry_type="done", content="x", client="code")
    assert Threads(database).get(handoff_id=created.handoff.id, client="code").new_count == 0
    assert Threads(database).get(handoff_id=created.handoff.id, client="chat").new_count == 1


def test_close_deletes_the_entries_and_keeps_the_row(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    closed = Threads(database).close(handoff_id=handoff_id)
    assert msgspec.to_builtins(closed) == {"closed": True, "id": handoff_id, "title": "auth"}
    after = Threads(database).get(handoff_id=handoff_id, client="chat")
    assert (after.handoff.status, after.entries, after.new_count) == ("completed", (), 0)
    assert row_count(database, "handoff_entries") == 0


def test_closing_twice_and_reading_after_it_are_harmless(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    once = Threads(database).close(handoff_id=handoff_id)
    row = Threads(database).get(handoff_id=handoff_id, client="chat").handoff
    assert Threads(database).close(handoff_id=handoff_id) == once
    assert Threads(database).get(handoff_id=handoff_id, client="chat").handoff == row
    assert Threads(database).mark_read(handoff_id=handoff_id, client="code").last_seen == 0


def test_closing_again_does_not_touch_the_row(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    Threads(database).close(handoff_id=handoff_id)
    with database.transaction() as connection:
        connection.execute("update handoffs set updated_at = '2001-02-03 04:05:06'")
    Threads(database).close(handoff_id=handoff_id)
    row = Threads(database).get(handoff_id=handoff_id, client="chat").handoff
    assert row.updated_at == "2001-02-03 04:05:06"


def test_ones_own_entries_are_never_missed_whatever_the_cursor_says(database: Database) -> None:
    """Another program is known to set the creator's cursor to 1 instead of the real seq."""
    opened(database)
    mine = opened(database)
    with database.transaction() as connection:
        connection.execute("update handoffs set chat_last_seen = 1")
    added = Threads(database).add(
        handoff_id=mine.handoff.id, entry_type="task", content="next", client="chat"
    )
    assert added.missed_entries == ()


def test_a_completed_handoff_refuses_add_with_the_specified_text(database: Database) -> None:
    handoff_id = opened(database).handoff.id
    Threads(database).close(handoff_id=handoff_id)
    with pytest.raises(ThreadError, match=f"^Handoff '{handoff_id}' is already completed\\.$"):
        Threads(database).add(handoff_id=handoff_id, entry_type="done", content="late", client="code")
    assert row_count(database, "handoff_entries") == 0


def test_an_unknown_id_is_refused_by_every_operation(database: Database) -> None:
    text = f"^Handoff '{NOBODY}' not found\\.$"
    with pytest.raises(ThreadError, match=text):
        Threads(database).get(handoff_id=NOBODY, client="chat")
    with pytest.raises(ThreadError, match=text):
        Threads(database).add(handoff_id=NOBODY, entry_type="done", content="x", client="chat")
    with pytest.raises(ThreadError, match=text):
        Threads(database).mark_read(handoff_id=NOBODY, client="chat")
    with pytest.raises(ThreadError, match=text):
        Threads(database).close(handoff_id=NOBODY)


def test_unknown_words_are_refused_and_the_known_ones_named(database: Database) -> None:
    with pytest.raises(ThreadError, match="as_client must be one of chat, code; got 'human'"):
        opened(database, client="human")
    handoff_id = opened(database).handoff.id
    with pytest.raises(ThreadError, match=r"type must be one of context, task, .*; got 'note'"):
        Threads(database).add(handoff_id=handoff_id, entry_type="note", content="x", client="chat")
    assert row_count(database, "handoff_entries") == 1


@pytest.mark.parametrize(
    "content",
    [
        "",
        " \n",
        "a\x00b",
        "\r\n\r",
        "naïve ☃ 𝄞 \u202e",
        "\x1b[31mred",
        "'; drop table handoffs; --",
        "é" * 524288,
    ],
    ids=["empty", "blank", "nul", "carriage returns", "unicode", "escapes", "sql", "exactly the limit"],
)
def test_content_is_kept_byte_for_byte(database: Database, content: str) -> None:
    handoff_id = opened(database, content=content).handoff.id
    kept = Threads(database).get(handoff_id=handoff_id, client="code").entries[0].content
    assert kept.encode() == content.encode()


def test_an_entry_over_the_limit_is_refused_and_nothing_stored(database: Database) -> None:
    with pytest.raises(ThreadError, match=r"content is too large: 1,048,577 bytes, the limit is 1,048,576"):
        opened(database, content="x" * (ENTRY_LIMIT_BYTES + 1))
    assert row_count(database, "handoffs") == 0


def test_the_limit_counts_bytes_not_characters(database: Database) -> None:
    with pytest.raises(ThreadError, match="too large"):
        opened(database, content="é" * (ENTRY_LIMIT_BYTES // 2 + 1))


def test_text_that_is_no_unicode_is_refused_clearly(database: Database) -> None:
    with pytest.raises(ThreadError, match="content is not valid Unicode: a lone surrogate at position 1"):
        opened(database, content="a\ud800")
    with pytest.raises(ThreadError, match="id is not valid Unicode"):
        Threads(database).get(handoff_id="hof_\udcff", client="chat")


def test_a_sequence_number_never_comes_back_after_close(database: Database) -> None:
    first = opened(database)
    Threads(database).close(handoff_id=first.handoff.id)
    assert opened(database).entries[0].seq > first.entries[0].seq


def test_counts_tell_active_threads_and_unread_per_client(database: Database) -> None:
    assert msgspec.to_builtins(threads.counts(database)) == {"active": 0, "unread_chat": 0, "unread_code": 0}
    first, second = opened(database), opened(database, client="code")
    Threads(database).close(handoff_id=opened(database).handoff.id)
    Threads(database).add(handoff_id=first.handoff.id, entry_type="task", content="x", client="chat")
    counts = threads.counts(database)
    assert (counts.active, counts.unread_chat, counts.unread_code) == (2, 1, 2)
    Threads(database).mark_read(handoff_id=second.handoff.id, client="chat")
    assert threads.counts(database).unread_chat == 0


def test_counts_read_no_contents(database: Database) -> None:
    with database.reading() as connection:
        plan = " ".join(row[3] for row in connection.execute(f"explain query plan {threads._COUNTS}"))
    assert "COVERING INDEX idx_handoff_entries_handoff" in plan


def test_rows_of_another_program_with_empty_columns_are_understood(database: Database) -> None:
    with database.transaction() as connection:
        connection.execute(
            "insert into handoffs (id, title, chat_last_seen, status) values ('hof_x', 't', null, null)"
        )
        connection.execute(
            "insert into handoff_entries (handoff_id, from_client, type, content) "
            "values ('hof_x', 'chat', 'task', 'c')"
        )
    assert Threads(database).get(handoff_id="hof_x", client="chat").new_count == 1
    assert threads.counts(database).active == 1


def test_blanks_around_a_pasted_id_do_not_matter(database: Database) -> None:
    pasted = f" {opened(database).handoff.id}\n"
    threads = Threads(database)
    assert threads.get(handoff_id=pasted, client="code").new_count == 1
    assert threads.add(handoff_id=pasted, entry_type="progress", content="x", client="code").entry.seq == 2
    assert threads.mark_read(handoff_id=pasted, client="chat").last_seen == 2
    assert threads.close(handoff_id=pasted).closed


def test_something_long_in_place_of_an_id_is_just_not_found(database: Database) -> None:
    """Nobody is told to split an id over several entries, and no error repeats a page."""
    with pytest.raises(ThreadError) as refused:
        Threads(database).get(handoff_id="x" * 5000, client="code")
    assert str(refused.value) == f"Handoff '{'x' * 40}…' not found."
    assert "split" not in refused.value.hint


@pytest.mark.parametrize(
    "shape",
    [
        "create table handoffs (id integer primary key, what text)",
        "create table handoffs (id text primary key, title text)",
        "create view handoffs as select 1 as id",
    ],
)
def test_tables_of_another_shape_are_named(database: Database, shape: str) -> None:
    """Another program's core.db: no bug of flowd, and nothing of it is changed."""
    with database.transaction() as connection:
        connection.execute("drop table handoff_entries")
        connection.execute("drop table handoffs")
        connection.execute(shape)
    calls = (
        lambda: Threads(database).create(title="t", content="c", client="chat"),
        lambda: Threads(database).get(handoff_id=NOBODY, client="chat"),
        lambda: Threads(database).close(handoff_id=NOBODY),
        lambda: threads.counts(database),
    )
    for call in calls:
        with pytest.raises(StoreError, match="another shape") as refused:
            call()
        assert "store.path" in refused.value.hint
