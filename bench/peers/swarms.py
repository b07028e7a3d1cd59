"""Centralities of many small graphs: ripplet over a batch beside igraph's loops, on the same TU data set.

Timed are the calls that find the values of all vertices, or edges, of all graphs: no reading, no building. igraph
holds the graphs, shared out over one process a core so that each has about as much to do, and the time
is that of the slowest; ripplet has as many threads. Both run in rounds.

Values are compared in every round. A difference ends the comparison: its times would mean nothing.
"""

import json
import multiprocessing
import os
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import igraph
import numpy as np

import machine
from libraries import timed

PROGRAM = os.environ.get("RIPPLET_SWARMS", "target/release/swarms")
"""The binary: the environment's RIPPLET_SWARMS, or what `cargo build --release -p ripplet-bench` makes."""

TOLERANCE = 1e-9
"""The largest relative difference of a value that is accepted."""

BY_NAME = {
    "closeness": lambda graph, weights: graph.closeness(weights=weights, normalized=False),
    "harmonic": lambda graph, weights: graph.harmonic_centrality(weights=weights, normalized=False),
    "betweenness": lambda graph, weights: graph.betweenness(weights=weights),
    "edges": lambda graph, weights: graph.edge_betweenness(weights=weights),
}

WEIGHTED = "weighted "

MEASURES = [*BY_NAME, *(WEIGHTED + name for name in BY_NAME)]
"""By hops, then by weights: those of the binary."""


def weight(low: int, high: int) -> float:
    """Returns the weight of an edge. The data sets have none; the binary derives the same ones."""
    return 1.0 + (3 * low + 5 * high) % 7


@dataclass
class Dataset:
    """A TU data set: of each graph its vertices and its edges, each once."""

    name: str
    folder: str
    sizes: list[int]
    edges: list[list[tuple[int, int]]]

    @staticmethod
    def load(folder: str) -> "Dataset":
        found = sorted(Path(folder).glob("*_A.txt"))
        if len(found) != 1:
            raise ValueError(f"{folder}: expected one file *_A.txt")
        name = found[0].name.removesuffix("_A.txt")
        indicator = Path(folder, f"{name}_graph_indicator.txt").read_text().split()
        graph_of = [int(graph) - 1 for graph in indicator]
        sizes = [0] * (max(graph_of) + 1)
        place = []
        for graph in graph_of:
            place.append(sizes[graph])
            sizes[graph] += 1
        edges: list[set] = [set() for _ in sizes]
        for line in found[0].read_text().splitlines():
            a, b = (int(end) - 1 for end in line.split(","))
            if a != b:
                edges[graph_of[a]].add((min(place[a], place[b]), max(place[a], place[b])))
        # ripplet's vertices stand graph by graph; so must those of the indicator, to be compared.
        if graph_of != sorted(graph_of):
            raise ValueError(f"{folder}: the graphs of the indicator do not ascend")
        return Dataset(name, folder, sizes, [sorted(of_graph) for of_graph in edges])

    def shares(self, count: int) -> list[list[int]]:
        """The graphs, shared out so that vertices times edges are about even."""
        work = [n * (len(edges) + n) for n, edges in zip(self.sizes, self.edges)]
        shares: list[list[int]] = [[] for _ in range(count)]
        loads = [0] * count
        for graph in sorted(range(len(work)), key=lambda graph: -work[graph]):
            least = loads.index(min(loads))
            shares[least].append(graph)
            loads[least] += work[graph]
        return shares


class Igraph:
    """Processes that hold graphs and wait for the name of a measure."""

    def __init__(self, dataset: Dataset, processes: int):
        self.dataset, self.shares = dataset, dataset.shares(processes)
        self.pipes = []
        for share in self.shares:
            here, there = multiprocessing.Pipe()
            graphs = [(dataset.sizes[graph], dataset.edges[graph]) for graph in share]
            multiprocessing.Process(target=serve, args=(there, graphs), daemon=True).start()
            self.pipes.append(here)

    def run(self, measure: str) -> tuple[float, np.ndarray]:
        for pipe in self.pipes:
            pipe.send(measure)
        answers = [pipe.recv() for pipe in self.pipes]
        values: list = [None] * len(self.dataset.sizes)
        for share, (_, of_share) in zip(self.shares, answers):
            for graph, of_graph in zip(share, of_share):
                values[graph] = of_graph
        # igraph gives no closeness to a vertex that no other reaches; ripplet gives 0.
        flat = np.nan_to_num(np.concatenate([np.array(v, dtype=float) for v in values]))
        return max(seconds for seconds, _ in answers), flat


def serve(pipe, graphs: list) -> None:
    built = [igraph.Graph(vertices, edges) for vertices, edges in graphs]
    for graph, (_, edges) in zip(built, graphs):
        graph.es["weight"] = [weight(*ends) for ends in edges]
    while True:
        measure = pipe.recv()
        of = BY_NAME[measure.removeprefix(WEIGHTED)]
        weights = "weight" if measure.startswith(WEIGHTED) else None
        pipe.send(timed(lambda: [of(graph, weights) for graph in built]))


def by_ripplet(dataset: Dataset, threads: int) -> tuple[list[dict], dict[str, np.ndarray]]:
    with tempfile.TemporaryDirectory(prefix="ripplet-bench-") as out:
        # The first run warms the caches, as igraph's graphs are since they were built.
        command = [PROGRAM, "--threads", str(threads), "--repeat", "2", "--values", out]
        text = subprocess.run([*command, dataset.folder], check=True, capture_output=True, text=True)
        lines = [json.loads(line) for line in text.stdout.splitlines()]
        values = {measure: np.fromfile(Path(out, f"{measure}.f64")) for measure in MEASURES}
    return lines[len(MEASURES) :], values


def time_all(folder: str, threads: int, repeat: int) -> Iterator[dict]:
    """One line for each measure and round of both."""
    dataset = Dataset.load(folder)
    peer = Igraph(dataset, threads)
    for _ in range(repeat):
        with machine.Neighbours() as others:
            lines, values = by_ripplet(dataset, threads)
        for line in lines:
            yield {**line, "set": dataset.name, "cores_of_others": others.cores}
            measure = line["measure"]
            with machine.Neighbours() as others_now:
                seconds, theirs = peer.run(measure)
            check(measure, values[measure], theirs)
            yield {
                **line,
                "set": dataset.name,
                "peer": "igraph",
                "version": igraph.__version__,
                "seconds": seconds,
                "cores_of_others": others_now.cores,
            }


def check(measure: str, ours: np.ndarray, theirs: np.ndarray) -> None:
    """Raises ValueError if a value differs."""
    if ours.shape != theirs.shape:
        raise ValueError(f"{measure}: {len(ours)} values and {len(theirs)}")
    if not np.allclose(ours, theirs, rtol=TOLERANCE, atol=1e-12):
        raise ValueError(f"{measure}: a value differs by {np.abs(ours - theirs).max():.3g}")
