"""Turning points, place and time of a session."""

from flowd.extractors.transcript.records import decode_lines
from flowd.extractors.transcript.session import SessionMemory
from flowd.model.facts import AwaySummarised, Compacted, PullRequestLinked, Titled
from flowd.model.session import ModelUsage, SessionCost
from tests.support.transcript import Transcript


def noted(session: Transcript) -> list[object]:
    """Return what is noted while *session* is read."""
    memory = SessionMemory()
    records = decode_lines(session.data, 1).records
    return [note.body for number, record in enumerate(records, 1) for note in memory.feed(record, number)]


def test_a_compaction_is_counted_once() -> None:
    """The boundary says it, the summary after it does not say it again."""
    session = Transcript().add(
        "system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 9}
    )
    session.person("This session is being continued", isCompactSummary=True)
    assert noted(session) == [Compacted("auto", 9)]
    assert session.state.compactions == 1


def test_a_summary_without_its_boundary_counts() -> None:
    """Old clients wrote no boundary."""
    assert noted(Transcript().person("This session is being continued", isCompactSummary=True)) == [
        Compacted("unknown", 0)
    ]


def test_a_persons_title_outranks_the_clients() -> None:
    """And a title repeated is no news."""
    session = Transcript().add("ai-title", aiTitle="Cart").add("ai-title", aiTitle="Cart")
    session.add("custom-title", customTitle="My cart").add("ai-title", aiTitle="Cart again")
    assert noted(session) == [Titled("Cart"), Titled("My cart")]
    assert session.state.title == "My cart"


def test_pull_requests_and_recaps_are_noted() -> None:
    """As the client links and writes them."""
    session = Transcript().add("pr-link", prNumber=7, prUrl="https://x/7", prRepository="ada/shop")
    session.add("system", subtype="away_summary", content="Adding a total.")
    assert noted(session) == [
        PullRequestLinked(7, "https://x/7", "ada/shop"),
        AwaySummarised("Adding a total."),
    ]


def test_place_and_time_are_those_of_the_last_records() -> None:
    """Times by their order in time, not in the file."""
    session = Transcript().person("a").person("b", timestamp="2026-03-01T09:00:00.000Z", gitBranch="till")
    state = session.state
    assert state.branch == "till"
    assert state.cwd == "/home/ada/shop"
    assert state.records == 2
    assert state.last_activity_at == state.started_at == 1772359201.0


def test_the_cost_is_the_latest_that_the_client_tells() -> None:
    """It counts on when a session is resumed."""
    usage = {"inputTokens": 1200, "outputTokens": 60, "cacheReadInputTokens": 7, "costUSD": 0.25, "new": [1]}
    session = Transcript().person("Hello").add("cost-state", totalCostUSD=0.1, modelUsage={})
    session.add("cost-state", totalCostUSD=0.25, modelUsage={"opus": usage, "haiku": {"inputTokens": 3}})
    cost = session.state.cost
    assert cost == SessionCost(
        0.25, (ModelUsage("opus", 1200, 60, 7, 0, 0.25), ModelUsage("haiku", input_tokens=3))
    )


def test_a_cost_that_does_not_fit_is_left_out() -> None:
    session = Transcript().person("Hello").add("cost-state", totalCostUSD="free", modelUsage={})
    assert session.state.cost is None
    session.add("cost-state", totalCostUSD=1, modelUsage={"opus": "many"})
    assert session.state.cost == SessionCost(1.0, ())
    session.add("cost-state", totalCostUSD=2, modelUsage={f"model-{n}": {} for n in range(50)})
    cost = session.state.cost
    assert cost is not None
    assert len(cost.models) == 10
