"""A handoff as a mail to another agent: its subject, its thread, how urgent it is."""

import hashlib
import re
from typing import Literal, NamedTuple

from flowd.redaction.data import Redact
from flowd.redaction.redactor import redact
from flowd.system.text import cut, one_line

SUBJECT_CHARACTERS = 80
THREAD_CHARACTERS = 128
GENERAL = "general"
_IMPORTANT = frozenset({"design-end", "epic-start", "epic-end", "pre-finish"})
MAILED = _IMPORTANT | {"manual", "idle"}


class MailMessage(NamedTuple):
    """What is sent; ``id`` is the checkpoint's, so that the same one is never sent twice."""

    id: str
    subject: str
    thread_id: str
    importance: Literal["high", "normal"]
    body: str


def mail_message(
    identity: str,
    *,
    trigger: str,
    track: str,
    context: str,
    body: str,
    epic: str = "",
    redact: Redact = redact,
) -> MailMessage:
    """Return the mail about one handoff of *track* (empty: general work), without a secret in it."""
    about = f"{track or GENERAL}/{epic}" if epic else track or GENERAL
    subject = one_line(redact(f"[HANDOFF:{trigger}] {about} - {context}"))
    return MailMessage(
        id=identity,
        subject=cut(subject, SUBJECT_CHARACTERS),
        thread_id=thread_id(track, epic),
        importance="high" if trigger in _IMPORTANT else "normal",
        body=redact(body),
    )


def thread_id(track: str, epic: str = "") -> str:
    """Return the thread of a track's handoffs, in the letters and the length that servers take."""
    name = "-".join(part for part in ("handoff", track or GENERAL, epic) if part)
    safe = re.sub(r"[^A-Za-z0-9._-]+", "-", name)
    if len(safe) <= THREAD_CHARACTERS:
        return safe
    digest = hashlib.blake2b(name.encode(errors="replace"), digest_size=4).hexdigest()
    return f"{safe[: THREAD_CHARACTERS - 9]}-{digest}"
