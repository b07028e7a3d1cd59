"""The backend of NetworkX: functions of NetworkX by ripplet, with NetworkX's arguments and results.

A function that cannot answer exactly raises ``NotImplementedError`` or is refused by ``can_run`` with the reason, and NetworkX
then runs its own.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any

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


def connected_components(G: BackendGraph) -> Iterator[set[Hashable]]:
    parts: dict[int, set[Hashable]] = {}
    for node, part in zip(G.nodes, G.values("components"), strict=True):
        parts.setdefault(part, set()).add(node)
    yield from parts.values()


def weakly_connected_components(G: BackendGraph) -> Iterator[set[Hashable]]:
    return connected_components(G)


def number_connected_components(G: BackendGraph) -> int:
    return len(set(G.values("components")))


def closeness_centrality(G: BackendGraph, u: Any = None, distance: Any = None, wf_improved: bool = True) -> Any:
    options = {"measure": "wasserman-faust"} if wf_improved else {"normalized": True}
    return G.by_node(G.values("closeness", **options))


def harmonic_centrality(G: BackendGraph, nbunch: Any = None, distance: Any = None, sources: Any = None) -> Any:
    return G.by_node(G.values("harmonic"))


def betweenness_centrality(
    G: BackendGraph,
    k: Any = None,
    normalized: bool = True,
    weight: Any = None,
    endpoints: bool = False,
    seed: Any = None,
) -> Any:
    return G.by_node(G.values("betweenness", normalized=bool(normalized) and len(G) > 2))


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
ONLY: dict[str, dict[str, tuple[tuple[Any, ...], str]]] = {
    "clustering": {"weight": ((None,), "clustering by weights is not in ripplet")},
    "closeness_centrality": {
        "u": ((None,), "for one node NetworkX needs one search, and ripplet computes all"),
        "distance": ((None,), "ripplet's weights are integers, so that sums of distances may differ in their last digits"),
    },
    "harmonic_centrality": {
        "nbunch": ((None,), "ripplet computes all nodes"),
        "sources": ((None,), "ripplet takes all nodes as sources"),
        "distance": ((None,), "ripplet's weights are integers, so that sums of distances may differ in their last digits"),
    },
    "betweenness_centrality": {
        "k": ((None,), "ripplet takes all nodes as sources"),
        "weight": ((None,), "ripplet's weights are integers, so that path lengths may differ in their last digits"),
        "endpoints": ((False,), "ripplet does not count the ends of paths"),
    },
    "pagerank": {
        "personalization": ((None,), "ripplet's walk jumps to all nodes alike"),
        "nstart": ((None,), "ripplet begins with equal ranks"),
        "dangling": ((None,), "ripplet's walk jumps from nodes without edges to all nodes alike"),
    },
}

POSITIONS: dict[str, tuple[str, ...]] = {
    "clustering": ("G", "nodes", "weight"),
    "closeness_centrality": ("G", "u", "distance", "wf_improved"),
    "harmonic_centrality": ("G", "nbunch", "distance", "sources"),
    "betweenness_centrality": ("G", "k", "normalized", "weight", "endpoints", "seed"),
    "pagerank": ("G", "alpha", "personalization", "max_iter", "tol", "nstart", "weight", "dangling"),
}

FUNCTIONS: dict[str, Callable[..., Any]] = {
    function.__name__: function
    for function in (
        betweenness_centrality,
        closeness_centrality,
        clustering,
        connected_components,
        harmonic_centrality,
        label_propagation_communities,
        number_connected_components,
        pagerank,
        triangles,
        weakly_connected_components,
    )
}

# Those for which repeated edges make no difference.
MULTIGRAPHS = {"connected_components", "number_connected_components", "weakly_connected_components", "closeness_centrality",
               "harmonic_centrality"}


def refusal(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Returns why ripplet does not run a call; ``None`` if it does."""
    bound = {**dict(zip(POSITIONS.get(name, ("G",)), args, strict=False)), **kwargs}
    for argument, (allowed, reason) in ONLY.get(name, {}).items():
        value = bound.get(argument, allowed[0])
        if not any(value is known for known in allowed):
            return f"{argument}={value!r}: {reason}"
    graph = bound.get("G")
    if graph is None or not hasattr(graph, "is_multigraph"):
        return "the first argument is no graph"
    if graph.is_multigraph() and name not in MULTIGRAPHS:
        return "ripplet merges repeated edges, which count here"
    if name == "pagerank":
        weight = bound.get("weight", "weight")
        if weight is not None and not isinstance(graph, BackendGraph):
            if any(weight in data for _, _, data in graph.edges(data=True)):
                return "ripplet's weights are integers, so that ranks may differ in their last digits"
        if not 0 <= bound.get("alpha", 0.85) <= 1 or not bound.get("tol", 1e-6) > 0 or bound.get("max_iter", 100) < 1:
            return "the settings are out of ripplet's range"
    return None
