"""Seeds, overlap, sweeps, comparisons, graphs of communities, pictures."""

from __future__ import annotations

import csv
import html
import json
import pickle
import re
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PAYMENTS, PGP, random_edges

import ripplet as rp
from ripplet.hooks import Vote, column


def test_seeds_are_the_commands(command: Any, tmp_path: Path) -> None:
    seeds = {"ada": "red", "kim": "blue", "bea": "blue"}
    (tmp_path / "seeds.csv").write_text("id,cluster\n" + "".join(f"{id},{of}\n" for id, of in seeds.items()))
    graph = rp.graph(PAYMENTS, weight=True)
    known = {id: of for id, of in seeds.items() if id in graph}
    assert len(known) > 1
    for flags, options in [([], {}), (["--attenuation", "0.5"], {"attenuation": 0.5}), (["--loose-seeds"], {"loose_seeds": True})]:
        expected, written = tmp_path / "expected.csv", tmp_path / "written.csv"
        command("communities", PAYMENTS, "--weighted", "--program", "seeded", "--seeds", tmp_path / "seeds.csv",
                "--skip-unknown-seeds", "-o", expected, *flags)
        found = rp.seeded(graph, seeds, skip_unknown_seeds=True, **options)
        found.write(written)
        assert written.read_bytes() == expected.read_bytes()
        rows = list(csv.DictReader(expected.open()))
        assert found.to_pandas()["community"].tolist() == [row["community"] for row in rows]
        assert found.to_arrow()["community"].to_pylist() == [row["community"] for row in rows]
        again = pickle.loads(pickle.dumps(found))
        assert again["ada"] == found["ada"] == "red"
    with pytest.raises(rp.UnknownVertexError):
        rp.seeded(graph, {"nobody": 1})
    with pytest.raises(rp.InputError, match="no seed"):
        rp.seeded(graph, {})
    with pytest.raises(rp.InputError, match="integers or all strings"):
        rp.seeded(graph, {"ada": 1, "cal": "x"})


def test_the_sweep_is_the_commands(command: Any, tmp_path: Path) -> None:
    expected, written = tmp_path / "expected.csv", tmp_path / "written.csv"
    command("communities", PGP, "--program", "llp", "--sweep", 4, "-o", expected)
    rp.sweep(str(PGP), 4).write(written)
    assert written.read_bytes() == expected.read_bytes()


def test_overlap_and_cdlp_are_programs() -> None:
    graph = rp.graph(*random_edges(20)[:2])
    assert rp.overlapping(graph, iterations=9) == rp.communities(graph, program="slpa", iterations=9)
    assert rp.cdlp(graph, iterations=3) == rp.communities(graph, program="cdlp", iterations=3)
    assert len(rp.overlapping(graph, memory=2, threshold=0.5).rounds) == 40


def test_quality_is_the_commands(command: Any, tmp_path: Path) -> None:
    import os

    table, figures = tmp_path / "found.csv", tmp_path / "figures.csv"
    found = rp.communities(str(PGP))
    found.write(table)
    printed = subprocess.run(
        [os.environ["RIPPLET_COMMAND"], "quality", str(PGP), str(table), "--truth", str(table), "--per-community", str(figures)],
        capture_output=True, text=True, check=True,
    )
    expected = json.loads(printed.stdout)
    assert {name: expected[name] for name in found.quality()} == found.quality()
    compared = found.compare(found)
    assert compared == {name: expected[name] for name in compared} and compared["nmi"] == pytest.approx(1)
    rows = {int(row["community"]): row for row in csv.DictReader(figures.open())}
    mine = found.per_community()
    assert len(mine) == len(rows)
    for _, row in mine.head(50).iterrows():
        its = rows[row["community"]]
        assert int(its["size"]) == row["size"] and float(its["conductance"]) == row["conductance"]
        assert float(its["inner_weight"]) == row["inner_weight"]


def test_comparisons_are_those_of_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    graph, truth = rp.generate.planted(500, 2500, mixing=0.4)
    found = rp.communities(graph)
    for measure, name in [("nmi", "nmi"), ("adjusted_rand", "ari")]:
        expected = igraph.compare_communities(found.numbers.tolist(), truth.tolist(), method=measure)
        assert found.compare(truth)[name] == pytest.approx(expected, abs=1e-9)
    assert found.compare(dict(enumerate(truth.tolist()))) == found.compare(truth)
    both = rp.overlapping(graph).compare(rp.overlapping(graph))
    assert both
    with pytest.raises(rp.InputError):
        found.compare([1, 2])


def test_the_number_minus_one_is_no_community() -> None:
    graph = rp.graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    begin = {"iterations": 0, "merge": "off", "keep_disconnected": True}
    some = rp.communities(graph, labels=[0, 0, 0, None, None, None], **begin)
    assert some.numbers.tolist() == [0, 0, 0, -1, -1, -1]
    found = rp.communities(graph)
    for numbers in [some.numbers, some.numbers.tolist(), dict(enumerate(some.numbers.tolist()))]:
        assert found.compare(numbers) == found.compare(some)
        assert found.compare(numbers)["compared"] == {"vertices": 3, "without_truth": 3, "without_label": 0}
        assert rp.communities(graph, labels=numbers, **begin).numbers.tolist() == some.numbers.tolist()
    signed = rp.graph([(-1, 1), (1, 2), (2, -1)])
    assert rp.communities(signed).compare([-1, -1, -1])["compared"]["vertices"] == 3, "an id"


def test_communities_of_other_graphs_are_matched_by_id() -> None:
    networkx = pytest.importorskip("networkx")
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3), (5, 6)]
    graphs = []
    for order in [range(7), [3, 0, 5, 1, 6, 2, 4]]:
        nodes = networkx.Graph()
        nodes.add_nodes_from(("n", node) for node in order)
        nodes.add_edges_from((("n", a), ("n", b)) for a, b in edges)
        graphs.append(rp.graph(nodes))
    halves = [{("n", node) for node in (0, 1, 2)}, {("n", node) for node in (3, 4, 5, 6)}]
    a, b = (rp.communities(graph, labels=halves, iterations=0, merge="off") for graph in graphs)
    assert sorted(map(sorted, a.sets())) == sorted(map(sorted, b.sets())) == sorted(map(sorted, halves))
    assert a.compare(b) == a.compare(b.to_dict()) == a.compare(halves) and a.compare(b)["ari"] == 1
    begun = rp.communities(graphs[1], labels=a, iterations=0, merge="off")
    assert begun.to_dict().keys() == a.to_dict().keys() and begun.compare(a)["ari"] == 1
    a, b = (rp.overlapping(graph) for graph in graphs)
    members = {frozenset(some) for some in b.sets()}
    itself = rp.overlapping(graphs[0])
    assert a.compare(itself)["compared"]["vertices"] == 7
    if {frozenset(some) for some in a.sets()} == members:
        assert a.compare(b) == a.compare(itself)


def test_values_of_an_analysis_are_matched_by_id() -> None:
    networkx = pytest.importorskip("networkx")
    edges = [(("n", a), ("n", b)) for a, b in [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]]
    graphs = [networkx.Graph(), networkx.Graph()]
    for graph, order in zip(graphs, [range(6), [3, 0, 5, 1, 2, 4]], strict=True):
        graph.add_nodes_from(("n", node) for node in order)
        graph.add_edges_from(edges)
    assert rp.communities(graphs[0]).compare(rp.components(graphs[1]))["ari"] == 1


def test_communities_of_other_vertices_are_refused() -> None:
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    x = rp.communities(edges)
    y = rp.communities([(a + 1, b + 1) for a, b in edges])
    for others in (y, y.to_dict()):
        with pytest.raises(rp.UnknownVertexError, match="no vertex 6"):
            x.compare(others)
        with pytest.raises(rp.UnknownVertexError, match="no vertex 6"):
            rp.communities(edges, labels=others)
    with pytest.raises(rp.InputError, match="labels: communities of 6 vertices, but the graph has 3"):
        rp.communities(edges[:3], labels=x)
    with pytest.raises(rp.UnknownVertexError):
        rp.overlapping(edges).compare(rp.overlapping([(a + 1, b + 1) for a, b in edges]))


def test_the_index_of_a_series_has_ids() -> None:
    pandas = pytest.importorskip("pandas")
    graph = rp.graph([("a", "b"), ("b", "c"), ("c", "a"), ("d", "e"), ("e", "f"), ("f", "d")])
    found = rp.communities(graph)
    mixed = pandas.Series([1, 1, 1, 2, 2, 2], index=list("abcdef")).loc[list("afbecd")]
    assert found.compare(mixed) == found.compare(mixed.to_dict()) and found.compare(mixed)["ari"] == 1
    assert rp.communities(graph, labels=mixed, iterations=0, merge="off").compare(found)["ari"] == 1
    # The default index has positions.
    numbers = rp.graph([(1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4)])
    assert rp.communities(numbers).compare(pandas.Series([1, 1, 1, 2, 2, 2]))["ari"] == 1
    with pytest.raises(rp.UnknownVertexError, match="no vertex 0"):
        rp.communities(numbers).compare(pandas.Series([1, 1, 1, 2, 2, 2]).sample(frac=1, random_state=1))
    with pytest.raises(rp.InputError, match="'a' is listed twice"):
        found.compare(pandas.Series([1, 2], index=["a", "a"]))
    seeds = pandas.Series(["x", "y"], index=["f", "a"])
    assert rp.seeded(graph, seeds).to_dict() == rp.seeded(graph, seeds.to_dict()).to_dict()
    assert rp.seeded(graph, pandas.Series(["f", "a"])).to_dict() == rp.seeded(graph, ["f", "a"]).to_dict()
    # The ids in chosen rows of a table, or clusters by id: only the caller knows.
    with pytest.raises(rp.OptionError, match="to_dict"):
        rp.seeded(numbers, pandas.Series([2, 5], index=[4, 6]))


@pytest.mark.parametrize("nothing", [None, float("nan"), np.float32("nan"), np.datetime64("NaT")])
def test_missing_labels_are_no_community(nothing: Any) -> None:
    graph = rp.graph([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("d", "e")])
    found = rp.communities(graph, labels=[1, 1, 1, nothing, nothing], iterations=0, merge="off")
    assert found["d"] is None and found["e"] is None and len(found) == 1
    whole = rp.communities(graph, labels=[1, 1, 1, 2, 2], iterations=0, merge="off")
    for labels in ([1, 1, 2, nothing, 2], {"a": 1, "b": 1, "c": 2, "d": nothing, "e": 2}):
        compared = whole.compare(labels)
        assert compared == whole.compare([1, 1, 2, None, 2])
        assert compared["compared"] == {"vertices": 4, "without_truth": 1, "without_label": 0}
    pandas = pytest.importorskip("pandas")
    assert whole.compare(pandas.Series([1, 1, 2, pandas.NA, 2], dtype="Int64")) == compared


def test_what_is_no_label_for_each_vertex_is_refused() -> None:
    found = rp.communities([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)])
    for nothing in ({}, {0: None}, [None] * 6, [set()]):
        with pytest.raises(rp.InputError, match="nothing to compare"):
            found.compare(nothing)
    with pytest.raises(rp.InputError, match="2 labels for 6 vertices: .* a label for each vertex"):
        found.compare([[0, 1, 2], [3, 4, 5]])
    with pytest.raises(rp.InputError, match="1 is listed twice"):
        found.compare([{0, 1, 2}, {1, 3}])
    with pytest.raises(rp.OptionError, match="other: .*, not str"):
        found.compare("aaabbb")
    with pytest.raises(rp.OptionError, match="labels: .*, not bytes"):
        rp.communities([(0, 1)], labels=b"ab")
    igraph = pytest.importorskip("igraph")
    clustering = igraph.Graph([(0, 1), (1, 2)]).community_multilevel()
    with pytest.raises(rp.OptionError, match="membership"):
        found.compare(clustering)


def test_the_graph_of_communities() -> None:
    graph = rp.graph([0, 1, 2, 3, 4, 5, 2], [1, 2, 0, 4, 5, 3, 3], [1.0, 1, 1, 1, 1, 1, 5])
    found = rp.communities(graph, labels=[0, 0, 0, 3, 3, 3], iterations=0, merge="off")
    quotient = found.quotient()
    u, v, w = quotient.edge_arrays()
    assert w is not None
    assert sorted(zip(u.tolist(), v.tolist(), w.tolist(), strict=True)) == [(0, 0, 3.0), (0, 1, 5.0), (1, 1, 3.0)]
    index = rp.graph([(0, 1), (1, 2)]).edge_index()
    assert sorted(map(tuple, index.T.tolist())) == [(0, 1), (1, 0), (1, 2), (2, 1)]
    assert rp.graph(index).edges == 2


def test_pictures_are_the_commands(command: Any, tmp_path: Path) -> None:
    found = rp.communities(rp.graph(PAYMENTS, weight=True))
    found.write(tmp_path / "found.csv")
    for suffix in ("svg", "html"):
        command("draw", PAYMENTS, tmp_path / "found.csv", "--weighted", "-o", tmp_path / f"a.{suffix}", "--title", "Pay <ments>")
        picture = found.plot(html=suffix == "html", title="Pay <ments>")
        picture.write(tmp_path / f"b.{suffix}")
        assert (tmp_path / f"b.{suffix}").read_text() == (tmp_path / f"a.{suffix}").read_text()
    assert found.plot()._repr_svg_().startswith("<svg") and "SVG" in repr(found.plot())
    with pytest.raises(rp.RippletError):
        found.plot(largest=10**6)


def test_the_notebook_shows_a_result() -> None:
    found = rp.communities([(1, 2), (2, 3)], seed=5)
    shown = found._repr_html_()
    assert "1 communities" in shown and "seed=5" in shown and "rounds" in shown


TRUST = """
struct Trust {
    popular: u32,
}

impl Program for Trust {
    type Score = u64;

    fn load_neighbor(&self, _v: Vertex, u: Neighbor) -> Vote {
        Vote::new(u.label, if u.degree() > self.popular { 1 } else { 16 })
    }

    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {
        c.frequency
    }
}
"""


def test_the_line_in_a_notebook_repeats_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    g = rp.graph(PAYMENTS, weight=True)
    monkeypatch.chdir(tmp_path)
    Path("trust.rs").write_text(TRUST)
    vertices = len(g.ids)

    @rp.program
    class Wary:
        popular: int
        risk: int = column()

        def load_neighbor(self, v, u):  # type: ignore[no-untyped-def]
            return Vote(u.label, 1 if u.degree() > self.popular else 1 + u.risk)

        def label_score(self, v, c):  # type: ignore[no-untyped-def]
            return c.frequency

    labels = np.arange(vertices) // 7
    few = rp.communities(g, labels=labels)
    table = {"id": g.ids, "risk": np.arange(vertices) % 5}
    seeds = {str(id): at % 3 for at, id in enumerate(g.ids.tolist())}
    trust = rp.program(TRUST)
    cases: list[tuple[Any, dict[str, Any], str]] = [
        (rp.communities(g), {}, "ripplet.communities(g)"),
        (rp.communities(g, seed=np.int64(3), schedule="sync", tolerance=0.1, merge="off"), {},
         "ripplet.communities(g, schedule='sync', tolerance=0.1, merge='off', seed=3)"),
        (rp.communities(g, program="llp", gamma=0.5), {}, "ripplet.communities(g, program='llp', gamma=0.5)"),
        (rp.communities(g, refine="modularity", resolution="auto", max_size=9), {},
         "ripplet.communities(g, refine='modularity', resolution='auto', max_size=9)"),
        (few, {"labels": labels}, "ripplet.communities(g, labels=labels)"),
        (rp.communities(g, labels=few, iterations=0), {"labels": few},
         "ripplet.communities(g, labels=labels, iterations=0)"),
        (rp.communities(g, labels={"ada": "x", "kim": "y"}), {},
         "ripplet.communities(g, labels={'ada': 'x', 'kim': 'y'})"),
        (rp.communities(g, program=Wary, param={"popular": 4}, vertex_table=table), {"program": Wary, "vertex_table": table},
         "ripplet.communities(g, program=program, param={'popular': 4}, vertex_table=vertex_table)"),
        (rp.communities(g, program=trust(popular=5), seed=2), {"program": trust},
         "ripplet.communities(g, program=program(popular=5), seed=2)"),
        (rp.communities(g, program_file=Path("trust.rs"), param={"popular": 5}), {},
         "ripplet.communities(g, program_file='trust.rs', param={'popular': 5})"),
        (rp.seeded(g, {"ada": "red", "kim": ("blue", 0.5), "no": "x"}, skip_unknown_seeds=True, attenuation=0.2), {},
         "ripplet.seeded(g, {'ada': 'red', 'kim': ('blue', 0.5), 'no': 'x'}, attenuation=0.2, skip_unknown_seeds=True)"),
        (rp.seeded(g, {"ada"}, loose_seeds=True), {}, "ripplet.seeded(g, {'ada'}, loose_seeds=True)"),
        (rp.seeded(g, seeds), {"seeds": seeds}, "ripplet.seeded(g, seeds)"),
        (rp.seeded(g, iter(["ada", "kim"])), {"seeds": ["ada", "kim"]}, "ripplet.seeded(g, seeds)"),
        (rp.overlapping(g, memory=9, threshold=0.2, seed=4), {},
         "ripplet.overlapping(g, memory=9, threshold=0.2, seed=4)"),
        (rp.cdlp(g, iterations=3), {}, "ripplet.cdlp(g, iterations=3)"),
        (rp.sweep(g, 3, seed=4), {}, ""),
    ]
    for found, others, expected in cases:
        shown = pickle.loads(pickle.dumps(found))._repr_html_()
        line = html.unescape(re.findall("<br><code>(.*?)</code>", shown)[0])
        assert line == expected or line.startswith("ripplet.communities(g, program='llp', gamma=") and not expected
        again = eval(line, {"g": g, "ripplet": rp, **others})
        assert again == found and again.names.tolist() == found.names.tolist(), line
        assert all(f"<code>{name}</code>" in shown for name in others)


def test_values_are_written_as_literals_of_python() -> None:
    from ripplet._options import literal

    for value in [None, True, -3, 2.5, "a'b\"\n", Path("x/y"), (1,), (), [1, [2]], {1: ("a", None)}, {2}, np.float32(0.5), {}]:
        text = literal(value)
        assert text is not None
        assert eval(text) == (str(value) if isinstance(value, Path) else value)
    assert eval(str(literal(float("-inf")))) == float("-inf")
    for value in [np.arange(2), [np.arange(2)], {1: object()}, set(), iter([1]), rp.graph([(1, 2)])]:
        assert literal(value) is None


def test_planted_graphs_are_the_commands(command: Any, tmp_path: Path) -> None:
    command("generate", "planted", "--vertices", 500, "--edges", 2000, "--mixing", 0.2, "--seed", 3, "-o", tmp_path / "a.rg")
    graph, truth = rp.generate.planted(500, 2000, mixing=0.2, seed=3)
    graph.write(tmp_path / "b.rg")
    assert (tmp_path / "b.rg").read_bytes() == (tmp_path / "a.rg").read_bytes()
    assert truth.shape == (500,) and truth.dtype == np.uint32
    with pytest.raises(rp.InputError):
        rp.generate.planted(10, 2000)


def test_columns_of_pyarrow_have_the_values_of_python() -> None:
    pa = pytest.importorskip("pyarrow")
    g = rp.graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
    c = rp.communities(g)
    labels = [None, 0, 0, 1, 1, None]
    for column in (pa.array(labels), pa.chunked_array([labels[:2], labels[2:]])):
        assert c.compare(column) == c.compare(labels)
        assert rp.communities(g, labels=column, iterations=0) == rp.communities(g, labels=labels, iterations=0)
    masked = np.ma.array([7, 0, 0, 1, 1, 7], mask=[1, 0, 0, 0, 0, 1])
    assert c.compare(masked) == c.compare(labels)
    ids = [0, 5]
    assert rp.seeded(g, pa.array(ids)) == rp.seeded(g, ids)
    assert rp.communities(g, refine="modularity", resolution=1.0, fixed=pa.array(ids)) == rp.communities(
        g, refine="modularity", resolution=1.0, fixed=ids
    )
    assert rp.closeness(g, vertices=pa.array(ids)).to_dict() == rp.closeness(g, vertices=ids).to_dict()
    assert rp.pagerank(g, personalize=pa.array(ids)).to_dict() == rp.pagerank(g, personalize=ids).to_dict()


def test_tables_are_no_columns_of_ids() -> None:
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    g = rp.graph([(0, 1), (1, 2)])
    for table in (pd.DataFrame({"id": [0]}), pa.table({"id": [0]})):
        for call in (
            lambda: rp.seeded(g, table),
            lambda: rp.closeness(g, vertices=table),
            lambda: rp.pagerank(g, personalize=table),
            lambda: rp.communities(g, labels=table),
            lambda: rp.apsp(g, sources=table),
        ):
            with pytest.raises(rp.OptionError, match="expected a column of values, and not a table"):
                call()


@pytest.mark.parametrize("seed, cluster, kind", [(2**64 - 1, 2**64 - 1, "uint64"), ("ann", 2**63, "uint64"), ("ann", -(2**63), "int64"), ("ann", 7, "int64")])
def test_clusters_of_seeds_are_integers_of_64_bits(seed: Any, cluster: int, kind: str) -> None:
    graph = rp.graph([seed, 5 if isinstance(seed, int) else "bob"], [5, 6] if isinstance(seed, int) else ["bob", "cid"])
    found = rp.seeded(graph, [seed] if seed == cluster else {seed: cluster})
    assert found.names.tolist() == [cluster] and found.names.dtype == kind
    assert found.to_pandas()["community"].tolist() == [cluster] * 3
    assert found.to_arrow()["community"].to_pylist() == [cluster] * 3
    assert pickle.loads(pickle.dumps(found)).names.tolist() == [cluster]


@pytest.mark.parametrize("seeds", [{"ann": 2**80}, {"ann": 2**64}, {"ann": -(2**63) - 1}, {"ann": -1, "bob": 2**63}])
def test_clusters_of_seeds_that_64_bits_do_not_hold_are_refused(seeds: dict[str, int]) -> None:
    with pytest.raises(rp.InputError, match="integers of 64 bits, and these are from .* make them strings"):
        rp.seeded([("ann", "bob")], seeds)


def test_seeds_are_no_string() -> None:
    for seeds in ("ab", b"ab"):
        with pytest.raises(rp.OptionError, match="seeds: expected several ids, .*not a string"):
            rp.seeded([("a", "b")], seeds)


def test_resolutions_are_numbers() -> None:
    found = rp.communities([(0, 1), (1, 2)])
    for method in (found.quality, found.per_community, found.parts):
        for wrong in ("a", [1.0], "1"):
            with pytest.raises(rp.OptionError, match="resolution: expected a number, not"):
                method(resolution=wrong)  # type: ignore[arg-type]
        for wrong in (-1, float("nan"), float("inf")):
            with pytest.raises(rp.InputError, match="resolution"):
                method(resolution=wrong)
    assert found.quality(resolution=np.float32(0.5))["resolution"] == 0.5


def test_files_have_paths() -> None:
    found = rp.communities([(0, 1), (1, 2)])
    for write in (found.write, found.to_gexf, found.graph.write, found.plot().write):
        for wrong in (5, b"x.csv", None):
            with pytest.raises(rp.OptionError, match="path: expected a path, as a text or a pathlib.Path, not"):
                write(wrong)  # type: ignore[arg-type]
    with pytest.raises(rp.OptionError, match="checkpoint: expected a path"):
        rp.communities([(0, 1)], checkpoint=5)  # type: ignore[arg-type]
