"""Figures: many samples as median and spread, and what the kernel says about a process."""

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple


class Spread(NamedTuple):
    """Samples in short: the middle, and where most of them lie."""

    median: float
    low: float
    high: float
    p99: float
    size: int


def spread(samples: Sequence[float]) -> Spread:
    """Return median, 10th, 90th and 99th percentile of *samples*."""
    ordered = sorted(samples)
    return Spread(
        statistics.median(ordered), _at(ordered, 0.1), _at(ordered, 0.9), _at(ordered, 0.99), len(ordered)
    )


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Usage(NamedTuple):
    """What a process has used up: processor time, and how often its threads went to sleep of their own."""

    cpu_s: float
    wakeups: int


def usage_of(pid: int) -> Usage:
    """Return the usage of all living threads of *pid*; schedstat counts nanoseconds, not clock ticks."""
    cpu_ns = wakeups = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        cpu_ns += int((task / "schedstat").read_text().split()[0])
        wakeups += _status_field(task / "status", "voluntary_ctxt_switches")
    return Usage(cpu_ns / 1e9, wakeups)


def rss_mb(pid: int) -> float:
    """Return the resident memory of *pid*."""
    return _status_field(Path(f"/proc/{pid}/status"), "VmRSS") / 1024


def peak_mb(pid: int) -> float:
    """Return the most memory *pid* ever had resident."""
    return _status_field(Path(f"/proc/{pid}/status"), "VmHWM") / 1024


def uss_mb(pid: int) -> float:
    """Return the memory that would come free if *pid* ended."""
    private = 0
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(("Private_Clean:", "Private_Dirty:", "Private_Hugetlb:")):
            private += int(line.split()[1])
    return private / 1024


def _status_field(file: Path, name: str) -> int:
    for line in file.read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1])
    raise ValueError(f"{file} has no {name}")


class Finished(NamedTuple):
    """A program that ran to its end: how long, and how much memory at the most."""

    wall_s: float
    peak_mb: float
    output: bytes


def run_measured(command: Sequence[str], environment: dict[str, str], deadline_s: float = 120.0) -> Finished:
    """Run *command* to its end; raise CalledProcessError when it fails."""
    started = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as child:
        assert child.stdout is not None
        output = child.stdout.read()
        _, status, used = _reap(child, deadline_s)
    wall_s = time.perf_counter() - started
    if status:
        raise subprocess.CalledProcessError(status, list(command))
    return Finished(wall_s, used.ru_maxrss / 1024, output)


def _reap(child: "subprocess.Popen[bytes]", deadline_s: float) -> tuple[int, int, resource.struct_rusage]:
    deadline = time.monotonic() + deadline_s
    while True:
        pid, status, used = os.wait4(child.pid, os.WNOHANG)
        if pid:
            child.returncode = os.waitstatus_to_exitcode(status)
            return pid, child.returncode, used
        if time.monotonic() > deadline:
            child.kill()
        time.sleep(0.0005)
