"""The tables of the journal, its projections and the threads, for the migrations."""

from sqlite_utils import Database as Tables


def create_journal(tables: Tables) -> None:
    """Create the journal, its cursors and its projections."""
    _sources(tables)
    _facts(tables)
    _sinks(tables)
    _sessions(tables)


def recreate_sessions(tables: Tables) -> None:
    """Create flow_sessions without the copies of the states, and let its sink fill it again."""
    tables.execute("drop table if exists flow_sessions")
    sessions = tables.table("flow_sessions")
    sessions.create(
        {
            "session_id": str,
            "project": str,
            "repository": str,
            "worktree": str,
            "branch": str,
            "title": str,
            "client": str,
            "started_at": float,
            "last_activity_at": float,
            "ended_at": float,
            "compacted_at": float,
            "compactions": int,
            "vanished_at": float,
            "seq": int,
        },
        pk="session_id",
    )
    sessions.create_index(["project", "last_activity_at"])
    sessions.create_index(["repository"])
    tables.execute("update flow_sinks set cursor = 0 where name = 'core_db'")


def _sources(tables: Tables) -> None:
    tables.table("flow_sources").create(
        {
            "id": int,
            "device": int,
            "inode": int,
            "fingerprint": str,
            "generation": int,
            "path": str,
            "session_id": str,
            "is_subagent": int,
            "offset": int,
            "lines": int,
            "records": int,
            "tail": bytes,
            "size": int,
            "mtime_ns": int,
            "state": str,
            "first_seen_at": float,
            "last_read_at": float,
        },
        pk="id",
        not_null={"device", "inode", "fingerprint", "path", "offset", "state"},
        if_not_exists=True,
    )
    tables.table("flow_sources").create_index(["path"], if_not_exists=True)
    tables.table("flow_memories").create(
        {"session_id": str, "body": bytes, "updated_at": float}, pk="session_id", if_not_exists=True
    )
    tables.table("flow_counters").create({"name": str, "value": int}, pk="name", if_not_exists=True)


def _facts(tables: Tables) -> None:
    # AUTOINCREMENT: a deleted sequence number must not be used again, since sinks have passed it.
    tables.execute(
        """create table if not exists flow_facts (
            seq integer primary key autoincrement,
            key text not null unique,
            kind text not null,
            session_id text not null,
            project text not null,
            at real not null,
            body text not null
        )"""
    )
    tables.table("flow_facts").create_index(["session_id", "kind"], if_not_exists=True)
    tables.table("flow_facts").create_index(["kind", "at"], if_not_exists=True)


def _sinks(tables: Tables) -> None:
    tables.table("flow_sinks").create(
        {
            "name": str,
            "cursor": int,
            "delivered": int,
            "last_success_at": float,
            "last_error": str,
            "last_error_at": float,
        },
        pk="name",
        not_null={"cursor", "delivered"},
        if_not_exists=True,
    )
    tables.table("flow_quarantine").create(
        {"sink": str, "key": str, "seq": int, "body": str, "error": str, "tries": int, "since": float},
        pk=("sink", "key"),
        if_not_exists=True,
    )


def _sessions(tables: Tables) -> None:
    tables.table("flow_sessions").create(
        {
            "session_id": str,
            "project": str,
            "repository": str,
            "worktree": str,
            "branch": str,
            "title": str,
            "client": str,
            "started_at": float,
            "last_activity_at": float,
            "ended_at": float,
            "compacted_at": float,
            "compactions": int,
            "vanished_at": float,
            "state": str,
            "seq": int,
        },
        pk="session_id",
        if_not_exists=True,
    )
    tables.table("flow_sessions").create_index(["project", "last_activity_at"], if_not_exists=True)
    tables.table("flow_handoffs").create(
        {"project": str, "session_id": str, "last_activity_at": float, "written": str, "folder": str},
        pk="project",
        if_not_exists=True,
    )
    tables.table("flow_idle").create(
        {"session_id": str, "project": str, "last_activity_at": float, "told_at": float},
        pk="session_id",
        if_not_exists=True,
    )


def create_threads(tables: Tables) -> None:
    """Create the two tables of the thread specification."""
    tables.execute(
        """create table if not exists handoffs (
            id text primary key,
            title text not null,
            project text,
            chat_last_seen integer default 0,
            code_last_seen integer default 0,
            status text default 'active',
            created_at text default (datetime('now')),
            updated_at text
        )"""
    )
    tables.execute(
        """create table if not exists handoff_entries (
            seq integer primary key autoincrement,
            handoff_id text not null references handoffs(id),
            from_client text not null,
            type text not null,
            content text not null,
            created_at text default (datetime('now'))
        )"""
    )
    tables.execute("create index if not exists idx_handoff_entries_handoff on handoff_entries(handoff_id)")


def create_summaries(tables: Tables) -> None:
    """Create the tables of the calls of a model, and of the person's consent to them."""
    tables.table("flow_summaries").create(
        {
            "id": int,
            "digest": str,
            "work": str,
            "session_id": str,
            "moment": str,
            "at": float,
            "state": str,
            "tokens": int,
            "usd": float,
            "model": str,
            "error": str,
            "progress": int,
            "body": str,
        },
        pk="id",
        not_null={"digest", "work", "at", "state", "tokens", "usd"},
        if_not_exists=True,
    )
    tables.table("flow_summaries").create_index(["digest"], unique=True, if_not_exists=True)
    tables.table("flow_summaries").create_index(["work", "at"], if_not_exists=True)
    tables.table("flow_summaries").create_index(["at"], if_not_exists=True)
    tables.table("flow_consents").create({"id": int, "at": float, "engine": str}, pk="id", if_not_exists=True)


def create_works(tables: Tables) -> None:
    """Create the tables of works and contributions, and record the work that each handoff.yaml shows."""
    tables.table("flow_works").create(
        {
            "id": str,
            "project": str,
            "repository": str,
            "goal": str,
            "status": str,
            "touched_at": float,
            "body": str,
        },
        pk="id",
        if_not_exists=True,
    )
    tables.table("flow_works").create_index(["project", "touched_at"], if_not_exists=True)
    tables.table("flow_works").create_index(["repository"], if_not_exists=True)
    tables.table("flow_contributions").create(
        {
            "session_id": str,
            "project": str,
            "work": str,
            "role": str,
            "last_activity_at": float,
            "body": str,
        },
        pk="session_id",
        if_not_exists=True,
    )
    tables.table("flow_contributions").create_index(["project"], if_not_exists=True)
    tables.table("flow_handoffs").add_column("work", str)
    tables.table("flow_handoffs").add_column("origin", str)
