"""The machine that numbers come from: the first line of every file of raw runs."""

import os
import platform
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


def field(path: str, name: str) -> str | None:
    """The first value of `name : value` in a file of /proc; None where there is no such file."""
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return None
    pairs = (line.split(":", 1) for line in lines if ":" in line)
    return next((value.strip() for key, value in pairs if key.strip() == name), None)
