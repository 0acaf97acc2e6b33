"""The verbs that steps begin with."""

import re

VERBS = frozenset(
    "add address adjust allow annotate apply ask assess audit avoid backfill benchmark build bump cache "
    "centralize change check choose clarify clean clear close collect combine commit compare complete "
    "confirm configure consider consolidate continue convert copy correct cover create cut debug decide "
    "declare define delete deny deploy deprecate design disable discuss document draft drop enable ensure "
    "evaluate exclude expand explain explore export expose extend extract fetch finalize find finish fix "
    "follow format generate get grant guard handle hide hook implement import improve include increase "
    "inline inspect install integrate introduce investigate keep leave limit link lint load log make mark "
    "measure mention merge migrate mock monitor move normalize notify open optimize parse pass persist "
    "pick pin plan point port prepare prevent print profile protect prototype provide publish pull push "
    "put rebase recheck redo reduce refactor register reject release remove rename render reorder replace "
    "reply report reproduce rerun re-run resolve respond restart restore restrict retest retry return "
    "reuse revert review revisit rewrite rotate run save scan schedule seed send set share ship show "
    "simplify skip sort split squash stage start stop store stub support switch sync tag test tidy "
    "tighten track triage trigger trim try tune turn type undo unify update upgrade upload use validate "
    "verify wait watch wire wrap write".split()
)
_FIRST_WORD = re.compile(
    r"^(?:\([^)]{1,20}\)\s*|(?:also|then|and|first|finally|please|optionally)[,:]?\s+)*([\w-]+)", re.I
)


def is_imperative(text: str) -> bool:
    """Return True if *text* begins with a verb that asks for something to be done."""
    found = _FIRST_WORD.match(text)
    return found is not None and found.group(1).lower() in VERBS
