"""A hook on its way to the reader."""

from collections.abc import Callable
from typing import NamedTuple

from flowd.model.hook_input import HookInput


class HookEvent(NamedTuple):
    """A hook's input; ``on_done`` is called once, with True if the event was stored.

    ``is_retry``: there was no transcript of its session when it came.
    """

    input: HookInput
    on_done: Callable[[bool], None]
    is_retry: bool = False
