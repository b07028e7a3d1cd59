"""ripplet beside the peers: its command line, on the same graph, in the same rounds.

Each run is a process of its own, as a user starts it. Its time is what `--stats` gives for the
algorithm alone (`seconds.compute`), which is what is timed of a peer; the whole `--stats` and the
process's largest resident memory are kept in the line, for the memory table.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from graph import UNKNOWN, Graph
from libraries import Peer, Run

PROGRAM = os.environ.get("RIPPLET", "target/release/ripplet")
"""The binary: the environment's RIPPLET, or what `cargo build --release` makes."""

VARIANTS = {
    "phased": ["--program", "lpa", "--schedule", "phased"],
    "async": ["--program", "lpa", "--schedule", "async"],
    "sync": ["--program", "lpa", "--schedule", "sync"],
    "cdlp": ["--program", "cdlp", "--iterations", "10"],
    "llp": ["--program", "llp", "--sweep", "6"],
    "slpa": ["--program", "slpa"],
    "seeded": ["--program", "seeded"],
    "refine": ["--refine", "modularity", "--resolution", "1"],
    "refine-auto": ["--refine", "modularity", "--resolution", "auto"],
}

SEED_SHARE = 0.1
"""The share of the vertices with a known community that `seeded` is given."""


class Prepared:
    """A graph as ripplet reads it, a `.rg` in a folder of its own, and runs of commands on it."""

    def __init__(self, graph: Graph):
        if not is_built():
            raise ValueError(f"{PROGRAM} is not there: cargo build --release -p ripplet-cli")
        self.vertices = graph.vertices
        self.folder = tempfile.TemporaryDirectory(prefix="ripplet-bench-")
        self.input = self.path("graph.rg")
        # LDBC's pair of files keeps the vertices that have no edge.
        vertices, edges = self.path("graph.v"), self.path("graph.e")
        pd.DataFrame(np.arange(graph.vertices)).to_csv(vertices, header=False, index=False)
        pd.DataFrame(graph.pairs).to_csv(edges, sep=" ", header=False, index=False)
        call("convert", edges, self.input)
        os.remove(vertices)
        os.remove(edges)

    def path(self, name: str) -> str:
        return str(Path(self.folder.name) / name)

    def run(self, command: str, threads: int, *options: str) -> tuple[str, dict]:
        """Runs a command on the CPU; where its output is, and what is kept of the run in its line."""
        out, stats_file = self.path("out.txt"), self.path("stats.json")
        arguments = [command, self.input, "-o", out, "--stats", stats_file, "--device", "cpu"]
        arguments += ["--threads", str(threads), *options]
        peak = peak_memory_of(arguments)
        stats = json.loads(Path(stats_file).read_text())
        return out, {"peak_rss_bytes": peak, "command": " ".join(arguments), "stats": stats}


class Ripplet(Peer):
    """One program and schedule of ripplet, or its refinement.

    Of `slpa`, a vertex's label is its strongest community, and the line has all in `cover`. `seeded`
    knows the truth of a tenth of the vertices, drawn by the seed; it is compared on the others.
    """

    name = "ripplet"

    def __init__(self, graph: Graph, threads: int, variant: str):
        self.graph = Prepared(graph)
        self.variant, self.threads = variant, threads
        self.seeded = variant != "async"
        self.version = version()
        self.truth = graph.truth
        if variant == "seeded" and self.truth is None:
            raise ValueError("ripplet-seeded needs a truth")

    def run(self, seed: int) -> Run:
        options, known = ["--seed", str(seed), *VARIANTS[self.variant]], None
        if self.variant == "seeded":
            known = self.draw_seeds(seed)
            options += ["--seeds", self.graph.path("seeds.csv")]
        out, details = self.graph.run("communities", self.threads, *options)
        stats = details["stats"]
        run = Run(np.empty(0), stats["seconds"]["compute"], stats["iterations"], details)
        if self.variant in ("slpa", "seeded"):
            rows = pd.read_csv(out, sep=" ", header=None, names=["id", "value", "strength"])
            run.labels, run.compared = strongest(rows, self.graph.vertices), known
            run.cover = rows[["id", "value"]].to_numpy() if self.variant == "slpa" else None
        else:
            run.labels = read_values(out, self.graph.vertices, np.int64)
        return run

    def draw_seeds(self, seed: int) -> np.ndarray:
        """Writes the seeds; returns the mask of the vertices that are to be found."""
        known = np.flatnonzero(self.truth != UNKNOWN)
        count = max(1, round(SEED_SHARE * len(known)))
        seeds = np.random.default_rng(seed).choice(known, count, replace=False)
        table = pd.DataFrame({"id": seeds, "cluster": [f"c{label}" for label in self.truth[seeds]]})
        table.to_csv(self.graph.path("seeds.csv"), index=False)
        others = self.truth != UNKNOWN
        others[seeds] = False
        return others


def is_built() -> bool:
    return Path(PROGRAM).is_file()


def version() -> str:
    return call("--version").split()[-1]


def reading_seconds(path: str, threads: int) -> float:
    """From the text to the graph: reading and building, of a run stopped after one round."""
    with tempfile.TemporaryDirectory(prefix="ripplet-bench-") as folder:
        out, stats = (str(Path(folder) / name) for name in ("labels.txt", "stats.json"))
        limits = ["--threads", str(threads), "--max-iterations", "1", "--device", "cpu"]
        call("communities", path, "-o", out, "--stats", stats, *limits)
        seconds = json.loads(Path(stats).read_text())["seconds"]
    return seconds["read"] + seconds["build"]


def call(*arguments: str) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{PROGRAM} {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


LAUNCHER = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(code)
"""
"""Between us and the binary: Linux charges a new process with the memory of the one that started
it, which here holds every peer's graph. The launcher's own 15 MB are the least it can show."""


def peak_memory_of(arguments: list[str]) -> int:
    """Runs the command to its end; the largest resident memory it had, in bytes, mapped files too."""
    command = [sys.executable, "-S", "-c", LAUNCHER, PROGRAM, *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise ValueError(f"{PROGRAM} {' '.join(arguments)}: {done.stderr.strip()}")
    return int(done.stdout) * 1024


def read_values(path: str, vertices: int, kind: type) -> np.ndarray:
    """Lines of `id value`, ids 0..vertices, in any order; decimals are read to the last bit."""
    columns = {"names": ["id", "value"], "dtype": {"id": np.int64, "value": kind}}
    rows = pd.read_csv(path, sep=" ", header=None, float_precision="round_trip", **columns)
    if len(rows) != vertices:
        raise ValueError(f"{path}: {len(rows)} lines for {vertices} vertices")
    values = np.empty(vertices, dtype=kind)
    values[rows["id"]] = rows["value"]
    return values


def strongest(rows: pd.DataFrame, vertices: int) -> np.ndarray:
    """The community of the largest strength of each vertex; a vertex without a row is alone."""
    best = rows.sort_values("strength", kind="stable").drop_duplicates("id", keep="last")
    codes, names = pd.factorize(best["value"])
    labels = len(names) + np.arange(vertices)
    labels[best["id"]] = codes
    return labels
