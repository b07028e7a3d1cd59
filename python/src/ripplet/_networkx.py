"""The backend of NetworkX: functions of NetworkX by ripplet, with NetworkX's arguments and results.

A function that cannot answer exactly raises ``NotImplementedError`` or is refused by ``can_run`` with the reason, and NetworkX
then runs its own.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from nx_ripplet import DEFAULTS

from . import _native as native
from ._graph import view
from .errors import OptionError

ON_GPUS = {"closeness", "harmonic", "lcc"}
"""Analyses that a GPU computes."""


def setting(name: str) -> Any:
    """Returns a value of ``networkx.config.backends.ripplet``, or its default if NetworkX does not list the backend."""
    config = getattr(sys.modules.get("networkx"), "config", None)
    return getattr(getattr(getattr(config, "backends", None), "ripplet", None), name, DEFAULTS[name])


def smallest() -> int:
    """Returns the number of nodes below which a graph stays with NetworkX."""
    nodes = setting("smallest_graph")
    if isinstance(nodes, bool) or not isinstance(nodes, int) or nodes < 0:
        raise OptionError(f"networkx.config.backends.ripplet.smallest_graph: expected a number of nodes, not {nodes!r}")
    return nodes


def settings(*, on_gpus: bool = False) -> dict[str, Any]:
    """Returns the options of a run that NetworkX's configuration has: the threads, and the device of what GPUs compute."""
    return {"threads": setting("threads"), "device": setting("device") if on_gpus else "cpu"}


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
        found = native.analyse(self.built, name, {**options, **settings(on_gpus=name in ON_GPUS)})
        values: list[Any] = view(found.columns[column][1]).tolist()
        return values

    def by_node(self, values: Iterable[Any]) -> dict[Hashable, Any]:
        """Returns values by node."""
        return dict(zip(self.nodes, values, strict=True))


def conversions(graph: Any) -> list[BackendGraph]:
    """Returns what a graph was converted to, as far as NetworkX has kept it."""
    if isinstance(graph, BackendGraph):
        return [graph]
    cache = getattr(graph, "__networkx_cache__", None) or {}
    found = cache.get("backends", {}).get("ripplet", {}).values()
    return [known for known in found if isinstance(known, BackendGraph)]


def below(view: Any) -> Any:
    """Returns the graph that a view of NetworkX shows; ``None`` if it is no view."""
    return getattr(view, "_graph", None)


def forget_view(graph: Any) -> None:
    """Removes what a view was converted to: a change of the graph below does not reach the cache of the view."""
    if below(graph) is not None:
        cache = getattr(graph, "__networkx_cache__", None) or {}
        cache.get("backends", {}).pop("ripplet", None)


def has_two_weights(graph: Any) -> bool:
    """Returns whether an edge may have a weight in each direction, though it has none: in an undirected view of a directed graph."""
    while (shown := below(graph)) is not None:
        if shown.is_directed() and not graph.is_directed():
            return True
        graph = shown
    return False


def some(graph: BackendGraph, values: list[Any], nodes: Any) -> Any:
    """Returns all values by node, that of one node, or those of an iterable of nodes, as NetworkX does."""
    by_node = graph.by_node(values)
    if nodes is None:
        return by_node
    if nodes in graph:
        return by_node[nodes]
    return {node: by_node[node] for node in graph.original.nbunch_iter(nodes)}


def clusters_of(G: BackendGraph, labels: Any) -> Any:
    """Returns the sets of nodes with equal labels, in the order of their first nodes."""
    clusters: dict[int, set[Hashable]] = {}
    for node, label in zip(G.nodes, view(labels).tolist(), strict=True):
        clusters.setdefault(label, set()).add(node)
    return clusters.values()


def label_propagation_communities(G: BackendGraph) -> Any:
    return clusters_of(G, native.semi_synchronous(G.built, settings()))


MOST_ROUNDS = 1000
"""Rounds after which NetworkX runs its own label propagation; graphs of 10 million edges settle in less than 100."""


def propagated(G: BackendGraph, parallel: bool, weight: Any, seed: Any) -> Iterator[set[Hashable]]:
    """Returns communities of plain label propagation: each node has a most frequent label of its neighbours."""
    by_weight = has_weights(G, weight)
    if by_weight and G.adjacency.least <= 0:
        raise NotImplementedError("a weight is not above 0, which ripplet's label propagation needs")
    votes = native.vote_graph(G.adjacency, parallel, by_weight, True)
    options = {
        "program": "lpa",
        "guard": 0,
        "merge": "off",
        "keep_disconnected": True,
        "tolerance": 0,
        "max_iterations": MOST_ROUNDS,
        "seed": int(seed.randint(0, 2**31 - 1)),
        **settings(on_gpus=True),
    }
    found = native.communities(votes, options)
    if found.reason != "fixpoint":
        raise NotImplementedError(f"labels did not settle within {MOST_ROUNDS} rounds")
    return iter(clusters_of(G, found.labels))


def asyn_lpa_communities(G: BackendGraph, weight: Any = None, seed: Any = None) -> Any:
    return propagated(G, False, weight, seed)


def fast_label_propagation_communities(G: BackendGraph, *, weight: Any = None, seed: Any = None) -> Any:
    return propagated(G, True, weight, seed)


LEAST_RESOLUTION, MOST_RESOLUTION = 1e-9, 1e9
"""Resolutions of ripplet's refinement."""


def leiden_of_networkx() -> Any:
    """Returns the parameter `metric` of NetworkX's own Leiden; ``None`` before 3.7, where only backends have Leiden."""
    networkx = sys.modules.get("networkx")
    function = getattr(getattr(networkx, "community", None), "leiden_communities", None)
    return function and inspect.signature(function).parameters.get("metric")


def leiden_metric(metric: Any) -> Any:
    """Returns what communities are chosen by: NetworkX's default, or before 3.7 modularity, if it is not given."""
    if metric is None:
        own = leiden_of_networkx()
        return own.default if own else "modularity"
    return metric


DRAW_OF_LEIDEN = 0.01
"""NetworkX's default of `theta`, the randomness of its refinement; that of ripplet draws nothing."""


def leiden_communities(
    G: BackendGraph,
    weight: Any = "weight",
    resolution: Any = 1,
    max_level: Any = None,
    seed: Any = None,
    metric: Any = None,
    theta: Any = DRAW_OF_LEIDEN,
) -> list[set[Hashable]]:
    by_weight = has_weights(G, weight)
    if by_weight and G.adjacency.least < 0:
        raise NotImplementedError(f"the weight {G.adjacency.least} is below 0")
    options = {
        "refine": leiden_metric(metric),
        "resolution": float(resolution),
        "seed": int(seed.randint(0, 2**31 - 1)),
        **settings(on_gpus=True),
    }
    found = native.communities(native.vote_graph(G.adjacency, True, by_weight, False), options)
    return list(clusters_of(G, found.labels))


def community_sums(G: BackendGraph, communities: Sequence[Any], by_weight: bool) -> Any:
    """Returns the weights of the edges inside of communities, their degrees out and in, and the sum of all degrees.

    ``None`` if the communities are no partition of the nodes.
    """
    for community in communities:
        # NetworkX's error, if it is no collection.
        iter(community)
    sizes = [len(community) for community in communities]
    try:
        members = [G.index[node] for community in communities for node in set(community)]
    except (KeyError, TypeError):
        return None
    counts = np.bincount(np.array(members, np.int64), minlength=len(G))
    if sum(sizes) != len(G) or not (counts == 1).all():
        return None
    begins = np.concatenate([[0], np.cumsum(sizes)]).astype(np.uint64)
    *sums, total = native.community_sums(G.adjacency, np.array(members, np.uint32), begins, by_weight, settings())
    whole = not by_weight or G.adjacency.weights in ("none", "integers")
    columns = [view(column) for column in sums]
    return [*((column.astype(np.int64) if whole else column).tolist() for column in columns), int(total) if whole else total]


def modularity(G: BackendGraph, communities: Any, weight: Any = "weight", resolution: Any = 1) -> Any:
    by_weight = has_weights(G, weight)
    communities = communities if isinstance(communities, list) else list(communities)
    found = community_sums(G, communities, by_weight)
    if found is None:
        from networkx.algorithms.community.quality import NotAPartition

        raise NotAPartition(G.original, communities)
    inner, degrees_out, degrees_in, total = found
    m = total if G.directed else total / 2
    norm = 1 / total**2
    return sum(
        inside / m - resolution * out * incoming * norm
        for inside, out, incoming in zip(inner, degrees_out, degrees_in, strict=True)
    )


def partition_quality(G: BackendGraph, partition: Any) -> Any:
    communities = partition if isinstance(partition, (list, tuple)) else []
    found = community_sums(G, communities, False)
    if found is None:
        raise NotImplementedError("the partition is no list or tuple, or no partition")
    inside, edges = sum(found[0]), G.number_of_edges()
    coverage = inside / edges
    if G.multigraph:
        return coverage, -1.0
    directions = 2 if G.directed else 1
    pairs = len(G) * (len(G) - 1) * directions // 2
    apart = (len(G) ** 2 - sum(len(community) ** 2 for community in communities)) // 2 * directions
    return coverage, (inside + apart - (edges - inside)) / pairs


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


def core_number(G: BackendGraph) -> Any:
    begins, ends = arcs(G)
    if (np.repeat(np.arange(len(G)), np.diff(begins)) == ends).any():
        from networkx import NetworkXNotImplemented

        raise NetworkXNotImplemented(
            "Input graph has self loops which is not permitted; "
            "Consider using G.remove_edges_from(nx.selfloop_edges(G))."
        )
    return G.by_node(G.values("kcore"))


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


def node_connected_component(G: BackendGraph, n: Any) -> set[Hashable]:
    (found,) = native.distances(G.adjacency, G.nodes, [G.index[n]], False, True, math.inf, settings())
    return set(found)


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


def closeness_centrality(
    G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True, *, sp: Any = None
) -> Any:
    if u is not None or distance is not None:
        weighted(G, distance)
        nodes = G.nodes if u is None else [u]
        found = native.extents(G.adjacency, [G.index[node] for node in nodes], distance is not None, True, settings())
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
    if nbunch is None:
        # Nodes that no other one reaches have NetworkX's integer.
        return G.by_node(value or 0 for value in G.values("harmonic"))
    chosen = set(G.original.nbunch_iter(nbunch))
    vertices = np.array(sorted(G.index[node] for node in chosen), np.uint32)
    found = native.analyse(G.built, "harmonic", {"vertices": vertices, **settings()})
    values = dict(zip(vertices.tolist(), view(found.columns[0][1]).tolist(), strict=True))
    return {node: values[G.index[node]] or 0 for node in chosen}


def has_weights(G: BackendGraph, weight: Any) -> bool:
    """Returns whether a call is about the weights in an attribute, which the graph was converted with."""
    if weight is None:
        return False
    if weight != G.attribute:
        raise NotImplementedError(f"the graph was not converted with the attribute {weight!r}")
    return True


def weighted(G: BackendGraph, weight: Any) -> bool:
    """Returns whether lengths are the weights in an attribute, which the graph was converted with."""
    if has_weights(G, weight) and G.adjacency.least < 0:
        raise NotImplementedError("a weight is negative: shortest paths need lengths from 0 on")
    return weight is not None


def weighted_paths(G: BackendGraph, weight: Any) -> bool:
    """Returns whether lengths are weights, as :func:`weighted`, if each edge makes a path longer: NetworkX counts the shortest
    paths otherwise in the order in which it finds them."""
    by_weight = weighted(G, weight)
    if by_weight and G.number_of_edges():
        lengths = G.adjacency.state()[0][3]
        longest = float(view(lengths).max()) * (len(G) - 1) if lengths is not None else 0.0
        if not longest + G.adjacency.least > longest:
            raise NotImplementedError(f"a weight is {G.adjacency.least!r}, so that an edge does not make a path longer")
    return by_weight


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
    if any(node != node for node in G.nodes):
        raise NotImplementedError("a node is not equal to itself, as NaN")
    if k == len(G):
        k = None
    by_weight = weighted_paths(G, weight)
    sources = sampled(G, k, seed)
    sums = view(native.dependencies(G.adjacency, sources, by_weight, bool(endpoints), settings()))
    found = scales(len(G), None if k is None else len(sources), normalized, G.directed, endpoints)
    if found is not None:
        factors = np.full(len(G), found[1])
        factors[sources if k is not None else []] = found[0]
        sums = sums * factors
    return G.by_node(sums.tolist())


def edge_betweenness_centrality(
    G: BackendGraph, k: Any = None, normalized: bool = True, weight: Any = None, seed: Any = None
) -> Any:
    by_weight = weighted_paths(G, weight)
    sources = sampled(G, k, seed)
    found = native.edge_dependencies(G.adjacency, sources, by_weight, settings())
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
    limit = math.inf if cutoff is None else float(cutoff if cutoff == math.inf else min(cutoff, sys.float_info.max))
    block = max(1, min(256, 1_000_000 // max(len(G), 1)))
    for first in range(0, len(G), block):
        sources = list(range(first, min(first + block, len(G))))
        rows = native.distances(G.adjacency, G.nodes, sources, by_weights, integers, limit, settings())
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
    counts, sums, largest = (view(array).tolist() for array in native.reach(G.built, settings()))
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
    n = len(G)
    if n == 0:
        return {}
    by_weight = has_weights(G, weight)

    def of_nodes(values: Any) -> Any:
        return np.array([values.get(node, 0) for node in G.nodes], dtype=float)

    even = np.repeat(1.0 / n, n)
    begin, jump = even, even
    if nstart is not None:
        begin = of_nodes(nstart)
        begin /= begin.sum()
    if personalization is not None:
        jump = of_nodes(personalization)
        if jump.sum() == 0:
            raise ZeroDivisionError
        jump /= jump.sum()
    after = jump
    if dangling is not None:
        after = of_nodes(dangling)
        after /= after.sum()
    rounds = max(max_iter, 0)
    found = native.walk_ranks(G.adjacency, by_weight, begin, jump, after, float(alpha), float(tol), rounds, settings())
    if found is None:
        from networkx import PowerIterationFailedConvergence

        raise PowerIterationFailedConvergence(max_iter)
    return G.by_node(view(found).tolist())


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
    "closeness_centrality": {"sp": ((None,), _FAST)},
    "clustering": {"weight": ((None,), "clustering by weights is not in ripplet")},
    "diameter": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "eccentricity": {
        "v": ((None,), "ripplet computes all nodes"),
        "sp": ((None,), _FAST),
        "weight": ((None,), _BY_HOPS),
    },
    "harmonic_centrality": {
        "sources": ((None,), "ripplet takes all nodes as sources"),
        "distance": ((None,), _BY_HOPS),
    },
    "leiden_communities": {"max_level": ((None,), "the levels of ripplet's algorithm are others")},
    "periphery": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "radius": {"e": ((None,), _FAST), "usebounds": ((False,), _FAST), "weight": ((None,), _BY_HOPS)},
    "wiener_index": {"weight": ((None,), _BY_HOPS)},
}

# Arguments that name the attribute with the weights of edges.
WEIGHTS = {
    "all_pairs_dijkstra_path_length": "weight",
    "asyn_lpa_communities": "weight",
    "betweenness_centrality": "weight",
    "closeness_centrality": "distance",
    "edge_betweenness_centrality": "weight",
    "fast_label_propagation_communities": "weight",
    "leiden_communities": "weight",
    "modularity": "weight",
    "pagerank": "weight",
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        all_pairs_dijkstra_path_length,
        all_pairs_shortest_path_length,
        asyn_lpa_communities,
        average_clustering,
        average_shortest_path_length,
        betweenness_centrality,
        center,
        closeness_centrality,
        clustering,
        connected_components,
        core_number,
        diameter,
        eccentricity,
        edge_betweenness_centrality,
        fast_label_propagation_communities,
        global_efficiency,
        harmonic_centrality,
        is_connected,
        is_weakly_connected,
        label_propagation_communities,
        leiden_communities,
        modularity,
        node_connected_component,
        number_connected_components,
        number_weakly_connected_components,
        pagerank,
        partition_quality,
        periphery,
        radius,
        transitivity,
        triangles,
        weakly_connected_components,
        wiener_index,
    )
}

# Functions that NetworkX runs about as fast as a graph is converted: ripplet's are for graphs that are converted already.
CHEAP = {
    "connected_components",
    "is_connected",
    "is_weakly_connected",
    "node_connected_component",
    "number_connected_components",
    "number_weakly_connected_components",
    "weakly_connected_components",
}

SIGNATURES = {name: inspect.signature(function) for name, function in FUNCTIONS.items()}

# Those whose answer for the null graph depends on NetworkX's version.
OF_NODES = {"diameter", "eccentricity", "periphery", "radius"}

# Those for which repeated edges count.
NO_MULTIGRAPHS = {
    "average_clustering",
    "betweenness_centrality",
    "clustering",
    "core_number",
    "edge_betweenness_centrality",
    "label_propagation_communities",
    "transitivity",
    "triangles",
}


READING = ("__getitem__", "__iter__", "__len__", "adj", "adjacency", "degree", "edges", "neighbors", "nodes", "pred", "succ")
"""What a graph is read by, beside its dictionaries."""


@functools.cache
def overrides_reading(graph: type) -> bool:
    """Returns whether a subclass of NetworkX's graphs is read in another way, so that its dictionaries do not say what it is."""
    for name in READING:
        owner = next((base for base in graph.__mro__ if name in vars(base)), None)
        if owner is not None and not owner.__module__.startswith(("networkx.classes.", "ripplet.")):
            return True
    return False


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
    kind: Any = type(graph)
    if overrides_reading(kind):
        return f"{kind.__name__} has other neighbours than it stores"
    if name in OF_NODES and len(graph) == 0:
        return "the null graph has no distances"
    if graph.is_multigraph() and name in NO_MULTIGRAPHS:
        return "ripplet merges repeated edges, which count here"
    if name == "transitivity" and graph.is_directed():
        return "ripplet counts triangles of undirected graphs"
    if name == "closeness_centrality" and bound.get("u") is not None and bound["u"] not in graph:
        return "the node is not in the graph"
    cutoff = bound.get("cutoff")
    if cutoff is not None and not (isinstance(cutoff, (int, float)) and cutoff >= 0):
        return "the cutoff is no number from 0 on"
    if name == "asyn_lpa_communities" and graph.is_directed():
        return "labels that follow directed edges need not settle"
    if name == "pagerank" and not isinstance(bound.get("max_iter", 100), int):
        return "max_iter is no whole number"
    if name == "leiden_communities":
        metric, theta = leiden_metric(bound.get("metric")), bound.get("theta", DRAW_OF_LEIDEN)
        if metric not in ("cpm", "modularity"):
            return f"metric={metric!r}: ripplet has 'cpm' and 'modularity'"
        if theta != DRAW_OF_LEIDEN:
            return f"theta={theta!r}: ripplet's refinement draws nothing"
        resolution = bound.get("resolution", 1)
        if not (isinstance(resolution, (int, float)) and LEAST_RESOLUTION <= resolution <= MOST_RESOLUTION):
            return f"resolution={resolution!r}: ripplet takes numbers from {LEAST_RESOLUTION:g} to {MOST_RESOLUTION:g}"
        if graph.is_directed():
            return "ripplet's communities are here those of undirected graphs"
    if name in WEIGHTS:
        weight = bound.get(WEIGHTS[name], SIGNATURES[name].parameters[WEIGHTS[name]].default)
        if weight is None:
            return "ripplet needs an attribute here" if name == "all_pairs_dijkstra_path_length" else None
        if callable(weight):
            return "a weight that is a function is called by NetworkX"
        if has_two_weights(graph.original if isinstance(graph, BackendGraph) else graph):
            return "an edge of an undirected view has the weights of both directions: copy the view"
        if not isinstance(graph, BackendGraph) and all(known.attribute != weight for known in conversions(graph)):
            negative = name != "leiden_communities"
            return native.refused_weights(graph._adj, graph.is_multigraph(), weight, negative)
    return None
