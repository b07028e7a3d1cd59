"""Communities: runs, and what they found."""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._estimate import Planned, estimating
from ._graph import Graph, graph, nodes_of_igraph, objects, package_of, set_once, view
from ._notebook import bars, line_of
from ._options import call, given, options, path_of
from ._program import Program, choices_of, chosen_program, variable
from ._progress import Progress, reporter
from ._ranks import end_with_the_interpreter
from ._tables import has_ids, is_missing, plain_values
from .errors import InputError, OptionError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

ProgramName: TypeAlias = Literal["lpa", "cdlp", "llp", "slpa", "seeded"]

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


class Resumed(NamedTuple):
    """The checkpoint from which a run went on."""

    rounds: int
    """The number of rounds that were done."""
    path: str
    """The file."""
    damaged: list[str]
    """Why newer checkpoints were passed over: they are damaged."""


class Communities:
    """Communities of a graph: the result of a run, which does not change and can be pickled.

    A community is named by the id of one of its vertices, as in the command's output. Communities come in the order of
    their size, the largest first; of equally large ones, that with the first vertex.

    ``len(c)`` is the number of communities, ``c["ann"]`` the name of the community of a vertex, and ``for members in c``
    goes over the members.
    """

    __slots__ = ("_cache", "_call", "_clusters", "_graph", "_native", "_options", "__weakref__")

    _graph: Graph
    _native: native.Found
    _options: dict[str, Any]
    _cache: dict[str, Any]
    _clusters: dict[int, Any] | None
    _call: tuple[str, list[str]]

    def __init__(
        self,
        found: native.Found,
        graph: Graph,
        options: Mapping[str, Any],
        call: tuple[str, list[str]],
        clusters: dict[int, Any] | None = None,
    ) -> None:
        set_once(self, "_native", found)
        set_once(self, "_call", call)
        set_once(self, "_graph", graph)
        set_once(self, "_options", dict(options))
        set_once(self, "_cache", {})
        set_once(self, "_clusters", clusters)

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
        return self._names_of(view(self._native.communities))

    def _names_of(self, labels: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """Returns the names of the communities with these labels."""
        names: npt.NDArray[Any]
        if self._clusters is None:
            names = self.ids[labels]
        else:
            clusters = self._clusters
            names = objects([clusters[label] for label in labels.tolist()])
            if all(type(name) is int for name in clusters.values()):
                names = names.astype(np.uint64 if max(clusters.values()) >= 2**63 else np.int64)
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
    def counter(self) -> str:
        """How votes were counted: ``exact``, or the sketch that was chosen or found."""
        return self._native.counter

    @property
    def resumed(self) -> Resumed | None:
        """The checkpoint from which the run went on, if there was one."""
        found = self._native.resumed
        return None if found is None else Resumed(found[0], os.fspath(found[1]), found[2])

    @property
    def seconds(self) -> float:
        """Seconds of the run."""
        return self._native.seconds

    @property
    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns that a program of your own wrote, by name: shape ``(vertices,)``, of several values
        ``(vertices, values)``."""
        found = {}
        for name, length, values in self._native.columns:
            array = view(values)
            found[name] = array if length == 1 else array.reshape(-1, length)
        return found

    @property
    def options(self) -> dict[str, Any]:
        """The options of the run that were given."""
        return dict(self._options)

    def __len__(self) -> int:
        return len(view(self._native.communities))

    def members(self, community: int) -> npt.NDArray[Any]:
        """Returns the ids of the members of a community by its number from 0, ascending.

        Raises
        ------
        OptionError, IndexError
            If it is no whole number, or there is no such community.
        """
        try:
            community = operator.index(community)
        except TypeError:
            raise OptionError(f"community: expected a whole number, not {community!r}") from None
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
            return None if label == NO_LABEL else self._name_of(label)
        starts, rows, communities = self._once("by_vertex", self._by_vertex)
        return [self._name_of(int(label)) for label in communities[starts[vertex] : starts[vertex + 1]]]

    def _name_of(self, label: int) -> Any:
        return plain(self.ids[label]) if self._clusters is None else self._clusters[label]

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
        table = {"id": self.ids[vertices], "community": self._names_of(communities)}
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
        if self._clusters is not None:
            import pyarrow

            return pyarrow.table(self._table()).__arrow_c_stream__(requested_schema)
        return self._native.stream()

    def _refuse_objects(self, what: str, instead: str) -> None:
        if self._graph._nodes is not None:
            raise InputError(f"the ids are Python objects, which {what} does not have: use {instead}, or relabel them")

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,
        names: Literal["vertex", "hub", "number"] = "vertex",
    ) -> None:
        """Writes the communities to a file, byte for byte as the command does.

        Parameters
        ----------
        path
            ``.txt``, ``.csv``, ``.tsv``, ``.jsonl`` (each also ``.gz`` or ``.zst``), ``.parquet`` or ``.arrow``: a row a
            vertex. ``.graphml``, ``.gexf``, ``.gml``, ``.json`` or ``.dot``: the graph, with the community of each vertex.
            A text that ends in ``/`` is a folder, with a table in parts; ``s3://``, ``gs://`` and ``az://`` are objects.
        format
            The format, if the name does not show it.
        names : {"vertex", "hub", "number"}
            Whether communities are named by a vertex, by their vertex of highest degree, or by numbers from 0, the largest
            first.

        Raises
        ------
        FileError
            If the file cannot be written; it then appears not at all.
        """
        self._refuse_objects("a file", "to_pandas()")
        if names not in ("vertex", "hub", "number"):
            raise InputError(f"names: expected 'vertex', 'hub' or 'number', not {names!r}")
        clusters = None
        if self._clusters is not None:
            distinct = sorted(set(self._clusters.values()))
            at = {name: number for number, name in enumerate(distinct)}
            of = [NO_LABEL] * self._graph.vertices
            for vertex, name in self._clusters.items():
                of[vertex] = at[name]
            clusters = (distinct, of)
        self._native.write(path_of(path, "path"), format, names, clusters)

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
        measures: dict[str, Any] = json.loads(self._native.quality(resolution_of(resolution)))
        return measures

    def _cover(self) -> tuple[int, int, list[int], list[int]]:
        """Returns the memberships by number of community, for the native part."""
        of = np.repeat(np.arange(len(self)), self.sizes)
        return (self._graph.vertices, len(self), view(self._native.members).tolist(), of.tolist())

    def _cover_of(self, of: Graph, name: str) -> tuple[int, int, list[int], list[int]]:
        """Returns the memberships as those of another graph with the same ids."""
        vertices, communities, members, numbers = self._cover()
        places = places_in(of, self._graph, name)
        return (vertices, communities, members if places is None else places[members].tolist(), numbers)

    def per_community(self, *, resolution: float = 1.0) -> pandas.DataFrame:
        """Returns figures of each community, the largest first: those of ``ripplet quality --per-community``.

        Parameters
        ----------
        resolution : float, default 1
            Factor of the weight expected by chance in the modularity.
        """
        import pandas

        columns = native.figures(self._graph._native, self._cover(), resolution_of(resolution))
        figures = {name: view(column) for name, column in columns}
        return pandas.DataFrame({"community": self.names, **figures})

    def parts(self, *, resolution: float | None = None, threads: int | None = None) -> pandas.DataFrame:
        """Returns the parts that each community is made of, and the parts of which these are made: ``--levels``.

        A part is connected, and lies within one part of the next column and within one community. Parts join while that
        raises the score within their community: that of ``refine``, or else modularity.

        Parameters
        ----------
        resolution : float, optional
            Resolution of the score: by default that of the run, or 1 without ``refine``. A run with the resolution
            ``"auto"`` needs it.
        threads : int, optional
            Threads of the CPU; by default one per core.

        Returns
        -------
        pandas.DataFrame
            A row per vertex: its ``id``, ``part_1`` (the finest), ``part_2`` and so on, at most 8, and ``community``: numbers
            from 0, the largest first.

        Raises
        ------
        InputError
            If communities overlap, vertices are in none, or there is no resolution.

        Examples
        --------
        >>> import ripplet as rp
        >>> path = rp.communities([(at, at + 1) for at in range(8)], labels=[0] * 9, iterations=0)
        >>> path.parts()["part_1"].tolist()
        [0, 0, 0, 1, 1, 2, 2, 3, 3]
        """
        import pandas

        self._refuse_incomplete("parts")
        score = self._options.get("refine", "modularity")
        if resolution is None:
            chosen = self._options.get("resolution", "auto" if "refine" in self._options else 1.0)
            if chosen == "auto":
                raise InputError("resolution: the run has estimated it, so give a number, such as 1.0")
            resolution = chosen
        refuse_no_number(resolution, "resolution")
        choices = given(seed=self._options.get("seed"), threads=threads)
        columns = [view(column) for column in self._native.parts(score, resolution, choices)]
        names = [*(f"part_{level + 1}" for level in range(len(columns) - 1)), "community"]
        return pandas.DataFrame({"id": self.ids, **dict(zip(names, columns, strict=True))})

    def dendrogram(self, *, threads: int | None = None) -> pandas.DataFrame:
        """Returns how the communities join, pair by pair, until one is left: ``--dendrogram``.

        The two clusters join next whose merge raises the score of ``refine``, or else modularity, at the highest resolution.

        Parameters
        ----------
        threads : int, optional
            Threads of the CPU; by default one per core.

        Returns
        -------
        pandas.DataFrame
            A row a merge, of the clusters ``left`` and ``right``: communities have numbers from 0, the largest first, and
            each merge the next one. ``size`` and ``vertices`` are its communities and vertices, ``resolution`` that below which
            it raises the score, ``distance`` the inverse, and ``inner`` the part of all weight that is then inside clusters.
            The first four columns are a linkage of ``scipy.cluster.hierarchy``; clusters without edges between them have an
            infinite distance.

        Raises
        ------
        InputError
            If communities overlap, vertices are in none, or the graph is directed.

        Examples
        --------
        >>> import ripplet as rp
        >>> triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)]
        >>> rp.communities(triangles).dendrogram()[["left", "right", "size", "vertices"]].values.tolist()
        [[0, 1, 2, 6]]
        """
        import pandas

        self._refuse_incomplete("dendrogram")
        score = self._options.get("refine", "modularity")
        return pandas.DataFrame({name: view(column) for name, column in self._native.dendrogram(score, given(threads=threads))})

    def _refuse_incomplete(self, what: str) -> None:
        if self.overlap:
            raise InputError(f"communities that overlap have no {what}: each vertex must be in one")
        if (self.labels == NO_LABEL).any():
            raise InputError(f"some vertices are in no community: {what} would be of all vertices")

    def compare(self, other: Any) -> dict[str, Any]:
        """Returns how far these communities agree with others of the same vertices.

        Parameters
        ----------
        other : Communities, mapping, pandas.Series or sequence
            Communities of a graph with the same vertices; or the community of each vertex by id, or in the order of ``ids``,
            as ``labels`` of :func:`communities`; or sets of ids. ``None``, NaN and -1 (as in ``numbers``) are no community,
            but -1 is one if a vertex has it as its id.

        Returns
        -------
        dict
            ``nmi``, ``ari`` and others, as ``ripplet quality --truth`` prints them; for communities that overlap other
            measures. ``compared`` has the number of ``vertices`` that both have a community for, and how many have one in
            only one of both: ``without_truth`` and ``without_label``.

        Raises
        ------
        InputError
            If no vertex has a community in both.
        UnknownVertexError
            If the others have a vertex that this graph does not have.
        """
        mine, cover = self.labels != NO_LABEL, None
        if isinstance(other, Communities) and (self.overlap or other.overlap):
            cover = other._cover_of(self._graph, "other")
            theirs = np.zeros(self._graph.vertices, dtype=bool)
            theirs[cover[2]] = True
        elif self.overlap:
            raise InputError("communities that overlap are compared with a result, not with a label for each vertex")
        else:
            labels = initial_labels(self._graph, other, "other")
            theirs = labels != NO_LABEL
        both = int((mine & theirs).sum())
        if both == 0:
            raise InputError("no vertex has a community both in these and in the others: there is nothing to compare")
        if cover is not None:
            text = native.agree_overlapping(self._cover(), cover)
        else:
            text = native.agree(self.labels.tolist(), labels.tolist())
        compared = {"vertices": both, "without_truth": int(mine.sum()) - both, "without_label": int(theirs.sum()) - both}
        return {"compared": compared, **json.loads(text)}

    def quotient(self) -> Graph:
        """Returns the graph of the communities: a vertex for each, numbered from the largest, and the edges between them.

        An edge has the total weight of the edges that it stands for, a loop that of the edges inside.
        """
        if self.overlap:
            raise InputError("communities that overlap share edges, so there is no graph of them")
        u, v, w = self._graph.edge_arrays()
        numbers = self.numbers
        weights = np.ones(len(u)) if w is None else w
        kept = (numbers[u] >= 0) & (numbers[v] >= 0)
        ends = (numbers[u][kept], numbers[v][kept], weights[kept])
        return graph(ends, vertices=len(self), directed=self._graph.directed, keep_loops=True)

    def plot(
        self,
        *,
        html: bool = False,
        largest: int | None = None,
        members: int | None = None,
        title: str | None = None,
    ) -> Picture:
        """Draws the communities, as ``ripplet draw`` does; a notebook shows the picture.

        Parameters
        ----------
        html : bool, default False
            Whether the picture is a page that opens communities at a click, instead of an SVG.
        largest, members : int, optional
            How many communities are drawn, and members of an opened one.
        title : str, optional
            The title.
        """
        if self.overlap:
            raise InputError("communities that overlap have no picture: a circle has its members alone")
        import tempfile

        numbers = np.where(self.numbers < 0, NO_LABEL, self.numbers).astype(np.uint32).tolist()
        names = [str(name) for name in self.names.tolist()]
        with tempfile.TemporaryDirectory() as folder:
            chosen = given(html=html, largest=largest, members=members, title=title, folder=folder)
            return Picture(native.picture(self._graph._native, numbers, names, chosen), html)

    def _repr_html_(self) -> str:
        """Returns figures for a notebook: sizes as bars, what ran where, and the line that repeats it.

        In the line, ``g`` is the graph. A variable stands for an argument that has no short literal, such as a table.
        """
        from html import escape

        sizes = self.sizes[:20].tolist()
        modularity = "" if self.overlap else f", modularity {self.modularity:.4f}"
        return (
            f"<div><b>{len(self):,} communities</b> of {self._graph.vertices:,} vertices{modularity}<br>"
            f"{bars(sizes, [f'{size:,}' for size in sizes])}"
            f"{len(self._native.rounds)} rounds ({escape(self.reason)}) in {self.seconds:.3f} s on {escape(self.device)}<br>"
            f"{line_of(self._call)}</div>"
        )

    def annotate(self, graph: Any, name: str = "community") -> None:
        """Sets the community of each vertex as an attribute of the vertices of a networkx or igraph graph.

        Parameters
        ----------
        graph
            A graph with vertices of these ids.
        name : str, default "community"
            Name of the attribute.
        """
        if package_of(graph) == "igraph":
            graph.vs[name] = [self[key] for key in nodes_of_igraph(graph)]
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

    def __reduce__(self) -> tuple[Callable[..., Communities], tuple[Any, ...]]:
        return (unpickled, (self._graph, self._native.state(), self._options, self._call, self._clusters))

    def __repr__(self) -> str:
        return (
            f"<ripplet.Communities: {len(self):,} communities of {self._graph.vertices:,} vertices, after {len(self._native.rounds)}"
            f" rounds ({self.reason}) on {self.device}>"
        )


class Picture:
    """A picture of communities.

    Attributes
    ----------
    text : str
        The SVG, or the page.
    html : bool
        Whether it is a page.
    """

    __slots__ = ("html", "text")

    def __init__(self, text: str, html: bool) -> None:
        self.text, self.html = text, html

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        with open(path_of(path, "path"), "w", encoding="utf-8") as file:
            file.write(self.text)

    def _repr_svg_(self) -> str | None:
        return None if self.html else self.text

    def _repr_html_(self) -> str | None:
        if not self.html:
            return None
        from html import escape

        return f"<iframe srcdoc='{escape(self.text)}' style='width:100%;height:600px;border:0'></iframe>"

    def __repr__(self) -> str:
        return f"<ripplet.Picture: {'a page' if self.html else 'SVG'} of {len(self.text):,} characters>"

    def __str__(self) -> str:
        return self.text


def unpickled(
    graph: Graph,
    state: dict[str, Any],
    options: dict[str, Any],
    call: tuple[str, list[str]],
    clusters: dict[int, Any] | None,
) -> Communities:
    """Returns communities that were pickled."""
    return Communities(native.Found.of_state(graph._native, state), graph, options, call, clusters)


def refuse_no_number(value: Any, name: str) -> None:
    """Refuses what is no number, of an option of this name."""
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise OptionError(f"{name}: expected a number, not {value!r}")


def resolution_of(resolution: Any) -> float:
    """Returns the resolution of a modularity."""
    refuse_no_number(resolution, "resolution")
    if not 0 <= resolution < np.inf:
        raise InputError(f"resolution: expected a finite number, 0 or above, not {resolution}")
    return float(resolution)


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
    program: ProgramName | Program | None = None,
    program_file: str | os.PathLike[str] | None = None,
    param: Mapping[str, Any] | None = None,
    vertex_table: Any = None,
    check_program: bool = False,
    schedule: Literal["sync", "phased", "async"] | None = None,
    phases: int | None = None,
    counter: str = "exact",
    pick_less: int | None = None,
    preset: Literal["nu-mg8", "nu-bm"] | None = None,
    refine: Literal["modularity", "cpm"] | None = None,
    resolution: float | Literal["auto"] | None = None,
    max_size: int | None = None,
    fixed: Iterable[Hashable] | None = None,
    min_size: int | None = None,
    join_small: bool = False,
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
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | str | None = None,
    resume: bool = False,
    ranks: Literal["none", "auto", "mpi"] = "none",
    rank_deadline: int | None = None,
    rank_labels: Literal["auto", "all", "ghosts"] = "auto",
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
    program : {"lpa", "cdlp", "llp", "slpa", "seeded"} or Program, default "lpa"
        What a vote weighs, and how a label is scored; or a program of your own, from :func:`program`.
    program_file : path, optional
        The file of a program of your own.
    param : dict, optional
        Parameters of a program of your own by their names, beside those that it has.
    vertex_table : table, dict or path, optional
        The columns that a program of your own reads: one row per vertex with a column ``id``; without one, in the order of
        ``ids``.
    check_program : bool, default False
        Whether the promises of a program of your own are tested before the run, on a sample of vertices.
    schedule : {"sync", "phased", "async"}, optional
        Which vertices update at the same time; by default the program's.
    phases : int, optional
        Phases of a round of the phased schedule.
    counter : str, default "exact"
        How votes are counted: ``exact``, ``mg:K``, ``bm``, or ``auto``: exact if that fits the memory, and otherwise
        ``mg:8``. ``counter`` of the result says which.
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
    fixed : iterable of ids, optional
        Vertices that keep the community that they begin with, which is that of ``labels``, or each vertex alone; with
        ``refine``.
    min_size : int, optional
        Least vertices of a community: members of smaller ones have none.
    join_small : bool, default False
        Whether communities smaller than ``min_size`` join the neighbouring one that they have most edges to instead.
    guard, gamma : float, optional
        Parameters of ``lpa`` and ``llp``.
    iterations : int, optional
        Exact number of rounds.
    max_iterations : int, optional
        Largest number of rounds.
    tolerance : float, optional
        The run ends when at most this share of the vertices changed in a round.
    labels : mapping, pandas.Series, array or Communities, optional
        Labels to begin with: of each vertex by id, or in the order of ``ids``; or sets of ids. The index of a Series has ids,
        but the default one has positions. Communities of another graph are matched by id. ``None``, NaN and -1 are no label,
        but -1 is one if a vertex has it as its id.
    keep_disconnected : bool, default False
        Whether communities whose members are not connected stay as they are.
    merge : float or "off", optional
        Share of votes at which communities merge at the end.
    seed : int, default 0
        Seed of all random draws.
    device : str, default "auto"
        ``auto``, ``cpu``, ``cuda``, or ``cuda:0,1``. Of ranks, each takes one of the GPUs that are named, and ``auto`` is its CPU.
    device_memory, host_memory : int, optional
        Most bytes of a GPU's memory, and of the host's: a run that needs more with its graph is refused.
    checkpoint : path, optional
        A folder in which the state of the run is kept from time to time, so that it can go on after it was killed. It is made
        if it is missing, or is in object storage (``"s3://bucket/folder/"``), and its checkpoints are removed when the communities are found.
    checkpoint_every : int or str, optional
        Interval of checkpoints: rounds (``10``) or a time (``"30s"``, ``"5m"``, ``"2h"``); by default five minutes.
    resume : bool, default False
        Whether the run goes on from the newest checkpoint, if there is one; :attr:`Communities.resumed` says from where.
    ranks : {"none", "auto", "mpi"}, default "none"
        The processes that share the run: this one alone, or all that ``mpirun`` or ``srun`` started, with the same graph and
        options; each then gets all communities. With ``auto`` it may also be this one alone. The command's default is
        ``auto``; a process of Python may have been started together with others for work of its own.
    rank_deadline : int, optional
        Seconds without a sign of life after which such a process is lost, and the run ends in all others: 60 by default. That of
        the first shared run of a process holds for all.
    rank_labels : {"auto", "all", "ghosts"}, default "auto"
        The vertices whose labels each of these processes has in the rounds: all, or its own and their neighbours; ``auto`` is what
        sends fewer bytes. Communities do not depend on it.
    threads : int, optional
        Threads of the CPU; by default one per core, or the share of the cores that a process has of a machine on which several
        share the run.
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
    RunError
        If MPI does not start, or another process that shares the run is lost or has another graph or other options.
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
    chosen = chosen_program(program, program_file)
    own = chosen if isinstance(chosen, Program) else None
    if own is None and (param is not None or vertex_table is not None or check_program):
        raise InputError("param, vertex_table and check_program are for a program of your own: pass program=rp.program(…)")
    choices = given(
        program=own or program,
        param=param,
        check_program=check_program or None,
        schedule=schedule,
        phases=phases,
        counter=None if counter == "exact" else counter,
        pick_less=pick_less,
        preset=preset,
        refine=refine,
        resolution=resolution,
        max_size=max_size,
        min_size=min_size,
        join_small=join_small or None,
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
        checkpoint=None if checkpoint is None else path_of(checkpoint, "checkpoint"),
        checkpoint_every=interval(checkpoint_every),
        resume=resume or None,
        ranks=None if ranks == "none" else ranks,
        rank_deadline=rank_deadline,
        rank_labels=None if rank_labels == "auto" else rank_labels,
        threads=threads,
    )
    if "ranks" in choices:
        end_with_the_interpreter()
    if program == "seeded":
        raise OptionError("seeded begins with vertices whose cluster is known: use ripplet.seeded()")
    named = program if own is None else variable(own) if program_file is None else None
    written = given(program=named, program_file=program_file, param=param, vertex_table=vertex_table, labels=labels, fixed=fixed)
    written.update((name, value) for name, value in choices.items() if name not in ("program", "param"))
    line = call("communities", {}, written)
    if own is None:
        return run(data, choices, progress, line, labels=labels, fixed=fixed)
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    more = choices_of(own, of, param, vertex_table, check_program)
    return run(of, choices, progress, line, labels=labels, fixed=fixed, more={"program": None, **more})


def interval(every: Any) -> str | None:
    """Returns the interval of checkpoints as the command takes it."""
    if every is None or isinstance(every, str):
        return every
    if isinstance(every, bool) or not isinstance(every, (int, np.integer)):
        raise OptionError(f"checkpoint_every: expected rounds or a time such as '5m', not {every!r}")
    return str(every)


def run(
    data: Any,
    choices: dict[str, Any],
    progress: Progress,
    line: tuple[str, list[str]],
    *,
    labels: Any = None,
    fixed: Any = None,
    more: Mapping[str, Any] | None = None,
    clusters: dict[int, Any] | None = None,
) -> Communities:
    """Runs a program with the options that were given, by a call that is written as ``line``."""
    of = data if isinstance(data, Graph) else graph(data, threads=choices.get("threads"))
    extra: dict[str, Any] = dict(more or {})
    if labels is not None:
        extra["initial"] = initial_labels(of, labels)
    if fixed is not None:
        extra["fixed"] = chosen_vertices(of, fixed, "fixed")
    with reporter(progress) as told:
        if told is not None:
            extra["progress"] = told
        if estimating():
            raise Planned(native.plan_communities(of._native, {**choices, **extra}))
        found = native.communities(of._native, {**choices, **extra})
    return Communities(found, of, choices, line, clusters)


@options
def seeded(
    data: Any,
    seeds: Any,
    *,
    attenuation: float | None = None,
    loose_seeds: bool = False,
    skip_unknown_seeds: bool = False,
    schedule: Literal["sync", "phased", "async"] | None = None,
    counter: str = "exact",
    iterations: int | None = None,
    max_iterations: int | None = None,
    tolerance: float | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = "auto",
) -> Communities:
    """Spreads labels from vertices whose cluster is known: ``--program seeded``.

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    seeds : mapping, pandas.Series or iterable
        The cluster of each seed by its id, or ``(cluster, strength)`` with a strength from 0 to 1; of an iterable of
        ids, each is a cluster of its own. Clusters are all integers of 64 bits or all strings. The index of a Series has ids, but
        with the default one its values are the ids.
    attenuation : float, optional
        Share of its strength that a label keeps at a hop.
    loose_seeds : bool, default False
        Whether seeds only begin with their clusters, and may be won over.
    skip_unknown_seeds : bool, default False
        Whether seeds that are no vertices are left out instead of refused.
    schedule, counter, iterations, max_iterations, tolerance, seed, device, threads, progress
        As of :func:`communities`.

    Returns
    -------
    Communities
        They have the names of the clusters. Vertices that no seed reaches are in none.

    Raises
    ------
    InputError
        If there are no seeds, or clusters are of different types.
    UnknownVertexError
        If a seed is no vertex.

    Examples
    --------
    >>> import ripplet as rp
    >>> found = rp.seeded([("ann", "bob"), ("bob", "cid"), ("dan", "eve")], {"ann": "bad"})
    >>> found["cid"], found["dan"]
    ('bad', None)
    """
    if isinstance(seeds, (str, bytes)):
        raise OptionError("seeds: expected several ids, or a dict of ids to clusters, not a string")
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    try:
        if has_ids(seeds):
            rows = by_index(seeds)
        else:
            rows = dict(seeds) if isinstance(seeds, Mapping) else {id: (id, 1.0) for id in plain_values(seeds, "seeds")}
    except TypeError as error:
        raise OptionError(f"seeds: expected a dict, or ids: {error}") from None
    vertices: list[int] = []
    names: list[Any] = []
    strengths: list[float] = []
    for id, value in rows.items():
        try:
            name, strength = value if isinstance(value, tuple) else (value, 1.0)
            strength = float(strength)
        except (TypeError, ValueError):
            raise InputError(f"seeds: expected a cluster, or a pair of it and a strength, not {value!r}") from None
        if id not in of and skip_unknown_seeds:
            continue
        vertices.append(of.vertex(id))
        names.append(plain(name))
        strengths.append(strength)
    if not vertices:
        raise InputError("seeded begins with vertices whose cluster is known, but no seed is a vertex")
    kinds = {type(name) for name in names}
    if kinds not in ({int}, {str}):
        raise InputError("the clusters of seeds are all integers or all strings")
    if kinds == {int} and not (-(2**63) <= min(names) and max(names) < (2**63 if min(names) < 0 else 2**64)):
        raise InputError(
            f"the clusters of seeds are integers of 64 bits, and these are from {min(names)} to {max(names)}: make them strings"
        )
    first: dict[Any, int] = {}
    for vertex, name in zip(vertices, names, strict=True):
        first[name] = min(vertex, first.get(name, vertex))
    labels = [first[name] for name in names]
    columns = (
        np.array(vertices, dtype=np.uint32),
        np.array(labels, dtype=np.uint32),
        np.array(strengths, dtype=np.float32),
    )
    choices = given(
        program="seeded",
        attenuation=attenuation,
        loose_seeds=loose_seeds or None,
        schedule=schedule,
        counter=None if counter == "exact" else counter,
        iterations=iterations,
        max_iterations=max_iterations,
        tolerance=tolerance,
        seed=seed or None,
        device=None if device == "auto" else device,
        threads=threads,
    )
    clusters = {vertex: name for name, vertex in first.items()}
    written = {**choices, **given(skip_unknown_seeds=skip_unknown_seeds or None)}
    del written["program"]
    line = call("seeded", {"seeds": seeds}, written)
    return run(of, choices, progress, line, more={"seeds": columns}, clusters=clusters)


@options
def overlapping(
    data: Any,
    *,
    memory: int | None = None,
    threshold: float | None = None,
    iterations: int | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = "auto",
) -> Communities:
    """Finds communities that may overlap: ``--program slpa``.

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    memory : int, optional
        Communities that a vertex remembers.
    threshold : float, optional
        Share of its memory that a community must fill to have a vertex, beside the one that fills most.
    iterations, seed, device, threads, progress
        As of :func:`communities`.

    Returns
    -------
    Communities
        ``c["ann"]`` is the list of a vertex's communities, the strongest first.
    """
    choices = given(
        program="slpa",
        memory=memory,
        threshold=threshold,
        iterations=iterations,
        seed=seed or None,
        device=None if device == "auto" else device,
        threads=threads,
    )
    written = {name: value for name, value in choices.items() if name != "program"}
    return run(data, choices, progress, call("overlapping", {}, written))


@options
def cdlp(
    data: Any,
    *,
    iterations: int | None = None,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = "auto",
) -> Communities:
    """Runs LDBC Graphalytics' community detection, exactly as specified: ``--program cdlp``.

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    iterations : int, optional
        Number of rounds; 10 by default.
    device, threads, progress
        As of :func:`communities`.
    """
    chosen = None if device == "auto" else device
    choices = given(iterations=iterations, device=chosen, threads=threads)
    return run(data, {"program": "cdlp", **choices}, progress, call("cdlp", {}, choices))


def initial_labels(of: Graph, labels: Any, name: str = "labels") -> npt.NDArray[np.uint32]:
    """Returns the vertex that stands for each label, of an option of this name; labels may be any values."""
    if isinstance(labels, Communities):
        places = places_in(of, labels.graph, name)
        if places is None:
            return np.ascontiguousarray(labels.labels)
        found = np.full(of.vertices, NO_LABEL, dtype=np.uint32)
        has_label = labels.labels != NO_LABEL
        found[places[has_label]] = places[labels.labels[has_label]]
        return found
    values = label_values(of, labels, name)
    try:
        present = {value for value in values if value is not None}
    except TypeError as error:
        raise OptionError(f"{name}: {error}: expected values that can be in a set") from None
    if all(value in of for value in present):
        # Labels are vertices, as in the command's output.
        vertex = {value: of.vertex(value) for value in present}
    else:
        vertex = {}
        for at, value in enumerate(values):
            if value is not None:
                vertex.setdefault(value, at)
    return np.array([NO_LABEL if value is None else vertex[value] for value in values], dtype=np.uint32)


def label_values(of: Graph, labels: Any, name: str) -> list[Any]:
    """Returns the label of each vertex, ``None`` if it has none; -1 is none, as in ``numbers``, unless it is an id."""
    has_minus_one = -1 in of

    def label_of(value: Any) -> Any:
        is_none = isinstance(value, (int, np.integer)) and value == -1 and not has_minus_one
        return None if is_none or is_missing(value) else value

    expected = "expected communities, a label for each vertex in the order of ids, labels by id (a dict), or sets of ids"
    if isinstance(labels, (str, bytes)):
        raise OptionError(f"{name}: {expected}, not {type(labels).__name__}")
    if package_of(labels) == "igraph":
        raise OptionError(
            f"{name}: {expected}, not {type(labels).__name__} of igraph: pass its membership by id, as in"
            " dict(zip(ids, clustering.membership))"
        )
    if type(labels).__module__.startswith("ripplet.") and hasattr(labels, "to_dict"):
        # Values of an analysis, which has ids of its own.
        labels = labels.to_dict()
    labels = plain_values(labels, name)
    if isinstance(labels, Mapping):
        rows: Iterable[tuple[Any, Any]] = labels.items()
    elif has_ids(labels):
        rows = zip(labels.index.tolist(), labels.tolist(), strict=True)
    else:
        try:
            listed = list(labels)
        except TypeError:
            raise OptionError(f"{name}: {expected}, not {type(labels).__name__}") from None
        if not listed or not all(isinstance(members, (set, frozenset)) for members in listed):
            if len(listed) != of.vertices:
                raise InputError(f"{name}: {len(listed)} labels for {of.vertices} vertices: {expected}")
            return [label_of(value) for value in listed]
        rows = ((id, number) for number, members in enumerate(listed) for id in members)
    values = [None] * of.vertices
    is_listed = [False] * of.vertices
    for id, label in rows:
        vertex = of.vertex(id)
        if is_listed[vertex]:
            raise InputError(f"{name}: the vertex {id!r} is listed twice")
        is_listed[vertex] = True
        values[vertex] = label_of(label)
    return values


def by_index(seeds: Any) -> dict[Any, Any]:
    """Returns the cluster of each seed of a Series whose index has ids."""
    ids = seeds.index.tolist()
    if ids and all(isinstance(id, int) for id in ids):
        # Rows of a column of ids that were chosen look the same.
        raise OptionError(
            "seeds: a Series with integers other than 0, 1, … as its index has ids in the index or in the values: pass"
            " seeds.to_dict() or seeds.tolist()"
        )
    if len(set(ids)) < len(ids):
        raise InputError("seeds: the index of the Series lists a vertex twice")
    return dict(zip(ids, seeds.tolist(), strict=True))


def places_in(of: Graph, other: Graph, name: str) -> npt.NDArray[np.uint32] | None:
    """Returns the vertex of a graph that has the id of each vertex of another one; ``None`` if all have the same numbers."""
    if of is other:
        return None
    if of.vertices != other.vertices:
        raise InputError(f"{name}: communities of {other.vertices} vertices, but the graph has {of.vertices}")
    if np.array_equal(of.ids, other.ids):
        return None
    return np.array([of.vertex(id) for id in other.ids.tolist()], dtype=np.uint32)


def chosen_vertices(of: Graph, chosen: Any, name: str) -> npt.NDArray[np.uint32]:
    """Returns the vertices of these ids, which an option of this name has."""
    if isinstance(chosen, (str, bytes)):
        raise OptionError(f"{name}: expected several ids, not a string")
    try:
        return np.array([of.vertex(id) for id in plain_values(chosen, name)], dtype=np.uint32)
    except TypeError as error:
        raise OptionError(f"{name}: expected ids: {error}") from None


__all__ = ["NO_LABEL", "Communities", "Picture", "Round", "cdlp", "communities", "overlapping", "seeded", "sweep"]
