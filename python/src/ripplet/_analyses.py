"""Other analyses of a graph."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._communities import chosen_vertices, plain
from ._estimate import Planned, estimating
from ._graph import Graph, column, graph, set_once, view
from ._notebook import bars, line_of
from ._options import call, given, options
from ._progress import Progress, reporter
from ._ranks import end_with_the_interpreter
from ._tables import plain_values
from .errors import InputError, OptionError, UnknownVertexError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


BARS = 20
"""Bars of the distribution of values in a notebook, each of an equal part of their range."""


class Values:
    """A number for each vertex, or for chosen ones: the result of an analysis, which does not change and can be pickled.

    ``values["ann"]`` is the number of a vertex, ``numpy.asarray(values)`` all of them in the order of ``ids``. Every package
    that reads Arrow's ``__arrow_c_stream__`` takes them as a table with the columns ``id`` and that of the values.

    Attributes
    ----------
    values : numpy.ndarray
        Shape ``(vertices,)``, or that of the chosen ones.
    device : str
        What computed them.
    """

    __slots__ = ("_call", "_chosen", "_graph", "device", "name", "values")

    _call: tuple[str, list[str]]
    _chosen: npt.NDArray[np.uint32] | None
    _graph: Graph
    device: str
    name: str
    values: npt.NDArray[Any]

    def __init__(
        self,
        graph: Graph,
        name: str,
        values: npt.NDArray[Any],
        device: str,
        call: tuple[str, list[str]],
        chosen: npt.NDArray[np.uint32] | None = None,
    ) -> None:
        set_once(self, "_call", call)
        set_once(self, "_chosen", chosen)
        set_once(self, "_graph", graph)
        set_once(self, "name", name)
        set_once(self, "values", values)
        set_once(self, "device", device)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("values do not change")

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def ids(self) -> npt.NDArray[Any]:
        """The id of each vertex that has a number."""
        return self._graph.ids if self._chosen is None else self._graph.ids[self._chosen]

    def __getitem__(self, id: Hashable) -> Any:
        vertex = self._graph.vertex(id)
        if self._chosen is None:
            return plain(self.values[vertex])
        places = np.flatnonzero(self._chosen == vertex)
        if len(places) == 0:
            raise UnknownVertexError(f"the vertex {id!r} is none of those that were chosen")
        return plain(self.values[places[0]])

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values.tolist())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=True) if copy or dtype is not None else self.values

    def to_dict(self) -> dict[Any, Any]:
        """Returns the number of each vertex by its id."""
        return dict(zip(self.ids.tolist(), self.values.tolist(), strict=True))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame with the columns ``id`` and that of the values."""
        import pandas

        return pandas.DataFrame({"id": self.ids, self.name: self.values})

    def to_polars(self) -> polars.DataFrame:
        """Returns a data frame of polars with the columns ``id`` and that of the values."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of pyarrow with the columns ``id`` and that of the values."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        if self._graph._nodes is not None:
            raise InputError(
                "the ids are Python objects, which an Arrow table does not have: use to_pandas(), or relabel them"
            )
        columns: list[tuple[str, Any, Any, str | None]] = [
            (name, column(values, name), None, None) for name, values in (("id", self.ids), (self.name, self.values))
        ]
        return native.Table.of_columns(columns, self.name).stream()

    def _repr_html_(self) -> str:
        """Returns figures for a notebook: how the values are distributed, what ran where, and the line that repeats it.

        In the line, ``g`` is the graph. A variable stands for an argument that has no short literal.
        """
        from html import escape

        finite = self.values[np.isfinite(self.values)].astype(np.float64)
        figures, drawn = "", ""
        if len(finite):
            low, high = float(finite.min()), float(finite.max())
            figures = f", from {low:.6g} to {high:.6g}, mean {finite.mean():.6g}"
            width = (high - low) / BARS
            if width > 0:
                counts = np.bincount(np.minimum((finite - low) / width, BARS - 1).astype(np.int64)).tolist()
            else:  # all values are equal, or nearly
                counts = [len(finite)]
            drawn = bars(counts, [f"{count:,} from {low + at * width:.4g}" for at, count in enumerate(counts)])
        return (
            f"<div><b>{escape(self.name)}</b> of {len(self):,} vertices{figures}<br>{drawn}on {escape(self.device)}<br>"
            f"{line_of(self._call)}</div>"
        )

    def __reduce__(self) -> tuple[Callable[..., Values], tuple[Any, ...]]:
        return (Values, (self._graph, self.name, np.array(self.values), self.device, self._call, self._chosen))

    def __repr__(self) -> str:
        return f"<ripplet.Values: {self.name} of {len(self):,} vertices, on {self.device}>"


def _run(name: str, data: Any, progress: Progress, choices: dict[str, Any]) -> tuple[Graph, native.Values]:
    of = data if isinstance(data, Graph) else graph(data, threads=choices.get("threads"))
    if of.edges == 0:
        # Without edges there are no weights either.
        choices = {name: value for name, value in choices.items() if name != "weighted"}
    if choices.get("weighted") and not of.weighted:
        raise InputError("the graph has no weights: make it with weight=, or leave weighted out")
    if estimating():
        raise Planned(native.plan_analysis(of._native, name, choices))
    if choices.get("ranks", "none") != "none":
        end_with_the_interpreter()
    with reporter(progress) as told:
        return of, native.analyse(of._native, name, {**choices, **given(progress=told)})


def _values(
    name: str, data: Any, progress: Progress, column: int = 0, *, line: tuple[str, list[str]] | None = None, **choices: Any
) -> Values:
    of, found = _run(name, data, progress, given(**choices))
    title, values = found.columns[column]
    return Values(of, title, view(values), found.device, line or _line(name, choices))


def _closeness(
    name: str, data: Any, progress: Progress, vertices: Iterable[Hashable] | None, **choices: Any
) -> Values:
    """Returns closeness of all vertices, or of chosen ones in the order given."""
    if vertices is None:
        return _values(name, data, progress, **choices)
    if choices.get("samples") is not None:
        raise OptionError("samples estimate the values of all vertices: leave samples or vertices out")
    of = data if isinstance(data, Graph) else graph(data, threads=choices.get("threads"))
    chosen = _once(of, vertices, "vertices")
    _, found = _run(name, of, progress, {**given(**choices), "vertices": chosen})
    title, values = found.columns[0]
    # They come in ascending order of the vertices.
    ordered = view(values)[_ranks(chosen)]
    return Values(of, title, ordered, found.device, _line(name, {**choices, "vertices": vertices}), chosen)


def _once(of: Graph, chosen: Iterable[Hashable], option: str) -> npt.NDArray[np.uint32]:
    """Returns chosen vertices, each of which is listed once."""
    vertices = chosen_vertices(of, chosen, option)
    if len(np.unique(vertices)) < len(vertices):
        raise InputError(f"{option}: a vertex is listed twice")
    return vertices


def _ranks(vertices: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
    """Returns the place of each vertex in their ascending order."""
    return np.argsort(np.argsort(vertices))


def _line(function: str, choices: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Returns a call of a function with the options that are not their defaults."""
    parameters = inspect.signature(globals()[function]).parameters
    written = {name: value for name, value in choices.items() if value is not parameters[name].default}
    return call(function, {}, written)


@options
def closeness(
    data: Any,
    *,
    measure: Literal["reciprocal", "wasserman-faust"] = "reciprocal",
    normalized: bool = False,
    vertices: Iterable[Hashable] | None = None,
    samples: int | None = None,
    seed: int | None = None,
    weighted: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """Closeness centrality: the reciprocal of the sum of shortest-path distances to a vertex.

    Parameters
    ----------
    data
        A graph, or anything that :func:`ripplet.graph` takes by itself.
    measure : {"reciprocal", "wasserman-faust"}
        igraph's, or networkx's.
    normalized : bool, default False
        Whether values are multiplied by the number of vertices with a path to the vertex.
    vertices : iterable of ids, optional
        Vertices of which the values are computed, each once and in this order, instead of all: exactly, in a time that grows
        with their number. The CPU computes them.
    samples : int, optional
        Estimate the values by the distances from a random sample of this many vertices, 2 or more, which takes less time.
        If the graph has no more, the values are exact.
    seed : int, default 0
        The seed of the sample. A larger sample of the same seed has the vertices of a smaller one.
    weighted : bool, default False
        Whether the length of a path is the sum of its weights, instead of the number of its arcs.
    device, threads, progress
        As of :func:`ripplet.communities`.

    References
    ----------
    Freeman 1978; Wasserman and Faust 1994.
    """
    return _closeness(
        "closeness", data, progress, vertices, measure=measure, normalized=normalized, samples=samples, seed=seed, weighted=weighted,
        device=device, threads=threads,
    )


@options
def harmonic(
    data: Any,
    *,
    normalized: bool = False,
    vertices: Iterable[Hashable] | None = None,
    samples: int | None = None,
    seed: int | None = None,
    weighted: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """Harmonic centrality: the sum of the reciprocals of shortest-path distances to a vertex.

    Parameters
    ----------
    data, vertices, samples, seed, weighted, device, threads, progress
        As of :func:`closeness`.
    normalized : bool, default False
        Whether values are divided by the number of other vertices.
    """
    return _closeness(
        "harmonic", data, progress, vertices, normalized=normalized, samples=samples, seed=seed, weighted=weighted, device=device,
        threads=threads,
    )


@options
def betweenness(
    data: Any,
    *,
    edges: bool = False,
    normalized: bool = False,
    samples: int | None = None,
    seed: int | None = None,
    weighted: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Any:
    """Betweenness centrality: the number of shortest paths through a vertex, or along an edge.

    Parameters
    ----------
    data, weighted, device, threads, progress
        As of :func:`closeness`.
    edges : bool, default False
        Whether the values are those of edges.
    normalized : bool, default False
        Whether values are divided by the number of pairs of other vertices; of edges, of all pairs.
    samples : int, optional
        Estimate the values by the paths from a random sample of this many vertices, 2 or more, which takes less time.
        If the graph has no more, the values are exact.
    seed : int, default 0
        The seed of the sample. A larger sample of the same seed has the vertices of a smaller one.

    Returns
    -------
    Values
        Or with ``edges`` a dict of numpy arrays: ``source`` and ``target`` are ids, ``value`` numbers.

    References
    ----------
    Brandes 2001; Brandes and Pich 2007 (samples).
    """
    choices = given(
        normalized=normalized, samples=samples, seed=seed, weighted=weighted, device=device, threads=threads
    )
    if not edges:
        return _values("betweenness", data, progress, **choices)
    of, found = _run("edge-betweenness", data, progress, choices)
    ends = found.ends
    assert ends is not None
    source, target = (of.ids[view(end)] for end in ends)
    return {"source": source, "target": target, "value": view(found.columns[0][1])}


@options
def pagerank(
    data: Any,
    *,
    damping: float = 0.85,
    iterations: int | None = None,
    tolerance: float | None = None,
    weighted: bool = False,
    personalize: Mapping[Any, float] | Iterable[Hashable] | None = None,
    ranks: Literal["none", "auto", "mpi"] = "none",
    rank_deadline: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """PageRank: the share of time that a random walk with jumps spends at a vertex.

    Parameters
    ----------
    data, threads, progress
        As of :func:`closeness`.
    ranks, rank_deadline
        The processes that share the run, as of :func:`communities`: each then gets all values.
    damping : float, default 0.85
        Probability of following an arc.
    iterations : int, optional
        Exact number of rounds, as LDBC has it.
    tolerance : float, optional
        The run ends once a round changes the ranks by less than this a vertex, personalized all together; 1e-6 by default.
    weighted : bool, default False
        Whether an arc is followed in proportion to its weight.
    personalize : iterable of ids, or mapping (or Series) of ids to weights, optional
        Vertices to which the walk jumps, in proportion to their weights, instead of to any: personalized PageRank. A walk
        at a vertex without outgoing arcs jumps, too.

    References
    ----------
    Brin and Page 1998; Haveliwala 2002.
    """
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    choices: dict[str, Any] = {
        "damping": damping, "iterations": iterations, "tolerance": tolerance, "weighted": weighted,
        "ranks": ranks, "rank_deadline": rank_deadline, "threads": threads,
    }
    line = _line("pagerank", {**choices, "personalize": personalize})
    vertices = None if personalize is None else _weighted_vertices(of, personalize)
    return _values("pagerank", of, progress, line=line, personalize=vertices, **choices)


def _weighted_vertices(of: Graph, chosen: Mapping[Any, float] | Iterable[Hashable]) -> list[tuple[int, float]]:
    if isinstance(chosen, str | bytes):
        raise OptionError("personalize: expected several ids, not a string")
    try:
        chosen = plain_values(chosen, "personalize")
        # A pandas Series, too, has its ids and its weights.
        weights = chosen.items() if hasattr(chosen, "items") else dict.fromkeys(chosen, 1.0).items()
        return [(of.vertex(id), weight) for id, weight in weights]
    except TypeError as error:
        raise OptionError(f"personalize: expected ids, or a dict of ids to weights: {error}") from None


@options
def lcc(
    data: Any,
    *,
    definition: Literal["ldbc", "fagiolo"] = "ldbc",
    device: str | None = None,
    ranks: Literal["none", "auto", "mpi"] = "none",
    rank_deadline: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """Local clustering coefficient: the share of pairs of a vertex's neighbours that are neighbours.

    Parameters
    ----------
    data, device, threads, progress
        As of :func:`closeness`.
    definition : {"ldbc", "fagiolo"}
        LDBC Graphalytics', or that of networkx; they differ on directed graphs.
    ranks, rank_deadline
        The processes that share the run on their CPUs, as of :func:`communities`: each then gets all values.
    """
    choices: dict[str, Any] = {
        "definition": definition, "device": device, "ranks": ranks, "rank_deadline": rank_deadline, "threads": threads
    }
    return _values("lcc", data, progress, **choices)


@options
def triangles(
    data: Any,
    *,
    device: str | None = None,
    ranks: Literal["none", "auto", "mpi"] = "none",
    rank_deadline: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """Number of triangles that each vertex is a corner of. Options are those of :func:`lcc`."""
    choices: dict[str, Any] = {"device": device, "ranks": ranks, "rank_deadline": rank_deadline, "threads": threads}
    return _values("lcc", data, progress, 1, line=_line("triangles", choices), **choices)


@options
def components(
    data: Any,
    *,
    ranks: Literal["none", "auto", "mpi"] = "none",
    rank_deadline: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Values:
    """Weakly connected component of each vertex: the number of the component's first vertex. Options are those of
    :func:`pagerank`.
    """
    return _values("components", data, progress, ranks=ranks, rank_deadline=rank_deadline, threads=threads)


@options
def kcore(data: Any, *, threads: int | None = None, progress: Progress = "auto") -> Values:
    """Coreness of each vertex: the largest k of a subgraph whose vertices have k neighbours in it."""
    return _values("kcore", data, progress, threads=threads)


@options
def apsp(
    data: Any,
    *,
    sources: Iterable[Hashable] | None = None,
    weighted: bool = False,
    device: str | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> npt.NDArray[np.float64]:
    """Distances of all pairs of vertices, or from chosen vertices to all.

    Parameters
    ----------
    data, weighted, device, threads, progress
        As of :func:`closeness`.
    sources : iterable of ids, optional
        Vertices from which distances are searched, each once, instead of from all. The CPU computes them.

    Returns
    -------
    numpy.ndarray
        Shape ``(vertices, vertices)``: the distance from the vertex of a row to that of a column, infinite without a path.
        With ``sources``, shape ``(sources, vertices)``: a row for each, in the order given.
    """
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    chosen = None if sources is None else _once(of, sources, "sources")
    choices = given(weighted=weighted, device=device, threads=threads, sources=chosen)
    _, found = _run("distances", of, progress, choices)
    rows = of.vertices if chosen is None else len(chosen)
    if not found.columns:
        return np.zeros((rows, of.vertices))
    distances: npt.NDArray[np.float64] = view(found.columns[0][1]).astype(np.float64)
    distances = distances.reshape(rows, of.vertices)
    # They come in ascending order of the vertices.
    return distances if chosen is None else distances[_ranks(chosen)]


def devices() -> dict[str, Any]:
    """Returns the devices of the host: ``gpus``, the version of CUDA of the ``driver``, that of ``nvrtc``, and the
    ``reason`` if there is no GPU; ``threads`` of the CPU.

    NVRTC is loaded, from a folder that the dynamic linker searches or from NVIDIA's Python package.
    """
    found, driver, nvrtc, reason = native.gpus()
    names = ("number", "name", "architecture", "memory", "free_memory", "reason")
    gpus = [dict(zip(names, gpu, strict=True)) for gpu in found]
    return {"threads": os.cpu_count(), "gpus": gpus, "driver": driver, "nvrtc": nvrtc, "reason": reason}
