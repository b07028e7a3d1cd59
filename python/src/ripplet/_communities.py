"""Communities: runs, and what they found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._graph import Graph, graph, objects, set_once, view
from ._options import given, options
from ._progress import Progress, reporter
from .errors import InputError, OptionError, UnknownVertexError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Program: TypeAlias = Literal["lpa", "cdlp", "llp", "slpa", "seeded"]

NO_LABEL = 2**32 - 1
"""The label of a vertex without a community, in :attr:`Communities.labels`."""


class Round:
    """Counts of a round.

    Attributes
    ----------
    changed, visited : int
        Vertices that changed, and that were updated.
    scanned : int
        Arcs whose vote was counted.
    seconds : float
        Seconds of the round.
    """

    __slots__ = ("changed", "scanned", "seconds", "visited")

    def __init__(self, changed: int, visited: int, scanned: int, seconds: float) -> None:
        self.changed, self.visited, self.scanned, self.seconds = changed, visited, scanned, seconds

    def __repr__(self) -> str:
        return f"Round(changed={self.changed}, visited={self.visited}, scanned={self.scanned}, seconds={self.seconds:.6f})"


class Communities:
    """Communities of a graph: the result of a run, which does not change and can be pickled.

    A community is named by the id of one of its vertices, as in the command's output. Communities come in the order of
    their size, the largest first; of equally large ones, that with the first vertex.

    ``len(c)`` is the number of communities, ``c["ann"]`` the name of the community of a vertex, and ``for members in c``
    goes over the members.
    """

    __slots__ = ("_cache", "_graph", "_native", "_options", "__weakref__")

    _graph: Graph
    _native: native.Found
    _options: dict[str, Any]
    _cache: dict[str, Any]

    def __init__(self, found: native.Found, graph: Graph, options: Mapping[str, Any]) -> None:
        set_once(self, "_native", found)
        set_once(self, "_graph", graph)
        set_once(self, "_options", dict(options))
        set_once(self, "_cache", {})

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("communities do not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("communities do not change")

    def _once(self, name: str, find: Callable[[], Any]) -> Any:
        if name not in self._cache:
            self._cache[name] = find()
        return self._cache[name]

    @property
    def graph(self) -> Graph:
        """The graph."""
        return self._graph

    @property
    def ids(self) -> npt.NDArray[Any]:
        """The id of each vertex: :attr:`Graph.ids`."""
        return self._graph.ids

    @property
    def labels(self) -> npt.NDArray[np.uint32]:
        """The label of each vertex, shape ``(vertices,)``: the number of the vertex that names its community.

        A view without a copy; ``ids[labels]`` are the names. A vertex without a community has the label ``2**32 - 1``.
        If communities overlap, it is the strongest one.
        """
        return view(self._native.labels)

    @property
    def numbers(self) -> npt.NDArray[np.int64]:
        """The number of each vertex's community, shape ``(vertices,)``: from 0, the largest first; -1 for none."""

        def find() -> npt.NDArray[np.int64]:
            of_label = np.full(self._graph.vertices + 1, -1, dtype=np.int64)
            names = view(self._native.communities)
            of_label[names] = np.arange(len(names))
            labels = self.labels
            return of_label[np.where(labels == NO_LABEL, self._graph.vertices, labels)]

        return read_only(self._once("numbers", find))

    @property
    def names(self) -> npt.NDArray[Any]:
        """The name of each community, the largest first, shape ``(len(c),)``."""
        names: npt.NDArray[Any] = self.ids[view(self._native.communities)]
        return names

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of members of each community, the largest first, shape ``(len(c),)``."""
        starts = view(self._native.starts).astype(np.int64)
        return starts[1:] - starts[:-1]

    @property
    def overlap(self) -> bool:
        """Whether a vertex may have several communities."""
        return self._native.overlap

    @property
    def modularity(self) -> float:
        """Modularity of the labels, at resolution 1."""
        return float(self._once("summary", self._native.summary)[1])

    @property
    def rounds(self) -> list[Round]:
        """Counts of each round of the run."""
        return [Round(*counts) for counts in self._native.rounds]

    @property
    def reason(self) -> str:
        """The rule that ended the run: ``fixpoint``, ``tolerance`` and others."""
        return self._native.reason

    @property
    def device(self) -> str:
        """What computed them: ``cpu``, or the number and the model of the GPU."""
        return self._native.device

    @property
    def fallback(self) -> str | None:
        """Why it was the CPU, if the choice allowed a GPU."""
        fallback = self._native.fallback
        return None if fallback is None else fallback[0]

    @property
    def seconds(self) -> float:
        """Seconds of the run."""
        return self._native.seconds

    @property
    def options(self) -> dict[str, Any]:
        """The options of the run that were given."""
        return dict(self._options)

    def __len__(self) -> int:
        return len(view(self._native.communities))

    def members(self, community: int) -> npt.NDArray[Any]:
        """Returns the ids of the members of a community by its number from 0, ascending."""
        if not 0 <= community < len(self):
            raise IndexError(f"there are {len(self)} communities, and no number {community}")
        return self.ids[self._vertices(community)]

    def _vertices(self, community: int) -> npt.NDArray[np.uint32]:
        starts = view(self._native.starts)
        return view(self._native.members)[int(starts[community]) : int(starts[community + 1])]

    def __iter__(self) -> Iterator[list[Any]]:
        ids = self.ids
        for community in range(len(self)):
            yield ids[self._vertices(community)].tolist()

    def sets(self) -> list[set[Any]]:
        """Returns the members of each community as a set, the largest first, as networkx takes them."""
        return [set(members) for members in self]

    def __getitem__(self, id: Hashable) -> Any:
        """Returns the name of the community of a vertex, or ``None``; if they overlap, the list of its communities."""
        vertex = self._graph.vertex(id)
        if not self.overlap:
            label = int(self.labels[vertex])
            return None if label == NO_LABEL else plain(self.ids[label])
        starts, rows, communities = self._once("by_vertex", self._by_vertex)
        return [plain(self.ids[label]) for label in communities[starts[vertex] : starts[vertex + 1]]]

    def _by_vertex(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
        vertices, communities, _ = self._rows()
        starts = np.searchsorted(vertices, np.arange(self._graph.vertices + 1))
        return starts, vertices, communities

    def __contains__(self, id: Hashable) -> bool:
        return id in self._graph

    def _rows(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any] | None]:
        vertices, communities, strengths = self._native.rows()
        return view(vertices), view(communities), None if strengths is None else view(strengths)

    def _table(self) -> dict[str, npt.NDArray[Any]]:
        vertices, communities, strengths = self._rows()
        table = {"id": self.ids[vertices], "community": self.ids[communities]}
        if strengths is not None:
            table["strength"] = strengths
        return table

    def to_dict(self) -> dict[Any, Any]:
        """Returns the name of each vertex's community by its id; vertices without one are left out."""
        if self.overlap:
            return {id: self[id] for id in self.ids.tolist()}
        table = self._table()
        return dict(zip(table["id"].tolist(), table["community"].tolist(), strict=True))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the command's table as a data frame: ``id``, ``community`` and perhaps ``strength``."""
        import pandas

        return pandas.DataFrame(self._table())

    def to_polars(self) -> polars.DataFrame:
        """Returns the command's table as a data frame of polars, without a copy of its columns."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """Returns the command's table as a table of pyarrow, without a copy of its columns."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        self._refuse_objects("an Arrow table", "to_pandas()")
        return self._native.stream()

    def _refuse_objects(self, what: str, instead: str) -> None:
        if self._graph._nodes is not None:
            raise InputError(f"the ids are Python objects, which {what} does not have: use {instead}, or relabel them")

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        names: Literal["vertex", "number"] = "vertex",
    ) -> None:
        """Writes the communities to a file, byte for byte as the command does.

        Parameters
        ----------
        path
            ``.txt``, ``.csv``, ``.tsv``, ``.jsonl`` (each also ``.gz`` or ``.zst``), ``.parquet`` or ``.arrow``: a row a
            vertex. ``.graphml``, ``.gexf``, ``.gml``, ``.json`` or ``.dot``: the graph, with the community of each vertex.
        format
            The format, if the name does not show it.
        names : {"vertex", "number"}
            Whether communities are named by a vertex, or by numbers from 0, the largest first.

        Raises
        ------
        FileError
            If the file cannot be written; it then appears not at all.
        """
        self._refuse_objects("a file", "to_pandas()")
        if names not in ("vertex", "number"):
            raise InputError(f"names: expected 'vertex' or 'number', not {names!r}")
        self._native.write(os.fspath(path), format, names == "number")

    def to_gexf(self, path: str | os.PathLike[str]) -> None:
        """Writes the graph with its communities for Gephi: :meth:`write` with the format GEXF."""
        self.write(path, format="gexf")

    def quality(self, *, resolution: float = 1.0) -> dict[str, Any]:
        """Returns measures of the communities, as ``ripplet quality`` prints them.

        Parameters
        ----------
        resolution : float, default 1
            Factor of the weight expected by chance in the modularity.
        """
        if self.overlap:
            raise InputError("modularity is not defined for communities that overlap")
        measures: dict[str, Any] = json.loads(self._native.quality(resolution))
        return measures

    def annotate(self, graph: Any, name: str = "community") -> None:
        """Sets the community of each vertex as an attribute of the vertices of a networkx or igraph graph.

        Parameters
        ----------
        graph
            A graph with vertices of these ids.
        name : str, default "community"
            Name of the attribute.
        """
        if type(graph).__module__.partition(".")[0] == "igraph":
            keys = graph.vs["name"] if "name" in graph.vs.attributes() else range(graph.vcount())
            graph.vs[name] = [self[key] for key in keys]
            return
        if not hasattr(graph, "nodes"):
            raise OptionError(f"annotate() takes a graph of networkx or igraph, not {type(graph).__name__}")
        for node in graph:
            graph.nodes[node][name] = self[node]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Communities):
            return NotImplemented
        mine, its = self._rows(), other._rows()
        same = len(self.ids) == len(other.ids) and bool(np.all(self.ids == other.ids))
        return same and all(
            (a is None and b is None) or (a is not None and b is not None and np.array_equal(a, b))
            for a, b in zip(mine, its, strict=True)
        )

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Callable[..., Communities], tuple[Graph, dict[str, Any], dict[str, Any]]]:
        return (unpickled, (self._graph, self._native.state(), self._options))

    def __repr__(self) -> str:
        return (
            f"<ripplet.Communities: {len(self):,} communities of {self._graph.vertices:,} vertices, after {len(self._native.rounds)}"
            f" rounds ({self.reason}) on {self.device}>"
        )


def unpickled(graph: Graph, state: dict[str, Any], options: dict[str, Any]) -> Communities:
    """Returns communities that were pickled."""
    return Communities(native.Found.of_state(graph._native, state), graph, options)


def read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the array, which cannot be written any more."""
    array.flags.writeable = False
    return array


def plain(value: Any) -> Any:
    """Returns a scalar of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


@options
def communities(
    data: Any,
    *,
    program: Program | None = None,
    schedule: Literal["sync", "phased", "async"] | None = None,
    phases: int | None = None,
    counter: str = "exact",
    pick_less: int | None = None,
    preset: Literal["nu-mg8", "nu-bm"] | None = None,
    refine: Literal["modularity", "cpm"] | None = None,
    resolution: float | Literal["auto"] | None = None,
    max_size: int | None = None,
    guard: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
    max_iterations: int | None = None,
    tolerance: float | None = None,
    labels: Any = None,
    keep_disconnected: bool = False,
    merge: float | Literal["off"] | None = None,
    seed: int = 0,
    device: str = "auto",
    device_memory: int | None = None,
    host_memory: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Communities:
    """Finds the communities of a graph.

    The options are those of ``ripplet communities``, with the same names and defaults, and so are the labels, byte for
    byte, on any number of threads and any device (``schedule="async"`` may differ from run to run).

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    program : {"lpa", "cdlp", "llp", "slpa", "seeded"}, default "lpa"
        What a vote weighs, and how a label is scored.
    schedule : {"sync", "phased", "async"}, optional
        Which vertices update at the same time; by default the program's.
    phases : int, optional
        Phases of a round of the phased schedule.
    counter : str, default "exact"
        How votes are counted: ``exact``, ``mg:K`` or ``bm``.
    pick_less : int, optional
        In every so many rounds of the async schedule, vertices may only take smaller labels.
    preset : {"nu-mg8", "nu-bm"}, optional
        A published algorithm as it was.
    refine : {"modularity", "cpm"}, optional
        Finds communities of a high score by moves and contraction, of the quality of the Leiden algorithm.
    resolution : float or "auto", optional
        Resolution of ``refine``: larger values make smaller communities.
    max_size : int, optional
        Most vertices of a community, with ``refine``.
    guard, gamma : float, optional
        Parameters of ``lpa`` and ``llp``.
    iterations : int, optional
        Exact number of rounds.
    max_iterations : int, optional
        Largest number of rounds.
    tolerance : float, optional
        The run ends when at most this share of the vertices changed in a round.
    labels : mapping, array or Communities, optional
        Labels to begin with: of each vertex by id, or in the order of ``ids``.
    keep_disconnected : bool, default False
        Whether communities whose members are not connected stay as they are.
    merge : float or "off", optional
        Share of votes at which communities merge at the end.
    seed : int, default 0
        Seed of all random draws.
    device : str, default "auto"
        ``auto``, ``cpu``, ``cuda``, or ``cuda:0,1``.
    device_memory, host_memory : int, optional
        Most bytes of a GPU's memory, and of the host's for a run on a GPU.
    threads : int, optional
        Threads of the CPU; by default one per core.
    progress : bool or "auto" or callable, default "auto"
        Whether a bar shows the progress; a callable is called with the stage, the completed fraction or ``None``, the
        rounds, and the vertices that changed or ``None``.

    Returns
    -------
    Communities

    Raises
    ------
    InputError
        If an option does not take its value, or options do not go together; also a ``ValueError``.
    DeviceError
        If the device is not there.
    OutOfMemoryError
        If memory is refused.
    KeyboardInterrupt
        On Ctrl-C, within 200 ms.

    Notes
    -----
    The GIL is released. Label propagation: Raghavan, Albert, Kumara 2007.

    Examples
    --------
    >>> import ripplet as rp
    >>> c = rp.communities([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan"), ("dan", "eve"), ("eve", "dan")])
    >>> len(c), c["ann"] == c["bob"]
    (2, True)
    """
    choices = given(
        program=program,
        schedule=schedule,
        phases=phases,
        counter=None if counter == "exact" else counter,
        pick_less=pick_less,
        preset=preset,
        refine=refine,
        resolution=resolution,
        max_size=max_size,
        guard=guard,
        gamma=gamma,
        iterations=iterations,
        max_iterations=max_iterations,
        tolerance=tolerance,
        keep_disconnected=keep_disconnected or None,
        merge=merge,
        seed=seed or None,
        device=None if device == "auto" else device,
        device_memory=device_memory,
        host_memory=host_memory,
        threads=threads,
    )
    if program == "seeded":
        raise OptionError("seeded begins with vertices whose cluster is known: it is not in Python yet, use the command")
    return run(data, choices, progress, labels=labels)


def run(
    data: Any,
    choices: dict[str, Any],
    progress: Progress,
    *,
    labels: Any = None,
    more: Mapping[str, Any] | None = None,
) -> Communities:
    """Runs a program with the options that were given."""
    found_in = data if isinstance(data, Graph) else graph(data, threads=choices.get("threads"))
    extra: dict[str, Any] = dict(more or {})
    if labels is not None:
        extra["initial"] = initial_labels(found_in, labels)
    with reporter(progress) as told:
        if told is not None:
            extra["progress"] = told
        found = native.communities(found_in._native, {**choices, **extra})
    return Communities(found, found_in, choices)


def initial_labels(of: Graph, labels: Any) -> npt.NDArray[np.uint32]:
    """Returns the vertex that stands for each label; labels may be any values."""
    if isinstance(labels, Communities):
        if labels.graph.vertices != of.vertices:
            raise InputError(f"labels: those of {labels.graph.vertices} vertices, but the graph has {of.vertices}")
        return np.ascontiguousarray(labels.labels)
    if isinstance(labels, Mapping):
        values = [None] * of.vertices
        for id, label in labels.items():
            values[of.vertex(id)] = label
    else:
        values = list(labels)
        if len(values) != of.vertices:
            raise InputError(f"labels: {len(values)} for {of.vertices} vertices")
    present = {value for value in values if value is not None}
    if all(value in of for value in present):
        # Labels are vertices, as in the command's output.
        vertex = {value: of.vertex(value) for value in present}
    else:
        vertex = {}
        for at, value in enumerate(values):
            if value is not None:
                vertex.setdefault(value, at)
    return np.array([NO_LABEL if value is None else vertex[value] for value in values], dtype=np.uint32)


__all__ = ["NO_LABEL", "Communities", "Round", "communities", "objects", "UnknownVertexError"]
