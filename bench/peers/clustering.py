"""Local clustering coefficients: `ripplet lcc` beside NetworKit's and igraph's, on the same graph.

Timed is the call that finds the coefficients of all vertices, of ripplet its `seconds.compute`: no
reading, building or writing. NetworKit has two methods, a plain one and `turbo`, which orders the edges
by degree first; both run, and the table takes the faster. igraph has one thread, so ripplet runs
with one as well as with all.

Values are compared in every run. A difference ends the comparison: its times would mean nothing.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import igraph
import networkit
import numpy as np

import machine
import ripplet
from graph import Graph
from libraries import networkit_graph, timed

TOLERANCE = 1e-9
"""A value must differ by less from ripplet's; ripplet's own must not differ at all."""


@dataclass
class Found:
    """One run: coefficients of the vertices in order, the time, and further fields of its line."""

    values: np.ndarray
    seconds: float
    details: dict = field(default_factory=dict)


@dataclass
class Method:
    """A method of computing the coefficients, with its own copy of the graph."""

    peer: str
    version: str
    variant: str
    threads: int
    run: Callable[[], Found]


def roster(graph: Graph, threads: int) -> list[Method]:
    """ripplet with all threads and with one, then the libraries."""
    return ripplets(graph, threads) + libraries(graph, threads)


def ripplets(graph: Graph, threads: int) -> list[Method]:
    prepared = ripplet.Prepared(graph)
    version = ripplet.version()

    def method(count: int) -> Method:
        return Method("ripplet", version, "lcc", count, lambda: by_ripplet(prepared, count))

    return [method(count) for count in sorted({1, threads}, reverse=True)]


def libraries(graph: Graph, threads: int) -> list[Method]:
    for_networkit = networkit_graph(graph)
    for_igraph = igraph.Graph(graph.vertices, graph.pairs)

    def of_networkit(variant: str) -> Method:
        run = lambda: by_networkit(for_networkit, threads, variant == "turbo")
        return Method("networkit", networkit.__version__, variant, threads, run)

    return [
        of_networkit("plain"),
        of_networkit("turbo"),
        Method("igraph", igraph.__version__, "zero", 1, lambda: by_igraph(for_igraph)),
    ]


def by_ripplet(graph: ripplet.Prepared, threads: int) -> Found:
    out, details = graph.run("lcc", threads)
    values = ripplet.read_values(out, graph.vertices, np.float64)
    return Found(values, details["stats"]["seconds"]["compute"], details)


def by_networkit(graph: networkit.Graph, threads: int, turbo: bool) -> Found:
    networkit.setNumberOfThreads(threads)
    algorithm = networkit.centrality.LocalClusteringCoefficient(graph, turbo)
    seconds, _ = timed(algorithm.run)
    return Found(np.array(algorithm.scores()), seconds)


def by_igraph(graph: igraph.Graph) -> Found:
    # A vertex of fewer than two neighbours has 0, as everywhere else.
    seconds, values = timed(graph.transitivity_local_undirected, mode="zero")
    return Found(np.array(values), seconds)


def time_all(graph: Graph, methods: list[Method], repeat: int) -> Iterator[dict]:
    """One line for each method and repetition, in rounds; the first method has the values."""
    expected = None
    for _ in range(repeat):
        for method in methods:
            with machine.Neighbours() as others:
                found = method.run()
            expected = found.values if expected is None else expected
            yield {
                "kind": "clustering",
                "peer": method.peer,
                "version": method.version,
                "variant": method.variant,
                "threads": method.threads,
                "graph": graph.name,
                "vertices": graph.vertices,
                "edges": graph.edges,
                "seconds": found.seconds,
                "difference": difference(method, found.values, expected),
                "cores_of_others": others.cores,
                **found.details,
            }


def difference(method: Method, values: np.ndarray, expected: np.ndarray) -> float:
    """Returns the largest difference of two values; raises ValueError if it is too large or NaN."""
    who = f"{method.peer} {method.variant}, {method.threads} threads"
    if values.shape != expected.shape:
        raise ValueError(f"{who}: {len(values)} coefficients instead of {len(expected)}")
    found = float(np.abs(values - expected).max())
    equal = found == 0 if method.peer == "ripplet" else found < TOLERANCE
    if not equal:
        raise ValueError(f"{who}: a coefficient differs by {found:.3g}")
    return found
