"""Tables to communities in Python: beside the command's run of the same edges, and beside igraph and NetworKit from the same frame.

    ripplet generate planted --vertices 1000000 --edges 10000000 --mixing 0.3 -o large.csv
    ripplet generate planted --vertices 100000 --edges 1000000 --mixing 0.3 -o small.csv
    pip install . pandas pyarrow igraph networkit        # from the clone
    python3 bench/python_tables.py target/release/ripplet large.csv small.csv > python-tables.txt

Two comparisons, each in turns, and the median of five:

- arrow: a table of Arrow in memory with the edges of large.csv, `rp.communities(table)` to the labels, beside the command from an Arrow file of
  these edges in the page cache: its stages of reading, building and computing (`--stats`), without the writing. Both choose their
  options by default, on the CPU with two threads. Labels are compared.
- pandas: a data frame with the edges of small.csv to communities, from the frame to each vertex's community by its id:
  `rp.communities(frame)`; igraph's `Graph.DataFrame` and `community_label_propagation`; NetworKit's `PLP` of a graph of
  `networkit.GraphFromCoo` and the vertices' numbers of `pandas.factorize`. With --leiden also `refine="modularity"` beside Leiden.

`others` is the number of cores that other processes kept busy; runs with more than --quiet are made again, while --patience lasts.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc

import ripplet as rp

THREADS = 2


def busy_seconds() -> float:
    """Returns the CPU seconds of all processes so far."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Returns the CPU seconds of this process and of those that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


class Turns:
    """Runs in turns, of which those on a busy machine are made again."""

    def __init__(self, quiet: float, patience: float) -> None:
        self.quiet = quiet
        self.end = time.monotonic() + patience

    def measure(self, call: Callable[[], Any]) -> tuple[Any, float, float, float]:
        """Returns a result, its wall and CPU seconds, and the cores that others kept busy."""
        while True:
            self.wait()
            busy, own, wall = busy_seconds(), own_seconds(), time.perf_counter()
            result = call()
            wall = time.perf_counter() - wall
            own = own_seconds() - own
            others = max(0.0, busy_seconds() - busy - own) / wall
            if others <= self.quiet or time.monotonic() > self.end:
                return result, wall, own, others

    def wait(self) -> None:
        """Waits until others keep few cores busy for half a second, or patience ends."""
        while time.monotonic() < self.end:
            busy = busy_seconds()
            time.sleep(0.5)
            if busy_seconds() - busy <= self.quiet / 2 + 0.02:
                return

    def run(self, what: str, calls: dict[str, Callable[[], Any]], repeat: int) -> tuple[dict[str, float], dict[str, Any]]:
        """Runs calls in turns, prints each run, and returns the median seconds of each and its last result.

        A call returns its result, and its seconds if they are not those of the whole call.
        """
        seconds: dict[str, list[float]] = {name: [] for name in calls}
        results: dict[str, Any] = {}
        for at in range(repeat + 1):  # the first turn warms up, and does not count
            for name, call in calls.items():
                (result, of_call), wall, cpu, others = self.measure(call)
                spent = wall if of_call is None else of_call
                if at > 0:
                    seconds[name].append(spent)
                results[name] = result
                turn = f"turn {at}" if at > 0 else "warm-up"
                print(f"{what} {turn}: {name}: {spent:.3f} s (wall {wall:.3f}, CPU {cpu:.3f}, others {others:.2f})", flush=True)
        medians = {name: statistics.median(of) for name, of in seconds.items()}
        for name, median in medians.items():
            print(f"{what} median: {name}: {median:.3f} s [{min(seconds[name]):.3f} .. {max(seconds[name]):.3f}]", flush=True)
        return medians, results


def from_arrow(binary: str, table: pa.Table, folder: Path, turns: Turns, repeat: int) -> None:
    """Compares a table in memory with the command's reading and run of the same edges."""
    file = folder / "edges.arrow"
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)

    def command() -> tuple[Any, float]:
        stats, out = folder / "stats.json", folder / "out.arrow"
        options = ["-o", str(out), "--stats", str(stats), "--device", "cpu", "--threads", str(THREADS)]
        subprocess.run([binary, "communities", str(file), *options], check=True, stderr=subprocess.DEVNULL)
        stages = json.loads(stats.read_text())["seconds"]
        print(f"arrow stages: {json.dumps(stages)}")
        return out, sum(stages[name] for name in ("read", "build", "compute"))

    def python() -> tuple[Any, None]:
        found = rp.communities(table, device="cpu", threads=THREADS, progress=False)
        assert len(found.labels) > 0
        return found, None

    medians, results = turns.run("arrow", {"command": command, "ripplet in Python": python}, repeat)
    with pa.ipc.open_file(results["command"]) as reader:
        expected = reader.read_all()
    found = results["ripplet in Python"].to_arrow()
    assert found.column("id").to_pylist() == expected.column("id").to_pylist()
    assert found.column("community").to_pylist() == expected.column("community").to_pylist()
    print(f"arrow: {table.num_rows:,} edges, the command's labels; Python takes {medians['ripplet in Python'] / medians['command']:.2f} times as long")


def from_pandas(frame: pd.DataFrame, leiden: bool, turns: Turns, repeat: int) -> None:
    """Compares the time from a frame to each vertex's community."""
    import igraph
    import networkit

    networkit.setNumberOfThreads(THREADS)

    def of_ripplet(**options: Any) -> Callable[[], tuple[Any, None]]:
        def call() -> tuple[Any, None]:
            found = rp.communities(frame, device="cpu", threads=THREADS, progress=False, **options)
            return found.to_pandas(), None

        return call

    def of_igraph(method: Callable[[Any], Any]) -> Callable[[], tuple[Any, None]]:
        def call() -> tuple[Any, None]:
            g = igraph.Graph.DataFrame(frame, directed=False, use_vids=False)
            return pd.DataFrame({"id": g.vs["name"], "community": method(g).membership}), None

        return call

    def of_networkit(method: Callable[[Any], Any]) -> Callable[[], tuple[Any, None]]:
        def call() -> tuple[Any, None]:
            ends = np.concatenate([frame["source"].to_numpy(), frame["target"].to_numpy()])
            numbers, ids = pd.factorize(ends)
            edges = len(frame)
            g = networkit.GraphFromCoo((numbers[:edges], numbers[edges:]), n=len(ids), weighted=False, directed=False)
            found = method(g)
            found.run()
            return pd.DataFrame({"id": ids, "community": found.getPartition().getVector()}), None

        return call

    calls = {
        "ripplet": of_ripplet(),
        "igraph, label propagation": of_igraph(lambda g: g.community_label_propagation()),
        "NetworKit, PLP": of_networkit(networkit.community.PLP),
    }
    if leiden:
        calls |= {
            "ripplet, modularity": of_ripplet(refine="modularity", resolution=1.0),
            "igraph, Leiden": of_igraph(lambda g: g.community_leiden(objective_function="modularity", n_iterations=2)),
            "NetworKit, ParallelLeiden": of_networkit(lambda g: networkit.community.ParallelLeiden(g, randomize=False)),
        }
    medians, results = turns.run("pandas", calls, repeat)
    g = rp.graph(frame)
    for name, table in results.items():
        community = table.set_index("id")["community"]
        assert len(community) == g.vertices, name
        mine = "ripplet, modularity" if "Leiden" in name or "modularity" in name else "ripplet"
        modularity = quality(frame, community)
        print(f"pandas: {name}: {community.nunique():,} communities, modularity {modularity:.4f}, {medians[name] / medians[mine]:.2f} times {mine}'s time")


def quality(frame: pd.DataFrame, community: pd.Series) -> float:
    """Returns the modularity of communities by id, for the edges without loops, each once."""
    ends = np.sort(np.stack([frame["source"].to_numpy(), frame["target"].to_numpy()]), axis=0)
    ends = np.unique(ends[:, ends[0] != ends[1]], axis=1)
    numbers = pd.Series(pd.factorize(community)[0], community.index)
    a, b = (numbers.loc[end].to_numpy() for end in ends)
    degrees = np.bincount(np.concatenate([a, b])).astype(float)
    m = ends.shape[1]
    return float((a == b).sum() / m - ((degrees / (2 * m)) ** 2).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", help="the command")
    parser.add_argument("large", help="a CSV file with the columns source and target, for Arrow")
    parser.add_argument("small", help="such a file for pandas")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", choices=["arrow", "pandas"])
    parser.add_argument("--leiden", action="store_true")
    parser.add_argument("--quiet", type=float, default=0.3, help="cores that others may keep busy")
    parser.add_argument("--patience", type=float, default=900, help="seconds in which runs are made again")
    arguments = parser.parse_args()
    command = subprocess.run([arguments.binary, "--version"], capture_output=True, text=True, check=True)
    print(f"# python3 {' '.join(os.path.basename(part) for part in sys.argv)}")
    print(f"# {datetime.datetime.now(datetime.timezone.utc).isoformat('T', 'seconds')}, {os.cpu_count()} cores, {platform.system()} "
          f"{platform.release()}, Python {platform.python_version()}, {command.stdout.strip()}, "
          + ", ".join(f"{name} {version(name)}" for name in ("numpy", "pandas", "pyarrow", "igraph", "networkit")), flush=True)
    turns = Turns(arguments.quiet, arguments.patience)
    if arguments.only != "pandas":
        with tempfile.TemporaryDirectory() as folder:
            from_arrow(arguments.binary, pa.csv.read_csv(arguments.large), Path(folder), turns, arguments.repeat)
    if arguments.only != "arrow":
        frame = pd.read_csv(arguments.small)
        print(f"pandas: {len(frame):,} edges, {frame['source'].dtype}")
        from_pandas(frame, arguments.leiden, turns, arguments.repeat)


if __name__ == "__main__":
    main()
