"""Every source of a graph makes the same graph."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import random_edges

import ripplet as rp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
sparse = pytest.importorskip("scipy.sparse")


def written(graph: rp.Graph, folder: Path) -> list[tuple[str, ...]]:
    """Returns the edges of a graph, through a file."""
    graph.write(folder / "edges.csv")
    rows = [tuple(line.split(",")) for line in (folder / "edges.csv").read_text().splitlines()[1:]]
    return sorted(rows)


def tables(u: Any, v: Any, w: Any) -> dict[str, Any]:
    """Returns the same table as each kind of table."""
    columns = {"a": u, "b": v, "amount": w}
    frame = pd.DataFrame(columns)
    arrow = pa.table({name: pa.array(column) for name, column in columns.items()})
    return {
        "pandas": frame,
        "pandas, pyarrow": arrow.to_pandas(types_mapper=pd.ArrowDtype),
        "polars": pl.DataFrame(columns),
        "polars, chunks": pl.concat([pl.DataFrame(columns)[:30], pl.DataFrame(columns)[30:]], rechunk=False),
        "pyarrow": arrow,
        "batch": arrow.combine_chunks().to_batches()[0],
        "reader": arrow.to_reader(max_chunksize=7),
        "dict": columns,
    }


@pytest.mark.parametrize("kind", ["integers", "negative", "large", "strings", "int32"])
@pytest.mark.parametrize("weighted", [False, True])
def test_tables_make_one_graph(kind: str, weighted: bool, tmp_path: Path) -> None:
    u, v, w = random_edges(3)
    make = {
        "integers": lambda ids: ids.astype(np.int64),
        "negative": lambda ids: ids.astype(np.int64) - 30,
        "large": lambda ids: ids.astype(np.uint64) + np.uint64(2**63),
        "strings": lambda ids: np.array([f"é{id}" for id in ids], dtype=object),
        "int32": lambda ids: ids.astype(np.int32),
    }[kind]
    u, v = make(u), make(v)
    weight = "amount" if weighted else None
    expected = rp.graph(u.tolist(), v.tolist(), w) if weighted else rp.graph(u.tolist(), v.tolist())
    rows = written(expected, tmp_path)
    assert len(rows) == expected.edges
    sources = tables(u, v, w)
    for name, table in sources.items():
        graph = rp.graph(table, source="a", target="b", weight=weight)
        assert (graph.ids == expected.ids).all(), name
        assert written(graph, tmp_path) == rows, name
    arrays = (u, v, w) if weighted else (u, v)
    series = pd.DataFrame(sources["dict"])
    for columns in [arrays, tuple(pa.array(a) for a in arrays), tuple(pl.Series(a) for a in arrays)]:
        assert written(rp.graph(columns), tmp_path) == rows
        assert written(rp.graph(*columns), tmp_path) == rows
    assert written(rp.graph(tuple(series[n] for n in list("ab") + ["amount"] * weighted)), tmp_path) == rows
    edges = list(zip(*(a.tolist() for a in arrays), strict=True))
    assert written(rp.graph(edges), tmp_path) == rows


def test_text_of_every_type(tmp_path: Path) -> None:
    u, v, _ = random_edges(4)
    u, v = [f"v{id}" for id in u], [f"v{id}" for id in v]
    rows = written(rp.graph(u, v), tmp_path)
    types = [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
    for kind in types:
        assert written(rp.graph(pa.array(u).cast(kind), pa.array(v).cast(kind)), tmp_path) == rows, kind
    frame = pd.DataFrame({"source": u, "target": v})
    assert written(rp.graph(frame), tmp_path) == rows
    assert written(rp.graph(frame.astype("category")), tmp_path) == rows
    assert written(rp.graph(frame.astype(object)), tmp_path) == rows
    polars = pl.DataFrame({"source": u, "target": v})
    assert written(rp.graph(polars), tmp_path) == rows
    assert written(rp.graph(polars.cast(pl.Categorical)), tmp_path) == rows
    assert written(rp.graph(np.array(u), np.array(v)), tmp_path) == rows


def test_duckdb_relations(tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    u, v, w = random_edges(5)
    frame = pd.DataFrame({"a": u, "b": v, "w": w})
    relation = duckdb.sql("select * from frame")
    expected = written(rp.graph(u, v, w), tmp_path)
    assert written(rp.graph(relation, source="a", target="b", weight="w"), tmp_path) == expected
    assert len(frame) == len(u)


def test_numbered_vertices_without_edges_are_vertices() -> None:
    index = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    graph = rp.graph(index, vertices=5)
    assert (graph.vertices, graph.edges) == (5, 2)
    assert rp.graph(index).vertices == 3
    assert rp.graph([0], [1], vertices=4).vertices == 4
    with pytest.raises(rp.InputError, match=r"row 3 .*source is 2.* from 0 to 1"):
        rp.graph(index, vertices=2)
    with pytest.raises(rp.InputError, match="transpose"):
        rp.graph(index.T)


@pytest.mark.parametrize("make", ["csr_array", "csc_matrix", "coo_array", "coo_matrix"])
def test_sparse_matrices(make: str, tmp_path: Path) -> None:
    u, v, w = random_edges(6)
    keep = u != v
    u, v, w = u[keep], v[keep], w[keep]
    one = sparse.coo_array((w, (u, v)), shape=(60, 60))
    both = getattr(sparse, make)(one + one.T)
    expected = rp.graph(u, v, w, vertices=60)
    assert written(rp.graph(both, weight=True), tmp_path) == written(expected, tmp_path)
    assert not rp.graph(both).weighted
    directed = rp.graph(getattr(sparse, make)(one), weight=True, directed=True)
    assert written(directed, tmp_path) == written(rp.graph(u, v, w, vertices=60, directed=True), tmp_path)
    with pytest.raises(rp.InputError, match="not symmetric"):
        rp.graph(getattr(sparse, make)(one))
    with pytest.raises(rp.InputError, match="square"):
        rp.graph(sparse.csr_array((3, 4)))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("multi", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_networkx(directed: bool, multi: bool, weighted: bool, tmp_path: Path) -> None:
    nx = pytest.importorskip("networkx")
    u, v, w = random_edges(7)
    classes = {
        (False, False): nx.Graph, (True, False): nx.DiGraph,
        (False, True): nx.MultiGraph, (True, True): nx.MultiDiGraph,
    }
    plain = classes[directed, multi]()
    plain.add_weighted_edges_from(zip(u.tolist(), v.tolist(), w.tolist(), strict=True))
    rows = list(plain.edges(data="weight"))
    arrays = [np.array([row[at] for row in rows]) for at in range(3 if weighted else 2)]
    expected = rp.graph(*arrays, directed=directed)
    graph = rp.graph(plain, weight="weight" if weighted else None)
    assert graph.directed == directed
    assert written(graph, tmp_path) == written(expected, tmp_path)
    assert set(graph.ids.tolist()) == set(plain)


def test_networkx_nodes_of_any_type() -> None:
    nx = pytest.importorskip("networkx")
    plain = nx.Graph([((0, 1), "x"), ("x", 3), (3, frozenset())])
    plain.add_node("alone")
    graph = rp.graph(plain)
    assert list(graph.ids) == list(plain)
    found = rp.communities(graph, refine="modularity")
    assert found["alone"] == "alone"
    assert {frozenset(members) for members in found.sets()} >= {frozenset(["alone"])}
    with pytest.raises(rp.InputError, match="Python objects"):
        found.to_arrow()
    assert len(found.to_pandas()) == 5
    # Sorted by the ids, as a file would be; without edges, too.
    assert rp.graph(nx.Graph([(9, -2), (4, 9)])).ids.tolist() == [-2, 4, 9]
    assert rp.graph(nx.empty_graph(3)).vertices == 3
    assert rp.communities(nx.null_graph()).sets() == []


def test_igraph(tmp_path: Path) -> None:
    igraph = pytest.importorskip("igraph")
    u, v, w = random_edges(8)
    edges = list(zip(u.tolist(), v.tolist(), strict=True))
    for directed in (False, True):
        plain = igraph.Graph(70, edges, directed=directed, edge_attrs={"weight": w.tolist()})
        graph = rp.graph(plain, weight=True)
        expected = rp.graph(u, v, w, vertices=70, directed=directed)
        assert graph.directed == directed
        assert written(graph, tmp_path) == written(expected, tmp_path)
    named = igraph.Graph(3, [(0, 1)], vertex_attrs={"name": ["z", "b", "a"]})
    graph = rp.graph(named)
    assert graph.ids.tolist() == ["a", "b", "z"]
    rp.communities(graph).annotate(named)
    assert named.vs["community"] == ["b", "b", "a"]


def test_networkit(tmp_path: Path) -> None:
    networkit = pytest.importorskip("networkit")
    u, v, w = random_edges(9)
    for directed in (False, True):
        plain = networkit.Graph(60, weighted=True, directed=directed)
        for a, b, weight in zip(u.tolist(), v.tolist(), w.tolist(), strict=True):
            plain.addEdge(a, b, weight)
        expected = rp.graph(u, v, w, vertices=60, directed=directed)
        assert written(rp.graph(plain, weight=True), tmp_path) == written(expected, tmp_path)
    plain.removeNode(0)
    assert rp.graph(plain).ids.tolist() == list(range(1, 60))


def test_loops_and_repeats_are_kept_on_demand() -> None:
    edges = [(1, 1), (1, 2), (2, 1), (1, 2)]
    assert rp.graph(edges).edges == 1
    assert rp.graph(edges, keep_loops=True).edges == 2
    assert rp.graph(edges, keep_duplicates=True).edges == 3
    assert rp.graph(edges, directed=True).edges == 2


def test_compressed_lists_are_the_same_graph(tmp_path: Path) -> None:
    u, v, _ = random_edges(10)
    plain, compressed = rp.graph(u, v), rp.graph(u, v, storage="compressed")
    assert compressed.storage == "compressed"
    assert rp.communities(plain) == rp.communities(compressed)
    assert written(compressed, tmp_path) == written(plain, tmp_path)


def test_degrees_and_ids() -> None:
    graph = rp.graph([("b", "a"), ("b", "c")])
    assert graph.ids.tolist() == ["a", "b", "c"]
    assert graph.degrees.tolist() == [1, 2, 1]
    assert "a" in graph and "x" not in graph and 3 not in graph and len(graph) == 3
    assert graph.vertex("c") == 2
    with pytest.raises(AttributeError):
        graph.vertices = 4  # type: ignore[misc]
    numbers = rp.graph([1, 5], [5, 9])
    assert numbers.vertex(np.int64(9)) == 2 and "9" not in numbers and 9.0 not in numbers
    assert not numbers.ids.flags.writeable


def test_errors_advise_what_python_has(tmp_path: Path) -> None:
    found = rp.communities([(0, 1)])
    file = tmp_path / "edges.csv"
    file.write_text("source,target\n-1,2\n3,4\n")
    calls: list[tuple[Any, str]] = [
        (lambda: rp.graph([("a", 1)]), "make both strings"),
        (lambda: rp.graph([("a", "b")], id_kind="names"), "make them strings"),
        (lambda: rp.graph({"source": [-1], "target": [2**63]}), "make all of them strings"),
        (lambda: rp.graph([0, 1], [1, 2], [1e-9, 1e9]), "coarse_weights=True"),
        (lambda: rp.graph(file), 'id_kind="signed", or id_kind="names"'),
        (lambda: found.write(tmp_path / "x.xyz"), ".graphml, .gexf, .gml, .json or .dot: .* as format="),
    ]
    for call, advice in calls:
        with pytest.raises(rp.RippletError, match=advice) as raised:
            call()
        assert "--" not in str(raised.value)


def test_matrices_that_are_no_edge_index_are_refused() -> None:
    for matrix in (np.ones((4, 4)), np.ones((2, 2)), np.ones((3, 3), int)):
        with pytest.raises(rp.InputError, match="coo_array"):
            rp.graph(matrix)
    with pytest.raises(rp.InputError, match=r"not \(4, 3\)$"):
        rp.graph(np.ones((4, 3), int))
    assert rp.graph(np.array([[0, 1], [1, 2]])).edges == 2


def test_a_lazy_frame_is_to_be_collected() -> None:
    polars = pytest.importorskip("polars")
    with pytest.raises(rp.OptionError, match="collect"):
        rp.graph(polars.DataFrame({"source": [0], "target": [1]}).lazy())


def test_an_attribute_that_no_edge_of_networkx_has_is_refused() -> None:
    networkx = pytest.importorskip("networkx")
    for kind in (networkx.Graph, networkx.MultiGraph):
        graph = kind([(0, 1, {"weight": 2.0}), (1, 2)])
        assert rp.graph(graph, weight="weight").weighted
        with pytest.raises(rp.InputError, match="no edge has the attribute 'wieght'"):
            rp.graph(graph, weight="wieght")
    assert rp.graph(networkx.empty_graph(2), weight="weight").vertices == 2


def test_an_igraph_with_equal_names_can_be_annotated() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph([(0, 1), (1, 2)], vertex_attrs={"name": ["a", "a", "b"]})
    found = rp.communities(graph)
    found.annotate(graph)
    assert graph.vs["community"] == [found[at] for at in range(3)]


AGREEMENT: list[tuple[list[str], bool]] = [
    (["source", "target", "from", "to"], True),
    (["from", "to", "src", "dst"], False),
    (["u", "v", "payer", "payee"], False),
    (["sender", "receiver", "x"], True),
    (["payer", "payee", "x"], True),
    (["i", "j", "x"], True),
    (["from_id", "to_id", "x"], True),
    (["Source", "Target", "x"], True),
    (["id", "community"], False),
    (["a", "b", "c"], False),
]


@pytest.mark.parametrize("names, is_read", AGREEMENT, ids=str)
def test_all_kinds_of_tables_find_the_same_columns(names: list[str], is_read: bool) -> None:
    columns = {name: [10 * at, 10 * at + 1] for at, name in enumerate(names)}
    frame = pd.DataFrame(columns)
    tables: list[Any] = [frame, columns, frame.convert_dtypes(dtype_backend="pyarrow"), pl.DataFrame(columns), pa.table(columns)]
    for table in tables:
        if is_read:
            assert rp.graph(table).ids.tolist() == [0, 1, 10, 11]
        else:
            with pytest.raises(rp.InputError, match="source= and target="):
                rp.graph(table)


def test_all_kinds_of_tables_find_the_same_weights() -> None:
    ends = {"source": ["a", "b"], "target": ["b", "c"]}
    for more, weights in [
        ({"amount": [1.5, 2.0]}, [1.5, 2.0]),
        ({"amount": [1.5, 2.0], "weight": [3, 4]}, [3.0, 4.0]),
        ({"amount": [1.5, 2.0], "note": ["x", "y"]}, [1.5, 2.0]),
        ({"amount": [1.5, 2.0], "count": [3, 4]}, None),
        ({"note": ["x", "y"]}, None),
    ]:
        columns = {**ends, **more}
        for table in (pd.DataFrame(columns), columns, pl.DataFrame(columns), pa.table(columns)):
            if weights is None:
                with pytest.raises(rp.InputError, match="weight="):
                    rp.graph(table, weight=True)
            else:
                assert rp.graph(table, weight=True).edge_arrays()[2].tolist() == weights


@pytest.mark.parametrize("make", ["coo_array", "coo_matrix", "csr_array"])
def test_entries_of_small_types_that_are_there_twice_are_added(make: str) -> None:
    for kind, value, total in [(np.uint8, 200, 400.0), (np.int8, 100, 200.0), (np.int16, 30000, 60000.0), (np.float32, 2.0**24, 2.0**25)]:
        twice = sparse.coo_array((np.array([value] * 4, dtype=kind), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2))
        matrix = sparse.csr_array((twice.data, [1, 1, 0, 0], [0, 2, 4]), shape=(2, 2)) if make == "csr_array" else getattr(sparse, make)(twice)
        assert rp.graph(matrix, weight=True).edge_arrays()[2].tolist() == [total]
        assert matrix.data.tolist() == [value] * 4 and matrix.dtype == kind


@pytest.mark.parametrize("make", ["dok_array", "dok_matrix", "lil_array", "bsr_array", "dia_matrix"])
def test_sparse_matrices_of_every_format(make: str) -> None:
    matrix = getattr(sparse, make)(sparse.coo_array(([2.0, 2.0], ([0, 1], [1, 0])), shape=(3, 3)))
    graph = rp.graph(matrix, weight=True)
    assert (graph.vertices, graph.edge_arrays()[2].tolist()) == (3, [2.0])
    with pytest.raises(rp.OptionError, match="leave the other arrays out"):
        rp.graph(matrix, [1])


def test_a_sparse_array_of_one_dimension_is_refused() -> None:
    with pytest.raises(rp.InputError, match=r"two dimensions, and this one has the shape \(3,\)"):
        rp.graph(sparse.coo_array(np.array([1, 0, 2])))


ARRAYS = {
    "Int64": lambda: (pd.array([1, 2], dtype="Int64"), pd.array([2, 3], dtype="Int64")),
    "string": lambda: (pd.array(["1", "2"], dtype="string"), pd.array(["2", "3"], dtype="string")),
    "categories": lambda: (pd.Categorical(["1", "2"]), pd.Categorical(["2", "3"])),
    "index of categories": lambda: (pd.CategoricalIndex(["1", "2"]), pd.CategoricalIndex(["2", "3"])),
    "index": lambda: (pd.Index([1, 2]), pd.Index([2, 3])),
    "numpy's": lambda: (pd.Series([1, 2]).array, pd.Series([2, 3]).array),
    "pyarrow's": lambda: (pd.array(["1", "2"], dtype=pd.ArrowDtype(pa.string())), pd.array(["2", "3"], dtype=pd.ArrowDtype(pa.string()))),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_and_indexes_of_pandas_are_columns(kind: str) -> None:
    u, v = ARRAYS[kind]()
    of_lists = rp.graph(u.tolist(), v.tolist(), [1.5, 2.5])
    for w in (pd.array([1.5, 2.5], dtype="Float64"), pd.Series([1.5, 2.5]).array, pd.Index([1.5, 2.5]), pd.array([1.5, 2.5], dtype=pd.ArrowDtype(pa.float64()))):
        for graph in (rp.graph(u, v, w), rp.graph({"source": u, "target": v, "weight": w}, weight=True)):
            assert graph.ids.tolist() == of_lists.ids.tolist() and graph.edge_arrays()[2].tolist() == [1.5, 2.5]
        swarm = rp.swarm({"graph": pd.array([1, 1], dtype="Int64"), "source": u, "target": v, "weight": w}, weight=True)
        assert swarm.kcore()["id"].tolist() == graph.ids.tolist()
    swarm = rp.swarm({"graph": u, "source": pd.Categorical(["a", "a"]), "target": ["b", "b"]})
    assert swarm.kcore()["graph"].tolist() == [u[0], u[0], u[1], u[1]]


def test_nulls_of_arrays_of_pandas_are_named_by_row() -> None:
    for missing in (pd.array([1, None], dtype="Int64"), pd.Categorical(["1", None]), pd.array(["1", None], dtype="string")):
        with pytest.raises(rp.InputError, match="row 1 .*: source is null"):
            rp.graph(missing, ["1", "2"])
        with pytest.raises(rp.InputError, match="row 1"):
            rp.swarm({"graph": ["a", "b"], "source": missing, "target": missing})
    with pytest.raises(rp.InputError, match="row 1 .*: weight is null"):
        rp.graph([1, 2], [2, 3], pd.array([1.5, None], dtype="Float64"))
    for value in (pd.DataFrame({"a": [1]}), pd.MultiIndex.from_tuples([(1, 2)]), pd.Timestamp(0)):
        with pytest.raises(rp.OptionError, match=f"source: expected a column, and not {type(value).__name__} of pandas"):
            rp.graph(value, [1])


UNREADABLE = {
    "Int128": lambda: pl.Series([1, 2], dtype=pl.Int128),
    r"List\(Int128\)": lambda: pl.Series([[1], [2]], dtype=pl.List(pl.Int128)),
    r"List\(Null\)": lambda: pl.Series([[None], [None]]),
}


@pytest.mark.parametrize("kind", UNREADABLE)
def test_columns_of_polars_that_cannot_be_exported_are_left_out_unless_they_are_read(kind: str) -> None:
    extra = UNREADABLE[kind]()
    frame = pl.DataFrame({"source": [1, 2], "target": [2, 3], "x": extra})
    assert rp.graph(frame).edges == 2
    swarm = frame.with_columns(graph=pl.lit("a"))
    assert len(rp.swarm(swarm)) == 1
    refused = [
        lambda: rp.graph(frame, source="x", target="target"),
        lambda: rp.graph(frame, weight="x"),
        lambda: rp.graph(frame.drop("target").rename({"x": "target"})),
        lambda: rp.graph(frame["source"], frame["x"]),
        lambda: rp.graph({"source": frame["source"], "target": frame["x"]}),
        lambda: rp.swarm(swarm, graph="x"),
        lambda: rp.swarm(swarm, source="x"),
        lambda: rp.swarm({"graph": [1, 2], "source": [1, 2], "target": frame["x"]}),
    ]
    for make in refused:
        with pytest.raises(rp.InputError, match=f"the column '(x|target)' is {kind} of polars, which ripplet does not read: "):
            make()


def test_columns_of_nulls_alone_have_no_ids() -> None:
    nulls: list[Any] = [None, None]
    frame = pl.DataFrame({"source": [1, 2], "target": nulls, "graph": ["a", "a"]})
    for make in (
        lambda: rp.graph(frame),
        lambda: rp.graph(frame["source"], frame["target"]),
        lambda: rp.swarm(frame),
        lambda: rp.graph(frame.rename({"target": "target_"}), source="source", target="target_"),
    ):
        with pytest.raises(rp.InputError, match="the column 'target_?' is Null of polars: none of its rows has a value$"):
            make()
    with pytest.raises(rp.InputError, match="the column 'w' is Null of polars: none of its rows has a value$"):
        rp.graph(pl.DataFrame({"source": [1], "target": [2], "w": [None]}), weight="w")
    arrow = pa.table({"source": [1, 2], "target": pa.nulls(2)})
    with pytest.raises(rp.InputError, match="the column `target` is Null, but ids are .*: none of its rows has a value"):
        rp.graph(arrow)


def test_empty_tables_have_no_rows() -> None:
    typed = pa.schema([("source", pa.int64()), ("target", pa.int64()), ("graph", pa.string())])
    untyped = {"source": [], "target": [], "graph": []}
    batches = pa.table({name: [] for name in typed.names}, schema=typed)
    tables = [
        batches, pa.RecordBatchReader.from_batches(typed, []), pa.Table.from_batches([], schema=typed), pa.table(untyped),
        pl.DataFrame(untyped), pl.from_arrow(batches), batches.to_pandas(), untyped,
    ]
    for table in tables:
        with pytest.raises(rp.InputError, match="the table has no rows: expected a row for each edge"):
            rp.graph(table)
    for table in [batches, pa.RecordBatchReader.from_batches(typed, []), pl.DataFrame(untyped), untyped]:
        with pytest.raises(rp.InputError, match="no rows"):
            rp.swarm(table)


def test_relations_of_duckdb() -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = "(values (1, 2), (2, 3)) t(source, target)"
    assert rp.graph(duckdb.sql(f"from {rows}")).edges == 2
    for kind in ("integer", "varchar"):
        empty = duckdb.sql(f"select source::{kind} source, target::{kind} target from {rows} where source > 9")
        with pytest.raises(rp.InputError, match="the table has no rows: expected a row for each edge"):
            rp.graph(empty)
    # Sums are of this type.
    huge = duckdb.sql(f"select source::hugeint source, target from {rows}")
    with pytest.raises(rp.InputError, match=r"the column `source` is .*, but ids are integers or strings: .*CAST\(… AS BIGINT\)"):
        rp.graph(huge)
    assert rp.graph(duckdb.sql(f"select cast(source as bigint) source, target from {rows}")).edges == 2


def test_columns_of_nulls_alone_are_no_obstacle() -> None:
    columns = {"source": [1, 2], "target": [2, 3], "note": [None, None]}
    for table in (pl.DataFrame(columns), pa.table(columns), pd.DataFrame(columns), columns):
        assert rp.graph(table).edges == 2
    for table in (pl.DataFrame({**columns, "graph": ["a", "a"]}), {**columns, "graph": ["a", "a"], "note": pl.Series([None, None])}):
        assert len(rp.swarm(table)) == 1
    for null in (pl.Series([None, None]), [None, None]):
        with pytest.raises(rp.InputError):
            rp.graph([1, 2], null)
