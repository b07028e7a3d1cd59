"""The backend of NetworkX gives NetworkX's results."""

from __future__ import annotations

import copy
import inspect
import os
import pickle
import random
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import random_edges

nx = pytest.importorskip("networkx")
interface = pytest.importorskip("nx_ripplet.interface")
backend = interface.backend
rp = pytest.importorskip("ripplet")


def graphs() -> list[Any]:
    made: list[Any] = [nx.karate_club_graph(), nx.null_graph(), nx.empty_graph(3), nx.path_graph(2), nx.Graph([(1, 1)])]
    for seed in range(6):
        u, v, _ = random_edges(seed, 40, 60 + 20 * seed)
        edges = list(zip(u.tolist(), v.tolist(), strict=True))
        made += [nx.Graph(edges), nx.DiGraph(edges)]
        made.append(nx.Graph((f"n{a}", (b, a)) for a, b in edges))
    return made


GRAPHS = graphs()


def converted(graph: Any) -> Any:
    return backend.convert_from_nx(graph, edge_attrs={"weight": 1})


@pytest.mark.parametrize("at", range(len(GRAPHS)))
def test_results_are_those_of_networkx(at: int) -> None:
    graph = GRAPHS[at]
    mine = converted(graph)
    for name in ("closeness_centrality", "harmonic_centrality", "betweenness_centrality", "clustering"):
        expected = getattr(nx, name)(graph)
        found = getattr(backend, name)(mine)
        assert list(found) == list(graph)
        for node, value in expected.items():
            assert found[node] == pytest.approx(value, rel=1e-9, abs=1e-12), (name, node)
    loose, known = backend.closeness_centrality(mine, wf_improved=False), nx.closeness_centrality(graph, wf_improved=False)
    assert all(loose[node] == pytest.approx(value) for node, value in known.items())
    if len(graph):
        plain = nx.Graph(graph.edges()) if not graph.is_directed() else graph
        ranks = backend.pagerank(converted(plain), tol=1e-12, max_iter=1000)
        known = nx.pagerank(plain, tol=1e-12, max_iter=1000, weight=None)
        assert all(ranks[node] == pytest.approx(value, abs=1e-9) for node, value in known.items())
    if graph.is_directed():
        assert list(backend.weakly_connected_components(mine)) == list(nx.weakly_connected_components(graph))
        return
    assert backend.triangles(mine) == nx.triangles(graph)
    assert list(backend.connected_components(mine)) == list(nx.connected_components(graph))
    assert backend.number_connected_components(mine) == nx.number_connected_components(graph)
    found = backend.label_propagation_communities(mine)
    assert list(found) == list(nx.community.label_propagation_communities(graph))


def test_label_propagation_is_exact_on_larger_graphs() -> None:
    for seed in (1, 2):
        graph = nx.barabasi_albert_graph(800, 4, seed=seed)
        expected = list(nx.community.label_propagation_communities(graph))
        assert list(backend.label_propagation_communities(converted(graph))) == expected


def test_one_node_and_some_nodes() -> None:
    graph = nx.karate_club_graph()
    mine = converted(graph)
    assert backend.triangles(mine, 0) == nx.triangles(graph, 0)
    assert backend.clustering(mine, [0, 5]) == pytest.approx(nx.clustering(graph, [0, 5]))
    assert isinstance(backend.clustering(mine, 0), float)


class Complement(nx.Graph):  # type: ignore[misc]
    """A class that stores the edges that it does not have, as one of NetworkX's approximations does."""

    def neighbors(self, node: Any) -> Any:
        return iter(set(self._adj) - set(self._adj[node]) - {node})


class Named(nx.Graph):  # type: ignore[misc]
    """A class of a user, which reads as NetworkX does."""

    name = "named"


def test_what_is_not_exact_is_refused_with_a_reason() -> None:
    graph = nx.karate_club_graph()
    refused = [
        ("betweenness_centrality", (graph,), {"weight": lambda u, v, data: 1}, "function"),
        ("closeness_centrality", (graph, 99), {}, "not in the graph"),
        ("eccentricity", (graph, 3), {}, "v=3"),
        ("harmonic_centrality", (graph,), {"distance": "weight"}, "distance"),
        ("transitivity", (nx.DiGraph([(0, 1)]),), {}, "undirected"),
        ("clustering", (graph,), {"weight": "weight"}, "weight"),
        ("asyn_lpa_communities", (nx.DiGraph([(0, 1)]),), {}, "directed"),
        ("modularity", (nx.Graph([(0, 1, {"weight": "x"})]), [{0, 1}]), {}, "str"),
        ("pagerank", (graph,), {"weight": lambda u, v, data: 1}, "function"),
        ("pagerank", (graph,), {"max_iter": 1.5}, "whole number"),
        ("triangles", (nx.MultiGraph([(0, 1), (0, 1)]),), {}, "repeated"),
        ("leiden_communities", (graph,), {"max_level": 2}, "max_level=2"),
        ("leiden_communities", (graph,), {"resolution": 0}, "from 1e-09 to 1e+09"),
        ("leiden_communities", (graph,), {"resolution": "1"}, "resolution='1'"),
        ("leiden_communities", (nx.DiGraph([(0, 1)]),), {}, "undirected"),
        ("leiden_communities", (graph,), {"metric": "surprise"}, "metric='surprise'"),
        ("leiden_communities", (graph,), {"theta": 0.5}, "theta=0.5"),
        ("core_number", (Complement([(0, 1), (1, 2)]),), {}, "Complement has other neighbours than it stores"),
        ("leiden_communities", (nx.Graph([(0, 1, {"weight": -2})]),), {}, "the weight -2 is below 0"),
        ("leiden_communities", (nx.Graph([(0, 1, {"weight": "x"})]),), {}, "str"),
    ]
    for name, args, kwargs, reason in refused:
        answer = backend.can_run(name, args, kwargs)
        assert isinstance(answer, str) and reason in answer, (name, answer)
    assert backend.can_run("pagerank", (graph,), {}) is True
    large = nx.path_graph(1000)
    for name in ("is_connected", "node_connected_component", "connected_components"):
        assert "convert" in backend.should_run(name, (large, 3), {})
        assert backend.should_run(name, (converted(large), 3), {}) is True
    large.__networkx_cache__["backends"] = {"ripplet": {"key": converted(large)}}
    assert backend.should_run("is_connected", (large,), {}) is True
    assert backend.can_run("triangles", (graph,), {}) is True
    assert "fewer than" in backend.should_run("triangles", (graph,), {})
    assert backend.should_run("triangles", (nx.path_graph(1000),), {}) is True
    # Before 3.7, NetworkX has none of its own.
    own = "metric" in inspect.signature(nx.community.leiden_communities).parameters
    assert (backend.should_run("leiden_communities", (graph,), {}) is True) != own
    views = [graph.subgraph([0, 1, 2]), nx.freeze(nx.path_graph(3)), nx.DiGraph([(0, 1)]).reverse(copy=False), Named([(0, 1)])]
    assert [backend.can_run("pagerank", (view,), {}) for view in views] == [True] * 4
    with pytest.raises(nx.PowerIterationFailedConvergence):
        backend.pagerank(converted(nx.path_graph(50)), tol=1e-12, max_iter=2)


def test_core_numbers_of_graphs_with_loops_are_refused_as_networkx_does() -> None:
    for graph in (nx.Graph([(0, 1), (1, 1)]), nx.DiGraph([(1, 1)])):
        messages = []
        for function, argument in ((nx.core_number, graph), (backend.core_number, converted(graph))):
            with pytest.raises(nx.NetworkXNotImplemented) as raised:
                function(argument)
            messages.append(str(raised.value))
        assert messages[0] == messages[1]
    assert "repeated" in backend.can_run("core_number", (nx.MultiGraph([(0, 1)]),), {})
    large = nx.gnm_random_graph(400, 2000, seed=6, directed=True)
    assert large.number_of_edges() > len(set(map(frozenset, large.edges)))  # some both ways
    assert backend.core_number(converted(large)) == nx.core_number(large)


def test_the_configuration_of_networkx_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import nx_ripplet

    from ripplet import _networkx

    calls: list[dict[str, Any]] = []

    def watched(name: str) -> Any:
        original = getattr(_networkx.native, name)

        def call(*args: Any) -> Any:
            calls.append(args[-1])
            return original(*args)

        return call

    names = ("analyse", "communities", "dependencies", "distances", "extents", "reach", "walk_ranks", "edge_dependencies",
             "community_sums", "semi_synchronous")
    for name in names:
        monkeypatch.setattr(_networkx.native, name, watched(name))
    graph = nx.barabasi_albert_graph(60, 3, seed=1)
    info = nx_ripplet.get_info()["default_config"]
    assert info == {"threads": None, "device": "cpu", "smallest_graph": 200}
    config = nx.utils.configs.Config(**info)
    monkeypatch.setattr(_networkx.sys.modules["networkx"], "config", types.SimpleNamespace(backends=types.SimpleNamespace(ripplet=config)))
    mine = converted(graph)

    def run() -> list[Any]:
        calls.clear()
        with_draws = backend.asyn_lpa_communities(mine, seed=random.Random(1))
        return [
            backend.closeness_centrality(mine), backend.harmonic_centrality(mine), backend.clustering(mine),
            backend.triangles(mine), list(with_draws), backend.core_number(mine), list(backend.connected_components(mine)),
            backend.betweenness_centrality(mine), dict(backend.all_pairs_shortest_path_length(mine)),
            backend.closeness_centrality(mine, distance="weight"), backend.eccentricity(mine), backend.pagerank(mine),
            backend.edge_betweenness_centrality(mine), backend.modularity(mine, [set(graph)]),
            list(backend.label_propagation_communities(mine)),
        ]

    first = run()
    assert [call["threads"] for call in calls] == [None] * 15
    with config(threads=1, device="auto", smallest_graph=20):
        assert run() == first
        assert [call["threads"] for call in calls] == [1] * 15
        assert [call["device"] for call in calls] == ["auto"] * 5 + ["cpu"] * 10
        assert backend.should_run("triangles", (graph,), {}) is True
    assert "fewer than 200" in backend.should_run("triangles", (graph,), {})
    for name, value, message in [("threads", 0, "threads"), ("threads", "x", "threads"), ("device", "tpu", "device")]:
        with config(**{name: value}), pytest.raises(ValueError if value != "x" else TypeError, match=message):
            backend.closeness_centrality(mine)
    with config(smallest_graph="few"), pytest.raises(TypeError, match="smallest_graph"):
        backend.should_run("triangles", (graph,), {})


def run_with_backend(code: str, folder: Path) -> None:
    """Runs a program with ripplet installed as a backend of NetworkX, in a folder for its metadata."""
    shutil.copytree(Path(interface.__file__).parents[1] / "nx_ripplet", folder / "nx_ripplet")
    metadata = folder / "ripplet-0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: ripplet\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text(
        "[networkx.backends]\nripplet = nx_ripplet.interface:backend\n[networkx.backend_info]\nripplet = nx_ripplet:get_info\n"
    )
    path = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_networkx_takes_the_default_configuration(tmp_path: Path) -> None:
    code = """
import networkx as nx
config = nx.config.backends.ripplet
assert dict(config) == {"threads": None, "device": "cpu", "smallest_graph": 200}, config
G = nx.path_graph(100)
with nx.config(backend_priority=["ripplet"]), nx.config.backends.ripplet(threads=1, smallest_graph=50):
    nx.core_number(G)
    assert len(G.__networkx_cache__["backends"]["ripplet"]) == 1
H = nx.path_graph(100)
with nx.config(backend_priority=["ripplet"]):
    nx.core_number(H)
    assert "backends" not in H.__networkx_cache__
"""
    run_with_backend(code, tmp_path)


def test_views_have_the_values_of_the_graph_below_after_it_changes(tmp_path: Path) -> None:
    code = """
import warnings
import networkx as nx
warnings.simplefilter("ignore")
VIEWS = [
    lambda G: G.subgraph(range(300)),
    lambda G: nx.subgraph_view(G, filter_edge=lambda u, v: 3 not in (u, v)),
    lambda G: nx.restricted_view(G, [5], []),
    lambda G: G.to_directed(as_view=True),
    lambda G: G.to_undirected(as_view=True),
]
OF_DIGRAPHS = [lambda G: G.reverse(copy=False), lambda G: G.to_undirected(as_view=True), lambda G: G.subgraph(range(300)).reverse(copy=False)]
def check(G, view, **by):
    for change in (lambda: None, lambda: G.remove_edge(100, 101), lambda: G.add_edge(0, 299), lambda: G.remove_node(200)):
        change()
        for name in ("harmonic_centrality", "closeness_centrality", "number_weakly_connected_components" if view.is_directed() else "number_connected_components"):
            expected = getattr(nx, name)(view, backend="networkx")
            found = getattr(nx, name)(view, **by)
            if isinstance(found, dict):
                assert found.keys() == expected.keys() and all(abs(found[node] - expected[node]) < 1e-9 for node in expected), (view, name)
            else:
                assert found == expected, (view, name)
for by in ({"backend": "ripplet"}, {}):
    with nx.config(backend_priority=[] if by else ["ripplet"]):
        for kind, views in ((nx.path_graph, VIEWS), (lambda n: nx.path_graph(n, nx.DiGraph), OF_DIGRAPHS)):
            for make in views:
                G = kind(300)
                check(G, make(G), **by)
"""
    run_with_backend(code, tmp_path)


def test_weights_of_undirected_views_of_directed_graphs_are_left_to_networkx() -> None:
    graph = nx.DiGraph([(0, 1, {"weight": 1}), (1, 0, {"weight": 5}), (1, 2, {"weight": 2})])
    view = graph.to_undirected(as_view=True)
    for shown in (view, view.subgraph([0, 1]), view.to_directed(as_view=True), converted(view)):
        for name in ("pagerank", "all_pairs_dijkstra_path_length"):
            assert "both directions: copy the view" in backend.can_run(name, (shown,), {}), shown
        assert backend.can_run("pagerank", (shown,), {"weight": None}) is True
        assert backend.can_run("closeness_centrality", (shown,), {}) is True
    for shown in (view.copy(), graph, graph.subgraph([0, 1]), graph.to_undirected()):
        assert backend.can_run("pagerank", (shown,), {}) is True


def test_every_function_is_in_the_list() -> None:
    import nx_ripplet
    from ripplet import _networkx

    assert set(nx_ripplet.get_info()["functions"]) == set(_networkx.FUNCTIONS)
    for name, function in _networkx.FUNCTIONS.items():
        original = getattr(nx, name, None) or getattr(nx.community, name)
        known = [name for name in inspect.signature(original).parameters if name not in ("backend", "backend_kwargs")]
        # NetworkX 3.7 has further ones.
        newer = {"closeness_centrality": {"sp"}, "leiden_communities": {"metric", "theta"}}.get(name, set()) - set(known)
        assert [name for name in inspect.signature(function).parameters if name not in newer] == known, name


def test_the_information_loads_no_extension() -> None:
    code = "import nx_ripplet, sys; nx_ripplet.get_info(); sys.exit('ripplet' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def neighbours(mine: Any) -> list[list[Any]]:
    """Returns the neighbours of each node of a converted graph, by its arrays."""
    (begins, ends, *_), *_ = mine.adjacency.state()
    begins, ends = (np.frombuffer(memoryview(array), array.dtype) for array in (begins, ends))
    return [[mine.nodes[end] for end in ends[a:b]] for a, b in zip(begins, begins[1:])]


class Name(str):
    """A string of another type."""


def test_neighbours_are_found_by_equality() -> None:
    """Nodes are other objects than the keys of neighbours, and may be of other types."""
    names = nx.Graph((f"n{a * b % 37}", f"n{a}") for a in range(40) for b in range(5))
    names.add_edge("n1", Name("n30"))
    large = nx.DiGraph((10**12 + a * b % 37, -a) for a in range(40) for b in range(5))
    large.add_edge(-3, True)
    large.add_edge(-4, 2.0)
    large.add_edge(-3, 2**63 - 1)
    for graph in (names, large, nx.relabel_nodes(large, {-1: 2**70})):
        assert neighbours(converted(graph)) == [list(graph[node]) for node in graph]


def test_a_converted_graph_has_the_order_of_the_dictionaries() -> None:
    for graph in [*GRAPHS, nx.Graph([(2, 0), (0, 1), (1.0, True)]), nx.karate_club_graph().subgraph([5, 0, 6])]:
        mine = converted(graph)
        assert mine.nodes == list(graph)
        assert neighbours(mine) == [list(graph[node]) for node in graph]
        assert mine.number_of_edges() == graph.number_of_edges()
    multigraph = nx.MultiGraph([(0, 1), (0, 1), (1, 1), (2, 1)])
    assert neighbours(converted(multigraph)) == [[1], [0, 1, 2], [1]]
    assert converted(multigraph).number_of_edges() == 4


def test_weights_that_are_no_numbers_are_refused_with_the_reason() -> None:
    for weight, reason in [("x", "str"), (None, "NoneType"), (float("nan"), "NaN"), (2**60, "exact")]:
        graph = nx.path_graph(3)
        graph.edges[1, 2]["weight"] = weight
        with pytest.raises(NotImplementedError, match=reason):
            converted(graph)
    kinds = {"integers": 2, "floats": 0.5, "mixed": None}
    for kind, weight in kinds.items():
        graph = nx.path_graph(3)
        nx.set_edge_attributes(graph, weight or 2, "weight")
        if weight is None:
            graph.edges[0, 1]["weight"] = 0.1
        assert converted(graph).adjacency.weights == kind


def test_converted_graphs_are_cached_pickled_and_copied_with_their_graph() -> None:
    for graph in (nx.les_miserables_graph(), nx.DiGraph([(0, 1), (2, 1)]), nx.MultiGraph([(0, 1), (0, 1)])):
        mine = converted(graph)
        graph.__networkx_cache__["backends"] = {"ripplet": {(frozenset({("weight", 1)}), False): mine}}
        for again in (pickle.loads(pickle.dumps(graph)), copy.deepcopy(graph)):
            (cached,) = again.__networkx_cache__["backends"]["ripplet"].values()
            assert cached is not mine and cached.original is again
            assert cached.nodes == mine.nodes and neighbours(cached) == neighbours(mine)
            assert cached.adjacency.weights == mine.adjacency.weights
            assert backend.number_connected_components(cached) == backend.number_connected_components(mine)
        assert backend.convert_to_nx(mine) is graph
        graph.add_edge(0, 1)
        assert not graph.__networkx_cache__


def test_arrays_that_are_no_graph_are_an_error() -> None:
    from ripplet import _native

    begins, ends = np.array([0, 1, 2], np.uint64), np.array([1, 0], np.uint32)
    assert _native.Adjacency.of_state((begins, ends, None, None, None), None, "none", 1.0).nodes == 2
    for wrong in [
        (begins[:2], ends), (begins[::-1].copy(), ends), (begins, ends + np.uint32(1)), (begins * np.uint64(9), ends)
    ]:
        with pytest.raises(ValueError, match="no graph"):
            _native.Adjacency.of_state((*wrong, None, None, None), None, "none", 1.0)


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("all_pairs_dijkstra_path_length", {}),
    ("all_pairs_dijkstra_path_length", {"cutoff": 3.5}),
    ("all_pairs_shortest_path_length", {}),
    ("all_pairs_shortest_path_length", {"cutoff": 2}),
    ("all_pairs_shortest_path_length", {"cutoff": 10**400}),
    ("all_pairs_dijkstra_path_length", {"cutoff": 10**400}),
    ("average_clustering", {"nodes": 77}),
    ("clustering", {"nodes": 77}),
    ("clustering", {"nodes": [3, "no node", 1]}),
    ("triangles", {"nodes": 77}),
    ("average_clustering", {}),
    ("average_clustering", {"count_zeros": False}),
    ("average_shortest_path_length", {}),
    ("betweenness_centrality", {"endpoints": True}),
    ("betweenness_centrality", {"k": 3, "seed": 7}),
    ("betweenness_centrality", {"k": 3, "seed": 7, "normalized": False, "weight": "weight"}),
    ("center", {}),
    ("closeness_centrality", {"distance": "weight"}),
    ("core_number", {}),
    ("diameter", {}),
    ("eccentricity", {}),
    ("edge_betweenness_centrality", {}),
    ("edge_betweenness_centrality", {"k": 3, "seed": 7, "weight": "weight"}),
    ("global_efficiency", {}),
    ("harmonic_centrality", {"nbunch": [3, 1, "no node", 1]}),
    ("harmonic_centrality", {"nbunch": 3}),
    ("harmonic_centrality", {"nbunch": []}),
    ("is_connected", {}),
    ("is_weakly_connected", {}),
    ("number_weakly_connected_components", {}),
    ("node_connected_component", {"n": 3}),
    ("node_connected_component", {"n": "no node"}),
    ("pagerank", {}),
    ("pagerank", {"weight": None, "alpha": 0.5, "tol": 1e-9, "max_iter": 200}),
    ("pagerank", {"personalization": {1: 3, 2: 1}, "nstart": {0: 2.0, 1: 1}, "max_iter": 500}),
    ("pagerank", {"personalization": {"no node": 1}}),
    ("pagerank", {"dangling": {0: 1, 3: 2}, "max_iter": 500}),
    ("pagerank", {"max_iter": 2, "tol": 1e-12}),
    ("periphery", {}),
    ("radius", {}),
    ("transitivity", {}),
    ("wiener_index", {}),
]


def weighted_graphs() -> list[Any]:
    made: list[Any] = [nx.null_graph(), nx.empty_graph(4), nx.path_graph(5), nx.karate_club_graph()]
    for seed in range(4):
        u, v, _ = random_edges(seed, 25, 30 + 30 * seed)
        lengths = [1 + (7 * at) % 5 for at in range(len(u))]
        edges = list(zip(u.tolist(), v.tolist(), lengths, strict=True))
        halves = [(a, b, length / 2) for a, b, length in edges]
        for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
            graph = kind()
            graph.add_weighted_edges_from(halves if seed % 2 else edges)
            made.append(graph)
    return made


def outcome(call: Any) -> Any:
    """Returns a result in lists, in its order, or the class of its exception."""
    try:
        result = call()
        if isinstance(result, dict):
            return [(key, value) for key, value in result.items()]
        if hasattr(result, "__next__"):
            return [(key, list(value.items())) for key, value in result]
        return result
    except Exception as error:  # the class is compared
        return type(error)


def assert_alike(found: Any, expected: Any) -> None:
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert_alike(mine, theirs)
    elif isinstance(expected, float):
        assert isinstance(found, float)
        assert found == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    else:
        assert found == expected
        assert type(found) is type(expected)


@pytest.mark.parametrize(("name", "options"), CALLS)
def test_calls_give_networkx_values_types_order_and_exceptions(name: str, options: dict[str, Any]) -> None:
    compared = 0
    for graph in weighted_graphs():
        may = backend.can_run(name, (graph,), options)
        if may is not True:
            assert isinstance(may, str)
            continue
        mine = backend.convert_from_nx(graph, edge_attrs={"weight": 1})
        drawn = dict(options)
        if "seed" in drawn:
            drawn["seed"] = random.Random(drawn["seed"])
        found = outcome(lambda: getattr(backend, name)(mine, **drawn))
        expected = outcome(lambda: getattr(nx, name)(graph, **options))
        # NetworkX then runs its own, or refuses the kind of graph before it asks a backend.
        if found is NotImplementedError or expected is nx.NetworkXNotImplemented:
            continue
        assert_alike(found, expected)
        compared += 1
    assert compared >= 4


@pytest.mark.parametrize("name", ["betweenness_centrality", "edge_betweenness_centrality"])
@pytest.mark.parametrize("weight", [0, False, -0.0, 1e-310, 1e-17])
def test_edges_that_make_no_path_longer_are_left_to_networkx(name: str, weight: Any) -> None:
    edges = [("a", "b", weight), ("b", "c", 1), ("a", "c", 1), ("c", "d", 1)]
    for kind in (nx.Graph, nx.DiGraph):
        graph = kind()
        graph.add_weighted_edges_from(edges)
        with pytest.raises(NotImplementedError, match="does not make a path longer"):
            getattr(backend, name)(converted(graph), weight="weight")
        graph["a"]["b"]["weight"] = 1e-9
        found = getattr(backend, name)(converted(graph), weight="weight")
        assert found == pytest.approx(getattr(nx, name)(graph, weight="weight"))


def test_nodes_that_no_other_reaches_have_an_integer() -> None:
    graph = nx.DiGraph([(0, 1), (1, 2)])
    found, expected = backend.harmonic_centrality(converted(graph)), nx.harmonic_centrality(graph)
    assert found == expected and {node: type(value) for node, value in found.items()} == {0: int, 1: float, 2: float}


def test_a_node_that_is_not_equal_to_itself_is_left_to_networkx() -> None:
    graph = nx.path_graph(3)
    graph.add_edge(2, float("nan"))
    with pytest.raises(NotImplementedError, match="not equal to itself"):
        backend.betweenness_centrality(converted(graph))


def test_communities_that_are_no_collections_have_networkxs_error() -> None:
    graph = nx.path_graph(2)
    with pytest.raises(TypeError) as expected:
        nx.community.modularity(graph, {0: 1})
    with pytest.raises(TypeError) as found:
        backend.modularity(converted(graph), {0: 1})
    assert str(found.value) == str(expected.value)


def partitions(graph: Any) -> list[Any]:
    """Returns partitions of a graph's nodes, and collections that are none."""
    nodes = list(graph)
    thirds = [{node for at, node in enumerate(nodes) if at % 3 == part} for part in range(3)]
    of_all: list[Any] = [[set(nodes)], [{node} for node in nodes], thirds, [frozenset(part) for part in thirds]]
    of_all += [[nodes[:2], tuple(nodes[2:])], [*thirds, set()], tuple(thirds)]
    return of_all + [[], thirds[:2], [*thirds, {"no node"}], [*thirds, thirds[0]], [[1, [2]]], [5]]


@pytest.mark.parametrize("options", [{}, {"weight": None}, {"resolution": 0.5}, {"resolution": 3, "weight": "weight"}])
def test_modularity_has_the_bits_and_the_exceptions_of_networkx(options: dict[str, Any]) -> None:
    loops = nx.Graph([(0, 1, {"weight": 0.1}), (1, 1, {"weight": 0.7}), (1, 2), (3, 3)])
    negative = nx.DiGraph([(0, 1, {"weight": -2}), (1, 2), (2, 0, {"weight": 0.3})])
    for graph in [*weighted_graphs(), loops, negative, nx.Graph([(0, 1, {"weight": 0})])]:
        assert backend.can_run("modularity", (graph, []), options) is True
        for partition in partitions(graph):
            found = outcome(lambda: backend.modularity(converted(graph), partition, **options))
            expected = outcome(lambda: nx.community.modularity(graph, partition, **options))
            if graph.is_multigraph() or sys.version_info >= (3, 12):  # the order of sums differs
                assert_alike(found, expected)
            else:
                assert (found, type(found)) == (expected, type(expected)), (graph, partition)
    graph = nx.karate_club_graph()
    clusters = nx.community.label_propagation_communities(graph)
    assert backend.modularity(converted(graph), iter(clusters)) == nx.community.modularity(graph, clusters)


def test_partition_quality_counts_as_networkx_does() -> None:
    compared = 0
    for graph in [*weighted_graphs(), nx.Graph([(1, 1)]), nx.Graph([(0, 1), (1, 1), (1, 2)])]:
        for partition in partitions(graph):
            expected = outcome(lambda: nx.community.partition_quality(graph, partition))
            found = outcome(lambda: backend.partition_quality(converted(graph), partition))
            if found is NotImplementedError:  # NetworkX's decorator refuses it before a backend is asked
                assert expected is nx.NetworkXError
                continue
            assert found == expected
            compared += 1
    assert compared > 50


def votes(graph: Any, node: Any, weight: Any, *, directed: bool) -> dict[Any, float]:
    """Returns how often each neighbour votes, by NetworkX's own functions."""
    counted: dict[Any, float] = {}
    edges = list(graph.edges(node, data=weight, default=1)) if weight else [(node, to, 1) for to in graph[node]]
    if directed:
        edges = list(graph.edges(node, data=weight, default=1))
        if graph.is_directed():
            edges += [(node, of, w) for of, _, w in graph.in_edges(node, data=weight, default=1)]
    for _, to, value in edges:
        counted[to] = counted.get(to, 0) + value
    return counted


@pytest.mark.parametrize("weight", [None, "weight"])
def test_each_node_has_a_most_frequent_label_of_its_neighbours(weight: Any) -> None:
    graphs = [*weighted_graphs(), nx.Graph([(1, 1), (1, 2)]), nx.DiGraph([(1, 1), (1, 2), (2, 1), (3, 1)])]
    graphs += [nx.gnm_random_graph(300, 900, seed=5), nx.cycle_graph(100), nx.complete_bipartite_graph(30, 30)]
    for graph in graphs:
        for name, fast in (("fast_label_propagation_communities", True), ("asyn_lpa_communities", False)):
            if backend.can_run(name, (graph,), {"weight": weight}) is not True:
                assert graph.is_directed() and not fast
                continue
            mine = converted(graph)

            def run(seed: int, name: str = name, mine: Any = mine) -> Any:
                return getattr(backend, name)(mine, weight=weight, seed=random.Random(seed))

            found = run(3)
            assert hasattr(found, "__next__")
            clusters = list(found)
            assert clusters == list(run(3))
            assert nx.community.is_partition(graph, clusters)
            label = {node: at for at, cluster in enumerate(clusters) for node in cluster}
            for node in graph:
                counts: dict[int, float] = {}
                for to, value in votes(graph, node, weight, directed=fast).items():
                    counts[label[to]] = counts.get(label[to], 0) + value
                assert not counts or counts.get(label[node], 0) >= max(counts.values()) - 1e-9, (name, node)


def test_weights_that_label_propagation_does_not_hold_are_left_to_networkx() -> None:
    for weight in (0, -1, 1 / 3, 2**40 + 1):
        graph = nx.Graph([(0, 1, {"weight": weight}), (1, 2)])
        with pytest.raises(NotImplementedError, match="weight"):
            backend.fast_label_propagation_communities(converted(graph), weight="weight", seed=random.Random(1))


def leiden(graph: Any, seed: int = 1, **options: Any) -> list[set[Any]]:
    found: list[set[Any]] = backend.leiden_communities(converted(graph), seed=random.Random(seed), **options)
    return found


def test_leiden_has_at_least_the_modularity_of_networkxs_louvain() -> None:
    graphs = [
        nx.karate_club_graph(), nx.les_miserables_graph(), nx.florentine_families_graph(), nx.davis_southern_women_graph(),
        nx.connected_caveman_graph(12, 6), nx.LFR_benchmark_graph(250, 3, 1.5, 0.009, average_degree=5, min_community=20, seed=10),
        nx.MultiGraph(nx.les_miserables_graph()),
    ]
    for graph in graphs:
        mine = nx.community.modularity(graph, leiden(graph))
        theirs = nx.community.modularity(graph, nx.community.louvain_communities(graph, seed=1))
        assert mine >= theirs - 1e-9, (graph, mine, theirs)


@pytest.mark.parametrize("options", [{}, {"weight": None}, {"resolution": 0.5}, {"resolution": 3.0, "weight": "weight"}])
def test_leiden_partitions_the_nodes_alike_on_any_number_of_threads(
    options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ripplet import _networkx

    graphs = [graph for graph in [*weighted_graphs(), *GRAPHS] if not graph.is_directed()]
    for graph in [*graphs, nx.gnm_random_graph(500, 1500, seed=5)]:
        assert backend.can_run("leiden_communities", (graph,), options) is True
        found = leiden(graph, **options)
        assert found == [] if len(graph) == 0 else nx.community.is_partition(graph, found)
        place = {node: at for at, node in enumerate(graph)}
        firsts = [min(place[node] for node in community) for community in found]
        assert firsts == sorted(firsts)
        for community in found:
            assert nx.is_connected(graph.subgraph(community))
        for threads in (1, 2, 3):
            monkeypatch.setattr(_networkx, "setting", lambda name, threads=threads: {"threads": threads, "device": "cpu"}[name])
            assert leiden(graph, **options) == found
        monkeypatch.undo()


def test_leiden_by_either_metric_is_the_packages_refinement() -> None:
    graph = nx.convert_node_labels_to_integers(nx.les_miserables_graph())
    for metric, resolution in (("cpm", 0.3), ("modularity", 1.2)):
        expected = rp.communities(rp.graph(graph, weight="weight"), refine=metric, resolution=resolution, seed=3).sets()
        draws = types.SimpleNamespace(randint=lambda low, high: 3)
        mine = backend.leiden_communities(converted(graph), seed=draws, metric=metric, resolution=resolution)
        assert 1 < len(mine) < len(graph)
        assert sorted(map(sorted, mine)) == sorted(map(sorted, expected))


def test_leiden_takes_loops_parallel_edges_and_weights_as_louvain_does() -> None:
    assert leiden(nx.empty_graph(5)) == [{0}, {1}, {2}, {3}, {4}]
    assert leiden(nx.Graph([(1, 1), (2, 2)])) == [{1}, {2}]
    # A missing weight is 1, parallel edges add up.
    plain = nx.les_miserables_graph()
    parallel = nx.MultiGraph()
    parallel.add_nodes_from(plain)
    for u, v, weight in plain.edges(data="weight"):
        parallel.add_edges_from([(u, v)] * weight)
    assert leiden(parallel) == leiden(parallel, weight=None) == leiden(plain)
    assert leiden(plain) != leiden(plain, weight=None)
    # A heavy loop is a community already.
    pair = nx.Graph([(0, 1), (1, 2), (2, 0)])
    assert leiden(pair) == [{0, 1, 2}]
    pair.add_weighted_edges_from([(node, node, 1000) for node in pair])
    assert leiden(pair) == [{0}, {1}, {2}] == nx.community.louvain_communities(pair, seed=1)
    # Fractions are rounded, to nothing only if they are far below others.
    thirds = nx.Graph(plain)
    for _, _, data in thirds.edges(data=True):
        data["weight"] /= 3
    assert leiden(thirds) == leiden(plain)
    with pytest.raises(NotImplementedError, match="too small beside the largest"):
        leiden(nx.Graph([(0, 1, {"weight": 1e-30}), (1, 2, {"weight": 1e9})]))
    with pytest.raises(NotImplementedError, match="below 0"):
        leiden(nx.Graph([(0, 1, {"weight": -2}), (1, 2)]))
