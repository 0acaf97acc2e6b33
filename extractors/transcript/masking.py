"""Mask a person's own secret patterns in records, before any extractor cuts or joins their texts.

Extractors apply the built-in rules themselves, to the few texts that they keep. The patterns of the settings
are applied here instead, to every text of a record: extractors stay pure functions without settings, and who
has no patterns pays nothing.
"""

import msgspec

from flowd.extractors.transcript.records import Decoded, Message, Record, RecordBlock
from flowd.redaction.data import Redact, redact_data


def mask_records(decoded: Decoded, mask: Redact | None) -> None:
    """Apply *mask*, if there is one, to the records of *decoded*."""
    if mask is not None:
        decoded.records = [mask_record(record, mask) for record in decoded.records]


def mask_record(record: Record, mask: Redact) -> Record:
    """Return *record* with *mask* applied to all texts but those that identify it."""
    return msgspec.structs.replace(
        record,
        message=_message(record.message, mask),
        tool_use_result=_raw(record.tool_use_result, mask),
        attachment=_raw(record.attachment, mask),
        content=_text(record.content, mask),
        ai_title=_text(record.ai_title, mask),
        custom_title=_text(record.custom_title, mask),
    )


def _message(message: Message | None, mask: Redact) -> Message | None:
    if message is None:
        return None
    content = message.content
    if isinstance(content, list):
        return msgspec.structs.replace(message, content=[_block(block, mask) for block in content])
    return msgspec.structs.replace(message, content=_text(content, mask))


def _block(block: RecordBlock, mask: Redact) -> RecordBlock:
    return msgspec.structs.replace(
        block,
        text=_text(block.text, mask),
        input=_raw(block.input, mask),
        content=_raw(block.content, mask),
    )


def _text(text: str | None, mask: Redact) -> str | None:
    return mask(text) if text else text


def _raw(raw: msgspec.Raw, mask: Redact) -> msgspec.Raw:
    if not bytes(raw):
        return raw
    return msgspec.Raw(msgspec.json.encode(redact_data(msgspec.json.decode(raw), mask)))
