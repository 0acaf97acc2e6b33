"""What a session has cost, from the client's ``cost-state`` records."""

import msgspec

from flowd.extractors.transcript.records import Record
from flowd.model.session import ModelUsage, SessionCost

MAX_MODELS = 10
MAX_NAME_CHARACTERS = 80


class _Usage(msgspec.Struct, rename="camel"):
    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_input_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cost_usd: float = msgspec.field(default=0.0, name="costUSD")


_usages = msgspec.json.Decoder(dict[str, _Usage])


def read_cost(record: Record) -> SessionCost | None:
    """Return the totals that a ``cost-state`` *record* holds; they go on over a resume of the session."""
    if record.total_cost_usd is None:
        return None
    return SessionCost(record.total_cost_usd, _models(record))


def _models(record: Record) -> tuple[ModelUsage, ...]:
    try:
        usages = _usages.decode(record.model_usage)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return ()
    dearest = sorted(usages.items(), key=lambda item: -item[1].cost_usd)[:MAX_MODELS]
    return tuple(
        ModelUsage(
            name[:MAX_NAME_CHARACTERS],
            usage.input_tokens,
            usage.output_tokens,
            usage.cache_read_input_tokens,
            usage.cache_creation_input_tokens,
            usage.cost_usd,
        )
        for name, usage in dearest
    )
