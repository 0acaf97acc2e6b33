"""One parser and one way to write each kind of time."""

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flowd.system.times import as_utc_text, is_moment, iso_millis, iso_seconds, local_minute, to_seconds

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "value",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01T12:00:00",
        " 2026-03-01 14:00:00+02:00 ",
        datetime(2026, 3, 1, 12),
        datetime(2026, 3, 1, 7, tzinfo=timezone(timedelta(hours=-5))),
    ],
)
def test_a_time_without_a_zone_is_utc_wherever_the_machine_is(
    value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    import time

    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert to_seconds(value) == NOON
        assert as_utc_text(value) == "2026-03-01T12:00:00+00:00"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("value", [None, "", "soon", 5, [], "2026-13-01", b"2026-03-01"])
def test_what_is_no_time_has_neither_seconds_nor_a_text(value: object) -> None:
    assert (to_seconds(value), as_utc_text(value)) == (0.0, None)


def test_a_date_is_its_midnight_and_the_edges_of_the_calendar_do_not_raise() -> None:
    assert as_utc_text(date(2026, 3, 1)) == "2026-03-01T00:00:00+00:00"
    assert as_utc_text("0001-01-01T00:00:00+05:00") is None
    assert to_seconds("0001-01-01T00:00:00+05:00") < 0
    assert as_utc_text("9999-12-31T23:00:00-05:00") is None


@given(st.datetimes(datetime(1970, 1, 2), datetime(2200, 1, 1), timezones=st.just(UTC)))
def test_what_is_written_is_read_back_to_the_millisecond(moment: datetime) -> None:
    at = moment.timestamp()
    assert 0 <= at - to_seconds(iso_millis(at)) < 0.0011
    assert 0 <= at - to_seconds(iso_seconds(at)) < 1.0001
    assert is_moment(iso_millis(at))


def test_the_short_form_is_for_the_eye() -> None:
    assert iso_seconds(NOON) == "2026-03-01T12:00:00Z"
    assert local_minute(NOON) == datetime.fromtimestamp(NOON).strftime("%Y-%m-%d %H:%M")
