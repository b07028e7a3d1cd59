"""Graphs, from what Python has."""

from __future__ import annotations

import decimal
import itertools
import operator
import os
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, SupportsIndex, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._options import given, options, path_of
from ._progress import Progress, reporter
from .errors import InputError, OptionError, UnknownVertexError

Ids: TypeAlias = npt.NDArray[np.uint64] | npt.NDArray[np.int64] | npt.NDArray[np.object_]


WIDEST: dict[str, type[np.generic]] = {"i": np.int64, "u": np.uint64, "f": np.float64}
"""The widest type of numbers of a kind of numpy."""


def view(array: native.Array) -> npt.NDArray[Any]:
    """Returns a view of a native array, without a copy; it cannot be written."""
    viewed: npt.NDArray[Any] = np.frombuffer(memoryview(array), dtype=np.dtype(array.dtype))
    return viewed


class Graph:
    """A graph, which does not change; made by :func:`ripplet.graph`.

    Vertices are numbered from 0 in the order of :attr:`ids`: integers by value, strings by their UTF-8 bytes, and
    other objects as they come.

    Attributes
    ----------
    vertices, edges, arcs : int
        Numbers of vertices, edges and arcs (two for each undirected edge that is no loop).
    directed, weighted : bool
        Whether edges have a direction, and weights.
    """

    __slots__ = ("_ids", "_index", "_native", "_nodes", "__weakref__")

    _native: native.Graph
    _nodes: list[Hashable] | None
    _ids: Ids | None
    _index: dict[Hashable, int] | None

    def __init__(self, built: native.Graph, nodes: list[Hashable] | None = None) -> None:
        set_once(self, "_native", built)
        set_once(self, "_nodes", nodes)
        set_once(self, "_ids", None)
        set_once(self, "_index", None)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a graph does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a graph does not change")

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return self._native.vertices

    @property
    def edges(self) -> int:
        """Number of edges; loops and repeated edges count as they are kept."""
        return self._native.edges

    @property
    def arcs(self) -> int:
        """Number of arcs: of an undirected graph, two for each edge that is no loop."""
        return self._native.arcs

    @property
    def directed(self) -> bool:
        """Whether edges have a direction."""
        return self._native.directed

    @property
    def weighted(self) -> bool:
        """Whether edges have weights."""
        return self._native.weighted

    @property
    def storage(self) -> str:
        """Storage of the neighbour lists: ``plain`` or ``compressed``."""
        return self._native.storage

    @property
    def nbytes(self) -> int:
        """Bytes of memory, with those of a mapped file."""
        return self._native.bytes

    @property
    def summary(self) -> str | None:
        """What the reader of a file, or of a window of transactions, says about it; ``None`` for other sources."""
        return self._native.summary

    @property
    def weight_loss(self) -> str | None:
        """What weights lost when they became integers; ``None`` if nothing."""
        return self._native.loss

    @property
    def ids(self) -> Ids:
        """The id of each vertex, shape ``(vertices,)``: integers of 64 bits without a copy, else objects."""
        ids = self._ids
        if ids is None:
            ids = self._read_ids()
            ids.flags.writeable = False
            set_once(self, "_ids", ids)
        return ids

    def _read_ids(self) -> Ids:
        if self._nodes is not None:
            return objects(self._nodes)
        ids = self._native.ids()
        if isinstance(ids, int):
            return np.arange(ids, ids + self.vertices, dtype=np.uint64)
        if isinstance(ids, list):
            return objects(ids)
        return view(ids)

    def vertex(self, id: Hashable) -> int:
        """Returns the number of the vertex with an id.

        Raises
        ------
        UnknownVertexError
            If the graph has no such vertex; also a ``KeyError``.
        """
        if self._nodes is not None:
            index = self._index
            if index is None:
                index = {node: at for at, node in enumerate(self._nodes)}
                set_once(self, "_index", index)
            try:
                found = index.get(id)
            except TypeError:
                # A list, say, which is no node.
                found = None
        else:
            found = self._native.find(id)
        if found is None:
            raise UnknownVertexError(f"the graph has no vertex {id!r}")
        return found

    def __contains__(self, id: Hashable) -> bool:
        try:
            self.vertex(id)
        except UnknownVertexError:
            return False
        return True

    def __len__(self) -> int:
        return self.vertices

    @property
    def degrees(self) -> npt.NDArray[np.uint64]:
        """Number of arcs of each vertex, shape ``(vertices,)``; of a directed graph, in both directions."""
        return view(self._native.degrees())

    def edge_arrays(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32], npt.NDArray[np.float64] | None]:
        """Returns the numbers of the vertices at both ends of each edge, and its weight if edges have weights.

        Of an undirected edge, the smaller vertex comes first.
        """
        u, v, w = native.edges(self._native)
        return view(u), view(v), None if w is None else view(w)

    def edge_index(self) -> npt.NDArray[np.int64]:
        """Returns the arcs as PyTorch Geometric takes them, shape ``(2, arcs)``: of an undirected edge both."""
        u, v, _ = self.edge_arrays()
        index = np.stack([u, v]).astype(np.int64)
        if self.directed:
            return index
        back = index[::-1, index[0] != index[1]]
        return np.concatenate([index, back], axis=1)

    def write(self, path: str | os.PathLike[str], *, format: str | None = None) -> None:
        """Writes the graph to a file, in the format of its extension: ``.rg``, ``.csv``, ``.parquet`` and others.

        Raises
        ------
        FileError
            If the file cannot be written.
        """
        if self._nodes is not None:
            raise InputError("the ids are Python objects, which files do not have: relabel them as integers or strings")
        self._native.write(path_of(path, "path"), format)

    def __reduce__(self) -> tuple[Callable[..., Graph], tuple[bytes, list[Hashable] | None]]:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "graph.rg")
            self._native.write(path, None)
            with open(path, "rb") as file:
                return (unpickled, (file.read(), self._nodes))

    def __repr__(self) -> str:
        kind = "directed" if self.directed else "undirected"
        weights = ", weighted" if self.weighted else ""
        return f"<ripplet.Graph: {self.vertices:,} vertices, {self.edges:,} edges, {kind}{weights}>"


def unpickled(rg: bytes, nodes: list[Hashable] | None) -> Graph:
    """Returns a graph that was pickled."""
    return Graph(native.Graph.of_bytes(rg), nodes)


def set_once(instance: object, name: str, value: object) -> None:
    """Sets an attribute of an instance that is otherwise frozen."""
    object.__setattr__(instance, name, value)


def objects(values: Sequence[Any]) -> npt.NDArray[np.object_]:
    """Returns an array of objects, also if they are sequences."""
    array = np.empty(len(values), dtype=object)
    array[:] = values if not any(isinstance(value, (tuple, list)) for value in values) else None
    if any(isinstance(value, (tuple, list)) for value in values):
        for at, value in enumerate(values):
            array[at] = value
    return array


@options
def graph(
    data: Any,
    *arrays: Any,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    directed: bool | None = None,
    vertices: SupportsIndex | None = None,
    keep_loops: bool = False,
    keep_duplicates: bool = False,
    coarse_weights: bool = False,
    storage: str | None = None,
    format: str | None = None,
    id_kind: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    threads: int | None = None,
    progress: Progress = False,
) -> Graph:
    """Makes a graph.

    Parameters
    ----------
    data
        One of these:

        - a table with a row for each edge: pandas or polars data frame, pyarrow table or record batch, DuckDB relation,
          or anything with ``__arrow_c_stream__``; a dict of columns;
        - ``(u, v)`` or ``(u, v, w)``: arrays or lists with the ends and the weight of each edge, also as
          ``graph(u, v, w)``;
        - a list of edges ``(a, b)`` or ``(a, b, weight)``; pairs may be lists, too. What may be edges as well as columns is
          refused: a tuple of tuples, and two or three lists of three in a list;
        - a scipy sparse matrix or array, whose rows are the vertices; an undirected graph takes a symmetric matrix;
        - an ``edge_index`` of PyTorch Geometric: an array of shape ``(2, edges)`` of numbers of vertices. A
          dense adjacency matrix is none: pass ``scipy.sparse.coo_array(matrix)``, which one of 2 × 2 integers needs to be told
          from an ``edge_index``;
        - a graph of networkx, igraph or networkit;
        - the path of a file that the command ``ripplet`` reads.
    source, target : str, optional
        Columns of a table with the ends of an edge. By default ``source`` and ``target``, or else the only pair of
        columns with known names.
    weight : str or bool, optional
        Column of a table, or attribute of edges, with their weights; ``True`` for the usual one, and for the entries of
        a matrix. By default edges have no weights, except for arrays ``(u, v, w)``.
    directed : bool, optional
        Whether edges have a direction. By default as the graph of another package or an ``.rg`` file has them; anything
        else is undirected.
    vertices : int, optional
        Number of vertices of ``edge_index`` and of arrays ``(u, v)``, which then hold numbers from 0: vertices without
        edges are vertices as well.
    keep_loops, keep_duplicates : bool, default False
        Whether edges from a vertex to itself, and repeated edges, are kept. Otherwise repeated edges are merged, and
        their weights are added.
    coarse_weights : bool, default False
        Whether weights may change by more than 1 % as they become integers of 32 bits.
    storage : {"plain", "compressed"}, optional
        Storage of the neighbour lists; by default as in the file.
    format, id_kind, header, delimiter
        For files, as ``--from``, ``--ids``, ``--header`` and ``--delimiter`` of the command.
    threads : int, optional
        Threads that build the graph; by default one per core.
    progress : bool or "auto" or callable, default False
        See :func:`ripplet.communities`.

    Returns
    -------
    Graph
        It does not change when its source does.

    Raises
    ------
    InputError
        If a column is missing, a value is null, no id or no weight; the error names the row. Also a ``ValueError``.
    OptionError
        If the type of ``data`` is not known, or an option does not apply to it. Also a ``TypeError``.
    FileError
        If a file cannot be read. Also an ``OSError``.

    Examples
    --------
    >>> import ripplet as rp
    >>> g = rp.graph([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan")])
    >>> g.vertices, g.edges
    (4, 4)
    >>> rp.graph([0, 1, 2], [1, 2, 0], [0.5, 2.0, 1.0])
    <ripplet.Graph: 3 vertices, 3 edges, undirected, weighted>
    """
    with reporter(progress) as told:
        build = given(
            directed=flag(directed, "directed"),
            keep_loops=keep_loops,
            keep_duplicates=keep_duplicates,
            coarse_weights=coarse_weights,
            storage=storage,
            threads=threads,
            progress=told,
        )
        table = given(source=source, target=target)
        file = given(format=format, id_kind=id_kind, header=header, delimiter=delimiter)
        return _Source(data, arrays, weight, vertices, build, table, file).graph()


def flag(value: Any, name: str) -> bool | None:
    """Returns a flag that may be absent, of an option of this name."""
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    raise OptionError(f"{name}: expected True or False, not {value!r}")


class _Source:
    """What a graph is made of."""

    def __init__(
        self,
        data: Any,
        arrays: tuple[Any, ...],
        weight: str | bool | None,
        vertices: SupportsIndex | None,
        build: dict[str, Any],
        table: dict[str, str],
        file: dict[str, Any],
    ) -> None:
        self.data, self.arrays, self.weight = data, arrays, weight
        try:
            self.vertices = None if vertices is None else operator.index(vertices)
        except TypeError:
            raise OptionError(f"vertices: expected a whole number, not {vertices!r}") from None
        if self.vertices is not None and not 0 <= self.vertices < 2**64:
            raise InputError(f"vertices: expected a whole number from 0 to 4,294,967,294, not {vertices}")
        self.build, self.table, self.file = build, table, file

    def graph(self) -> Graph:
        data = self.data
        package = package_of(data)
        if isinstance(data, Graph):
            self.only("a graph of ripplet")
            return data
        if isinstance(data, (str, os.PathLike)):
            return self.of_path(os.fspath(data))
        if hasattr(data, "tocoo") and hasattr(data, "shape"):
            # Before dict, which some sparse matrices are.
            return self.of_matrix(data)
        if self.arrays:
            return self.of_arrays((data, *self.arrays))
        if isinstance(data, tuple):
            return self.of_arrays(data)
        if isinstance(data, dict):
            return self.of_columns(data, list(data))
        if isinstance(data, list):
            return self.of_edges(data)
        if hasattr(data, "is_multigraph") and hasattr(data, "adj"):
            return self.of_networkx(data)
        if package == "igraph":
            return self.of_igraph(data)
        if package == "networkit":
            return self.of_networkit(data)
        if package == "pandas" and hasattr(data, "columns"):
            return self.of_columns(data, list(data.columns))
        if package == "polars" and hasattr(data, "collect"):
            raise OptionError("a graph is not made of a LazyFrame: pass its data frame, .collect()")
        if is_series(data):
            raise OptionError(f"{type(data).__name__} of {package} is no table: pass it as one of the columns, as in graph(u, v)")
        if hasattr(data, "__arrow_c_stream__") or hasattr(data, "__arrow_c_array__"):
            return self.of_stream(data)
        if hasattr(data, "edge_index"):
            if self.vertices is None:
                self.vertices = getattr(data, "num_nodes", None)
            return self.of_edge_index(data.edge_index)
        if hasattr(data, "shape"):
            return self.of_edge_index(data)
        raise OptionError(
            f"a graph is not made of {type(data).__name__}: expected a table, arrays, edges, a sparse matrix, an"
            " edge_index, a graph of networkx, igraph or networkit, or a path"
        )

    def only(self, what: str, *allowed: str) -> None:
        """Refuses options that do not apply to what the graph is made of."""
        flags = {name for name, value in self.build.items() if value is not False} - {"threads", "progress"}
        chosen = flags | set(self.table) | set(self.file)
        if self.weight is not None and self.weight is not False:
            chosen.add("weight")
        if self.vertices is not None:
            chosen.add("vertices")
        if self.arrays:
            raise OptionError(f"{what} is a graph by itself: leave the other arrays out")
        usual = {"directed", "keep_loops", "keep_duplicates", "coarse_weights", "storage"}
        useless = chosen - set(allowed) - (usual if allowed else set())
        if "id_kind" in useless:
            raise OptionError(f"id_kind does not apply to {what}, whose ids have types: make them strings, or integers")
        if useless:
            raise OptionError(f"{' and '.join(sorted(useless))} does not apply to {what}: leave it out")

    def of_path(self, path: str) -> Graph:
        self.only("a file", "weight", "source", "target", *self.file)
        if os.path.isdir(path):
            raise InputError(
                f"{path} is a folder: name its files by a pattern, as in graph({os.path.join(path, '*.parquet')!r}); a folder of many"
                " small graphs is for ripplet.swarm"
            )
        settings = {**self.build, **self.table, **self.file, **self.weight_settings()}
        return Graph(native.Graph.open(path, settings))

    def of_stream(self, table: Any) -> Graph:
        self.only("a table", "weight", "source", "target")
        settings = {**self.build, **self.table, **self.weight_settings()}

        def columns() -> list[str]:
            return columns_of_edges(table, settings)

        refuse_nulls(table, columns)
        return Graph(native.Graph.of_stream(exported(table, columns), settings))

    def weight_settings(self) -> dict[str, Any]:
        """Returns the choice of weights of a table or a file, whose columns have strings as names."""
        if isinstance(self.weight, str):
            return {"weighted": True, "weight": self.weight}
        return {"weighted": flag(self.weight, "weight") or False}

    def of_columns(self, table: Any, names: list[Any]) -> Graph:
        """Makes a graph of a table whose columns are read one by one."""
        self.only("a table", "weight", "source", "target")
        if isinstance(table, dict):
            columns = [table[name] for name in names]
        else:
            columns = [table.iloc[:, at] for at in range(len(names))]
        settings: dict[str, Any] = {"weighted": self.weight is not None and self.weight is not False}
        for option, name in [*self.table.items(), ("weight", self.weight)]:
            if name is None or isinstance(name, bool):
                continue
            if name not in names:
                raise InputError(f"{option}: there is no column {name!r}; the columns are {', '.join(map(repr, names))}")
            settings[option] = str(name)
        known = [(str(name), kind_of(values)) for name, values in zip(names, columns, strict=True)]
        source, target, weight = native.columns_of_edges(known, settings)
        for at in (source, target, weight):
            if at is not None and names.count(names[at]) > 1:
                raise InputError(f"there are {names.count(names[at])} columns {names[at]!r}: rename all but one of them")
        u, v = (id_column(columns[at], str(names[at])) for at in (source, target))
        weights = None if weight is None else weight_column(columns[weight], str(names[weight]))
        return self.of_ends(u, v, weights)

    def of_arrays(self, arrays: tuple[Any, ...]) -> Graph:
        if len(arrays) not in (2, 3):
            raise OptionError(f"expected two arrays with the ends of each edge, or three with weights, not {len(arrays)}")
        if not self.arrays and any(isinstance(values, tuple) for values in arrays):
            raise InputError(
                "a tuple of tuples may be edges, or columns: pass a list of edges, or the columns one by one, as graph(u, v)"
            )
        self.arrays = ()
        self.only("arrays", "weight", "vertices")
        u, v = id_column(arrays[0], "source"), id_column(arrays[1], "target")
        w = weight_column(arrays[2]) if len(arrays) == 3 and self.weight is not False else None
        if self.weight not in (None, False) and w is None:
            raise OptionError("weight: pass the weights as the third array")
        return self.of_ends(u, v, w)

    def of_ends(self, u: Any, v: Any, w: Any) -> Graph:
        if self.vertices is not None:
            return Graph(native.Graph.numbered(u, v, w, self.vertices, None, self.build))
        settings = {**self.build, "weighted": w is not None}
        return Graph(native.Graph.of_columns(u, v, w, settings))

    def of_edges(self, edges: list[Any]) -> Graph:
        self.only("a list of edges", "weight", "vertices")
        kinds = set(map(type, edges))
        if any(issubclass(kind, (str, bytes, Mapping)) or not issubclass(kind, Sized) for kind in kinds):
            for row, edge in enumerate(edges):
                if isinstance(edge, Mapping):
                    raise InputError(f"row {row} (the first is 0): an edge is a pair, not a dict: pass pandas.DataFrame(records)")
                if isinstance(edge, os.PathLike) or isinstance(edge, str) and os.path.splitext(edge)[1]:
                    raise InputError("a list of files is no graph: name files of one folder by a pattern, as in graph('folder/*.parquet')")
                if isinstance(edge, (str, bytes)) or not isinstance(edge, Sized):
                    raise InputError(f"row {row} (the first is 0): an edge is a pair such as ('a', 'b'), not {edge!r}")
        lengths = set(map(len, edges))
        if not lengths <= {2, 3} or len(lengths) > 1:
            raise InputError("a list of edges has pairs, or triples with weights, and not both; columns are passed as graph(u, v)")
        if lengths == {3} and len(edges) in (2, 3) and not any(isinstance(edge, tuple) for edge in edges):
            raise InputError(
                f"{len(edges)} lists of three may be edges with weights, or columns: pass edges as tuples,"
                " [tuple(edge) for edge in edges], or the columns one by one, as graph(u, v)"
            )
        columns = [list(ends) for ends in zip(*edges, strict=True)] or [[], []]
        u, v = id_column(columns[0], "source"), id_column(columns[1], "target")
        has_weights = len(columns) == 3 and self.weight is not False
        w = weight_column(columns[2]) if has_weights else None
        return self.of_ends(u, v, w)

    def of_edge_index(self, index: Any) -> Graph:
        self.only("an edge_index", "vertices")
        if hasattr(index, "detach"):
            index = index.detach().cpu().numpy()
        refuse_mask(index, "edge_index")
        index = np.asarray(index)
        if index.ndim != 2 or index.shape[0] != 2 or index.shape == (2, 2) and index.dtype.kind not in "iu":
            if index.ndim == 2 and index.shape[0] == index.shape[1]:
                raise InputError(
                    f"an array of the shape {index.shape} is an adjacency matrix: pass scipy.sparse.coo_array(matrix). An"
                    " edge_index has integers, and the shape (2, edges)"
                )
            transposed = ": transpose it" if index.ndim == 2 and index.shape[1] == 2 else ""
            raise InputError(f"an edge_index has the shape (2, edges), not {index.shape}{transposed}")
        if index.size and index.dtype.kind not in "iu":
            raise OptionError(f"an edge_index has integers, and not {index.dtype}")
        u, v = column(index[0], "source"), column(index[1], "target")
        if self.vertices is None:
            self.vertices = int(index.max()) + 1 if index.size else 0
        return self.of_ends(u, v, None)

    def of_matrix(self, matrix: Any) -> Graph:
        self.only("a sparse matrix", "weight")
        if len(matrix.shape) != 2:
            raise InputError(f"an adjacency matrix has two dimensions, and this one has the shape {matrix.shape}")
        rows, columns = matrix.shape
        if rows != columns:
            raise InputError(f"an adjacency matrix is square, and this one has {rows} rows and {columns} columns")
        coo = matrix.tocoo(copy=True)
        if coo.data.dtype.kind in WIDEST:
            # Sums of entries that are there twice may exceed a small type.
            coo.data = coo.data.astype(WIDEST[coo.data.dtype.kind])
        coo.sum_duplicates()
        row, col = coo.row, coo.col
        data = coo.data
        if not self.build.get("directed", False):
            other = coo.transpose().tocoo()
            other.sum_duplicates()
            order, back = np.lexsort((col, row)), np.lexsort((other.col, other.row))
            same = len(order) == len(back)
            # NaN is equal to nothing: it is refused as a weight.
            same = same and bool(
                np.array_equal(row[order], other.row[back])
                and np.array_equal(col[order], other.col[back])
                and np.array_equal(data[order], other.data[back], equal_nan=data.dtype.kind == "f")
            )
            if not same:
                raise InputError("the matrix is not symmetric: its graph is directed, so pass directed=True")
            upper = row <= col
            row, col, data = row[upper], col[upper], data[upper]
        weights = None if self.weight in (None, False) else column(data, "weight")
        refuse_weights(weights, range(rows), row, col)
        u, v = column(row, "row"), column(col, "column")
        self.vertices = int(rows)
        return self.of_ends(u, v, weights)

    def of_networkx(self, graph: Any) -> Graph:
        self.only("a graph of networkx", "weight")
        self.build.setdefault("directed", graph.is_directed())
        name = "weight" if self.weight is True else self.weight or None
        nodes = list(graph)
        if name is not None and graph.number_of_edges():
            if not any(name in data for _, _, data in graph.edges(data=True)):
                raise InputError(f"no edge has the attribute {name!r}: leave weight out, or name another one")
        if not graph.is_multigraph():
            arcs = arcs_of_networkx(graph, nodes, name)
            if arcs is not None:
                return self.of_numbered(nodes, *arcs)
        if name is None:
            edges: Iterable[tuple[Any, ...]] = graph.edges()
        else:
            edges = graph.edges(data=name, default=1)
        return self.of_nodes(nodes, edges, name is not None)

    def of_igraph(self, graph: Any) -> Graph:
        self.only("a graph of igraph", "weight")
        self.build.setdefault("directed", graph.is_directed())
        name = "weight" if self.weight is True else self.weight or None
        nodes = nodes_of_igraph(graph)
        ends = np.asarray(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
        weights = None
        if name is not None:
            if name not in graph.es.attributes():
                raise InputError(f"the edges have no attribute {name!r}")
            weights = list_of_weights(graph.es[name], place=edges_between(nodes, ends[:, 0], ends[:, 1]))
        return self.of_numbered(nodes, ends[:, 0], ends[:, 1], weights)

    def of_networkit(self, graph: Any) -> Graph:
        self.only("a graph of networkit", "weight")
        self.build.setdefault("directed", graph.isDirected())
        weights = None
        if self.weight is None or self.weight is False:
            ends = np.array(list(graph.iterEdges()), dtype=np.int64).reshape(-1, 2)
        else:
            rows = list(graph.iterEdgesWeights())
            ends = np.array([row[:2] for row in rows], dtype=np.int64).reshape(-1, 2)
            weights = column(np.array([row[2] for row in rows], dtype=np.float64), "weight")
        nodes: list[Hashable] = list(graph.iterNodes())
        if nodes != list(range(len(nodes))):
            # Some were removed.
            ends = np.searchsorted(np.array(nodes, dtype=np.int64), ends)
        return self.of_numbered(nodes, ends[:, 0], ends[:, 1], weights)

    def of_nodes(self, nodes: list[Hashable], edges: Iterable[tuple[Any, ...]], weighted: bool) -> Graph:
        """Makes a graph of nodes and of edges between them."""
        index = {node: at for at, node in enumerate(nodes)}
        rows = list(edges)
        u = np.fromiter((index[row[0]] for row in rows), dtype=np.int64, count=len(rows))
        v = np.fromiter((index[row[1]] for row in rows), dtype=np.int64, count=len(rows))
        weights = list_of_weights([row[2] for row in rows], place=edges_between(nodes, u, v)) if weighted else None
        return self.of_numbered(nodes, u, v, weights)

    def of_numbered(
        self, nodes: list[Hashable], u: npt.NDArray[np.int64], v: npt.NDArray[np.int64], weights: Any
    ) -> Graph:
        """Makes a graph of numbered nodes. Integers and strings become ids, as those of a file."""
        refuse_weights(weights, nodes, u, v)
        kinds = {type(node) for node in nodes}
        ids: Any = None
        kept: list[Hashable] | None = nodes
        if kinds <= {int} and all(-(2**63) <= cast(int, node) < 2**64 for node in nodes):
            integers = cast(list[int], nodes)
            if integers == list(range(len(nodes))):
                kept = None
            elif not (min(integers) < 0 and max(integers) >= 2**63):
                u, v, ids = sorted_by_id(integers, u, v)
                kept = None
        elif kinds == {str}:
            # UTF-8 has the order of code points, as strings have in Python.
            u, v, ids = sorted_by_id(cast(list[str], nodes), u, v)
            kept = None
        u, v = column(u, "source"), column(v, "target")
        built = native.Graph.numbered(u, v, weights, len(nodes), ids, self.build)
        return Graph(built, kept)


def nodes_of_igraph(graph: Any) -> list[Hashable]:
    """Returns the ids of the vertices of a graph of igraph: their names, or numbers from 0 if two have the same."""
    if "name" in graph.vs.attributes():
        names: list[Hashable] = list(graph.vs["name"])
        for vertex, name in enumerate(names):
            if not isinstance(name, Hashable):
                raise InputError(f"the name of the vertex {vertex} is {name!r}, which is no id: make names strings or integers")
        if len(set(names)) == len(names):
            return names
    return list(range(graph.vcount()))


def arcs_of_networkx(
    graph: Any, nodes: list[Hashable], attribute: str | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64] | None] | None:
    """Returns both ends and the weight of each edge of a graph that is no multigraph; ``None`` if a weight is no number
    of Python, or is not exact as a float."""
    index = {node: at for at, node in enumerate(nodes)}
    try:
        adjacency = native.adjacency_of(nodes, index, graph._adj, None, False, attribute)
    except NotImplementedError:
        return None
    (begins, ends, _, lengths, _), *_ = adjacency.state()
    degrees = np.diff(view(begins).astype(np.int64)).astype(np.int64)
    u = np.repeat(np.arange(len(nodes), dtype=np.int64), degrees)
    v = view(ends).astype(np.int64)
    weights = None if lengths is None else view(lengths)
    if graph.is_directed():
        return u, v, weights
    once = u <= v
    return u[once], v[once], None if weights is None else weights[once]


def sorted_by_id(
    ids: list[Any], u: npt.NDArray[np.int64], v: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[Any]]:
    """Returns edges between vertices in the order of their ids, and the ids in order."""
    order = sorted(range(len(ids)), key=ids.__getitem__)
    rank = np.empty(len(ids), dtype=np.int64)
    rank[order] = np.arange(len(ids))
    return rank[u], rank[v], [ids[at] for at in order]


def kind_of(values: Any) -> str:
    """Returns what a column holds, by its type or its first value: ``int``, ``float``, ``text`` or ``other``."""
    kind = getattr(getattr(values, "dtype", None), "kind", "O")
    if kind not in "OUST":
        return {"i": "int", "u": "int", "f": "float"}.get(kind, "other")
    # An iterator can be read once.
    for value in itertools.islice(values, 1000) if isinstance(values, Iterable) and not isinstance(values, Iterator) else ():
        value = value.as_py() if hasattr(value, "as_py") else value.item() if hasattr(value, "item") else value
        if isinstance(value, str):
            return "text"
        if isinstance(value, int):
            return "other" if isinstance(value, bool) else "int"
        if isinstance(value, (float, decimal.Decimal)) and value == value:
            return "float"
    return "text"


def id_column(values: Any, name: str) -> Any:
    """Returns a column of ids, as :func:`column` does; an error has this name."""
    found = column(values, name)
    if isinstance(found, np.ndarray) and found.dtype.kind == "f" and len(found):
        raise InputError(
            f"{name}: ids are integers or strings, and these are floats, as pandas makes of integers if some are missing: leave"
            ' out the rows without one, and convert the column with .astype("Int64")'
        )
    return native.Column.of(found, name) if isinstance(found, list) else found


def weight_column(values: Any, name: str = "weight") -> Any:
    """Returns a column of weights, as :func:`column` does; an error has this name."""
    if isinstance(values, (list, tuple)):
        return list_of_weights(values, name)
    if is_of_pandas(values):
        values = series_of(values, name)
        has_numbers = getattr(values.dtype, "kind", "O") in "iuf"
        is_text = str(values.dtype).startswith("str")
        found = column(values, "weight") if has_numbers else values.tolist() if is_text else pandas_column(values, name)
    else:
        found = column(values, "weight")
    return list_of_weights(found, name) if isinstance(found, list) else found


Place: TypeAlias = Callable[[int], str]
"""Says where the weight of a row is."""


def in_row(row: int) -> str:
    return f"row {row} (the first is 0)"


def edges_between(nodes: Sequence[Hashable], u: npt.NDArray[Any], v: npt.NDArray[Any]) -> Place:
    """Returns what names the edge of a row by its ends."""
    return lambda row: f"the edge from {nodes[u[row]]!r} to {nodes[v[row]]!r}"


def refuse_weights(weights: npt.NDArray[Any] | None, nodes: Sequence[Hashable], u: npt.NDArray[Any], v: npt.NDArray[Any]) -> None:
    """Refuses weights that are not finite or below 0, by the ends of the first edge with one."""
    if weights is None:
        return
    bad = ~(np.isfinite(weights) & (weights >= 0))
    if bad.any():
        row = int(bad.argmax())
        raise InputError(f"{edges_between(nodes, u, v)(row)}: weight is {weights[row]}: expected a finite number, 0 or above")


def list_of_weights(values: Sequence[Any], name: str = "weight", place: Place = in_row) -> npt.NDArray[np.float64]:
    """Returns weights as an array; an error names the place of one that is no number."""
    numbers = (int, float, np.number, decimal.Decimal, type(None))
    kinds = set(map(type, values))
    if all(issubclass(kind, numbers) and kind is not bool and not issubclass(kind, np.timedelta64) for kind in kinds):
        if type(None) in kinds:
            raise InputError(f"{place(next(row for row, value in enumerate(values) if value is None))}: {name} is null")
        try:
            return np.asarray(values, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"{name}: the weights are no numbers of 64 bits") from None
    for row, value in enumerate(values):
        if isinstance(value, (bool, np.timedelta64)) or not isinstance(value, numbers):
            raise InputError(f"{place(row)}: {name} is {value!r}, which is no number")
    raise InputError(f"{name}: the weights are no numbers")


def columns_of_edges(frame: Any, settings: dict[str, Any]) -> list[str]:
    """Returns the columns of a data frame of polars that are the ends and the weights of edges."""
    columns = frame.get_columns()
    places = native.columns_of_edges([(column.name, kind_of(column)) for column in columns], settings)
    return [columns[at].name for at in places if at is not None]


def exported(values: Any, wanted: Callable[[], Collection[str] | None] = lambda: None) -> Any:
    """Returns a table or a column of polars with types that its export to Arrow has; others as they are.

    Columns of nulls alone become text. Polars' integers of 128 bits are left out of a table, unless they are wanted; ``None`` is all.

    Raises
    ------
    InputError
        If a wanted column, or the column itself, has a type that cannot be exported.
    """
    if package_of(values) != "polars" or not hasattr(values, "to_frame") and not hasattr(values, "schema"):
        return values
    import polars

    is_column = hasattr(values, "to_frame")
    frame = values.to_frame() if is_column else values
    kinds = {name: str(kind) for name, kind in frame.schema.items()}
    frame = frame.with_columns(polars.col(name).cast(polars.String) for name, kind in kinds.items() if kind == "Null")
    # Also within lists and structs.
    foreign = [name for name, kind in kinds.items() if "Int128" in kind or "Null" in kind and kind != "Null"]
    if not foreign:
        return frame.to_series() if is_column else frame
    asked = None if is_column else wanted()
    for name in foreign:
        if asked is None or name in asked:
            remedy = "convert it, as with .cast(polars.Int64)" if "Int128" in kinds[name] else "leave it out"
            raise InputError(f"the column {name!r} is {kinds[name]} of polars, which ripplet does not read: {remedy}")
    return frame.drop(foreign)


def refuse_nulls(table: Any, wanted: Callable[[], Collection[str]]) -> None:
    """Refuses a data frame of polars if a wanted column has rows, and a value in none of them."""
    if package_of(table) != "polars" or not hasattr(table, "get_columns"):
        return
    nulls = [column.name for column in table.get_columns() if is_null(column)]
    for name in wanted() if nulls else ():
        if name in nulls:
            raise no_value(name)


def is_null(column: Any) -> bool:
    """Returns whether a column of polars has rows, and a value in none of them."""
    return str(column.dtype) == "Null" and len(column) > 0


def no_value(name: str) -> InputError:
    """Returns the error of such a column of this name."""
    return InputError(f"the column {name!r} is Null of polars: none of its rows has a value")


def package_of(value: Any) -> str:
    """Returns the package that the type of a value is of, such as ``pandas``."""
    return type(value).__module__.partition(".")[0]


def is_of_pandas(values: Any) -> bool:
    """Returns whether a value is of pandas: a Series, an array of its own, an index or a data frame."""
    return package_of(values) == "pandas"


def is_series(values: Any) -> bool:
    """Returns whether a value is a single column of pandas, polars or pyarrow."""
    package = package_of(values)
    return package in ("pandas", "polars") and not hasattr(type(values), "columns") or (
        package == "pyarrow" and not hasattr(values, "schema")
    )


def series_of(values: Any, name: str) -> Any:
    """Returns a Series, an array or an index of pandas as a Series.

    Raises
    ------
    OptionError
        If the value, of a column of this name, is none of these.
    """
    import pandas

    if isinstance(values, pandas.Series):
        return values
    is_array = isinstance(values, (pandas.Index, pandas.api.extensions.ExtensionArray)) and values.ndim == 1
    if not is_array or isinstance(values, pandas.MultiIndex):
        raise OptionError(f"{name}: expected a column, and not {type(values).__name__} of pandas")
    return pandas.Series(values)


def refuse_mask(values: Any, name: str) -> None:
    """Refuses an array of numpy with masked entries, which the array itself still has values for."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        row = np.argwhere(np.ma.getmaskarray(values))[0][-1]
        raise InputError(f"row {row} (the first is 0): {name} is masked: leave such rows out")


def column(values: Any, name: str) -> Any:
    """Returns a column as the native part takes it: an Arrow array, a contiguous buffer, or a list."""
    if is_of_pandas(values):
        return pandas_column(series_of(values, name), name)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__") or isinstance(values, list):
        if package_of(values) == "polars" and hasattr(values, "to_frame") and is_null(values):
            raise no_value(name)
        return exported(values)
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    if isinstance(values, (str, bytes)) or not hasattr(values, "__array__"):
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes)):
            return list(values)
        raise OptionError(f"{name}: expected an array or a list, not {type(values).__name__}")
    refuse_mask(values, name)
    array = np.asarray(values)
    if array.dtype.kind not in "iuf":
        if array.dtype.kind in "OUST":
            if array.ndim != 1:
                return array.tolist()
            # In parts, between which Ctrl-C is heard.
            parts = (array[first : first + 65_536] for first in range(0, len(array), 65_536))
            return [value for part in parts for value in part.tolist()]
        raise InputError(f"{name}: expected integers, floats or strings, not {array.dtype}")
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    if array.dtype.itemsize not in (1, 2, 4, 8) or array.dtype == np.float16:
        array = array.astype(np.float64)
    return np.ascontiguousarray(array)


def pandas_column(series: Any, name: str) -> Any:
    """Returns a column of pandas. Its dtype may be numpy's, an extension's or a category's."""
    if isinstance(series.dtype, np.dtype) and (series.dtype.kind in "iu" or series.dtype.kind == "f" and name == "weight"):
        return column(series.to_numpy(), name)
    missing = series.isna().to_numpy()
    if missing.any():
        raise InputError(f"row {int(missing.argmax())} (the first is 0): {name} is null")
    kind = getattr(series.dtype, "kind", "O")
    if kind in "iuf":
        return column(series.to_numpy(dtype=WIDEST[kind]), name)
    if str(series.dtype) == "category":
        # The categories alone are converted one by one.
        names = column(series.cat.categories.to_series(), name)
        return native.Column.dictionary(column(series.cat.codes.to_numpy(), name), names, name)
    if hasattr(series.array, "__arrow_array__") and hasattr(series, "__arrow_c_stream__") and "pyarrow" in str(series.dtype.storage if hasattr(series.dtype, "storage") else series.dtype):
        return series
    return series.tolist()
