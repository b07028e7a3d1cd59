"""Overlapping communities: ripplet's `slpa` beside cdlib's, on graphs whose truth is known.

The graphs are those of the LFR benchmark with overlapping communities (Lancichinetti and Fortunato,
Physical Review E 80, 2009), from the authors' generator, with the parameters of the SLPA papers: a
tenth of the vertices is in 2 to 8 communities. Found and true communities are compared by
both definitions of `covers`.
"""

import contextlib
import io
import json
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

import networkx
import numpy as np

import covers
from ripplet import call, version


@dataclass(frozen=True)
class Benchmark:
    """The parameters of a graph; the exponents are the generator's own, 2 for degrees and 1 for sizes."""

    vertices: int = 5000
    mixing: float = 0.1
    memberships: int = 2
    """The number of communities of an overlapping vertex."""
    sizes: tuple[int, int] = (20, 100)
    """The smallest and the largest community."""
    degree: int = 10
    max_degree: int = 50
    overlapping: float = 0.1
    """The share of vertices that are in several communities."""

    def generate(self, generator: Path, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Returns the edges and the true cover; vertices count from 0."""
        options = {
            "-N": self.vertices,
            "-k": self.degree,
            "-maxk": self.max_degree,
            "-mu": self.mixing,
            "-minc": self.sizes[0],
            "-maxc": self.sizes[1],
            "-on": round(self.overlapping * self.vertices),
            "-om": self.memberships,
        }
        with tempfile.TemporaryDirectory(prefix="ripplet-bench-") as folder:
            # The generator reads its seed from this file, and writes into the current folder.
            (Path(folder) / "time_seed.dat").write_text(str(seed))
            arguments = [str(text) for pair in options.items() for text in pair]
            command = [str(generator.resolve()), *arguments]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            both = np.loadtxt(Path(folder) / "network.dat", dtype=np.int64)
            lines = (Path(folder) / "community.dat").read_text().splitlines()
        truth = [(int(vertex) - 1, int(c)) for vertex, *of in map(str.split, lines) for c in of]
        return both[both[:, 0] < both[:, 1]] - 1, np.array(truth)


GRID = [
    Benchmark(vertices, mixing, memberships, sizes)
    for vertices, mixing, sizes, memberships in product(
        (1000, 5000), (0.1, 0.3), ((10, 50), (20, 100)), range(2, 9)
    )
]
"""The published grid."""


def compare(
    benchmark: Benchmark, generator: Path, seeds: range, peers: list[str], options: list[str]
) -> Iterator[dict]:
    """Lines of the peers on the graph of each seed."""
    for seed in seeds:
        edges, truth = benchmark.generate(generator, seed)
        graph = {
            "kind": "overlapping",
            "graph": asdict(benchmark),
            "edges": len(edges),
            "communities_true": count(truth),
            "seed": seed,
        }
        for peer in peers:
            run = PEERS[peer](edges, seed, options)
            found = run.pop("found")
            yield graph | {"peer": peer} | run | {
                "communities": count(found),
                "nmi_lfk": covers.nmi_lfk(found, truth, benchmark.vertices),
                "nmi_max": covers.nmi_max(found, truth, benchmark.vertices),
            }


def count(cover: np.ndarray) -> int:
    return len(np.unique(cover[:, 1]))


def ripplet(edges: np.ndarray, seed: int, options: list[str]) -> dict:
    with tempfile.TemporaryDirectory(prefix="ripplet-bench-") as folder:
        graph, out, stats_file = (str(Path(folder) / name) for name in ("g.txt", "c.txt", "s.json"))
        np.savetxt(graph, edges, fmt="%d")
        call("communities", graph, "-o", out, "--stats", stats_file, "--program", "slpa",
             "--seed", str(seed), "--device", "cpu", *options)
        found = np.loadtxt(out, usecols=(0, 1), dtype=np.int64)
        stats = json.loads(Path(stats_file).read_text())
    return {
        "version": version(),
        "options": options,
        "threads": stats["threads"],
        "rounds": stats["iterations"],
        "seconds": stats["seconds"]["compute"],
        "found": found,
    }


def cdlib(edges: np.ndarray, seed: int, _: list[str]) -> dict:
    # cdlib prints hints about optional packages on standard output.
    with contextlib.redirect_stdout(io.StringIO()):
        from cdlib.algorithms import slpa
    from importlib.metadata import version as version_of

    graph = networkx.Graph()
    graph.add_edges_from(edges.tolist())
    np.random.seed(seed)
    start = time.perf_counter()
    found = slpa(graph).communities
    return {
        "version": version_of("cdlib"),
        "threads": 1,
        "rounds": 21,
        "seconds": time.perf_counter() - start,
        "found": np.array([(v, c) for c, members in enumerate(found) for v in members]),
    }


PEERS = {"ripplet": ripplet, "cdlib": cdlib}
