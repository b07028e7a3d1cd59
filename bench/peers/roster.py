"""The peers, by the names that `--peers` takes."""

from functools import partial

import machine
import score
from graph import Graph
from gve import PROGRAMS, Gve
from libraries import (
    IgraphLPA,
    IgraphOptimizer,
    NetworKitOptimizer,
    NetworKitPLP,
    NetworkxLPA,
    Peer,
    Run,
)
from ripplet import VARIANTS, Ripplet

LIBRARIES = {
    "networkit": NetworKitPLP,
    "igraph-fast": lambda graph, _: IgraphLPA(graph, "fast"),
    "igraph-retention": lambda graph, _: IgraphLPA(graph, "retention"),
    "igraph-dominance": lambda graph, _: IgraphLPA(graph, "dominance"),
    "networkit-plm": partial(NetworKitOptimizer, variant="plm"),
    "networkit-leiden": partial(NetworKitOptimizer, variant="leiden"),
    "igraph-leiden": lambda graph, _: IgraphOptimizer(graph, "leiden"),
    "igraph-louvain": lambda graph, _: IgraphOptimizer(graph, "louvain"),
    "igraph-infomap": lambda graph, _: IgraphOptimizer(graph, "infomap"),
    "networkx-asyn": lambda graph, _: NetworkxLPA(graph, "asyn"),
    "networkx-semi": lambda graph, _: NetworkxLPA(graph, "semi"),
    "networkx-fast": lambda graph, _: NetworkxLPA(graph, "fast"),
}
PEERS = (
    LIBRARIES
    | {f"gve-{name}": partial(Gve, variant=name) for name in PROGRAMS}
    | {f"ripplet-{name}": partial(Ripplet, variant=name) for name in VARIANTS}
)
DEFAULT = ["ripplet-phased", "ripplet-async", "networkit", "igraph-fast"]
"""The fastest of each; igraph's other variants take ten times as long."""


def load(name: str, graph: Graph, threads: int) -> Peer:
    """The peer of that name, with its own copy of the graph."""
    if name not in PEERS:
        raise ValueError(f"no peer is called {name}: there are {', '.join(PEERS)}")
    return PEERS[name](graph, threads)


def measured(peer: Peer, graph: Graph, seed: int) -> tuple[Run, dict]:
    """A run, and the fields of its line: the peer, the graph, the time and the scores."""
    with machine.Neighbours() as others:
        run = peer.run(seed)
    return run, {
        **peer.identity(),
        "graph": graph.name,
        "vertices": graph.vertices,
        "edges": graph.edges,
        "seed": seed if peer.seeded else None,
        "seconds": run.seconds,
        "iterations": run.iterations,
        "cores_of_others": others.cores,
        **score.of(graph, run.labels, run.compared),
    }
