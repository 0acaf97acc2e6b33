"""What an agent is asked when notes are ambiguous: the specification's words, in a comment."""

LONGEST_ASKED = 4000

TEMPLATE = """\
outcome: [completed | partial | failed | blocked]

files_created:
  - path: [path]
    purpose: [purpose]
    lines: [range]

files_modified:
  - path: [path]
    lines: [range]
    change_type: [type]
    description: [description]

patterns_discovered:
  - pattern: [pattern description]
    location: [where]
    applies_to: [tags]

gotchas:
  - issue: [issue]
    discovered_in: [context]
    mitigation: [how to avoid]
    severity: [high | medium | low]

dependencies_for_next:
  - file: [path]
    reason: [why needed]

suggested_next_steps:
  - step: [what to do]
    priority: [high | medium | low]
    depends_on: [dependencies]
"""


def prompt_comment(unplaced: list[str], doubts: list[str]) -> str:
    """Return the comment that asks an agent to structure what is ambiguous; empty when nothing is."""
    if not unplaced and not doubts:
        return ""
    notes = "\n\n".join([*doubts, *unplaced])[:LONGEST_ASKED]
    # Two hyphens would end the comment early in some readers, and a heading could be taken for a block's.
    safe = notes.replace("--", "—").replace("\n#", "\n #")
    return f"\n<!--\nPlease structure this handoff note:\n{safe}\n\nInto this format:\n{TEMPLATE}-->\n"
