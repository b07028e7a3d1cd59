"""Values are those of NetworkX, on directed, weighted, disconnected, multi and tiny graphs."""

from __future__ import annotations

import html
import itertools
import pickle
import re
from typing import Any

import numpy as np
import pytest
from conftest import random_edges

import ripplet as rp

nx = pytest.importorskip("networkx")


def graphs() -> dict[str, Any]:
    """Returns graphs of every kind: nodes are not in the order of their ids."""
    made: dict[str, Any] = {}
    for directed in (False, True):
        kind = "directed" if directed else "undirected"
        make = nx.DiGraph if directed else nx.Graph
        u, v, w = random_edges(11, 40, 90)
        plain = make()
        plain.add_weighted_edges_from(
            (a, b, weight) for a, b, weight in zip(u.tolist(), v.tolist(), w.tolist(), strict=True) if a != b
        )
        plain.add_node(1000)
        made[f"{kind}"] = plain
        made[f"{kind}, strings"] = nx.relabel_nodes(plain, {node: f"é{node}" for node in plain})
        made[f"{kind}, one vertex"] = make([(0, 0)]) and nx.empty_graph(1, make)
        made[f"{kind}, an edge"] = make([("b", "a")])
        made[f"{kind}, none"] = make()
    return made


GRAPHS = graphs()


def assert_equal(found: rp.Values, expected: dict[Any, Any]) -> None:
    assert found.to_dict().keys() == expected.keys()
    for id, value in expected.items():
        assert found[id] == pytest.approx(value, rel=1e-9, abs=1e-12), id


@pytest.mark.parametrize("kind", GRAPHS)
def test_values_are_those_of_networkx(kind: str) -> None:
    plain = GRAPHS[kind]
    graph = rp.graph(plain)
    assert_equal(rp.closeness(graph, measure="wasserman-faust"), nx.closeness_centrality(plain))
    assert_equal(rp.harmonic(graph), nx.harmonic_centrality(plain))
    assert_equal(rp.betweenness(graph), nx.betweenness_centrality(plain, normalized=False))
    if len(plain) > 2:
        assert_equal(rp.betweenness(graph, normalized=True), nx.betweenness_centrality(plain))
    assert_equal(rp.lcc(graph, definition="fagiolo"), nx.clustering(plain))
    if len(plain):
        ranks = rp.pagerank(graph, tolerance=1e-12).to_dict()
        expected = nx.pagerank(plain, weight=None, tol=1e-14, max_iter=1000)
        assert all(abs(ranks[id] - value) < 1e-10 for id, value in expected.items())
        some = list(plain)[::3]
        for chosen in (some, {id: at + 0.5 for at, id in enumerate(some)}):
            weights = chosen if isinstance(chosen, dict) else dict.fromkeys(chosen, 1)
            ranks = rp.pagerank(graph, tolerance=1e-12, personalize=chosen).to_dict()
            expected = nx.pagerank(plain, weight=None, tol=1e-14, max_iter=1000, personalization=weights)
            assert all(abs(ranks[id] - value) < 1e-10 for id, value in expected.items())
    parts = nx.weakly_connected_components(plain) if plain.is_directed() else nx.connected_components(plain)
    found = rp.components(graph)
    groups: dict[int, set[Any]] = {}
    for id in graph.ids.tolist():
        groups.setdefault(found[id], set()).add(id)
    assert sorted(map(sorted, groups.values())) == sorted(map(sorted, parts))
    if not plain.is_directed():
        assert_equal(rp.triangles(graph), nx.triangles(plain))
        assert_equal(rp.kcore(graph), nx.core_number(plain))
    edges = rp.betweenness(graph, edges=True)
    values = {pair: value for *pair, value in zip(*(edges[n].tolist() for n in ("source", "target", "value")), strict=True)
              for pair in [tuple(pair)]}
    expected = nx.edge_betweenness_centrality(plain, normalized=False)
    assert len(values) == len(expected)
    for (a, b), value in expected.items():
        assert values.get((a, b), values.get((b, a))) == pytest.approx(value)


@pytest.mark.parametrize("kind", [kind for kind in GRAPHS if "vertex" not in kind])
def test_weighted_values_are_those_of_networkx(kind: str) -> None:
    plain = GRAPHS[kind]
    nx.set_edge_attributes(plain, {edge: plain.edges[edge].get("weight", 2.0) for edge in plain.edges}, "weight")
    graph = rp.graph(plain, weight="weight")
    assert_equal(
        rp.closeness(graph, measure="wasserman-faust", weighted=True), nx.closeness_centrality(plain, distance="weight")
    )
    assert_equal(rp.harmonic(graph, weighted=True), nx.harmonic_centrality(plain, distance="weight"))
    expected = nx.betweenness_centrality(plain, normalized=False, weight="weight")
    assert_equal(rp.betweenness(graph, weighted=True), expected)
    distances = rp.apsp(graph, weighted=True)
    expected = dict(nx.all_pairs_dijkstra_path_length(plain))
    ids = graph.ids.tolist()
    for a, row in enumerate(distances.tolist()):
        for b, distance in enumerate(row):
            assert distance == pytest.approx(expected[ids[a]].get(ids[b], np.inf))
    if len(plain):
        ranks = rp.pagerank(graph, tolerance=1e-12, weighted=True).to_dict()
        known = nx.pagerank(plain, tol=1e-14, max_iter=1000)
        assert all(abs(ranks[id] - value) < 1e-10 for id, value in known.items())


def test_values_are_those_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    for directed in (False, True):
        u, v, _ = random_edges(12, 50, 120)
        keep = u != v
        plain = igraph.Graph(55, list(zip(u[keep].tolist(), v[keep].tolist(), strict=True)), directed=directed).simplify()
        graph = rp.graph(plain)
        close = rp.closeness(graph, normalized=True).values
        assert np.allclose(close, np.nan_to_num(plain.closeness(mode="in", normalized=True)))
        assert np.allclose(rp.betweenness(graph).values, plain.betweenness())
        assert np.allclose(rp.harmonic(graph, normalized=True).values, plain.harmonic_centrality(mode="in"))
        assert np.allclose(rp.pagerank(graph, tolerance=1e-12).values, plain.pagerank())
        if not directed:
            assert rp.kcore(graph).values.tolist() == plain.coreness()
            assert np.allclose(rp.lcc(graph).values, plain.transitivity_local_undirected(mode="zero"))
            assert np.array_equal(rp.apsp(graph), np.array(plain.distances()))


@pytest.mark.parametrize("kind", [kind for kind in GRAPHS if "none" not in kind])
def test_values_are_those_of_networkit(kind: str) -> None:
    networkit = pytest.importorskip("networkit")
    plain = nx.convert_node_labels_to_integers(GRAPHS[kind], ordering="sorted")
    directed = plain.is_directed()
    nx.set_edge_attributes(plain, {edge: 1 + (3 * edge[0] + edge[1]) % 5 for edge in plain.edges}, "weight")
    theirs = networkit.Graph(len(plain), weighted=True, directed=directed)
    for u, v, weight in plain.edges(data="weight"):
        theirs.addEdge(u, v, weight)
    hops = networkit.graphtools.toUnweighted(theirs)

    def scores(measure: Any, graph: Any, **options: Any) -> Any:
        return np.array(measure(graph, **options).run().scores())

    central = networkit.centrality
    graph, weighted = rp.graph(plain), rp.graph(plain, weight="weight")
    # Each pair counts once in an undirected graph, and twice in NetworKit.
    twice = 1 if directed else 2
    assert np.allclose(twice * rp.betweenness(graph).values, scores(central.Betweenness, hops))
    by_weight = {"weighted": weighted.weighted}
    assert np.allclose(twice * rp.betweenness(weighted, **by_weight).values, scores(central.Betweenness, theirs))
    for mine, its, options in ((graph, hops, {}), (weighted, theirs, by_weight)):
        ranks = scores(central.PageRank, its, damp=0.85, tol=1e-12)
        # Of vertices without edges in an undirected graph, NetworKit loses the rank; that of the others keeps its shares.
        found = rp.pagerank(mine, tolerance=1e-13, **options).values
        assert np.allclose(found, ranks / ranks.sum(), rtol=0, atol=1e-9)
    distances = np.array(networkit.distance.APSP(hops).run().getDistances())
    assert np.array_equal(rp.apsp(graph), np.where(distances > 1e300, np.inf, distances))
    if not directed:
        assert rp.kcore(graph).values.tolist() == scores(central.CoreDecomposition, hops).tolist()
        assert np.allclose(rp.lcc(graph).values, scores(central.LocalClusteringCoefficient, hops))
    # Of a directed graph, NetworKit measures another modularity.
    if plain.size() and not directed:
        for mine, its in ((graph, hops), (weighted, theirs)):
            communities = rp.communities(mine, refine="modularity")
            parts = networkit.structures.Partition(len(plain))
            parts.setUpperBound(len(communities))
            for vertex, number in enumerate(communities.numbers.tolist()):
                parts.addToSubset(number, vertex)
            expected = networkit.community.Modularity().getQuality(parts, its)
            assert communities.modularity == pytest.approx(expected, abs=1e-12)


def test_threads_do_not_change_values() -> None:
    u, v, w = random_edges(13, 300, 2000)
    graph = rp.graph(u, v, w)
    for run in (rp.betweenness, rp.closeness, rp.pagerank, rp.harmonic):
        values = [run(graph, weighted=True, threads=threads).values for threads in (1, 2, 5)]
        assert all(np.array_equal(values[0], other) for other in values)


def test_values_are_a_value() -> None:
    values = rp.pagerank([("a", "b"), ("b", "c")])
    assert len(values) == 3 and list(values) == values.values.tolist()
    assert np.asarray(values).sum() == pytest.approx(1)
    again = pickle.loads(pickle.dumps(values))
    assert again.to_dict() == values.to_dict()
    assert values.to_pandas().columns.tolist() == ["id", "value"]
    with pytest.raises(AttributeError):
        values.name = "x"
    with pytest.raises(rp.UnknownVertexError):
        values["x"]


def test_tables_of_values() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    arrow = pytest.importorskip("pyarrow")
    for graph in (rp.graph([("a", "b"), ("b", "c")]), rp.graph([(-5, 3), (3, 8)]), rp.graph([0, 1], [1, 2], vertices=4), rp.graph(nx.null_graph())):
        for run in (rp.pagerank, rp.kcore, rp.triangles, rp.components):
            values = run(graph)
            table = values.to_arrow()
            assert table.column_names == values.to_polars().columns == ["id", values.name]
            assert table["id"].to_pylist() == values.to_polars()["id"].to_list() == graph.ids.tolist()
            assert table[values.name].to_pylist() == values.values.tolist() == values.to_polars()[values.name].to_list()
            if len(graph.ids):
                assert table.schema.field("id").type == rp.communities(graph).to_arrow().schema.field("id").type
            assert arrow.table(pickle.loads(pickle.dumps(values))).equals(table)
            assert polars.from_arrow(table).equals(values.to_polars())
            assert pandas.DataFrame(table.to_pandas()).shape == (len(graph.ids), 2)
    objects = rp.pagerank(nx.Graph([((0, 1), "x")]))
    assert len(objects.to_pandas()) == 2
    with pytest.raises(rp.InputError, match="to_pandas"):
        objects.to_arrow()


def test_a_notebook_shows_values_and_the_line_that_repeats_them() -> None:
    g = rp.graph([0, 1, 2, 3], [1, 2, 0, 4], [1.0, 2.0, 1.5, 1.0])
    weights = {0: 1.0, 3: 0.5}
    long = {vertex: 1 + vertex / 7 for vertex in range(5)}
    series = pytest.importorskip("pandas").Series(weights)
    cases: list[tuple[rp.Values, str, dict[str, Any]]] = [
        (rp.closeness(g), "closeness(g)", {}),
        (rp.closeness(g, measure="wasserman-faust", weighted=True), "closeness(g, measure='wasserman-faust', weighted=True)", {}),
        (rp.harmonic(g, normalized=True, threads=2), "harmonic(g, normalized=True, threads=2)", {}),
        (rp.betweenness(g, samples=3, seed=2), "betweenness(g, samples=3, seed=2)", {}),
        (rp.pagerank(g, damping=0.5, iterations=3), "pagerank(g, damping=0.5, iterations=3)", {}),
        (rp.pagerank(g, personalize=weights), "pagerank(g, personalize={0: 1.0, 3: 0.5})", {}),
        (rp.pagerank(g, personalize=series), "pagerank(g, personalize=personalize)", {"personalize": series}),
        (rp.pagerank(g, personalize=long, tolerance=1e-9), "", {"personalize": long}),
        (rp.lcc(g, definition="fagiolo", device="cpu"), "lcc(g, definition='fagiolo', device='cpu')", {}),
        (rp.triangles(g), "triangles(g)", {}),
        (rp.components(g), "components(g)", {}),
        (rp.kcore(g), "kcore(g)", {}),
    ]
    for values, line, variables in cases:
        shown = pickle.loads(pickle.dumps(values))._repr_html_()
        found = html.unescape(re.findall("<code>(.*?)</code>", shown)[0])
        assert found == f"ripplet.{line}" or not line
        again = eval(found, {"ripplet": rp, "g": g, **variables})
        assert again.name == values.name and np.array_equal(again.values, values.values)
        assert f"<b>{values.name}</b> of 5 vertices, from {values.values.min():.6g} to" in shown and "<span title=" in shown
    star = rp.kcore([(0, leaf) for leaf in range(1, 30)] + [(1, 2), (2, 3), (1, 3)])
    titles = re.findall("title='(.*?)'", star._repr_html_())
    assert len(titles) == 20 and titles[0] == "26 from 1" and titles[-1] == "4 from 2.9"
    assert re.findall("title='(.*?)'", rp.kcore([(1, 2)])._repr_html_()) == ["2 from 1"]
    near = rp.Values(star.graph, "value", np.array([1.0, 1.0 + 2.3e-16] * 15), "cpu", star._call)
    assert len(re.findall("title=", near._repr_html_())) >= 1
    assert "of 0 vertices<br>on" in rp.kcore(nx.null_graph())._repr_html_()


BAD: list[tuple[Any, dict[str, Any], str]] = [
    (rp.closeness, {"measure": "exact"}, "wasserman-faust"),
    (rp.closeness, {"weighted": True}, "no weights"),
    (rp.closeness, {"measure": "wasserman-faust", "normalized": True}, "nothing"),
    (rp.pagerank, {"damping": 2.0}, "damping"),
    (rp.pagerank, {"iterations": 3, "tolerance": 1e-3}, "exact"),
    (rp.pagerank, {"personalize": []}, "at least one"),
    (rp.pagerank, {"personalize": [9]}, "9"),
    (rp.pagerank, {"personalize": 5}, "expected ids"),
    (rp.pagerank, {"personalize": "12"}, "not a string"),
    (rp.pagerank, {"personalize": {2: 1.0, 3: -1.0}}, r"the weight -1\.0 of 3 is no finite number, 0 or above"),
    (rp.pagerank, {"personalize": {1: "much"}}, "pairs of a vertex and a number"),
    (rp.betweenness, {"samples": 1}, "samples"),
    (rp.betweenness, {"seed": 1}, "give samples"),
    (rp.lcc, {"definition": "mine"}, "fagiolo"),
    (rp.betweenness, {"devise": "cpu"}, "device"),
    (rp.kcore, {"device": "cpu"}, "no option device"),
]


@pytest.mark.parametrize("run, options, message", BAD)
def test_bad_options(run: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(rp.RippletError, match=message):
        run([(1, 2), (2, 3)], **options)


def test_sampled_betweenness() -> None:
    star = [(0, leaf) for leaf in range(1, 51)]
    found = rp.betweenness(star, samples=10, seed=3, normalized=True).to_dict()
    assert found[0] == pytest.approx(1.0) and found[1] == 0.0
    assert rp.betweenness(star, samples=51).to_dict() == rp.betweenness(star).to_dict()
    edges = rp.betweenness(star, edges=True, samples=10)
    assert len(edges["value"]) == 50
    assert rp.estimate(rp.betweenness, star, samples=10).planned_host > 0
    total = rp.betweenness(star, edges=True)["value"].sum()
    assert edges["value"].sum() == pytest.approx(total, rel=0.05)


def test_devices() -> None:
    found = rp.devices()
    assert found["threads"] and (found["gpus"] or found["reason"])


def test_distances_from_chosen_vertices() -> None:
    edges = [("a", "b", 2.0), ("b", "c", 1.0), ("d", "e", 4.0)]
    for weighted in (False, True):
        graph = rp.graph(edges, weight=weighted)
        rows = [graph.vertex(id) for id in ("e", "a", "c")]
        found = rp.apsp(graph, sources=iter(["e", "a", "c"]), weighted=weighted)
        assert np.array_equal(found, rp.apsp(graph, weighted=weighted)[rows])
    assert rp.apsp(graph, sources=[]).shape == (0, 5)
    names = [purpose for purpose, _ in rp.estimate(rp.apsp, graph, sources=["a"]).plan]
    assert "sources" in names and "rows to be passed on" in names
    bad: list[tuple[Any, type[Exception], str]] = [
        (["a", "a"], ValueError, "listed twice"), (["z"], KeyError, "z"), ("ab", TypeError, "a string"), (5, TypeError, "expected ids"),
    ]
    for sources, error, message in bad:
        with pytest.raises(error, match=message):
            rp.apsp(graph, sources=sources)
    with pytest.raises(rp.DeviceError, match="no kernel for distances from chosen vertices"):
        rp.apsp(graph, sources=["a"], device="cuda")


@pytest.mark.parametrize("analysis", [rp.closeness, rp.harmonic])
def test_closeness_of_chosen_vertices(analysis: Any) -> None:
    edges = [("a", "b", 2.0), ("b", "c", 1.0), ("d", "e", 4.0), ("c", "c", 1.0)]
    for weighted, directed in itertools.product((False, True), repeat=2):
        graph = rp.graph(edges, weight=weighted, directed=directed)
        all_of_them = analysis(graph, weighted=weighted, normalized=True)
        found = analysis(graph, vertices=iter(["e", "a", "c"]), weighted=weighted, normalized=True)
        assert found.ids.tolist() == ["e", "a", "c"] and len(found) == 3
        assert found.values.tolist() == [all_of_them[id] for id in ("e", "a", "c")]
        assert found.to_dict() == {id: all_of_them[id] for id in ("e", "a", "c")}
    assert found["a"] == all_of_them["a"]
    with pytest.raises(KeyError, match="'b' is none of those"):
        found["b"]
    with pytest.raises(KeyError, match="no vertex 'z'"):
        found["z"]
    again = pickle.loads(pickle.dumps(found))
    assert again.ids.tolist() == ["e", "a", "c"] and again["c"] == found["c"]
    assert found.to_pandas()["id"].tolist() == ["e", "a", "c"]
    assert len(analysis(graph, vertices=[])) == 0
    assert 'vertices=["a"]' in analysis(graph, vertices=["a"])._repr_html_().replace("&#x27;", '"')
    assert "chosen vertices" in [purpose for purpose, _ in rp.estimate(analysis, graph, vertices=["a"]).plan]
    bad: list[tuple[Any, type[Exception], str]] = [
        (["a", "a"], ValueError, "listed twice"), (["z"], KeyError, "z"), ("ab", TypeError, "a string"), (5, TypeError, "expected ids"),
    ]
    for vertices, error, message in bad:
        with pytest.raises(error, match=message):
            analysis(graph, vertices=vertices)
    with pytest.raises(TypeError, match="leave samples or vertices out"):
        analysis(graph, vertices=["a"], samples=3)
    with pytest.raises(rp.DeviceError, match="no kernel for closeness of chosen vertices"):
        analysis(graph, vertices=["a"], device="cuda")


@pytest.mark.parametrize("analysis", [rp.closeness, rp.harmonic])
def test_closeness_by_a_sample(analysis: Any) -> None:
    graph = rp.graph([(at, at * at % 97) for at in range(97)] + [(at, at + 1) for at in range(96)])
    exact = analysis(graph)
    assert np.array_equal(analysis(graph, samples=97).values, exact.values)
    found = analysis(graph, samples=40, seed=3)
    assert np.array_equal(found.values, analysis(graph, samples=40, seed=3, threads=1).values)
    assert not np.array_equal(found.values, exact.values)
    assert np.abs(found.values / exact.values - 1).mean() < 0.1
    assert "samples=40, seed=3" in found._repr_html_()
    with pytest.raises(ValueError, match="give samples"):
        analysis(graph, seed=3)
    with pytest.raises(ValueError, match="samples"):
        analysis(graph, samples=1)


@pytest.mark.parametrize("analysis", [rp.lcc, rp.triangles])
def test_clustering_coefficients_are_for_a_gpu(analysis: Any) -> None:
    edges = [(1, 2), (2, 3), (3, 1), (3, 4)]
    if rp.devices()["gpus"]:
        found = analysis(edges, device="cuda")
        assert found.device != "cpu" and list(found) == list(analysis(edges, device="cpu"))
        return
    with pytest.raises(rp.DeviceError) as raised:
        analysis(edges, device="cuda")
    assert "kernel" not in str(raised.value)
