"""The backend of NetworkX: functions of NetworkX by ripplet, with NetworkX's arguments and results.

A function that cannot answer exactly raises ``NotImplementedError`` or is refused by ``can_run`` with the reason, and NetworkX
then runs its own.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

import numpy as np

from . import _native as native
from ._graph import view
from .errors import RunError

SMALL = 200
"""Nodes below which NetworkX itself is fast enough: the conversion takes as long as the run."""


class BackendGraph:
    """A graph of NetworkX as ripplet has it: nodes and neighbours in the order of its dictionaries.

    Attributes
    ----------
    original : networkx.Graph
        The graph that was converted.
    nodes : list
        The nodes in their order; vertices have the numbers of their places.
    attribute : str or None
        The attribute of edges that was read as weights.
    """

    __networkx_backend__ = "ripplet"

    def __init__(self, original: Any, attribute: Any = None) -> None:
        self.original = original
        self.nodes: list[Hashable] = list(original)
        self.directed: bool = original.is_directed()
        self.multigraph: bool = original.is_multigraph()
        self.attribute = attribute
        self.index: dict[Hashable, int] = {node: at for at, node in enumerate(self.nodes)}
        pred = original._pred if self.directed else None
        self.adjacency = native.adjacency_of(
            self.nodes, self.index, original._adj, pred, self.multigraph, attribute
        )
        self._built: native.Graph | None = None

    @property
    def graph(self) -> dict[Any, Any]:
        """The attributes of the graph."""
        return self.original.graph  # type: ignore[no-any-return]

    @property
    def built(self) -> native.Graph:
        """The graph without weights, with one edge for parallel ones; built when it is first needed."""
        built = self._built
        if built is None:
            built = self._built = self.adjacency.graph()
        return built

    def __getstate__(self) -> dict[str, Any]:
        out, incoming, weights, least = self.adjacency.state()

        def arrays(lists: Any) -> Any:
            return None if lists is None else tuple(None if array is None else view(array).copy() for array in lists)

        state = {name: value for name, value in vars(self).items() if name not in ("adjacency", "index", "_built")}
        return {**state, "state": (arrays(out), arrays(incoming), weights, least)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.adjacency = native.Adjacency.of_state(*state.pop("state"))
        vars(self).update(state)
        self._built = None
        self.index = {node: at for at, node in enumerate(self.nodes)}

    def is_directed(self) -> bool:
        return self.directed

    def is_multigraph(self) -> bool:
        return self.multigraph

    def number_of_edges(self) -> int:
        return self.adjacency.edges

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self.nodes)

    def __contains__(self, node: object) -> bool:
        try:
            return node in self.index
        except TypeError:
            return False

    def __str__(self) -> str:
        return str(self.original)

    def values(self, name: str, column: int = 0, **options: Any) -> list[Any]:
        """Returns the values of an analysis in the order of the nodes."""
        found = native.analyse(self.built, name, {**options, "device": "cpu"})
        values: list[Any] = view(found.columns[column][1]).tolist()
        return values

    def by_node(self, values: Iterable[Any]) -> dict[Hashable, Any]:
        """Returns values by node."""
        return dict(zip(self.nodes, values, strict=True))


def some(graph: BackendGraph, values: list[Any], nodes: Any) -> Any:
    """Returns all values by node, that of one node, or those of an iterable of nodes, as NetworkX does."""
    by_node = graph.by_node(values)
    if nodes is None:
        return by_node
    if nodes in graph:
        return by_node[nodes]
    return {node: by_node[node] for node in nodes if node in graph}


def label_propagation_communities(G: BackendGraph) -> Any:
    labels = view(native.semi_synchronous(G.built, {})).tolist()
    clusters: dict[int, set[Hashable]] = {}
    for node, label in zip(G.nodes, labels, strict=True):
        clusters.setdefault(label, set()).add(node)
    return clusters.values()


def triangles(G: BackendGraph, nodes: Any = None) -> Any:
    return some(G, G.values("lcc", 1), nodes)


def clustering(G: BackendGraph, nodes: Any = None, weight: Any = None) -> Any:
    values = [value if value else 0 for value in G.values("lcc", definition="fagiolo")]
    return some(G, values, nodes)


def average_clustering(G: BackendGraph, nodes: Any = None, weight: Any = None, count_zeros: bool = True) -> Any:
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if abs(value) > 0]
    return sum(values) / len(values)


def transitivity(G: BackendGraph) -> Any:
    begins, ends = arcs(G)
    sources = np.repeat(np.arange(len(G)), np.diff(begins))
    degrees = np.bincount(sources[sources != ends], minlength=len(G))
    closed = 2 * sum(G.values("lcc", 1))
    return closed / int((degrees * (degrees - 1)).sum()) if closed else 0


def arcs(G: BackendGraph) -> tuple[Any, Any]:
    """Returns the begin of each node's arcs, and their ends."""
    (begins, ends, *_), *_ = G.adjacency.state()
    return view(begins).astype(np.int64), view(ends)


def connected_components(G: BackendGraph) -> Iterator[set[Hashable]]:
    parts: dict[int, set[Hashable]] = {}
    for node, part in zip(G.nodes, G.values("components"), strict=True):
        parts.setdefault(part, set()).add(node)
    yield from parts.values()


def weakly_connected_components(G: BackendGraph) -> Iterator[set[Hashable]]:
    return connected_components(G)


def number_connected_components(G: BackendGraph) -> int:
    return len(set(G.values("components")))


def is_connected(G: BackendGraph) -> bool:
    if len(G) == 0:
        from networkx import NetworkXPointlessConcept

        raise NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return number_connected_components(G) == 1


def number_weakly_connected_components(G: BackendGraph) -> int:
    return number_connected_components(G)


def is_weakly_connected(G: BackendGraph) -> bool:
    return is_connected(G)


def closeness_centrality(G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    if u is not None or distance is not None:
        weighted(G, distance)
        nodes = G.nodes if u is None else [u]
        found = native.extents(G.adjacency, [G.index[node] for node in nodes], distance is not None, True, {})
        closeness = {}
        for node, reached, total in zip(nodes, *(view(array).tolist() for array in found[:2]), strict=True):
            value = 0.0
            if total > 0.0 and len(G) > 1:
                value = (reached - 1.0) / total
                if wf_improved:
                    value *= (reached - 1.0) / (len(G) - 1)
            closeness[node] = value
        return closeness if u is None else closeness[u]
    options = {"measure": "wasserman-faust"} if wf_improved else {"normalized": True}
    return G.by_node(G.values("closeness", **options))


def harmonic_centrality(G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    return G.by_node(G.values("harmonic"))


def weighted(G: BackendGraph, weight: Any) -> bool:
    """Returns whether lengths are the weights in an attribute, which the graph was converted with."""
    if weight is None:
        return False
    if weight != G.attribute:
        raise NotImplementedError(f"the graph was not converted with the attribute {weight!r}")
    if G.adjacency.least < 0:
        raise NotImplementedError("a weight is negative: shortest paths need lengths from 0 on")
    return True


def sampled(G: BackendGraph, k: Any, seed: Any) -> list[int]:
    """Returns the sources that NetworkX draws, by the same calls."""
    chosen: list[int] = list(range(len(G))) if k is None else seed.sample(list(range(len(G))), k)
    return chosen


def scales(
    n: int, sources: int | None, normalized: bool, directed: bool, endpoints: bool
) -> tuple[float, float] | None:
    """Returns the factors for sources and other nodes; ``None`` if all values are 0."""
    others = n if endpoints else n - 1
    if others < 2:
        return None
    correction = 1 if directed else 2
    k = others if sources is None else sources
    if sources is None or endpoints:
        scale = 1 / (k * (others - 1)) if normalized else others / (k * correction)
        return scale, scale
    if normalized:
        return (1 / ((k - 1) * (others - 1)) if k > 1 else math.nan), 1 / (k * (others - 1))
    return (others / ((k - 1) * correction) if k > 1 else math.nan), others / (k * correction)


def betweenness_centrality(
    G: BackendGraph,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Any:
    if k == len(G):
        k = None
    sources = sampled(G, k, seed)
    sums = view(native.dependencies(G.adjacency, sources, weighted(G, weight), bool(endpoints), {}))
    found = scales(len(G), None if k is None else len(sources), normalized, G.directed, endpoints)
    if found is not None:
        factors = np.full(len(G), found[1])
        factors[sources if k is not None else []] = found[0]
        sums = sums * factors
    return G.by_node(sums.tolist())


def edge_betweenness_centrality(
    G: BackendGraph, k: Any = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> Any:
    sources = sampled(G, k, seed)
    found = native.edge_dependencies(G.adjacency, sources, weighted(G, weight), {})
    a, b, sums = (view(array) for array in found)
    # Both ends of a path count: a factor for all edges.
    factors = scales(len(G), None if k is None else len(sources), normalized, G.directed, True)
    if factors is not None:
        sums = sums * factors[0]
    nodes = G.nodes
    return {(nodes[u], nodes[v]): value for u, v, value in zip(a.tolist(), b.tolist(), sums.tolist(), strict=True)}


def lengths(G: BackendGraph, cutoff: Any, by_weights: bool) -> Iterator[tuple[Hashable, dict[Hashable, Any]]]:
    """Yields each node with the distances from it."""
    integers = not by_weights or G.adjacency.weights != "floats"
    limit = math.inf if cutoff is None else float(cutoff)
    block = max(1, min(256, 1_000_000 // max(len(G), 1)))
    for first in range(0, len(G), block):
        sources = list(range(first, min(first + block, len(G))))
        rows = native.distances(G.adjacency, G.nodes, sources, by_weights, integers, limit, {})
        yield from zip(G.nodes[first : first + block], rows, strict=True)


def all_pairs_shortest_path_length(G: BackendGraph, cutoff: Any = None) -> Any:
    return lengths(G, cutoff, False)


def all_pairs_dijkstra_path_length(G: BackendGraph, cutoff: Any = None, weight: Any = "weight") -> Any:
    weighted(G, weight)
    if G.adjacency.weights == "mixed":
        raise NotImplementedError("weights are integers and floats, so the type of a distance depends on its path")
    return lengths(G, cutoff, True)


def reached(G: BackendGraph) -> tuple[list[int], list[int], list[int]]:
    """Returns for each node how many others it reaches, the sum of their distances, and the largest."""
    counts, sums, largest = (view(array).tolist() for array in native.reach(G.built, {}))
    return counts, sums, largest


def eccentricity(G: BackendGraph, v: Any = None, sp: Any = None, weight: Any = None) -> Any:
    counts, _, largest = reached(G)
    if any(count + 1 != len(G) for count in counts):
        from networkx import NetworkXError

        raise NetworkXError(
            "Found infinite path length because the digraph is not strongly connected"
            if G.directed
            else "Found infinite path length because the graph is not connected"
        )
    return G.by_node(largest)


def diameter(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return max(eccentricity(G).values())


def radius(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    return min(eccentricity(G).values())


def periphery(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    found = eccentricity(G)
    largest = max(found.values())
    return [node for node, value in found.items() if value == largest]


def center(G: BackendGraph, e: Any = None, usebounds: bool = False, weight: Any = None) -> Any:
    if len(G) == 0 or not G.directed and G.number_of_edges() == len(G) - 1:
        raise NotImplementedError("the graph is empty, or may be a tree, whose center NetworkX finds by itself")
    found = eccentricity(G)
    least = min(found.values())
    return [node for node, value in found.items() if value == least]


def average_shortest_path_length(G: BackendGraph, weight: Any = None, method: Any = None) -> Any:
    from networkx import NetworkXError, NetworkXPointlessConcept

    n = len(G)
    if n == 0:
        raise NetworkXPointlessConcept(
            "the null graph has no paths, thus there is no average shortest path length"
        )
    if n == 1:
        return 0
    counts, sums, _ = reached(G)
    if any(count + 1 != n for count in counts):
        raise NetworkXError("Graph is not strongly connected." if G.directed else "Graph is not connected.")
    return sum(sums) / (n * (n - 1))


def wiener_index(G: BackendGraph, weight: Any = None) -> Any:
    if len(G) == 0:
        raise NotImplementedError("the null graph is not connected nor disconnected")
    counts, sums, _ = reached(G)
    if any(count + 1 != len(G) for count in counts):
        return math.inf
    return sum(sums) if G.directed else sum(sums) / 2


def global_efficiency(G: BackendGraph) -> Any:
    pairs = len(G) * (len(G) - 1)
    return sum(G.values("harmonic")) / pairs if pairs else 0


def pagerank(
    G: BackendGraph,
    alpha: float = 0.85,
    personalization: Any = None,
    max_iter: int = 100,
    tol: float = 1e-6,
    nstart: Any = None,
    weight: Any = "weight",
    dangling: Any = None,
) -> Any:
    if len(G) == 0:
        return {}
    if weight is not None and G.adjacency.weights != "integers":
        raise NotImplementedError("ripplet's weights are integers, so that ranks may differ in their last digits")
    try:
        return G.by_node(G.values("pagerank", damping=alpha, tolerance=tol, most_rounds=max_iter))
    except RunError as error:
        from networkx import PowerIterationFailedConvergence

        raise PowerIterationFailedConvergence(max_iter) from error


# Arguments by name that must have these values, with the reason otherwise.
_BY_HOPS = "ripplet computes it by hops"
_FAST = "NetworkX is as fast with it"
ONLY: dict[str, dict[str, tuple[tuple[Any, ...], str]]] = {
    "average_clustering": {"weight": ((None,), "clustering by weights is not in ripplet")},
    "average_shortest_path_length": {
        "weight": ((None,), _BY_HOPS),
        "method": ((None, "unweighted"), _BY_HOPS),
    },
    "center": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "clustering": {"weight": ((None,), "clustering by weights is not in ripplet")},
    "diameter": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "eccentricity": {
        "v": ((None,), "ripplet computes all nodes"),
        "sp": ((None,), _FAST),
        "weight": ((None,), _BY_HOPS),
    },
    "harmonic_centrality": {
        "nbunch": ((None,), "ripplet computes all nodes"),
        "sources": ((None,), "ripplet takes all nodes as sources"),
        "distance": ((None,), _BY_HOPS),
    },
    "pagerank": {
        "personalization": ((None,), "ripplet's walk jumps to all nodes alike"),
        "nstart": ((None,), "ripplet begins with equal ranks"),
        "dangling": ((None,), "ripplet's walk jumps from nodes without edges to all nodes alike"),
    },
    "periphery": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "radius": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "wiener_index": {"weight": ((None,), _BY_HOPS)},
}

# Arguments that name the weights of edges as lengths.
LENGTHS = {
    "all_pairs_dijkstra_path_length": "weight",
    "betweenness_centrality": "weight",
    "closeness_centrality": "distance",
    "edge_betweenness_centrality": "weight",
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        all_pairs_dijkstra_path_length,
        all_pairs_shortest_path_length,
        average_clustering,
        average_shortest_path_length,
        betweenness_centrality,
        center,
        closeness_centrality,
        clustering,
        connected_components,
        diameter,
        eccentricity,
        edge_betweenness_centrality,
        global_efficiency,
        harmonic_centrality,
        is_connected,
        is_weakly_connected,
        label_propagation_communities,
        number_connected_components,
        number_weakly_connected_components,
        pagerank,
        periphery,
        radius,
        transitivity,
        triangles,
        weakly_connected_components,
        wiener_index,
    )
}

SIGNATURES = {name: inspect.signature(function) for name, function in FUNCTIONS.items()}

# Those for which repeated edges count.
NO_MULTIGRAPHS = {
    "average_clustering",
    "betweenness_centrality",
    "clustering",
    "edge_betweenness_centrality",
    "label_propagation_communities",
    "pagerank",
    "transitivity",
    "triangles",
}


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Returns why ripplet does not run a call; ``None`` if it does."""
    if name not in SIGNATURES:
        return "ripplet does not have it"
    bound = {**dict(zip(SIGNATURES[name].parameters, args, strict=False)), **kwargs}
    for argument, (allowed, reason) in ONLY.get(name, {}).items():
        value = bound.get(argument, allowed[0])
        if not any(value is known for known in allowed):
            return f"{argument}={value!r}: {reason}"
    graph = bound.get("G")
    if graph is None or not hasattr(graph, "is_multigraph"):
        return "the first argument is no graph"
    if graph.is_multigraph() and name in NO_MULTIGRAPHS:
        return "ripplet merges repeated edges, which count here"
    if name == "transitivity" and graph.is_directed():
        return "ripplet counts triangles of undirected graphs"
    if name == "closeness_centrality" and bound.get("u") is not None and bound["u"] not in graph:
        return "the node is not in the graph"
    cutoff = bound.get("cutoff")
    if cutoff is not None and not (isinstance(cutoff, (int, float)) and cutoff >= 0):
        return "the cutoff is no number from 0 on"
    if name in LENGTHS:
        weight = bound.get(LENGTHS[name], SIGNATURES[name].parameters[LENGTHS[name]].default)
        if weight is None:
            return "ripplet needs an attribute here" if name == "all_pairs_dijkstra_path_length" else None
        if callable(weight):
            return "a weight that is a function is called by NetworkX"
        if not isinstance(graph, BackendGraph):
            return native.refused_weights(graph._adj, graph.is_multigraph(), weight)
    if name == "pagerank":
        weight = bound.get("weight", "weight")
        if weight is not None and not isinstance(graph, BackendGraph):
            if any(weight in data for _, _, data in graph.edges(data=True)):
                return "ripplet's weights are integers, so that ranks may differ in their last digits"
        if not 0 <= bound.get("alpha", 0.85) <= 1 or not bound.get("tol", 1e-6) > 0 or bound.get("max_iter", 100) < 1:
            return "the settings are out of ripplet's range"
    return None
