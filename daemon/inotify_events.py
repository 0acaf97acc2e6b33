"""watchdog's InotifyFD with a lean way for the one event that comes by the thousand. Linux only."""

import time
from collections.abc import Callable

from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD

BUFFER_BYTES = 1 << 16
# Events that follow each other faster than this are a stream...
STREAM_S = 0.005
# ...and are collected for this long: the kernel merges those of one file while nobody reads them.
COLLECT_S = 0.01


class InotifyEvents(InotifyFD):
    """Calls *on_modified* with watch and name of each written file; all else goes watchdog's own way."""

    def __init__(self, on_modified: Callable[[int, bytes], None]) -> None:
        super().__init__()
        self._on_modified = on_modified

    def run(self) -> None:
        """Read events and hand them on until stopped."""
        read_at = 0.0
        while self.should_keep_running():
            self._hand_on(self._read_event_buffer(BUFFER_BYTES))
            now = time.monotonic()
            if now - read_at < STREAM_S:
                time.sleep(COLLECT_S)
                now += COLLECT_S
            read_at = now

    def _hand_on(self, data: bytes) -> None:
        for watch, mask, cookie, name in self._parse_event_buffer(data):
            if mask == InotifyConstants.IN_MODIFY:
                self._on_modified(watch, name)
            # The kernel reports an overflow with watch -1; other events without a watch mean nothing.
            elif watch != -1 or mask & InotifyConstants.IN_Q_OVERFLOW:
                self.handle_event(InotifyEvent(watch, mask, cookie, name))
