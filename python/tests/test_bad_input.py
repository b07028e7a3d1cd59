"""Bad input is an exception that says what, where, and what to do; never a crash."""

from __future__ import annotations

import decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ripplet as rp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def frames(columns: dict[str, list[Any]]) -> list[Any]:
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns]


def test_nulls_are_named_by_row() -> None:
    for columns in [{"source": ["a", "b", None], "target": ["b", "c", "d"]},
                    {"source": [1, 2, 3], "target": [2, 3, None]}]:
        for table in frames(columns):
            with pytest.raises(rp.InputError, match="row 2"):
                rp.graph(table)
    nullable = pd.DataFrame({"source": pd.array([1, None], dtype="Int64"), "target": [2, 3]})
    with pytest.raises(rp.InputError, match="row 1"):
        rp.graph(nullable)


def test_bad_weights_are_named_by_row() -> None:
    for bad in [float("nan"), float("inf"), -1.0]:
        for table in frames({"source": [1, 2], "target": [2, 3], "weight": [1.0, bad]}):
            with pytest.raises(rp.InputError, match="row 1"):
                rp.graph(table, weight=True)
        with pytest.raises(rp.InputError, match="row 1"):
            rp.graph([1, 2], [2, 3], [1.0, bad])
        with pytest.raises(rp.InputError, match="edge 1"):
            rp.graph([1, 2], [2, 3], [1.0, bad], vertices=4)
    with pytest.raises(rp.InputError):
        rp.graph({"source": [1], "target": [2], "weight": ["much"]}, weight=True)


CASES: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ({"source": ["a"], "goal": ["b"], "x": [1]}, {}, ValueError, "target"),
    (pa.table({"source": ["a"], "goal": ["b"], "x": [1]}), {}, ValueError, "target"),
    ({"source": ["a"], "target": ["b"]}, {"source": "from"}, ValueError, "from"),
    ({"source": ["a"], "target": ["b"]}, {"weight": "eur"}, ValueError, "eur"),
    (([1, "a"], [2, 3]), {}, ValueError, "row 1"),
    (([1, 2], ["a", "b"]), {}, ValueError, "make both strings"),
    (([1.5, 2.0], [2, 3]), {}, ValueError, "float"),
    (([1, 2], [2]), {}, ValueError, "different length"),
    (([True], [False]), {}, ValueError, "bool"),
    (([2**64], [1]), {}, ValueError, "64 bits"),
    (([-1, 2**63], [1, 2]), {}, ValueError, "negative"),
    (([1],), {}, TypeError, "two arrays"),
    ([(1, 2), (3,)], {}, ValueError, "pairs"),
    (np.zeros((3, 4)), {}, ValueError, "shape"),
    (np.array([[0.5], [1.0]]), {}, TypeError, "integers"),
    (np.array([["0"], ["1"]]), {}, TypeError, "integers"),
    ([(1, 2)], {"vertices": 2.0}, TypeError, "vertices"),
    (3, {}, TypeError, "int"),
    (None, {}, TypeError, "NoneType"),
    ([(1, 2)], {"storage": "small"}, ValueError, "storage"),
    ([(1, 2)], {"threads": 0}, ValueError, "threads"),
    ([(1, 2)], {"threads": 4097}, ValueError, "threads: expected at most 4096"),
    ([(1, 2)], {"threads": "all"}, TypeError, "threads"),
    ([(1, 2)], {"vertices": 2}, ValueError, "from 0 to 1"),
    ([(1, 2)], {"format": "csv"}, TypeError, "format"),
    ([(1, 2)], {"sauce": "a"}, TypeError, "source"),
    ("missing.csv", {}, OSError, "missing.csv"),
    (__file__, {}, ValueError, "extension"),
    ("missing.csv", {"format": "xyz"}, ValueError, "xyz"),
    ("missing.csv", {"vertices": 3}, TypeError, "vertices"),
]


@pytest.mark.parametrize("data, options, built_in, message", CASES, ids=lambda value: str(value)[:40])
def test_no_graph(data: Any, options: dict[str, Any], built_in: type[Exception], message: str) -> None:
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.graph(data, **options)
    assert isinstance(raised.value, built_in), type(raised.value).__mro__


RUNS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"program": "louvain"}, ValueError, "expected lpa"),
    ({"program": 3}, TypeError, "program"),
    ({"program": "seeded"}, TypeError, "seeded begins"),
    ({"program_file": 0}, TypeError, "program_file: expected the path of a file, not int"),
    ({"program_file": "missing.rs"}, OSError, "missing.rs"),
    ({"gamma": 1.0}, ValueError, "parameter of llp"),
    ({"program": "llp", "gamma": -1}, ValueError, "gamma"),
    ({"program": "llp", "gamma": float("nan")}, ValueError, "gamma"),
    ({"schedule": "slow"}, ValueError, "phased"),
    ({"schedule": "sync", "phases": 3}, ValueError, "phases"),
    ({"pick_less": 4}, ValueError, "async"),
    ({"program": "cdlp", "schedule": "phased"}, ValueError, "synchronous"),
    ({"program": "cdlp", "tolerance": 0.1}, ValueError, "fixed number"),
    ({"counter": "mg:99"}, ValueError, "counter"),
    ({"refine": "leiden"}, ValueError, "modularity"),
    ({"refine": "cpm"}, ValueError, "resolution"),
    ({"refine": "modularity", "program": "lpa"}, ValueError, "replaces"),
    ({"refine": "modularity", "schedule": "sync"}, ValueError, "schedule"),
    ({"resolution": 1.0}, ValueError, "no resolution"),
    ({"tolerance": 2.0}, ValueError, "tolerance"),
    ({"iterations": 3, "tolerance": 0.1}, ValueError, "exact"),
    ({"iterations": -1}, ValueError, "iterations"),
    ({"iterations": 2**40}, ValueError, "iterations"),
    ({"seed": 0.5}, ValueError, "seed"),
    ({"seed": True}, TypeError, "seed"),
    ({"merge": 3.0}, ValueError, "merge"),
    ({"max_size": 3}, ValueError, "refinement"),
    ({"device": "gpu"}, ValueError, "device"),
    ({"device": 0}, TypeError, "device"),
    ({"threads": -4}, ValueError, "threads"),
    ({"labels": [1]}, ValueError, "labels"),
    ({"labels": {"nobody": 1}}, KeyError, "nobody"),
    ({"progress": "yes"}, TypeError, "progress"),
    ({"resolutoin": 1.0}, TypeError, "did you mean resolution"),
]


@pytest.mark.parametrize("options, built_in, message", RUNS, ids=str)
def test_no_run(options: dict[str, Any], built_in: type[Exception], message: str) -> None:
    graph = rp.graph([(1, 2), (2, 3)])
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.communities(graph, **options)
    assert isinstance(raised.value, built_in), type(raised.value).__mro__


def test_a_missing_gpu_is_named() -> None:
    graph = rp.graph([(1, 2)])
    found = rp.communities(graph)
    if found.device != "cpu":
        pytest.skip("there is a GPU")
    with pytest.raises(rp.DeviceError):
        rp.communities(graph, device="cuda")
    assert found.fallback


def test_strided_and_foreign_arrays_are_read() -> None:
    u = np.arange(20)
    expected = rp.graph(u[::2].copy(), u[1::2].copy())
    assert (rp.graph(u[::2], u[1::2]).ids == expected.ids).all()
    assert (rp.graph(u[::2].astype(">i8"), u[1::2].astype(">u2")).ids == expected.ids).all()
    unaligned = np.frombuffer(b"\0" + np.arange(4, dtype=np.int64).tobytes(), dtype=np.uint8)[1:].view(np.int64)
    assert rp.graph(unaligned, unaligned[::-1]).vertices == 4


def test_empty_tables_are_refused_and_empty_numbers_are_not() -> None:
    with pytest.raises(rp.InputError, match="no rows"):
        rp.graph([], [])
    assert rp.graph(np.zeros((2, 0), dtype=int), vertices=3).vertices == 3
    assert rp.communities(rp.graph(np.zeros((2, 0), dtype=int))).sets() == []


@pytest.mark.parametrize("seeds", [{1: (2,)}, {1: (2, "much")}, {1: 2.5}, [(1, 2)], 3, [[1]]], ids=str)
def test_seeds_that_are_none(seeds: Any) -> None:
    with pytest.raises(rp.RippletError):
        rp.seeded([(1, 2), (2, 3)], seeds)


EDGES = [(1, 2), (2, 3), (3, 4)]
AMBIGUOUS: list[tuple[Any, str]] = [
    (tuple(EDGES), "a tuple of tuples"),
    (tuple(EDGES[:2]), "a tuple of tuples"),
    ((("ann", "bob"), ("cid", "dan")), "a tuple of tuples"),
    ([[0, 1, 2], [1, 2, 3]], "2 lists of three"),
    ([np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1, 1, 2])], "3 lists of three"),
    (["ab", "bc"], r"row 0 .*an edge is a pair such as .*not 'ab'"),
    ([("a", "b"), "bc"], r"row 1 .*not 'bc'"),
    ([{"source": 1, "target": 2}, {"source": 2, "target": 3}], r"row 0 .*pandas.DataFrame"),
    ([1, 2], r"row 0 .*not 1"),
]


@pytest.mark.parametrize("data, message", AMBIGUOUS, ids=str)
def test_what_may_be_edges_or_columns_is_refused(data: Any, message: str) -> None:
    with pytest.raises(rp.InputError, match=message):
        rp.graph(data)


def test_what_is_either_edges_or_columns_is_read() -> None:
    assert rp.graph(EDGES).edges == 3
    assert rp.graph(*zip(*EDGES, strict=True)).edges == 3
    assert rp.graph(([1, 2, 3], [2, 3, 4])).edges == 3
    assert rp.graph([list(edge) for edge in EDGES]).edges == 3
    assert rp.graph([[0, 1], [1, 2]]).vertices == 3
    assert rp.graph([(0, 1, 2), (1, 2, 3)]).weighted
    columns = {"source": iter([1, 2]), "target": iter([2, 3]), "amount": iter([0.5, 2.0])}
    assert rp.graph(columns, weight="amount").edge_arrays()[2].tolist() == [0.5, 2.0]


def test_names_of_columns_that_are_false() -> None:
    frame = pd.DataFrame([(7, 1, 2, 0.5), (7, 2, 3, 2.0)])
    graph = rp.graph(frame[[1, 0, 2, 3]], source=0, target=2)
    assert graph.ids.tolist() == [2, 3, 7]
    graph = rp.graph(pd.DataFrame({0: [0.5, 1.5], 1: [1, 2], 2: [2, 3]}), source=1, target=2, weight=0)
    assert graph.edge_arrays()[2].tolist() == [0.5, 1.5]
    for table in (pl.DataFrame({"source": [1], "target": [2]}), pa.table({"source": [1], "target": [2]})):
        with pytest.raises(rp.OptionError, match="weight: expected"):
            rp.graph(table, weight=0)


def test_two_columns_of_one_name() -> None:
    frame = pd.DataFrame([(1, 2, 3)], columns=["source", "source", "target"])
    with pytest.raises(rp.InputError, match="two columns .source"):
        rp.graph(frame)
    frame = pd.DataFrame([(1, 2, 3.0, 4.0)], columns=["source", "target", "weight", "weight"])
    with pytest.raises(rp.InputError, match="2 columns 'weight'"):
        rp.graph(frame, weight=True)


def test_flags_are_true_or_false() -> None:
    for directed in ("False", "no", 0, []):
        with pytest.raises(rp.OptionError, match="directed: expected True or False"):
            rp.graph([(1, 2)], directed=directed)
    assert rp.graph([(1, 2)], directed=np.True_).directed


def test_masked_entries_are_refused() -> None:
    u, v = np.ma.array([1, 2, 99], mask=[0, 0, 1]), [2, 3, 4]
    w = np.ma.array([1.0, 99.0, 1.0], mask=[0, 1, 0])
    for call, message in [
        (lambda: rp.graph(u, v), "row 2 .*source is masked"),
        (lambda: rp.graph({"source": v, "target": u}), "row 2 .*target is masked"),
        (lambda: rp.graph(v, v, w), "row 1 .*weight is masked"),
        (lambda: rp.graph({"source": v, "target": v, "eur": w}, weight="eur"), "row 1 .*masked"),
        (lambda: rp.graph(np.ma.array([[0, 1], [1, 9]], mask=[[0, 0], [0, 1]])), "row 1 .*edge_index is masked"),
        (lambda: rp.swarm({"graph": u, "u": v, "v": v}), "null"),
    ]:
        with pytest.raises(rp.InputError, match=message):
            call()
    whole = np.ma.array([1, 2, 3], mask=[0, 0, 0])
    assert rp.graph(whole, v).edges == 3


def test_integers_of_numpy_are_ids() -> None:
    u, v = np.array([5, 7, 9]), np.array([7, 9, 2**40])
    expected = rp.graph(u, v)
    edges = list(zip(u, v, strict=True))
    frame = pd.DataFrame({"source": list(u), "target": list(v)}, dtype=object)
    for graph in (rp.graph(edges), rp.graph(list(u), list(v)), rp.graph(frame)):
        assert (graph.ids == expected.ids).all() and graph.edges == 3
    with pytest.raises(rp.InputError, match="row 1 .*source is of the type float64"):
        rp.graph([np.int64(1), np.float64(2)], [2, 3])


def test_messages_on_types_name_the_column_and_the_remedy() -> None:
    frame = pd.DataFrame({"s": [1.0, 2.0], "t": [2, 3]})
    with pytest.raises(rp.InputError, match=r"s: ids are integers .*\.astype\(\"Int64\"\)"):
        rp.graph(frame, source="s", target="t")
    with pytest.raises(rp.InputError, match=r"row 0 .*: s is of the type float.*\.astype\(\"Int64\"\)"):
        rp.graph(frame.astype(object), source="s", target="t")
    ends = {"source": [1, 2], "target": [2, 3]}
    for weights in ([True, False], pd.to_timedelta(["1D", "2D"]), ["1", "2"], pd.array([True, False], dtype="boolean")):
        with pytest.raises(rp.InputError, match="row 0 .*: eur is .*, which is no number"):
            rp.graph(pd.DataFrame({**ends, "eur": weights}), weight="eur")


def test_weights_are_numbers_of_every_type() -> None:
    ends = {"source": [1, 2], "target": [2, 3]}
    decimals = [decimal.Decimal("0.5"), decimal.Decimal(2)]
    kind = pa.decimal128(38, 2)
    tables = [
        pd.DataFrame({**ends, "weight": decimals}),
        pd.DataFrame({**ends, "weight": pd.Series([0.5, 2], dtype=object)}),
        pd.DataFrame({**ends, "weight": pd.array(decimals, dtype=pd.ArrowDtype(kind))}),
        pl.DataFrame({**ends, "weight": pl.Series(decimals, dtype=pl.Decimal(20, 2))}),
        pa.table({**ends, "weight": pa.array(decimals, kind)}),
        pa.table({**ends, "weight": pa.array(decimals, pa.decimal256(60, 2))}),
        {**ends, "weight": decimals},
    ]
    for table in tables:
        assert rp.graph(table, weight=True).edge_arrays()[2].tolist() == [0.5, 2.0]
    duckdb = pytest.importorskip("duckdb")
    sums = duckdb.sql("select a as source, a + 1 as target, sum(b) as weight from (values (1, 2), (1, 3), (2, 4)) t(a, b) group by a")
    assert sorted(rp.graph(sums, weight=True).edge_arrays()[2].tolist()) == [4.0, 5.0]
    with pytest.raises(rp.InputError, match="row 1"):
        rp.graph(pa.table({**ends, "weight": pa.array([1, None], kind)}), weight=True)
    with pytest.raises(rp.InputError, match="row 1"):
        rp.graph(pa.table({**ends, "weight": pa.array([1, -1], kind)}), weight=True)


def test_files_are_named_by_a_pattern(tmp_path: Path) -> None:
    pq = pytest.importorskip("pyarrow.parquet")
    for at in (1, 2):
        pq.write_table(pa.table({"source": [at], "target": [at + 1]}), tmp_path / f"{at}.parquet")
    assert rp.graph(tmp_path / "*.parquet").edges == 2
    for data in ([tmp_path / "1.parquet", tmp_path / "2.parquet"], [str(tmp_path / "1.parquet")], tmp_path, str(tmp_path)):
        with pytest.raises(rp.InputError, match=r"by a pattern, as in graph\(.*parquet"):
            rp.graph(data)


def test_advice_on_columns_is_that_of_python() -> None:
    columns = {"from": [1], "to": [2], "src": [3], "dst": [4]}
    for table in frames(columns):
        with pytest.raises(rp.InputError, match="source= and target=") as raised:
            rp.graph(table)
        assert "--" not in str(raised.value)
    with pytest.raises(rp.InputError, match="name it with graph=$"):
        rp.swarm(pd.DataFrame({"source": [1], "target": [2]}))


def test_a_single_column_is_no_graph() -> None:
    for values in (pd.Series([1, 2]), pd.array([1, 2]), pd.Index([1, 2]), pl.Series([1, 2]), pa.array([1, 2]), pa.chunked_array([[1, 2]])):
        with pytest.raises(rp.OptionError, match="is no table: pass it as one of the columns"):
            rp.graph(values)
        with pytest.raises(rp.OptionError, match="is no table: pass it as one of the columns"):
            rp.swarm(values)


def test_a_weight_that_is_none_is_null() -> None:
    for make in (
        lambda: rp.graph([1, 2], [2, 3], [1, None]),
        lambda: rp.graph([(1, 2, 1), (2, 3, None)]),
        lambda: rp.graph({"source": [1, 2], "target": [2, 3], "weight": [1, None]}, weight=True),
    ):
        with pytest.raises(rp.InputError, match=r"^row 1 \(the first is 0\): weight is null$"):
            make()


BAD_WEIGHTS: list[tuple[Any, str]] = [
    (-1, "is -1.0: expected a finite number, 0 or above"),
    (float("nan"), "is nan: expected a finite number, 0 or above"),
    (float("inf"), "is inf: expected a finite number, 0 or above"),
    (None, "is null"),
    ("x", "is 'x', which is no number"),
]


@pytest.mark.parametrize("weight, message", BAD_WEIGHTS, ids=str)
def test_a_bad_weight_of_a_graph_or_a_matrix_has_the_ends_of_its_edge(weight: Any, message: str) -> None:
    sparse, nx = pytest.importorskip("scipy.sparse"), pytest.importorskip("networkx")
    igraph, networkit = pytest.importorskip("igraph"), pytest.importorskip("networkit")
    edges = [("dan", "cid", 1), ("bob", "ann", weight)]
    graphs = [kind() for kind in (nx.Graph, nx.DiGraph, nx.MultiGraph)]
    for graph in graphs:
        graph.add_weighted_edges_from(edges)
    graphs.append(igraph.Graph.TupleList(edges, weights=True))
    for graph in graphs:
        with pytest.raises(rp.InputError, match=f"^the edge from '(ann' to 'bob|bob' to 'ann)': weight {message}$"):
            rp.graph(graph, weight=True)
    if isinstance(weight, (int, float)):
        of_numbers = networkit.Graph(3, weighted=True)
        of_numbers.addEdge(1, 2, weight)
        matrix = sparse.coo_array(([1.0, weight], ([0, 1], [1, 2])), shape=(3, 3))
        for data, options in [(of_numbers, {}), (matrix, {"directed": True}), (matrix + matrix.T, {})]:
            with pytest.raises(rp.InputError, match=f"^the edge from (1 to 2|2 to 1): weight {message}$"):
                rp.graph(data, weight=True, **options)


def test_ids_that_cannot_be_ids() -> None:
    igraph, nx = pytest.importorskip("igraph"), pytest.importorskip("networkx")
    named = igraph.Graph([(0, 1)])
    named.vs["name"] = ["ann", ["bob"]]
    with pytest.raises(rp.InputError, match=r"the name of the vertex 1 is \['bob'\], which is no id"):
        rp.graph(named)
    for graph in (rp.graph([(0, 1)]), rp.graph(nx.Graph([((0,), (1,))]))):
        assert [0, 1] not in graph
        with pytest.raises(rp.UnknownVertexError, match=r"no vertex \[0, 1\]"):
            rp.communities(graph)[[0, 1]]  # type: ignore[index]
    for vertices in (-1, 2**64):
        with pytest.raises(rp.InputError, match=f"vertices: expected a whole number from 0 to 4,294,967,294, not {vertices}"):
            rp.graph([0], [1], vertices=vertices)
