"""Handoff threads as a person reads them on a terminal."""

from flowd.store.thread_records import Added, Closed, Created, Entry, Handoff, Marked, Retrieved

Result = Created | Retrieved | Added | Marked | Closed

# Words from elsewhere must not move the cursor or recolour the terminal of whoever reads them.
_VISIBLE = {code: f"\\x{code:02x}" for code in (*range(0x20), *range(0x7F, 0xA0)) if chr(code) not in "\n\t"}


def render(result: Result) -> str:
    """Return *result* as readable lines, control characters made visible."""
    match result:
        case Created():
            lines = _created(result)
        case Retrieved():
            lines = _retrieved(result)
        case Added():
            lines = _added(result)
        case Marked():
            lines = [f"Read up to entry {result.last_seen} as {result.client}."]
        case Closed():
            lines = [f"Closed {result.id} ({result.title}). Its entries are deleted."]
    return "\n".join(lines).translate(_VISIBLE)


def _created(result: Created) -> list[str]:
    return [
        result.handoff.id,
        f"Created: {result.handoff.title}. Paste this id into the other client.",
        *_redacted(result.redacted),
    ]


def _retrieved(result: Retrieved) -> list[str]:
    unseen = {entry.seq for entry in result.new_entries}
    lines = [_heading(result.handoff), _news(result)]
    for entry in result.entries:
        lines += ["", *_entry(entry, " (new)" if entry.seq in unseen else "")]
    return lines


def _added(result: Added) -> list[str]:
    lines = [
        f"Added entry {result.entry.seq} ({result.entry.type}) to {result.handoff.id}.",
        *_redacted(result.redacted),
    ]
    if result.missed_entries:
        lines.append(f"Not seen by you before this write: {len(result.missed_entries)}")
    for entry in result.missed_entries:
        lines += ["", *_entry(entry, " (missed)")]
    return lines


def _heading(handoff: Handoff) -> str:
    project = f" · {handoff.project}" if handoff.project else ""
    return f"{handoff.title}{project} · {handoff.status} · {handoff.id}"


def _news(result: Retrieved) -> str:
    if result.handoff.status == "completed":
        return f"Completed at {result.handoff.updated_at} UTC; its entries are deleted."
    return f"Entries: {len(result.entries)}, new for you: {result.new_count}"


def _entry(entry: Entry, mark: str) -> list[str]:
    heading = f"#{entry.seq} {entry.from_client} · {entry.type} · {entry.created_at} UTC{mark}"
    return [heading, *(f"  {line}" for line in entry.content.split("\n"))]


def _redacted(kinds: tuple[str, ...]) -> list[str]:
    return [f"Left out before storing: {', '.join(kinds)}."] if kinds else []
