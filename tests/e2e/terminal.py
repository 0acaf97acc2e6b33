"""The client as a person uses it: in a terminal, prompts typed, keys pressed."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from tests.support import waiting

SIZE = struct.pack("HHHH", 50, 160, 0, 0)
CONTROL = re.compile(
    rb"\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]"
)
SHOWN_ON_FAILURE = 2000
READY = "❯"
DEADLINE_S = 240.0
ESCAPE = "\x1b"


def wait_until(condition: Callable[[], object], what: str) -> None:
    """Return once *condition* holds; a client in a terminal takes long on a busy machine."""
    waiting.wait_until(condition, what, DEADLINE_S)


class Terminal:
    """A program in a terminal of its own. Use as a context manager; what still runs at its end is killed."""

    def __init__(self, command: list[str], environment: dict[str, str], cwd: Path) -> None:
        self._screen = bytearray()
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, SIZE)
        self._process = subprocess.Popen(
            command,
            cwd=cwd,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Terminal":
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.kill()
        self._reader.join(timeout=10)
        os.close(self._ours)

    @property
    def text(self) -> str:
        """Everything that was ever shown, without colours and movements, as one line."""
        return " ".join(CONTROL.sub(b" ", bytes(self._screen)).decode(errors="replace").split())

    def wait_for(self, text: str, since: int = 0) -> None:
        """Return once *text* is shown; spaces do not count, a terminal may skip over them."""
        sought = "".join(text.split())
        try:
            wait_until(lambda: sought in "".join(self.text[since:].split()), f"{text!r} is shown")
        except AssertionError as error:
            error.add_note(f"shown was: {self.text[since:][-SHOWN_ON_FAILURE:]}")
            raise

    def enter(self, line: str) -> None:
        """Type *line*, and press the return key once the client has taken it in."""
        since = len(self.text)
        self.press(line)
        self.wait_for(line[-30:], since)
        self.press("\r")

    def press(self, keys: str) -> None:
        """Press *keys*."""
        os.write(self._ours, keys.encode())

    def wait(self) -> None:
        """Return once the program has ended."""
        wait_until(lambda: self._process.poll() is not None, "the client ends")

    def kill(self) -> None:
        """End the program and all it started, at once."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _read(self) -> None:
        try:
            while received := os.read(self._ours, 1 << 16):
                self._screen += received
        except OSError:  # the program has closed its end
            return
