"""The machine that numbers come from: the first line of every file of raw runs."""

import os
import platform
import time
from datetime import datetime, timezone
from pathlib import Path


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0))


def describe() -> dict:
    """Processor, cores, memory, kernel, load. A high `load` says that others were at work too."""
    return {
        "kind": "machine",
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "processor": field("/proc/cpuinfo", "model name") or platform.processor(),
        "cores": cores(),
        "memory_gib": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "load": os.getloadavg()[0],
    }


SHORTEST_WINDOW = 0.5
"""Seconds. Processor time is counted in ticks of 10 ms, so shorter windows are meaningless."""


class Neighbours:
    """How much of the machine others take while a `with` block runs.

    `cores` is the mean number of cores that were busy without this process and its children, time
    stolen by the host included; None where the system does not tell or the block was too short. At
    0 the measurement had the machine to itself.
    """

    cores: float | None = None

    def __enter__(self) -> "Neighbours":
        self.start = time.perf_counter(), busy_seconds(), own_seconds()
        return self

    def __exit__(self, *_) -> None:
        start, busy, own = self.start
        window = time.perf_counter() - start
        if busy is not None and window >= SHORTEST_WINDOW:
            others = busy_seconds() - busy - (own_seconds() - own)
            self.cores = round(max(0.0, others / window), 2)


def busy_seconds() -> float | None:
    """Seconds that all cores together have worked, or the host has taken from them."""
    try:
        ticks = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]
    except OSError:
        return None
    user, nice, system, _idle, _wait, irq, softirq, steal = map(int, ticks)
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def field(path: str, name: str) -> str | None:
    """The first value of `name : value` in a file of /proc; None where there is no such file."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return next((value.strip() for key, value in pairs if key.strip() == name), None)
