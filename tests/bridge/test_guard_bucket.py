"""The rate limit, by a clock of the test's own."""

from typing import Any

import anyio

from flowd.bridge.guard import Addresses, Guard, TokenBucket


class Clock:
    """Stands still until the test moves it."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_gives_a_minutes_worth_and_then_says_how_long_to_wait() -> None:
    clock = Clock()
    bucket = TokenBucket(60, clock)
    assert [bucket.take() for _ in range(60)] == [0.0] * 60
    assert bucket.take() == 1.0
    clock.now = 0.5
    assert bucket.take() == 0.5
    clock.now = 2.5
    assert [bucket.take() for _ in range(2)] == [0.0, 0.0]
    assert bucket.take() > 0


def test_a_bucket_never_holds_more_than_a_minutes_worth() -> None:
    clock = Clock()
    bucket = TokenBucket(3, clock)
    clock.now = 1e6
    assert [bucket.take() > 0 for _ in range(4)] == [False, False, False, True]


def test_one_too_many_is_told_when_to_come_back_and_strangers_do_not_use_up_the_owners_share() -> None:
    passed = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed.append(scope["path"])

    async def ask(authorization: bytes) -> dict[str, Any]:
        sent: list[dict[str, Any]] = []

        async def send(message: Any) -> None:
            sent.append(message)

        headers = [(b"host", b"localhost"), (b"authorization", authorization)]
        scope = {"type": "http", "method": "POST", "path": "/mcp", "headers": headers}
        await guard(scope, anyio.sleep_forever, send)  # type: ignore[arg-type]  # never called
        return sent[0] if sent else {"status": 0}

    guard = Guard(app, token="right", addresses=Addresses("127.0.0.1"), per_minute=2)
    strangers = [anyio.run(ask, b"Bearer wrong") for _ in range(3)]
    assert [answer["status"] for answer in strangers] == [401, 401, 429]
    assert (b"retry-after", b"30") in strangers[-1]["headers"]
    owner = [anyio.run(ask, b"Bearer right")["status"] for _ in range(3)]
    assert owner == [0, 0, 429]
    assert passed == ["/mcp", "/mcp"]
