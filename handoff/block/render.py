"""A block written out: the YAML of a task file, fields in the specification's order."""

from typing import Any

import msgspec

from flowd.model.block import FIELDS, HandoffBlock

HEADING = "## Handoff"
_NEVER_FOLD = 1_000_000


def block_yaml(block: HandoffBlock) -> str:
    """Return *block* as YAML, leaving out what it does not say."""
    import yaml

    fields: dict[str, Any] = msgspec.to_builtins(block)
    ordered = {name: fields[name] for name in FIELDS if name in fields}
    parts = [
        yaml.dump(
            {name: value},
            Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
            allow_unicode=True,
            sort_keys=False,
            width=_NEVER_FOLD,
        )
        for name, value in ordered.items()
    ]
    return "\n".join(parts)
