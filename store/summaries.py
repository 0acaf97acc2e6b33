"""flow_summaries and flow_consents: what a model was asked for and what it cost, under a hard cap."""

import sqlite3
import time
from typing import Literal, NamedTuple

import msgspec

from flowd.model.summary import Moment, Summary
from flowd.store.database import Database

# "reserved" until it is settled; one that never is, because flowd was killed, counts as it was reserved.
CallState = Literal["reserved", "answered", "refused", "failed", "capped"]

_summary = msgspec.json.Decoder(Summary).decode
_encode = msgspec.json.Encoder().encode


class Caps(NamedTuple):
    """The most that calls may use: of one day, and of one work over its whole life."""

    tokens_per_day: int
    usd_per_day: float
    tokens_per_work: int
    usd_per_work: float


class ModelCall(NamedTuple):
    """One call before it is made; ``tokens`` and ``usd`` are the most that it is expected to use."""

    digest: str
    work: str
    session_id: str
    moment: Moment
    progress: int
    tokens: int
    usd: float


class Settled(NamedTuple):
    """How a call ended; ``tokens`` and ``usd`` are None where the model did not report them."""

    state: CallState
    tokens: int | None = None
    usd: float | None = None
    model: str = ""
    error: str = ""
    summary: Summary = Summary()


class Reservation(NamedTuple):
    """The reserved call, or why there is none: asked before, another call is running, or a cap."""

    id: int = 0
    reason: Literal["", "known", "busy", "cap"] = ""
    cap: str = ""


class Consent(NamedTuple):
    """The program that the person agreed to, and when."""

    engine: str
    at: float


class Meter(msgspec.Struct, frozen=True, kw_only=True):
    """What was used today, and how the latest call ended."""

    calls_today: int = 0
    tokens_today: int = 0
    usd_today: float = 0.0
    last_state: str = ""
    last_error: str = ""
    last_at: float = 0.0
    # The cap at which the latest call of today was not made.
    stopped: str = ""


class Summaries:
    """Reserves, settles and reads the calls of a model."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def consent(self) -> Consent | None:
        """Return what the person agreed to last; None if they never did, or took it back."""
        with self._database.reading() as connection:
            return _consent(connection)

    def set_consent(self, engine: str) -> None:
        """Record that the person agrees to *engine*; empty to take it back."""
        with self._database.transaction() as connection:
            connection.execute("insert into flow_consents (at, engine) values (?, ?)", (time.time(), engine))

    def reserve(self, call: ModelCall, caps: Caps, lease_s: float) -> Reservation:
        """Reserve *call* in one transaction, so that processes that share core.db never both make it.

        A call that is reserved and younger than *lease_s* is running: only one runs at a time.
        """
        now = time.time()
        with self._database.transaction() as connection:
            if _exists(connection, "digest = ?", call.digest):
                return Reservation(reason="known")
            if _exists(connection, "state = 'reserved' and at > ?", now - lease_s):
                return Reservation(reason="busy")
            cap = _cap_reached(connection, call, caps, now)
            if cap:
                _insert(connection, call._replace(tokens=0, usd=0.0), "capped", f"{call.digest}:{now}", cap)
                return Reservation(reason="cap", cap=cap)
            return Reservation(_insert(connection, call, "reserved", call.digest, ""))

    def settle(self, number: int, ended: Settled) -> None:
        """Record how the call *number* ended; what was not reported stays as it was reserved."""
        body = "" if ended.summary.is_empty else _encode(ended.summary).decode()
        with self._database.transaction() as connection:
            connection.execute(
                "update flow_summaries set state = ?, tokens = coalesce(?, tokens), usd = coalesce(?, usd), "
                "model = ?, error = ?, body = ? where id = ?",
                (ended.state, ended.tokens, ended.usd, ended.model, ended.error, body, number),
            )

    def release(self, number: int, error: str) -> None:
        """Record that the call *number* was never made: it costs nothing, and may be made later."""
        with self._database.transaction() as connection:
            connection.execute(
                "update flow_summaries set state = 'failed', tokens = 0, usd = 0, error = ?, "
                "digest = digest || ':' || id where id = ?",
                (error, number),
            )

    def latest(self, project: str) -> dict[str, Summary]:
        """Return the latest summary of each work of *project*, none unless the person agrees to a model."""
        with self._database.reading() as connection:
            if _consent(connection) is None:
                return {}
            rows = connection.execute(
                "select work, body from flow_summaries where body != '' "
                "and work in (select id from flow_works where project = ?) order by id",
                (project,),
            )
            return {work: _summary(body) for work, body in rows}

    def progress(self, work: str) -> int:
        """Return how far a work was when a model was asked about it last, 0 if never."""
        with self._database.reading() as connection:
            row = connection.execute(
                "select max(progress) from flow_summaries where work = ? and state != 'failed'", (work,)
            ).fetchone()
        return int(row[0] or 0)

    def meter(self) -> Meter:
        """Return what was used today, and how the latest call ended."""
        today = _start_of_day(time.time())
        with self._database.reading() as connection:
            row = connection.execute(
                "select count(*), total(tokens), total(usd) from flow_summaries where at >= ? "
                "and state in ('reserved', 'answered', 'refused', 'failed') and tokens + usd > 0",
                (today,),
            ).fetchone()
            last = connection.execute(
                "select state, error, at from flow_summaries order by id desc limit 1"
            ).fetchone()
        state, error, at = last or ("", "", 0.0)
        return Meter(
            calls_today=row[0],
            tokens_today=int(row[1]),
            usd_today=round(row[2], 6),
            last_state=state,
            last_error=error or "",
            last_at=at,
            stopped=error if state == "capped" and at >= today else "",
        )


def _consent(connection: sqlite3.Connection) -> Consent | None:
    row = connection.execute("select engine, at from flow_consents order by id desc limit 1").fetchone()
    return Consent(*row) if row and row[0] else None


def _exists(connection: sqlite3.Connection, where: str, value: object) -> bool:
    query = f"select 1 from flow_summaries where {where} limit 1"  # noqa: S608 constants
    return connection.execute(query, (value,)).fetchone() is not None


def _cap_reached(connection: sqlite3.Connection, call: ModelCall, caps: Caps, now: float) -> str:
    """Return the cap that *call* would pass, in words; empty if there is room for it."""
    of_day = _used(connection, "at >= ?", _start_of_day(now))
    of_work = _used(connection, "work = ?", call.work)
    checks = (
        ("tokens_per_day", of_day[0] + call.tokens, caps.tokens_per_day),
        ("usd_per_day", of_day[1] + call.usd, caps.usd_per_day),
        ("tokens_per_work", of_work[0] + call.tokens, caps.tokens_per_work),
        ("usd_per_work", of_work[1] + call.usd, caps.usd_per_work),
    )
    name, needed, cap = next(((n, used, cap) for n, used, cap in checks if used > cap), ("", 0, 0))
    return f"model.{name} is {cap:g}, and one more call could bring it to {needed:g}" if name else ""


def _used(connection: sqlite3.Connection, where: str, value: object) -> tuple[int, float]:
    query = f"select total(tokens), total(usd) from flow_summaries where {where}"  # noqa: S608 constants
    tokens, usd = connection.execute(query, (value,)).fetchone()
    return int(tokens), float(usd)


def _insert(
    connection: sqlite3.Connection, call: ModelCall, state: CallState, digest: str, error: str
) -> int:
    cursor = connection.execute(
        "insert into flow_summaries (digest, work, session_id, moment, at, state, tokens, usd, model, error, "
        "progress, body) values (?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, '')",
        (
            *(digest, call.work, call.session_id, call.moment, time.time(), state),
            *(call.tokens, call.usd, error, call.progress),
        ),
    )
    return int(cursor.lastrowid or 0)


def _start_of_day(now: float) -> float:
    """Return when the day of *now* began, in the person's time zone."""
    local = time.localtime(now)
    return time.mktime((local.tm_year, local.tm_mon, local.tm_mday, 0, 0, 0, 0, 0, -1))
