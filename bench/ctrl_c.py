"""The time from a signal, as Ctrl-C sends one, to its exception, at random moments of calls of `ripplet`.

python3 bench/ctrl_c.py [EDGES [REPEATS]]
"""

from __future__ import annotations

import os
import platform
import random
import signal
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import ripplet as rp

EDGES = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
REPEATS = int(sys.argv[2]) if len(sys.argv) > 2 else 10


def calls() -> dict[str, Callable[[], Any]]:
    """Returns calls that take long, by name."""
    draw = np.random.default_rng(1)
    vertices = EDGES // 5
    u = draw.integers(0, vertices, EDGES)
    v = (u + draw.integers(1, 50, EDGES)) % vertices
    names = [np.char.add("v", ends.astype(str)) for ends in (u, v)]
    lists = [ends.tolist() for ends in names]
    g = rp.graph(u, v)
    return {
        "graph of integers": lambda: rp.graph(u, v),
        "graph of names": lambda: rp.graph(*names),
        "graph of lists of names": lambda: rp.graph(*lists),
        "communities": lambda: rp.communities(g),
        "communities, async": lambda: rp.communities(g, schedule="async"),
        "communities, refined": lambda: rp.communities(g, refine="modularity"),
        "cdlp": lambda: rp.cdlp(g),
        "overlapping": lambda: rp.overlapping(g),
        "lcc": lambda: rp.lcc(g),
        "closeness": lambda: rp.closeness(g),
        "betweenness": lambda: rp.betweenness(g),
        "pagerank": lambda: rp.pagerank(g, iterations=1000),
        "components": lambda: rp.components(g),
    }


def seconds_to_end(call: Callable[[], Any], after: float) -> float | None:
    """Returns the seconds from a signal to its exception; `None` if the call ended before."""
    begin = time.perf_counter()
    try:
        # From outside: another thread of Python could not send one while the lock is held.
        signal.setitimer(signal.ITIMER_REAL, after)
        call()
        took = None
    except KeyboardInterrupt:
        took = time.perf_counter() - begin - after
    signal.setitimer(signal.ITIMER_REAL, 0)
    return took


def main() -> None:
    """Prints the times of all calls."""
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    random.seed(7)
    print(f"ripplet {rp.__version__}, Python {platform.python_version()}, {EDGES} edges, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}")
    print(f"{'milliseconds':26} {'whole':>8} {'signals':>8} {'median':>8} {'largest':>8}")
    for name, call in calls().items():
        begin = time.perf_counter()
        seconds_to_end(call, 5.0)
        whole = time.perf_counter() - begin
        took = [1e3 * found for _ in range(REPEATS) if (found := seconds_to_end(call, random.uniform(0.1, 0.8) * whole)) is not None]
        figures = f"{statistics.median(took):8.1f} {max(took):8.1f}" if took else ""
        print(f"{name:26} {1e3 * whole:8.1f} {len(took):8} {figures}", flush=True)


main()
