"""Whether a handoff goes on while parallel workers run: a person chooses, else the setting does."""

import sys
import time
from collections.abc import Callable

from flowd.cli.tables import visible
from flowd.config.settings import Conductor
from flowd.handoff.track_workers import Workers

LOOK_AGAIN_S = 0.5
CHOICES = "[A] Wait for completion\n[B] Handoff anyway (include worker state)\n[C] Cancel"


class WorkersChoice:
    """Asks at a terminal; without one, or where the project wants quiet, it follows the setting."""

    def __init__(self, settings: Conductor, look: Callable[[], Workers], *, quiet: bool) -> None:
        self._settings = settings
        self._look = look
        self._asks = not quiet and sys.stdin.isatty() and sys.stdout.isatty()

    def __call__(self, workers: Workers) -> bool:
        """Say whether the handoff is to be made."""
        if not self._asks:
            if self._settings.parallel == "wait":
                self._wait()
            return self._settings.parallel != "cancel"
        while workers.running:
            answer = _ask(workers)
            if answer != "a":
                return answer == "b"
            workers = self._wait()
        return True

    def _wait(self) -> Workers:
        """Return the workers when none runs any more, or as they are when the setting's time is over."""
        deadline = time.monotonic() + self._settings.parallel_wait_s
        while (workers := self._look()).running and time.monotonic() < deadline:
            time.sleep(LOOK_AGAIN_S)
        return workers


def _ask(workers: Workers) -> str:
    print(visible(f"⚠️ Parallel workers running: [{', '.join(workers.running)}]"))
    print(f"\n{CHOICES}")
    while True:
        try:
            answer = input("> ").strip().lower()
        except EOFError:
            return "c"
        if answer in ("a", "b", "c"):
            return answer
