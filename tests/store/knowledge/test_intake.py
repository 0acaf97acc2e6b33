"""Blocks into core.db: kept once, replaced whole, never half-applied, on a real database."""

import msgspec
import pytest

from flowd.handoff.block.find import blocks_in_markdown
from flowd.model.block import FoundBlock
from flowd.store.database import Database
from flowd.store.knowledge.context import blocked_tasks, blockers_of, contexts_before, learned_gotchas
from flowd.store.knowledge.graph import Provenance
from flowd.store.knowledge.intake import keep_block
from flowd.store.knowledge.search import NodeQuery, find_nodes, known_of, search, tasks_of

PROJECT = "/home/someone/shop"
FILE = Provenance(
    project=PROJECT, session_id="s-1", record="r-1", file="tasks/task-004-basket.md", at=1_700_000_000.0
)
BODY = """\
outcome: partial
files_created:
  - path: src/basket.py
    purpose: Holds what is bought
    lines: 1-90
files_modified:
  - path: src/shop.py
    description: Uses the basket
patterns_discovered:
  - pattern: Prices are integers of the smallest coin
    location: src/money.py
    applies_to: [prices, checkout]
gotchas:
  - issue: The tax table has gaps before 2019
    mitigation: Ask the tax service instead
    severity: high
  - issue: Tests need the fake clock
    mitigation: Use the clock fixture
blockers:
  - blocker: No key for the tax service
    impact: Checkout cannot be tested
    suggested_resolution: Ask for one
    blocking_tasks: [task-005]
suggested_next_steps:
  - step: Add the checkout
    priority: high
"""


def found_in(body: str = BODY, heading: str = "# Task 004: Basket\n\n") -> FoundBlock:
    (found,) = blocks_in_markdown(f"{heading}## Handoff\n\n```yaml\n{body}```\n")
    return found


def later(place: Provenance = FILE, **changes: object) -> Provenance:
    return msgspec.structs.replace(place, at=place.at + 60, **changes)


def dump(database: Database) -> list[str]:
    with database.reading() as connection:
        return [line for line in connection.iterdump() if "INSERT INTO" in line and "fts" not in line]


def ids(database: Database, words: str = "") -> set[str]:
    return {node.id for node in search(database, NodeQuery(words=words))}


def test_a_block_becomes_nodes_linked_to_their_task(database: Database) -> None:
    assert keep_block(database, found_in(), FILE) == "applied"
    (pattern,) = search(database, NodeQuery(words="prices", type="pattern"))
    assert (pattern.summary, pattern.tags, pattern.file) == (
        "Prices are integers of the smallest coin",
        ("prices", "checkout"),
        "src/money.py",
    )
    assert tasks_of(database, [pattern]) == {(PROJECT, pattern.id): ["Task 004: Basket"]}
    known = known_of(database, pattern)
    (told,) = known.told
    place = told.provenance
    assert (place.session_id, place.file, place.line, place.at) == ("s-1", FILE.file, 6, FILE.at)
    assert [(edge.from_id, edge.kind) for edge in known.edges] == [("task-004", "discovered")]


def test_severe_gotchas_are_learned_and_others_are_not(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    assert [gotcha.issue for gotcha in learned_gotchas(database, PROJECT)] == [
        "The tax table has gaps before 2019"
    ]


def test_files_enter_the_context_map_by_location(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    with database.reading() as connection:
        rows = connection.execute(
            "select location, component, notes, task_key from flow_context_map order by location"
        ).fetchall()
    assert rows == [
        ("src/basket.py:1-90", "basket.py", "Holds what is bought", "task-004"),
        ("src/shop.py", "shop.py", "Uses the basket", "task-004"),
    ]


def test_the_same_block_twice_is_one(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    before = dump(database)
    assert keep_block(database, found_in(), FILE) == "same"
    assert keep_block(database, found_in(), later()) == "same"
    assert dump(database) == before


def test_a_block_said_and_then_written_is_one_with_the_files_place(database: Database) -> None:
    said = Provenance(project=PROJECT, session_id="s-1", record="r-0", at=FILE.at - 5)
    assert keep_block(database, found_in(), said) == "applied"
    keep_block(database, found_in(), FILE)
    assert keep_block(database, found_in(), said) == "same"
    (task,) = find_nodes(database, "task-004")
    assert (task.mentions, task.file) == (1, FILE.file)


def test_a_file_seen_before_its_session_learns_the_session_later(database: Database) -> None:
    keep_block(database, found_in(), msgspec.structs.replace(FILE, session_id="", record=""), accepted=())
    assert contexts_before(database, PROJECT, any_source=False) == []
    assert keep_block(database, found_in(), FILE) == "same"
    assert len(contexts_before(database, PROJECT, any_source=False)) == 1


def test_an_edited_block_replaces_its_former_self(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    edited = BODY.replace("Tests need the fake clock", "Basket tests are slow").replace(
        "src/shop.py", "src/till.py"
    )
    assert keep_block(database, found_in(edited), later()) == "replaced"
    assert ids(database, words="fake") == set()
    assert len(ids(database, words="slow")) == 1
    with database.reading() as connection:
        assert connection.execute("select count(*) from flow_blocks").fetchone() == (1,)
        locations = [row[0] for row in connection.execute("select location from flow_context_map")]
    assert sorted(locations) == ["src/basket.py:1-90", "src/till.py"]


def test_an_older_version_changes_nothing(database: Database) -> None:
    keep_block(database, found_in(), later())
    before = dump(database)
    assert keep_block(database, found_in("outcome: completed\n"), FILE) == "older"
    assert dump(database) == before


def test_what_another_block_also_says_stays_when_one_takes_it_back(database: Database) -> None:
    other = msgspec.structs.replace(FILE, file="tasks/task-009.md")
    keep_block(database, found_in(), FILE)
    keep_block(database, found_in(heading="# Task 009: Again\n"), other)
    (gotcha,) = search(database, NodeQuery(words="clock"))
    assert gotcha.mentions == 2
    keep_block(database, found_in("outcome: completed\n"), later())
    (gotcha,) = search(database, NodeQuery(words="clock"))
    assert gotcha.mentions == 1


def test_an_invalid_block_is_kept_with_its_errors_and_its_valid_part_applied(database: Database) -> None:
    invalid = BODY.replace("severity: high", "severity: urgent")
    assert keep_block(database, found_in(invalid), FILE) == "invalid"
    assert keep_block(database, found_in(invalid), FILE) == "same"
    assert len(ids(database, words="clock")) == 1
    with database.reading() as connection:
        ((raw, violations),) = connection.execute(
            "select raw, violations from flow_blocks where body = ''"
        ).fetchall()
    assert "severity: urgent" in raw
    assert '"field":"gotchas[0].severity"' in violations


def test_an_invalid_edit_leaves_the_valid_block_in_force_until_it_is_mended(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    keep_block(database, found_in("outcome: done\n"), later())
    assert len(ids(database, words="clock")) == 1
    keep_block(database, found_in("outcome: completed\n"), later(later()))
    assert ids(database, words="clock") == set()
    with database.reading() as connection:
        assert connection.execute("select count(*) from flow_blocks").fetchone() == (1,)


def test_blockers_stand_until_the_task_no_longer_names_them(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    assert blocked_tasks(database, PROJECT) == {"task-005": ["No key for the tax service"]}
    keep_block(database, found_in("outcome: completed\n"), later())
    assert blocked_tasks(database, PROJECT) == {}
    (blocker,) = blockers_of(database, PROJECT, resolved=True)
    assert (blocker.state, blocker.since, blocker.resolved_at) == ("resolved", FILE.at, FILE.at + 60)


def test_a_task_that_others_only_name_gets_its_own_words_from_its_own_block(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    (named,) = find_nodes(database, "task-005")
    assert (named.summary, named.status) == ("Task 005", "")
    own = msgspec.structs.replace(FILE, file="tasks/task-005.md")
    keep_block(database, found_in("outcome: completed\n", "# Task 005: Checkout\n"), own)
    (told,) = find_nodes(database, "task-005")
    assert (told.summary, told.status) == ("Task 005: Checkout", "completed")
    keep_block(database, found_in(heading="# Task 006: Later\n"), later(file="tasks/task-006.md"))
    assert find_nodes(database, "task-005")[0].summary == "Task 005: Checkout"


def test_tasks_of_the_same_number_in_two_files_keep_to_themselves(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    other = later(file="tracks/b/task-004.md")
    assert keep_block(database, found_in("outcome: completed\n"), other) == "applied"
    assert len(ids(database, words="clock")) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Retry 3 times!", "retry 5 times"),
        ("Use `AuthContext`", "use authcontext"),
        ("Limit: 1,000/min", "limit 60 min"),
    ],
)
def test_the_same_meaning_is_one_node_counted_with_the_newest_wording(
    database: Database, one: str, other: str
) -> None:
    for number, text in enumerate((one, other)):
        found = found_in(f"outcome: completed\ngotchas:\n  - issue: '{text}'\n", f"# Task {number}: x\n")
        keep_block(database, found, later(FILE, file=f"tasks/task-{number}.md"))
    (node,) = search(database, NodeQuery(type="gotcha"))
    assert (node.summary, node.mentions) == (other, 2)


def test_projects_do_not_mix(database: Database) -> None:
    keep_block(database, found_in(), FILE)
    keep_block(database, found_in(), msgspec.structs.replace(FILE, project="/elsewhere"))
    assert len(search(database, NodeQuery(words="clock"))) == 2
    (here,) = search(database, NodeQuery(words="clock", project=PROJECT))
    assert (here.project, here.mentions) == (PROJECT, 1)
