"""Swarms: an analysis of each graph of many small ones."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, Literal

from . import _native as native
from ._graph import columns_of_edges, refuse_nulls, set_once
from ._options import given, options
from ._program import Program, chosen_program, with_parameters
from ._progress import Progress, reporter
from ._tables import Table, is_path, native_table
from .errors import InputError, OptionError


class SwarmTable(Table):
    """A table over the graphs of a swarm, in the order of their ids.

    Attributes
    ----------
    device : str
        What computed the values.
    fallback : str or None
        Why it was the CPU, if the choice allowed a GPU.
    skipped : list of tuple
        Graphs that could not be read, with the reasons; only with ``on_error="skip"``.
    """

    __slots__ = ("device", "fallback", "skipped")

    device: str
    fallback: str | None
    skipped: list[tuple[str, str]]

    def __init__(self, table: native.Table, device: str, fallback: str | None, skipped: list[tuple[str, str]]) -> None:
        super().__init__(table)
        set_once(self, "device", device)
        set_once(self, "fallback", fallback)
        set_once(self, "skipped", skipped)

    def __reduce__(self) -> tuple[Any, ...]:
        return (unpickled, (self._native.to_bytes(), self.device, self.fallback, self.skipped))


def unpickled(data: bytes, device: str, fallback: str | None, skipped: list[tuple[str, str]]) -> SwarmTable:
    """Returns a table that was pickled."""
    return SwarmTable(native.Table.of_bytes(data), device, fallback, skipped)


class Swarm:
    """Many small graphs; made by :func:`ripplet.swarm`.

    Each method analyses every graph alone, and returns the command's table: a column ``graph``, and then those of its rows.
    Options are those of the functions of the same names.
    """

    __slots__ = ("_native", "__weakref__")

    _native: native.Swarm

    def __init__(self, swarm: native.Swarm) -> None:
        set_once(self, "_native", swarm)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a swarm does not change")

    def __reduce__(self) -> tuple[Any, ...]:
        raise OptionError("a swarm cannot be pickled: pickle the table or the path that it is made of, or the tables of its methods")

    def __len__(self) -> int:
        """The number of graphs of a table; those of files are not known before they are read."""
        size = self._native.size
        if size is None:
            raise OptionError("the number of graphs in files is not known before they are read")
        return size[0]

    def __repr__(self) -> str:
        size = self._native.size
        return "<ripplet.Swarm: files>" if size is None else f"<ripplet.Swarm: {size[0]:,} graphs, {size[1]:,} vertices>"

    def __bool__(self) -> bool:
        return True

    def _analyse(self, name: str, progress: Progress, **choices: Any) -> SwarmTable:
        with reporter(progress) as told:
            return SwarmTable(*self._native.analyse(name, given(**choices, progress=told)))

    @options
    def closeness(
        self,
        *,
        measure: Literal["reciprocal", "wasserman-faust"] = "reciprocal",
        normalized: bool = False,
        weighted: bool = False,
        device: str | None = None,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Closeness centrality: columns ``graph``, ``id``, ``value``. Options are those of :func:`ripplet.closeness`."""
        return self._analyse(
            "closeness", progress, measure=measure, normalized=normalized, weighted=weighted, device=device, threads=threads
        )

    @options
    def harmonic(
        self,
        *,
        normalized: bool = False,
        weighted: bool = False,
        device: str | None = None,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Harmonic centrality: columns ``graph``, ``id``, ``value``. Options are those of :func:`ripplet.harmonic`."""
        return self._analyse(
            "harmonic", progress, normalized=normalized, weighted=weighted, device=device, threads=threads
        )

    @options
    def betweenness(
        self,
        *,
        edges: bool = False,
        normalized: bool = False,
        weighted: bool = False,
        device: str | None = None,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Betweenness: columns ``graph``, ``id``, ``value``; of edges ``graph``, ``source``, ``target``, ``value``. Options are
        those of :func:`ripplet.betweenness`, without ``samples`` and ``seed``."""
        name = "edge-betweenness" if edges else "betweenness"
        return self._analyse(name, progress, normalized=normalized, weighted=weighted, device=device, threads=threads)

    @options
    def pagerank(
        self,
        *,
        damping: float = 0.85,
        iterations: int | None = None,
        tolerance: float | None = None,
        weighted: bool = False,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """PageRank: columns ``graph``, ``id``, ``value``. Options: :func:`ripplet.pagerank`, not ``personalize``."""
        return self._analyse(
            "pagerank", progress, damping=damping, iterations=iterations, tolerance=tolerance, weighted=weighted,
            threads=threads,
        )

    @options
    def lcc(
        self,
        *,
        definition: Literal["ldbc", "fagiolo"] = "ldbc",
        triangles: bool = False,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Clustering coefficients: columns ``graph``, ``id``, ``value``, and ``triangles`` on demand. Options are those of
        :func:`ripplet.lcc`."""
        return self._analyse("lcc", progress, definition=definition, triangles=triangles, threads=threads)

    @options
    def components(self, *, threads: int | None = None, progress: Progress = "auto") -> SwarmTable:
        """Weakly connected components: columns ``graph``, ``id``, ``component``, which is an id of one of its vertices."""
        return self._analyse("components", progress, threads=threads)

    @options
    def kcore(self, *, threads: int | None = None, progress: Progress = "auto") -> SwarmTable:
        """Coreness: columns ``graph``, ``id``, ``coreness``."""
        return self._analyse("kcore", progress, threads=threads)

    @options
    def apsp(
        self,
        *,
        rows: Literal["pairs", "vertices", "graphs"] = "pairs",
        weighted: bool = False,
        device: str | None = None,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Distances between all vertices of each graph.

        Parameters
        ----------
        rows : {"pairs", "vertices", "graphs"}
            A row for each pair: ``source``, ``target``, ``distance``, infinite without a path; for each vertex: ``id``,
            ``eccentricity``, ``reached``, ``average_distance``; or for each graph: ``vertices``, ``edges``, ``pairs``,
            ``diameter``, ``radius``, ``average_distance``, ``wiener``, ``connected``.
        weighted, device, threads, progress
            As of :func:`ripplet.closeness`.
        """
        names = {"pairs": "distances", "vertices": "reach", "graphs": "summary"}
        if rows not in names:
            raise OptionError(f"rows: expected pairs, vertices or graphs, not {rows!r}")
        return self._analyse(names[rows], progress, weighted=weighted, device=device, threads=threads)

    @options
    def communities(
        self,
        *,
        program: Literal["lpa", "cdlp", "llp"] | Program | None = None,
        program_file: str | os.PathLike[str] | None = None,
        param: Mapping[str, Any] | None = None,
        guard: float | None = None,
        gamma: float | None = None,
        schedule: Literal["sync", "phased", "async"] | None = None,
        phases: int | None = None,
        counter: str | None = None,
        iterations: int | None = None,
        max_iterations: int | None = None,
        tolerance: float | None = None,
        seed: int = 0,
        merge: float | Literal["off"] | None = None,
        keep_disconnected: bool = False,
        threads: int | None = None,
        progress: Progress = "auto",
    ) -> SwarmTable:
        """Communities of each graph: columns ``graph``, ``id``, ``community``, which is an id of one of its vertices.

        Each graph has the communities that :func:`ripplet.communities` finds of it alone; the options are the same.

        Raises
        ------
        InputError
            If an option does not take its value, a program of your own reads a column without a default, or leaves a vertex
            without a label; also a ``ValueError``.
        """
        chosen = chosen_program(program, program_file)
        own = chosen if isinstance(chosen, Program) else None
        if own is None and param is not None:
            raise InputError("param is for a program of your own: pass program=rp.program(…)")
        of_program = {"program": chosen} if own is None else with_parameters(own, param)
        choices = given(
            **of_program, guard=guard, gamma=gamma, schedule=schedule, phases=phases, counter=counter,
            iterations=iterations, max_iterations=max_iterations, tolerance=tolerance, seed=seed, merge=merge,
            keep_disconnected=keep_disconnected, threads=threads,
        )
        with reporter(progress) as told:
            return SwarmTable(*self._native.communities({**choices, **given(progress=told)}))


@options
def swarm(
    data: Any,
    *,
    graph: str | None = None,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    directed: bool | None = None,
    keep_loops: bool = False,
    keep_duplicates: bool = False,
    coarse_weights: bool = False,
    format: str | None = None,
    id_kind: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    threads: int | None = None,
    progress: Progress = False,
) -> Swarm:
    """Makes a swarm: many small graphs, each of which is analysed alone.

    Parameters
    ----------
    data : table or path
        A table with a row for each edge and a column that says of which graph it is: pandas, polars, pyarrow, a DuckDB
        relation, a dict of columns. Or the path of a folder of graph files, an archive, a TU data set, a ``.swarm``, or such a
        table in a file.
    graph : str, optional
        The column with the graph of each edge; by default ``graph``, or else the only one with a similar name.
    source, target, weight, directed, keep_loops, keep_duplicates, coarse_weights, format, id_kind, header, delimiter
        As of :func:`ripplet.graph`.
    on_error : {"stop", "skip"}
        Whether a file that is no graph ends the reading of a folder or an archive, or is skipped.
    threads, progress
        As of :func:`ripplet.graph`.

    Returns
    -------
    Swarm
        The graphs of a table; of a path, each run reads the files.

    Raises
    ------
    InputError
        If a column is missing, a value is null, no id or no weight; the error names the row. Also a ``ValueError``.
    OptionError
        If the type of ``data`` is not known; also a ``TypeError``.
    FileError
        If there is no such file; also an ``OSError``.

    Examples
    --------
    >>> import ripplet as rp
    >>> edges = {"molecule": ["water", "water", "ozone"], "u": ["H1", "O", "O1"], "v": ["O", "H2", "O2"]}
    >>> rp.swarm(edges, graph="molecule").betweenness()["value"].tolist()
    [0.0, 0.0, 0.0, 0.0, 1.0]
    """
    columns = given(graph=graph, source=source, target=target, weight=weight if isinstance(weight, str) else None)
    with reporter(progress) as told:
        build = given(
            directed=directed, keep_loops=keep_loops, keep_duplicates=keep_duplicates, coarse_weights=coarse_weights,
            weighted=weight is not None and weight is not False, id_kind=id_kind, on_error=on_error, threads=threads,
            progress=told,
        )
        if is_path(data):
            file = given(format=format, header=header, delimiter=delimiter)
            return Swarm(native.Swarm.of_files(os.fspath(data), {**columns, **build, **file}))
        if format is not None or header is not None or delimiter is not None:
            raise OptionError("format, header and delimiter are of files, and data is none")
        ends = {name: value for name, value in columns.items() if name != "graph"} | {"weighted": build["weighted"]}

        def needed() -> list[str]:
            return [graph or "graph", *columns_of_edges(data, ends)]

        refuse_nulls(data, needed)
        read = native_table(data, "data", needed=needed)
        return Swarm(native.Swarm.of_table(read, {**columns, **build}))
