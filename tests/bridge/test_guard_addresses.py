"""Which Host and Origin headers are ours."""

import pytest

from flowd.bridge.guard import Addresses

OURS = Addresses("127.0.0.1", ("threads.example.org",))


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:8768", "localhost:1", "[::1]", "[::1]:8768", "Threads.Example.Org"]
)
def test_our_names_are_ours_with_any_port(host: str) -> None:
    assert OURS.is_host(host)
    assert OURS.is_origin(f"http://{host}")
    assert OURS.is_origin(f"https://{host}")


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example@127.0.0.1",
        "evil.example:x@localhost",
        "localhost.evil.example",
        "localhost/evil.example",
        "localhost?evil",
        "localhost#evil",
        "localhost:notaport",
        "localhost:99999",
        "127.0.0.1 evil.example",
        "[::1",
        "0.0.0.0",
        "127.0.0.2",
    ],
)
def test_anything_else_is_not(host: str) -> None:
    assert not OURS.is_host(host)
    assert not OURS.is_origin(f"http://{host}")


@pytest.mark.parametrize(
    "origin", ["null", "localhost", "file://localhost", "//localhost", "ftp://localhost"]
)
def test_an_origin_is_a_web_page_of_ours(origin: str) -> None:
    assert not OURS.is_origin(origin)


def test_an_address_that_was_bound_is_ours_but_the_wildcard_is_no_name() -> None:
    assert Addresses("192.0.2.7").is_host("192.0.2.7:8768")
    assert not Addresses("0.0.0.0").is_host("0.0.0.0:8768")
