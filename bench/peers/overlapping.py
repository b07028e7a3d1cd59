"""Overlapping communities: ripplet's `slpa` beside cdlib's, on graphs whose truth is known.

The graphs follow the LFR benchmark with overlapping communities (Lancichinetti and Fortunato,
Physical Review E 80, 2009): power-law degrees and community sizes, a share of vertices that are in
several communities, each of which gets an equal part of the vertex's inner edges, and a mixing
parameter for the outer ones. Found and true communities are compared by the overlapping NMI of
Lancichinetti, Fortunato and Kertész (2009), as cdlib computes it.
"""

import contextlib
import io
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import networkx
import numpy as np

from ripplet import call, version


CDLIB_ROUNDS = 21
"""The rounds of cdlib's default; ripplet's own default is 100."""


@dataclass(frozen=True)
class Benchmark:
    """The parameters of a graph; the defaults are those of the SLPA paper's tests."""

    vertices: int = 5000
    degree: float = 10
    max_degree: int = 50
    sizes: tuple[int, int] = (20, 100)
    mixing: float = 0.1
    overlapping: float = 0.1
    """The share of vertices that are in several communities."""
    memberships: int = 2
    """How many these are in."""

    def generate(self, seed: int) -> tuple[np.ndarray, list[set[int]]]:
        """Edges as rows of two vertices, and the communities."""
        draw = np.random.default_rng(seed)
        degrees = self.draw_degrees(draw)
        inner, of = self.draw_communities(draw, degrees)
        members = defaultdict(dict)
        for vertex, communities in enumerate(of):
            for community in communities:
                members[community][vertex] = inner[vertex]
        edges: set[tuple[int, int]] = set()
        for stubs in members.values():
            pair(draw, stubs, edges, lambda u, v: True)
        left = degrees - np.bincount(np.array(list(edges)).ravel(), minlength=self.vertices)
        outer = {vertex: int(count) for vertex, count in enumerate(left) if count > 0}
        sets = [set(communities) for communities in of]
        pair(draw, outer, edges, lambda u, v: not sets[u] & sets[v])
        return np.array(sorted(edges)), [set(stubs) for stubs in members.values()]

    def draw_degrees(self, draw: np.random.Generator) -> np.ndarray:
        """Degrees of density k^-2 whose mean is as asked for."""
        values = np.arange(1, self.max_degree + 1)
        least = min(
            range(1, self.max_degree),
            key=lambda low: abs(mean_of_power_law(values[low - 1 :], 2) - self.degree),
        )
        return power_law(draw, values[least - 1 :], 2, self.vertices)

    def draw_communities(
        self, draw: np.random.Generator, degrees: np.ndarray
    ) -> tuple[np.ndarray, list[list[int]]]:
        """Inner edges of a vertex in each of its communities, and which these are."""
        count = np.ones(self.vertices, dtype=int)
        count[draw.permutation(self.vertices)[: round(self.overlapping * self.vertices)]] = (
            self.memberships
        )
        inner = np.maximum(1, np.rint((1 - self.mixing) * degrees / count).astype(int))
        room: list[int] = []
        while sum(room) < count.sum():
            room.append(int(power_law(draw, np.arange(self.sizes[0], self.sizes[1] + 1), 1, 1)[0]))
        sizes, free = np.array(room), np.array(room)
        of: list[list[int]] = [[] for _ in range(self.vertices)]
        # Vertices that need the largest communities choose first.
        for vertex in sorted(range(self.vertices), key=lambda v: -inner[v]):
            for _ in range(count[vertex]):
                fits = (free > 0) & (sizes > inner[vertex])
                fits[of[vertex]] = False
                open_ones = np.flatnonzero(fits)
                if len(open_ones) == 0:
                    continue
                chosen = int(draw.choice(open_ones, p=free[open_ones] / free[open_ones].sum()))
                of[vertex].append(chosen)
                free[chosen] -= 1
        return inner, of


def power_law(draw: np.random.Generator, values: np.ndarray, exponent: float, count: int) -> np.ndarray:
    density = values.astype(float) ** -exponent
    return draw.choice(values, size=count, p=density / density.sum())


def mean_of_power_law(values: np.ndarray, exponent: float) -> float:
    density = values.astype(float) ** -exponent
    return float((values * density).sum() / density.sum())


def pair(draw: np.random.Generator, stubs: dict[int, int], edges: set, allowed) -> None:
    """Joins stubs at random; what is a loop, a repetition or not allowed is drawn again, a few times."""
    left = np.repeat(list(stubs), list(stubs.values()))
    for _ in range(20):
        draw.shuffle(left)
        rest = []
        for u, v in zip(left[::2].tolist(), left[1::2].tolist()):
            edge = (min(u, v), max(u, v))
            if u == v or edge in edges or not allowed(u, v):
                rest += [u, v]
            else:
                edges.add(edge)
        left = np.array(rest, dtype=int)
        if len(left) < 2:
            return


def compare(benchmark: Benchmark, repeat: int, threads: int) -> Iterator[dict]:
    """Lines of both programs on `repeat` graphs."""
    for seed in range(1, repeat + 1):
        edges, truth = benchmark.generate(seed)
        told = {
            "kind": "overlapping",
            "graph": vars(benchmark),
            "edges": len(edges),
            "communities_true": len(truth),
            "seed": seed,
        }
        for run in (
            ripplet(edges, seed, threads),
            ripplet(edges, seed, threads, rounds=CDLIB_ROUNDS),
            cdlib(edges, benchmark.vertices, seed),
        ):
            found = run.pop("found")
            yield told | run | {"communities": len(found), "onmi": onmi(found, truth)}


def ripplet(edges: np.ndarray, seed: int, threads: int, rounds: int | None = None) -> dict:
    limit = [] if rounds is None else ["--iterations", str(rounds)]
    with tempfile.TemporaryDirectory(prefix="ripplet-bench-") as folder:
        graph, out, stats = (str(Path(folder) / name) for name in ("g.txt", "c.txt", "s.json"))
        np.savetxt(graph, edges, fmt="%d")
        call("communities", graph, "-o", out, "--stats", stats, "--program", "slpa",
             "--seed", str(seed), "--threads", str(threads), "--device", "cpu", *limit)
        found = defaultdict(set)
        for line in Path(out).read_text().splitlines():
            vertex, community, _ = line.split()
            found[community].add(int(vertex))
        seconds = json.loads(Path(stats).read_text())["seconds"]["compute"]
    return {
        "peer": "ripplet",
        "rounds": rounds,
        "version": version(),
        "threads": threads,
        "seconds": seconds,
        "found": list(found.values()),
    }


def cdlib(edges: np.ndarray, vertices: int, seed: int) -> dict:
    # cdlib prints hints about optional packages on standard output.
    with contextlib.redirect_stdout(io.StringIO()):
        import cdlib
        from cdlib.algorithms import slpa

    graph = networkx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_edges_from(edges.tolist())
    np.random.seed(seed)
    start = time.perf_counter()
    found = slpa(graph).communities
    return {
        "peer": "cdlib",
        "rounds": CDLIB_ROUNDS,
        "version": getattr(cdlib, "__version__", "0.4.1"),
        "threads": 1,
        "seconds": time.perf_counter() - start,
        "found": [set(community) for community in found],
    }


def onmi(found: list[set[int]], truth: list[set[int]]) -> float:
    with contextlib.redirect_stdout(io.StringIO()):
        from cdlib import NodeClustering
        from cdlib.evaluation import overlapping_normalized_mutual_information_LFK as nmi

    vertices = networkx.Graph()
    vertices.add_nodes_from(set().union(*found, *truth))
    clusterings = (
        NodeClustering([sorted(community) for community in part], vertices, overlap=True)
        for part in (found, truth)
    )
    return float(nmi(*clusterings).score)
