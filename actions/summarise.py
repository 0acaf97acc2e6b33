"""Have the person's model word the summary of a work: under the cap, once for each digest, or not at all."""

import hashlib
from enum import StrEnum
from typing import NamedTuple

import msgspec

from flowd.actions.context import Context
from flowd.actions.daemon_client import poke_daemon
from flowd.actions.summary_engine import EngineError, Reply, ask_engine, engine_name, most_tokens
from flowd.actions.works import open_works, work_here
from flowd.config.logs import log
from flowd.config.settings import ModelSettings
from flowd.extractors.work.project_works import ProjectWorks
from flowd.extractors.work.summary import MAX_DIGEST_CHARACTERS, basis_of, progress_of, summary_digest
from flowd.extractors.work.summary_check import CheckedAnswer, MalformedAnswerError, check_answer
from flowd.model.summary import ModelStatus, Moment
from flowd.model.work import Work
from flowd.redaction.data import Redact
from flowd.store.summaries import Caps, Meter, ModelCall, Settled, Summaries
from flowd.store.works import work_fact

# Raise it when the instructions or the digest change: an answer of before is then asked for again.
DIGEST_FORMAT = "1"
# A call that was reserved so long after its deadline ago is no longer running.
LEASE_MARGIN_S = 15.0
# Requests and touched files since the model was asked last that make a large change.
LARGE_CHANGE = 16


class Outcome(StrEnum):
    """What came of a moment at which a model may be asked."""

    OFF = "the model is off"
    NOTHING = "there is no work to summarise"
    KNOWN = "asked before with the same digest"
    BUSY = "another call is running"
    CAPPED = "a cap is reached"
    FAILED = "the model gave no usable answer"
    ANSWERED = "answered"


class Prepared(NamedTuple):
    """A work with the digest of it."""

    works: ProjectWorks
    work: Work
    digest: str


def is_on(store: Summaries, settings: ModelSettings) -> bool:
    """Return True if the person agreed to the program that the settings name now."""
    consent = store.consent()
    return consent is not None and consent.engine == engine_name(settings)


def switch_on(context: Context) -> None:
    """Record that the person agrees to the program of the settings."""
    Summaries(context.database).set_consent(engine_name(context.settings.model))
    poke_daemon(context.paths)


def switch_off(context: Context) -> None:
    """Take the consent back; what a model worded is not shown any more."""
    Summaries(context.database).set_consent("")
    poke_daemon(context.paths)


def model_status(store: Summaries, settings: ModelSettings) -> ModelStatus:
    """Return the model's part of status."""
    consent, meter = store.consent(), store.meter()
    return ModelStatus(
        is_on=is_on(store, settings),
        engine=engine_name(settings),
        reason=_reason(consent.engine if consent else "", settings, meter),
        calls_today=meter.calls_today,
        tokens_today=meter.tokens_today,
        tokens_per_day=settings.tokens_per_day,
        usd_today=meter.usd_today,
        usd_per_day=settings.usd_per_day,
        last_error=meter.last_error if meter.last_state in ("failed", "refused") else "",
        last_at=meter.last_at,
    )


def preview(context: Context, root: str) -> Prepared | None:
    """Return the digest of the current work of the project at *root*: the bytes that would be sent."""
    works = open_works(context.database, root)
    work = work_here(works, root, context.session_id)
    return _prepared(works, work, context.redact) if work else None


def summarise(context: Context, project: str, session_id: str, moment: Moment) -> Outcome:
    """Ask the model about the work of a session if the person agrees, the cap allows it, and it is new.

    The answer is stored with the work's new fact; without a usable one the rules remain.
    """
    store, settings = Summaries(context.database), context.settings.model
    if not is_on(store, settings):
        return Outcome.OFF
    prepared = _prepare(context, project, session_id)
    if prepared is None:
        return Outcome.NOTHING
    progress = progress_of(prepared.works.contributions(prepared.work.id))
    if moment == "change" and progress - store.progress(prepared.work.id) < LARGE_CHANGE:
        return Outcome.NOTHING
    name = f"{DIGEST_FORMAT}\n{engine_name(settings)}\n{prepared.digest}"
    call = ModelCall(
        digest=hashlib.sha256(name.encode()).hexdigest(),
        work=prepared.work.id,
        session_id=session_id,
        moment=moment,
        progress=progress,
        tokens=most_tokens(prepared.digest),
        usd=settings.usd_per_call,
    )
    reserved = store.reserve(call, _caps(settings), settings.timeout_s + LEASE_MARGIN_S)
    if reserved.reason == "cap":
        log.warning("model_capped", work=prepared.work.id, cap=reserved.cap)
        return Outcome.CAPPED
    if reserved.reason:
        return Outcome.KNOWN if reserved.reason == "known" else Outcome.BUSY
    return _make(context, prepared, store, reserved.id)


def _make(context: Context, prepared: Prepared, store: Summaries, number: int) -> Outcome:
    """Make the reserved call *number* and settle it, whatever happens."""
    log.info("model_asked", work=prepared.work.id, bytes=len(prepared.digest.encode()))
    try:
        reply = ask_engine(context.settings.model, context.paths, prepared.digest)
    except EngineError as error:
        text = context.redact(str(error))
        if error.was_asked:
            store.settle(number, Settled("failed", error=text))
        else:
            store.release(number, text)
        log.warning("model_failed", work=prepared.work.id, error=text)
        return Outcome.FAILED
    settled = _settled(reply, prepared, context.redact)
    store.settle(number, settled)
    log.info("model_answered", work=prepared.work.id, state=settled.state, tokens=settled.tokens)
    if settled.summary.is_empty:
        return Outcome.FAILED
    works = open_works(context.database, prepared.work.project)
    if works.has(prepared.work.id):
        shown = next(work for work in works.works if work.id == prepared.work.id)
        context.journal.append(work_fact(shown))
    return Outcome.ANSWERED


def _settled(reply: Reply, prepared: Prepared, redact: Redact) -> Settled:
    """Return how a call with *reply* ended: with a checked summary, or why there is none."""
    if reply.error:
        return Settled("failed", reply.tokens, reply.usd, reply.model, redact(reply.error))
    try:
        checked = _redacted(check_answer(reply.answer, prepared.digest), redact)
    except MalformedAnswerError as error:
        return Settled("refused", reply.tokens, reply.usd, reply.model, redact(str(error)))
    contributions = prepared.works.contributions(prepared.work.id)
    summary = msgspec.structs.replace(
        checked.summary,
        model=reply.model,
        at=prepared.work.touched_at,
        basis=basis_of(contributions),
    )
    refused = "; ".join(checked.refused)
    if not (summary.goal or summary.now or summary.next):  # its status is worth no more than the rest
        return Settled("refused", reply.tokens, reply.usd, reply.model, refused)
    return Settled("answered", reply.tokens, reply.usd, reply.model, refused, summary)


def _redacted(checked: CheckedAnswer, redact: Redact) -> CheckedAnswer:
    found = checked.summary
    clean = msgspec.structs.replace(
        found, goal=redact(found.goal), now=redact(found.now), next=tuple(redact(one) for one in found.next)
    )
    return CheckedAnswer(clean, tuple(redact(one) for one in checked.refused))


def _prepare(context: Context, project: str, session_id: str) -> Prepared | None:
    works = open_works(context.database, project)
    work = works.work_of(session_id)
    if work is None or work.is_tentative:
        return None
    return _prepared(works, work, context.redact)


def _prepared(works: ProjectWorks, work: Work, redact: Redact) -> Prepared:
    """Return *work* with its digest: redacted once more, because patterns may be newer than the notes."""
    digest = summary_digest(works.by_rules(work.id), works.contributions(work.id))
    return Prepared(works, work, redact(digest)[:MAX_DIGEST_CHARACTERS])


def _caps(settings: ModelSettings) -> Caps:
    return Caps(
        settings.tokens_per_day, settings.usd_per_day, settings.tokens_per_work, settings.usd_per_work
    )


def _reason(agreed: str, settings: ModelSettings, meter: Meter) -> str:
    """Return why no call is made at present, empty if one may be made."""
    if not agreed:
        return "off: `flowd model on` shows what it would send, and asks"
    if agreed != engine_name(settings):
        return f"off: you agreed to {agreed}, the settings name {engine_name(settings)}; run `flowd model on`"
    return f"stopped: {meter.stopped}" if meter.stopped else ""
