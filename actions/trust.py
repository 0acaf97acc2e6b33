"""Accept the fields of a handoff.yaml that came with a repository."""

import msgspec

from flowd.actions.context import Context
from flowd.actions.handoff_yaml import read_handoff
from flowd.store.handoff_yaml_state import HandoffYamlStates
from flowd.store.user_fields import is_trusted, trust_fact, untrusted_fields, user_fields


class UntrustedFields(msgspec.Struct, frozen=True):
    """The fields of a project's handoff.yaml that were not written on this machine."""

    project: str
    fields: dict[str, str]


def find_untrusted(context: Context, root: str) -> UntrustedFields:
    """Return the fields that no session is given until a person accepts them."""
    state = HandoffYamlStates(context.database).get(root)
    journal = context.journal
    fields = untrusted_fields(read_handoff(root), state, user_fields(journal, root)[0])
    return UntrustedFields(root, {} if is_trusted(journal, root, state, fields) else fields)


def trust(context: Context, accepted: UntrustedFields) -> None:
    """Record that a person accepts exactly these fields; other ones need another acceptance."""
    context.journal.append(trust_fact(accepted.project, accepted.fields))
