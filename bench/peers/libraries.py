"""The peers: each holds its own copy of the graph and runs its label propagation on it.

Only the call of the algorithm is timed: not making the graph, not turning the result into an array.
Each peer runs with its own defaults, and at its fastest: see the notes at each class.
"""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

import igraph
import networkit
import networkx
import numpy as np

from graph import Graph

NETWORKX_EDGES = 200_000
"""Above this networkx needs minutes a run."""


@dataclass
class Run:
    """One run: labels of the vertices in order, and the algorithm's time alone.

    `details` are further fields for the run's line, `compared` a mask of the vertices whose labels are
    compared with the truth (None is all), `cover` rows of vertex and community if they overlap.
    """

    labels: np.ndarray
    seconds: float
    iterations: int | None = None
    details: dict = field(default_factory=dict)
    compared: np.ndarray | None = None
    cover: np.ndarray | None = None


class Peer(ABC):
    """A library's algorithm on one graph."""

    name: str
    version: str
    variant: str
    threads = 1
    seeded = True
    """Whether a run can be repeated from its seed."""

    def identity(self) -> dict:
        return {
            "peer": self.name,
            "version": self.version,
            "variant": self.variant,
            "threads": self.threads,
        }

    @abstractmethod
    def run(self, seed: int) -> Run: ...


class NetworKitPLP(Peer):
    """NetworKit's parallel label propagation; stops when at most n/100,000 vertices change.

    With several threads its result depends on their timing, whatever the seed.
    """

    name, version, variant = "networkit", networkit.__version__, "plp"

    def __init__(self, graph: Graph, threads: int):
        self.threads = threads
        self.seeded = threads == 1
        self.graph = networkit_graph(graph)

    def run(self, seed: int) -> Run:
        networkit.setNumberOfThreads(self.threads)
        networkit.setSeed(seed, True)
        algorithm = networkit.community.PLP(self.graph)
        seconds, _ = timed(algorithm.run)
        labels = np.array(algorithm.getPartition().getVector(), dtype=np.int64)
        return Run(labels, seconds, algorithm.numberOfIterations())


class Igraph(Peer):
    """A variant of an algorithm of igraph, with its own copy of the graph."""

    name, version, seeded = "igraph", igraph.__version__, False

    def __init__(self, graph: Graph, variant: str):
        self.variant = variant
        self.graph = igraph.Graph(graph.vertices, graph.pairs)


class IgraphLPA(Igraph):
    """igraph's label propagation, one thread (it has no more).

    It draws from igraph's own generator: Python's, which could be seeded, is called back for each
    number and slows `retention` by a third.
    """

    def run(self, seed: int) -> Run:
        igraph.set_random_number_generator(None)
        # `Graph.community_label_propagation` does not take a variant; its base does.
        seconds, labels = timed(
            igraph.GraphBase.community_label_propagation, self.graph, variant=self.variant
        )
        return Run(np.array(labels, dtype=np.int64), seconds)


class IgraphOptimizer(Igraph):
    """igraph's optimizers, one thread: `leiden` (modularity, two iterations, its default), `louvain`
    (`community_multilevel`), and `infomap` with one trial (its default, ten, takes ten times as long).
    """

    def run(self, seed: int) -> Run:
        igraph.set_random_number_generator(None)
        algorithm = {
            "leiden": lambda: self.graph.community_leiden(objective_function="modularity"),
            "louvain": lambda: self.graph.community_multilevel(),
            "infomap": lambda: self.graph.community_infomap(trials=1),
        }[self.variant]
        seconds, found = timed(algorithm)
        return Run(np.array(found.membership, dtype=np.int64), seconds)


class NetworKitOptimizer(Peer):
    """NetworKit's parallel optimizers of modularity: `plm` (Louvain) and `leiden` (ParallelLeiden)."""

    name, version = "networkit", networkit.__version__

    def __init__(self, graph: Graph, threads: int, variant: str):
        self.variant, self.threads = variant, threads
        self.seeded = threads == 1
        self.graph = networkit_graph(graph)

    def run(self, seed: int) -> Run:
        networkit.setNumberOfThreads(self.threads)
        networkit.setSeed(seed, True)
        kind = {"plm": networkit.community.PLM, "leiden": networkit.community.ParallelLeiden}
        algorithm = kind[self.variant](self.graph)
        seconds, _ = timed(algorithm.run)
        return Run(np.array(algorithm.getPartition().getVector(), dtype=np.int64), seconds)


class NetworkxLPA(Peer):
    """networkx's label propagation, in Python: `asyn`, `semi` (synchronous, coloured) or `fast`."""

    name, version = "networkx", networkx.__version__

    def __init__(self, graph: Graph, variant: str):
        if graph.edges > NETWORKX_EDGES:
            raise ValueError(f"networkx is for at most {NETWORKX_EDGES:,} edges: leave it out")
        self.variant = variant
        self.seeded = variant != "semi"
        self.graph = networkx.Graph()
        self.graph.add_nodes_from(range(graph.vertices))
        self.graph.add_edges_from(graph.pairs.tolist())

    def run(self, seed: int) -> Run:
        community = networkx.community
        algorithm = {
            "asyn": lambda: community.asyn_lpa_communities(self.graph, seed=seed),
            "semi": lambda: community.label_propagation_communities(self.graph),
            "fast": lambda: community.fast_label_propagation_communities(self.graph, seed=seed),
        }[self.variant]
        seconds, communities = timed(lambda: list(algorithm()))
        labels = np.empty(len(self.graph), dtype=np.int64)
        for label, members in enumerate(communities):
            labels[list(members)] = label
        return Run(labels, seconds)


def networkit_graph(graph: Graph) -> networkit.Graph:
    ends = graph.pairs.astype(np.uint64)
    copy = networkit.Graph(graph.vertices)
    copy.addEdges((ends[:, 0].copy(), ends[:, 1].copy()))
    return copy


def timed(call, *arguments, **options):
    """Seconds of the call, and its result."""
    start = time.perf_counter()
    result = call(*arguments, **options)
    return time.perf_counter() - start, result
