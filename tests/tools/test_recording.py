"""The recorded session is made by a run, and is a picture that browsers can show."""

from xml.etree import ElementTree

from tests.support.repository import ROOT
from tools.recording import Scene, as_svg, record

SVG = "{http://www.w3.org/2000/svg}"


def texts(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_run_shows_what_was_left_and_hands_it_to_the_next_session() -> None:
    scenes = record()
    shown, done, injected = (scene.output for scene in scenes)
    step = "Add a test for a session that is idle for an hour"
    assert f"1. {step}" in shown
    assert done == f"done: {step}"
    assert "Document SESSION_MAX_AGE" in injected
    assert step not in injected.partition("Unfinished:")[2]
    assert "/tmp" not in shown + injected


def test_markup_in_an_output_stays_text() -> None:
    shown = texts(as_svg([Scene("", "flow inject", "<script>&")]))
    assert shown == ["$ flow inject", "<script>&", ""]


def test_the_picture_in_the_repository_has_the_same_commands() -> None:
    shown = texts((ROOT / "docs" / "recording.svg").read_text())
    assert [text for text in shown if text.startswith("$ ")] == [
        "$ flow show",
        "$ flow done 1",
        "$ flow inject",
    ]
