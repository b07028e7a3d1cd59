"""GVE-LPA and GVE-Leiden (S. Sahu), OpenMP programs: a process of their own for each run.

A user builds them from https://github.com/puzzlef/rak-communities-openmp and
https://github.com/puzzlef/leiden-communities-openmp with `gve-lpa.patch` and `gve-leiden.patch`, which
make them write labels (../README.md has the commands).
GVE_LPA and GVE_LEIDEN name the programs; their number of threads is fixed when they are built.

Their time is what they print, the mean of REPEAT_METHOD runs in one process. Both start from the order
of the ids and have no seed; with several threads their results depend on timing.
"""

import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from graph import Graph
from libraries import Peer, Run

PROGRAMS = {
    "lpa": ("GVE_LPA", "rakStaticOmp", "d126539d"),
    "leiden": ("GVE_LEIDEN", "leidenStaticOmp", "f741a407"),
}
"""The variable that names a program, what its line of results ends with, and the commit of its patch."""

HEAD = "%%MatrixMarket matrix coordinate pattern general\n"


class Gve(Peer):
    """One of the two programs."""

    name, seeded = "gve", False

    def __init__(self, graph: Graph, threads: int, variant: str):
        variable, self.technique, self.version = PROGRAMS[variant]
        self.program = os.environ.get(variable, "")
        if not Path(self.program).is_file():
            raise ValueError(f"{variable} names no program: {self.program!r}")
        self.variant, self.threads, self.vertices = variant, threads, graph.vertices
        self.folder = tempfile.TemporaryDirectory(prefix="ripplet-bench-")
        self.input, self.labels = (str(Path(self.folder.name) / name) for name in ("g.mtx", "labels"))
        # Ids begin at 1. The programs read both arcs of an edge when told that the graph is symmetric.
        arcs = np.vstack([graph.pairs, graph.pairs[:, ::-1]]).astype(np.int64) + 1
        with open(self.input, "w", encoding="utf-8") as file:
            file.write(f"{HEAD}{graph.vertices} {graph.vertices} {len(arcs)}\n")
            pd.DataFrame(arcs).to_csv(file, sep=" ", header=False, index=False)

    def run(self, seed: int) -> Run:
        done = subprocess.run(
            [self.program, self.input, "1", "0"],
            env=os.environ | {"GVE_LABELS": self.labels},
            capture_output=True,
            text=True,
        )
        if done.returncode != 0 or f"OMP_NUM_THREADS={self.threads}\n" not in done.stdout:
            raise ValueError(f"{self.program} failed, or was not built for {self.threads} threads")
        seconds, iterations = parse(done.stdout, self.technique)
        rows = pd.read_csv(self.labels, sep=" ", header=None).to_numpy()
        if len(rows) != self.vertices:
            raise ValueError(f"{self.program}: {len(rows)} labels for {self.vertices} vertices")
        labels = np.empty(self.vertices, dtype=np.int64)
        labels[rows[:, 0] - 1] = rows[:, 1]
        return Run(labels, seconds, iterations)


def parse(printed: str, technique: str) -> tuple[float, int]:
    """Seconds and iterations of the line of a technique."""
    for line in printed.splitlines():
        if line.endswith(technique):
            milliseconds = re.search(r"\{(?:\d+ threads\} -> \{)?0*([0-9.]+)ms", line)
            iterations = re.search(r"(\d+) iters", line)
            if milliseconds and iterations:
                return float(milliseconds[1]) / 1000, int(iterations[1])
    raise ValueError(f"no line of {technique}: is the program built with its patch?")
