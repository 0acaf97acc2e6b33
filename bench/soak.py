"""Does the daemon stay the same size? ``python -m bench.soak --minutes 30`` prints samples and a slope.

A daemon in a home of its own follows transcripts in as many projects while they grow. Memory, open files and
threads are read from /proc; the slope of memory is fitted to the samples after the warm-up. At the end every
record must be in core.db once.
"""

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

SESSION_S = 60.0
SAMPLE_S = 10.0
PAUSE_S = 0.05
WORDS = "add the parser cache total page invoice rounding test failing why because next then".split()


class Sample(NamedTuple):
    """What the daemon's process has at one moment."""

    at: float
    rss_kb: int
    files: int
    threads: int


class Sessions:
    """Sessions that come and go: each is written to for a while, in one of the projects."""

    def __init__(self, root: Path, claude: Path, live: int) -> None:
        self._root, self._claude = root, claude
        self._chance = random.Random(11)
        self._begun: dict[Path, float] = {}
        self._live = live
        self.written: dict[str, int] = {}

    def write(self) -> None:
        """Write one record to a random live session, and replace those that are old."""
        now = time.monotonic()
        self._begun = {path: at for path, at in self._begun.items() if now - at < SESSION_S}
        while len(self._begun) < self._live:
            self._begun[self._new()] = now - self._chance.uniform(0, SESSION_S / 2)
        path = self._chance.choice(list(self._begun))
        number = self.written[str(path)] = self.written.get(str(path), 0) + 1
        with path.open("ab") as file:
            file.write(self._record(path, number))

    def _new(self) -> Path:
        number = len(self.written)
        folder = self._claude / "projects" / f"-project{number % 40}"
        folder.mkdir(parents=True, exist_ok=True)
        (self._root / f"project{number % 40}" / ".git").mkdir(parents=True, exist_ok=True)
        path = folder / f"session{number}.jsonl"
        self.written[str(path)] = 0
        return path

    def _record(self, path: Path, number: int) -> bytes:
        text = " ".join(self._chance.choices(WORDS, k=self._chance.randrange(5, 120)))
        role = "user" if number % 4 == 1 else "assistant"
        content = text if role == "user" else [{"type": "text", "text": text}]
        record = {
            "type": role,
            "uuid": f"{path.stem}-{number}",
            "sessionId": path.stem,
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "cwd": str(self._root / path.parent.name[1:]),
            "message": {"role": role, "content": content},
        }
        return json.dumps(record).encode() + b"\n"


def sampled(pid: int, started: float) -> Sample:
    """Return what the process *pid* has now."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return Sample(
        time.monotonic() - started,
        int(fields["VmRSS"].split()[0]),
        len(os.listdir(f"/proc/{pid}/fd")),
        int(fields["Threads"]),
    )


def slope_kb_per_hour(samples: list[Sample]) -> float:
    """Return the least-squares slope of memory."""
    mean_at = sum(sample.at for sample in samples) / len(samples)
    mean_kb = sum(sample.rss_kb for sample in samples) / len(samples)
    over = sum((sample.at - mean_at) * (sample.rss_kb - mean_kb) for sample in samples)
    return 3600 * over / sum((sample.at - mean_at) ** 2 for sample in samples)


def captured(database: Path) -> dict[str, int]:
    """Return how many records of each transcript core.db counts, read without flowd."""
    connection = sqlite3.connect(f"{database.as_uri()}?mode=ro", uri=True)
    try:
        return dict(connection.execute("select path, records from flow_sources where state = 'live'"))
    finally:
        connection.close()


def soak(home: Path, minutes: float, live: int) -> tuple[list[Sample], Sessions, Path]:
    """Run a daemon in *home* for so long; return the samples, what was written, and where core.db is."""
    places = {
        "FLOWD_STATE_DIR": "state",
        "FLOWD_DATA_DIR": "data",
        "CLAUDE_CONFIG_DIR": "claude",
        "HOME": ".",
    }
    env = os.environ | {name: str(home / folder) for name, folder in places.items()}
    env |= {"FLOWD_CONFIG": str(home / "config.yaml"), "FLOWD_RUNTIME_DIR": str(home / "run")}
    (home / "claude").mkdir()
    daemon = subprocess.Popen([sys.executable, "-m", "flowd", "run"], env=env, cwd="/")
    sessions, started = Sessions(home / "work", home / "claude", live), time.monotonic()
    samples: list[Sample] = []
    try:
        while (passed := time.monotonic() - started) < minutes * 60:
            sessions.write()
            if passed >= SAMPLE_S * (len(samples) + 1):
                samples.append(sampled(daemon.pid, started))
                print(*(f"{value:.0f}" for value in samples[-1]), flush=True)
            time.sleep(PAUSE_S)
        time.sleep(SAMPLE_S)
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(60)
    return samples, sessions, home / "data" / "core.db"


def main() -> None:
    """Run the soak and print samples, the slope, and whether every record is stored once."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--live", type=int, default=20, help="sessions that are written to at a time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flowd-soak-") as folder:
        samples, sessions, database = soak(Path(folder), arguments.minutes, arguments.live)
        stored = captured(database)
    steady = samples[len(samples) // 5 :]
    first, last = steady[0], steady[-1]
    print(f"records written {sum(sessions.written.values())} in {len(sessions.written)} sessions")
    print(f"each stored once: {stored == {p: n for p, n in sessions.written.items() if n}}")
    minutes, highest = (last.at - first.at) / 60, max(sample.rss_kb for sample in samples)
    print(
        f"RSS {first.rss_kb / 1024:.1f} -> {last.rss_kb / 1024:.1f} MB over {minutes:.0f} min, "
        f"slope {slope_kb_per_hour(steady) / 1024:.2f} MB/h; highest {highest / 1024:.1f} MB"
    )
    files, threads = {s.files for s in steady}, {s.threads for s in steady}
    print(f"open files {min(files)}-{max(files)}, threads {min(threads)}-{max(threads)}")


if __name__ == "__main__":
    main()
