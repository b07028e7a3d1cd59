"""Fraud: suspicious clusters in windows of transactions, around accounts that are known to be bad.

>>> import ripplet as rp
>>> found = rp.fraud.run(
...     "examples/fraud/payments.csv",
...     mapping={
...         "time": "date",
...         "amount": "amount",
...         "source": {"column": "payer", "kind": "account"},
...         "target": {"column": "payee", "kind": "account"},
...     },
...     window="14d",
...     slide="4d",
... )
>>> len(found.clusters)
3
"""

from __future__ import annotations

import datetime
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._graph import Graph, is_series, package_of, set_once
from ._options import given, options, path_of
from ._progress import Progress, reporter
from ._tables import Table, has_ids, is_default, is_missing, is_path, native_table, time_text
from .errors import InputError, OptionError

if TYPE_CHECKING:
    import tempfile

__all__ = ["Evaluation", "FoundEntities", "Run", "Table", "evaluate", "open", "run", "window"]

TABLES = ("clusters", "members", "edges", "transactions", "known_bad", "ended", "entities", "reasons", "active")
"""The tables of a window: docs/fraud-report.md has their columns."""

TableLike: TypeAlias = Any
"""A data frame of pandas or polars, a table, batch or reader of pyarrow, a DuckDB relation, a dict of columns, or a path."""

SpanLike: TypeAlias = str | datetime.timedelta
"""A length of time: ``30d``, ``12h``, ``2w``, or a ``timedelta``."""

InstantLike: TypeAlias = str | datetime.date | np.datetime64
"""A day, ``2024-03-01`` or a ``date``; or an instant, ``2024-03-01T12:00`` or a ``datetime``."""

MappingLike: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]


class FoundEntities(Table):
    """The windows of entities in a run: the result of :meth:`Run.find`, a table that does not change and can be pickled.

    Attributes
    ----------
    others : int
        How many more entities match than ``most`` allows.
    notes : list of str
        What the command says beside the rows: windows without probabilities, entities without rows.
    """

    __slots__ = ("notes", "others")

    notes: list[str]
    others: int

    def __init__(self, table: native.Table, others: int, notes: list[str]) -> None:
        super().__init__(table)
        set_once(self, "others", others)
        set_once(self, "notes", notes)

    def __reduce__(self) -> tuple[Any, ...]:
        return (unpickled_entities, (self._native.to_bytes(), self.others, self.notes))


def unpickled_entities(data: bytes, others: int, notes: list[str]) -> FoundEntities:
    """Returns found entities that were pickled."""
    return FoundEntities(native.Table.of_bytes(data), others, notes)


class Run:
    """Clusters of the windows of a run: its result, which does not change and can be pickled.

    Tables are read from the run folder when they are first used. Without ``output``, the folder is temporary, and goes when
    the result does.

    Attributes
    ----------
    manifest : dict
        The content of ``manifest.json``: options, inputs, counts of rows, and figures of each window.
    notes : list of str
        What the command says about the run: rows that were left out, lists without effect, how well scores rank.
    device : str
        What computed the labels: ``cpu``, or the number and the model of the GPU.
    fallback : str or None
        Why it was the CPU, if the choice allowed a GPU.

    References
    ----------
    docs/fraud.md explains the method, docs/fraud-report.md the tables.
    """

    __slots__ = ("_cache", "_folder", "_temporary", "device", "fallback", "manifest", "notes", "__weakref__")

    _folder: Path
    _temporary: tempfile.TemporaryDirectory[str] | None
    _cache: dict[str, Table | None]
    manifest: dict[str, Any]
    notes: list[str]
    device: str
    fallback: str | None

    def __init__(
        self,
        folder: Path,
        temporary: tempfile.TemporaryDirectory[str] | None,
        told: tuple[str, list[str], str, str | None],
    ) -> None:
        manifest, notes, device, fallback = told
        set_once(self, "_folder", folder)
        set_once(self, "_temporary", temporary)
        set_once(self, "_cache", {})
        set_once(self, "manifest", json.loads(manifest))
        set_once(self, "notes", notes)
        set_once(self, "device", device)
        set_once(self, "fallback", fallback)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a run does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a run does not change")

    @property
    def folder(self) -> Path:
        """The run folder, as the command writes it; a temporary one goes with the result."""
        return self._folder

    def __len__(self) -> int:
        """The number of windows."""
        return len(self.manifest["windows"])

    def table(self, name: str, window: int | None = None) -> Table:
        """Returns a table of one window, or of all windows one after the other.

        Parameters
        ----------
        name : str
            ``clusters``, ``members``, ``edges``, ``transactions``, ``known_bad``, ``ended``, ``entities``, ``reasons`` or
            ``active``.
        window : int, optional
            The number of the window; -1 is the last one.

        Returns
        -------
        Table
            The command's table, value for value. ``reasons`` has no rows and no columns in a run without a model.

        Raises
        ------
        InputError
            If there is no such table or window.
        """
        if name not in TABLES:
            raise InputError(f"there is no table {name!r}: the tables are {', '.join(TABLES)}")
        records = self.manifest["windows"]
        if window is not None:
            records = [records[place_of(window, len(records))]]
        paths = [self._folder / "windows" / record["folder"] / f"{name}.parquet" for record in records]
        return Table(native.Table.read([os.fspath(path) for path in paths if path.exists()]))

    def _all(self, name: str) -> Table:
        found = self._cache.get(name)
        if found is None:
            found = self._cache[name] = self.table(name)
        return found

    @property
    def windows(self) -> Table:
        """A row for each window: its number, its time, and its figures."""
        found = self._cache.get("windows")
        if found is None:
            found = self._cache["windows"] = Table(windows_of(self.manifest["windows"]))
        return found

    @property
    def clusters(self) -> Table:
        """The clusters of all windows, by rank: score, chance, size, reasons, and what became of them."""
        return self._all("clusters")

    @property
    def members(self) -> Table:
        """The members of all clusters, by rank of the cluster and score."""
        return self._all("members")

    @property
    def edges(self) -> Table:
        """The payments among the members of each cluster, by pair."""
        return self._all("edges")

    @property
    def transactions(self) -> Table:
        """The single transactions on these edges."""
        return self._all("transactions")

    @property
    def known_bad(self) -> Table:
        """The known bad of each window, with their cluster or why they are in none."""
        return self._all("known_bad")

    @property
    def ended(self) -> Table:
        """The clusters that ended since the window before."""
        return self._all("ended")

    @property
    def scores(self) -> Table:
        """The score, rank and evidence of every entity in each window: the command's ``entities.parquet``."""
        return self._all("entities")

    @property
    def entities(self) -> Table:
        """The same table as :attr:`scores`, by its name in the run folder."""
        return self._all("entities")

    @property
    def reasons(self) -> Table:
        """Why the entities with the highest scores have them; empty without a model."""
        return self._all("reasons")

    @options
    def find(
        self, id: str | int, *, part: bool = False, kind: str | None = None, most: int = 100, progress: Progress = "auto"
    ) -> FoundEntities:
        """Finds an entity in all windows, in a cluster or not: the command ``ripplet fraud find``.

        Parameters
        ----------
        id : str or int
            The entity's id, as the data has it.
        part : bool, default False
            Whether an id matches if it contains ``id``, in upper or lower case.
        kind : str, optional
            The kind of entities, such as ``user``; by default all kinds.
        most : int, default 100
            The most entities that are returned; :attr:`FoundEntities.others` is the number of others.
        progress
            As of :func:`ripplet.communities`.

        Returns
        -------
        FoundEntities
            The command's table: a row for each entity and window in which it has transactions with others or is known to be
            bad. ``window``, ``from``, ``until``, ``kind``, ``id``, ``place``, ``probability``, ``entity_rank``, ``cluster``,
            ``cluster_rank``, ``suspicion``, ``known_bad``.

        Raises
        ------
        InputError
            If no entity is found, or the run folder is gone or damaged; also a ``ValueError``.

        References
        ----------
        docs/fraud-folder.md explains the columns.
        """
        if isinstance(id, bool) or not isinstance(id, (str, int, np.integer)):
            raise OptionError(f"id: expected a string or an integer, not {type(id).__name__}")
        with reporter(progress) as told:
            choices = given(part=part, kind=kind, most=most, progress=told)
            return FoundEntities(*native.fraud_find(os.fspath(self._folder), str(id), choices))

    def arrays(self, window: int = -1) -> dict[str, npt.NDArray[Any]]:
        """Returns the arrays for graph neural networks of a window: ``edge_index``, node features, masks and others.

        Parameters
        ----------
        window : int, default -1
            The number of the window; -1 is the last one.

        Returns
        -------
        dict of numpy.ndarray
            The arrays of ``graph.npz``: docs/fraud-report.md has their shapes.

        Raises
        ------
        InputError
            If the run has ``arrays="none"``, or there is no such window.
        """
        records = self.manifest["windows"]
        path = self._folder / "windows" / records[place_of(window, len(records))]["folder"] / "graph.npz"
        if not path.exists():
            raise InputError('the run has no arrays: it was made with arrays="none"')
        with np.load(path, allow_pickle=False) as arrays:
            return dict(arrays)

    @property
    def report(self) -> str:
        """The report: a page of HTML that works offline."""
        return (self._folder / "report.html").read_text(encoding="utf-8")

    def __reduce__(self) -> tuple[Callable[..., Run], tuple[Any, ...]]:
        told = (json.dumps(self.manifest), self.notes, self.device, self.fallback)
        if self._temporary is None:
            return (unpickled, (os.fspath(self._folder), None, told))
        files = [path for path in sorted(self._folder.rglob("*")) if path.is_file()]
        kept = {os.fspath(path.relative_to(self._folder)): path.read_bytes() for path in files}
        return (unpickled, (None, kept, told))

    def __repr__(self) -> str:
        rows = self.manifest["counts"]["rows"]
        return f"<ripplet.fraud.Run: {len(self)} windows of {rows:,} rows, {len(self.clusters):,} clusters>"

    def _repr_html_(self) -> str:
        """Returns the windows, the notes and the report for a notebook."""
        from html import escape

        columns = ("from", "until", "transactions", "known_bad", "clusters", "members", "rounds")
        head = "".join(f"<th>{name}</th>" for name in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(record[name]))}</td>" for name in columns) + "</tr>"
            for record in self.manifest["windows"]
        )
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
        return (
            f"<table><tr>{head}</tr>{rows}</table><ul>{notes}</ul>"
            f"<iframe srcdoc='{escape(self.report)}' style='width:100%;height:700px;border:0'></iframe>"
        )


def place_of(window: Any, windows: int) -> int:
    """Returns the number of a window, from 0 or from the end."""
    if isinstance(window, bool) or not isinstance(window, (int, np.integer)):
        raise OptionError(f"window: expected the number of a window, such as 0 or -1, not {window!r}")
    if not -windows <= window < windows:
        raise InputError(f"there are {windows} windows, and no number {window}")
    return int(window)


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Returns a folder that is removed with this object, or when the process ends."""
    import tempfile

    return tempfile.TemporaryDirectory(prefix="ripplet-", ignore_cleanup_errors=True)


def unpickled(folder: str | None, files: dict[str, bytes] | None, told: tuple[str, list[str], str, str | None]) -> Run:
    """Returns a run that was pickled."""
    if folder is not None:
        return Run(Path(folder), None, told)
    temporary = temporary_folder()
    for name, content in (files or {}).items():
        path = Path(temporary.name) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Run(Path(temporary.name), temporary, told)


def windows_of(records: list[dict[str, Any]]) -> native.Table:
    """Returns the figures of windows as a table."""
    names = [
        "index", "from", "until", "transactions", "vertices", "arcs", "known_bad", "known_bad_unseen", "trusted", "cleared",
        "clusters", "members", "cut", "warm", "merged", "rounds", "scanned", "converged",
    ]
    columns: list[tuple[str, Any, Any, str | None]] = []
    for name in names:
        values = [record[name] for record in records]
        if name in ("from", "until"):
            times = np.array([text.removesuffix("Z") for text in values], dtype="datetime64[us]")
            columns.append((name, times.view(np.int64), None, "us"))
        else:
            flags = name in ("cut", "warm", "merged", "converged")
            columns.append((name, np.array(values, dtype=np.uint8 if flags else np.uint64), None, "bool" if flags else None))
    columns.append(("seconds", np.array([sum(record["seconds"].values()) for record in records]), None, None))
    return native.Table.of_columns(columns, "windows")


def toml_of(value: Any, place: str = "mapping") -> str:
    """Returns a value as TOML in one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (str, int)):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        pairs = [f"{json.dumps(str(key), ensure_ascii=False)} = {toml_of(item, f'{place}.{key}')}" for key, item in value.items()]
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return "[" + ", ".join(toml_of(item, place) for item in value) + "]"
    raise OptionError(f"{place}: expected a string, a number, a list or a dict, not {type(value).__name__}")


def of_dict(message: str) -> str:
    """Returns an error of a mapping's text as that of the dict that it was made of."""
    lines = message.strip().split("\n")
    if len(lines) < 5 or "TOML parse error" not in message:
        return message
    key = lines[2].partition("|")[2].partition("=")[0].strip()
    why = lines[-1].replace("a table with", "a dict with").replace(
        '{ column = "payer", kind = "account" }', '{"column": "payer", "kind": "account"}'
    )
    return f"mapping: {why}" if why.startswith("missing") else f"mapping: in {key}: {why}"


def mapping_of(mapping: Any) -> str | tuple[str]:
    """Returns a mapping for the native part: a path, or its text in a tuple."""
    if isinstance(mapping, Mapping):
        lines = [f"{json.dumps(str(key), ensure_ascii=False)} = {toml_of(value, f'mapping.{key}')}" for key, value in mapping.items()]
        text = ("\n".join(lines) + "\n",)
        try:
            native.fraud_columns(text)
        except InputError as error:
            raise InputError(of_dict(str(error))) from None
        return text
    if isinstance(mapping, str) and "\n" in mapping:
        return (mapping,)
    if isinstance(mapping, (str, os.PathLike)):
        return os.fspath(mapping)
    raise OptionError(f"mapping: expected a dict, a path or a text of TOML, not {type(mapping).__name__}")


def transactions_of(transactions: Any, mapping: str | tuple[str]) -> Any:
    """Returns transactions for the native part: a table, or paths."""
    if transactions is None:
        return None
    if is_path(transactions):
        return [os.fspath(transactions)]
    if isinstance(transactions, (list, tuple)) and all(is_path(path) for path in transactions) and transactions:
        return [os.fspath(path) for path in transactions]
    return native_table(transactions, "transactions", native.fraud_columns(mapping))


def list_of(table: Any, name: str) -> Any:
    """Returns a list or a table of entities for the native part."""
    if table is None:
        return None
    if is_path(table):
        return os.fspath(table)
    if has_ids(table) and not are_rows(table):
        raise InputError(
            f"{name}: a Series whose index is not that of rows has ids in the index or in the values: pass its .index, or its"
            " .tolist()"
        )
    if is_column(table):
        table = {"id": ids_of(table, name)}
    elif package_of(table) == "pandas" and hasattr(table, "columns"):
        refuse_ids_in_index(table, name)
    return native_table(table, name)


def are_rows(series: Any) -> bool:
    """Returns whether a Series of pandas is a column of some rows, such as ``df.loc[df["fraud"], "id"]``.

    The index of counts has the name of what is counted. Before pandas 2 it may have none.
    """
    index = series.index
    is_counted = series.name in ("count", "proportion") or sys.modules["pandas"].__version__.startswith(("0.", "1."))
    return index.name is None and getattr(index.dtype, "kind", "O") in "iu" and not is_counted


def refuse_ids_in_index(frame: Any, name: str) -> None:
    """Refuses a data frame that has no column `id`, but an index that is not the default one."""
    if "id" in list(frame.columns) or is_default(frame.index):
        return
    names = [column for column in frame.index.names if column is not None]
    shown = f"its index {', '.join(map(repr, names))}" if names else "its index, which is not 0, 1, …,"
    raise InputError(
        f"{name}: the data frame has no column 'id', and {shown} may have the ids: make the index a column with .reset_index(),"
        " or name the column with the ids 'id'"
    )


def is_column(values: Any) -> bool:
    """Returns whether a value is a single column: a list, a set or an array, or a series or an index of a data frame."""
    return isinstance(values, (list, tuple, set, frozenset, np.ndarray)) or is_series(values)


def ids_of(values: Any, name: str) -> list[int] | list[str]:
    """Returns ids as integers, or as strings if any is one. Whole floats are integers: a column of a data frame with a missing
    cell has floats."""
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise InputError(f"{name}: expected one dimension, not {values.ndim}")
    for convert in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, convert):
            values = getattr(values, convert)()
    found: list[Any] = []
    for place, value in enumerate(values):
        if is_missing(value):
            raise InputError(f"{name}: entry {place} (the first is 0) is missing, and no id: leave it out")
        is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
        if isinstance(value, str):
            found.append(str(value))
        elif isinstance(value, (int, np.integer)) and not isinstance(value, bool) or is_whole:
            found.append(int(value))
        else:
            raise OptionError(
                f"{name}: entry {place} (the first is 0) is {value!r}: an id is a string or a whole number"
            )
    if any(isinstance(id, str) for id in found):
        found = [str(id) for id in found]
    return sorted(found) if isinstance(values, (set, frozenset)) else found


def span_of(span: SpanLike | None, name: str) -> str | None:
    """Returns a length of time as the command takes it."""
    if span is None or isinstance(span, str):
        return span
    if not isinstance(span, datetime.timedelta):
        raise OptionError(f"{name}: expected a text such as '90s', '30m', '12h', '30d' or '2w', or a datetime.timedelta, not {span!r}")
    seconds = span // datetime.timedelta(seconds=1)
    if datetime.timedelta(seconds=seconds) != span:
        raise OptionError(f"{name}: expected whole seconds, not {span}")
    return f"{seconds}s"


def least_size(size: Any) -> int | None:
    """Returns the least size of a cluster, which has at least one member."""
    if isinstance(size, (int, np.integer)) and size < 1:
        raise InputError(f"min_size: expected a whole number, 1 or above, not {size}")
    return size  # type: ignore[no-any-return]


def instant_of(instant: InstantLike | None, name: str) -> str | None:
    """Returns a day or an instant as the command takes it; one with a zone in UTC."""
    if instant is None or isinstance(instant, str):
        return instant
    if is_missing(instant) or not isinstance(instant, (datetime.date, np.datetime64)):
        raise OptionError(f"{name}: expected a day or a time, such as '2024-03-01' or datetime.date(2024, 3, 1), not {instant!r}")
    return time_text(instant)


@options
def run(
    transactions: TableLike = None,
    *,
    mapping: MappingLike,
    output: str | os.PathLike[str] | None = None,
    known_bad: TableLike = None,
    trusted: TableLike = None,
    confirmed: TableLike = None,
    cleared: TableLike = None,
    entity_table: TableLike = None,
    window: SpanLike = "30d",
    slide: SpanLike = "1d",
    growing: bool = False,
    full_slides: bool = False,
    late: SpanLike | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    longest_gap: SpanLike = "180d",
    skip_late_rows: bool = False,
    since: InstantLike | None = None,
    before: InstantLike | None = None,
    skip_repeated_files: bool = False,
    postgres: str | None = None,
    duckdb: str | os.PathLike[str] | None = None,
    query: str | None = None,
    attenuation: float | None = None,
    max_iterations: int | None = None,
    warm_iterations: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    seeded_only: bool = False,
    hub_degree: int | None = None,
    no_closure: bool = False,
    seed: int = 0,
    noise: float | None = None,
    model: str | os.PathLike[str] = "auto",
    arrays: Literal["clusters", "window", "none"] = "clusters",
    exact: bool = False,
    to_postgres: str | None = None,
    schema: str | None = None,
    resume: bool = False,
    host_memory: int | None = None,
    device: str | None = None,
    device_memory: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Run:
    """Finds suspicious clusters in each window of transactions: the command ``ripplet fraud run``.

    Windows of ``window`` slide by ``slide`` over the time of the transactions. In each, clusters are found around accounts
    that are known to be bad by then, and elsewhere, scored and ranked. The tables are the command's, value for value, for the
    same rows in the same order, on any number of threads and any device.

    Parameters
    ----------
    transactions : table, path or list of paths
        Transactions in the order of time: a data frame of pandas or polars, a table, batch or reader of pyarrow, a DuckDB
        relation, a dict of columns; or files, folders and patterns, as the command takes them. Columns of Arrow and of numbers
        are not copied.
    mapping : dict, str or path
        Which columns are time, amount, source and target: a dict with the keys of the command's TOML file, the path of such a
        file, or its text.
    output : path, optional
        The run folder: a new or empty one. Without it, a temporary folder goes with the result.
    known_bad, trusted, confirmed, cleared : table, path, or list or column of ids, optional
        Accounts that are known to be bad, trusted, confirmed to be bad by an analyst, or found to be good: a column ``id``, and
        optional columns ``kind``, ``from`` and ``until``; or the ids alone, as a list, a set, an array or a column such as
        ``df["id"]`` or ``df.loc[df["fraud"], "id"]``. A Series of pandas whose index has a name, or is not of integers, is
        refused, as either may be the ids: pass ``.index`` or ``.tolist()``.
    entity_table : table or path, optional
        Features of entities, which become evidence of the scores: a column ``id``, and columns of numbers or categories.
    window, slide : str or timedelta, default "30d" and "1d"
        Length of windows, and by how much they slide: ``30d``, ``12h``, ``2w``.
    growing : bool, default False
        Whether the first window is one slide, and windows grow until they are as long as ``window``.
    full_slides : bool, default False
        Whether the last window ends a full slide after the one before it.
    late : str or timedelta, optional
        How far the time of a row may be before that of a row already read.
    on_error : {"stop", "skip"}
        Whether a row with nulls, or with a time or an amount that is none, is an error, or is counted and left out.
    longest_gap : str or timedelta, default "180d"
        Rows whose times are further from those of the rows around them are bad.
    skip_late_rows : bool, default False
        Whether rows that are later than ``late`` allows are counted and left out.
    since, before : str, date or datetime, optional
        The first instant, and the first one after the last: ``2024-03-01``, ``2024-03-01T12:00``; a datetime without a zone is
        in UTC.
    skip_repeated_files : bool, default False
        Whether files with the content of one that was read before are passed over.
    postgres, duckdb, query : str, optional
        In place of transactions: the address of a PostgreSQL server, or a DuckDB file, and the query whose rows are
        transactions.
    attenuation, max_iterations, warm_iterations, min_size, max_size, hub_degree : optional
        Options of detection, as ``ripplet fraud run --help`` explains them.
    seeded_only : bool, default False
        Whether clusters are found around the known bad alone.
    no_closure : bool, default False
        Whether partners in common do not count.
    seed : int, default 0
        Draws orders and ties.
    noise : float, optional
        A cluster without a known bad member is noise if chance alone makes a group as busy more often than this.
    model : {"auto", "none"} or path
        How every entity gets a score: by a scorecard that each window learns, not at all, or by the ``model.json`` of a window.
    arrays : {"clusters", "window", "none"}
        What :meth:`Run.arrays` has.
    exact : bool, default False
        Whether each window starts with new labels, not with those of the window before.
    to_postgres, schema : str, optional
        A PostgreSQL database that gets the results, too, and its schema.
    resume : bool, default False
        Whether a run in ``output`` is continued after its last finished window.
    host_memory : int, optional
        The most bytes that a window may need; one that would need more is refused.
    device, device_memory, threads, progress
        As of :func:`ripplet.communities`.

    Returns
    -------
    Run
        Tables of clusters, members, edges, transactions and scores, and the report.

    Raises
    ------
    InputError
        If a column is missing, a row is bad, or a list or the mapping is wrong; also a ``ValueError``.
    OptionError
        If an option does not exist, or has a wrong type; also a ``TypeError``.
    FileError
        If a file cannot be read, or the folder cannot be written; also an ``OSError``.

    References
    ----------
    docs/fraud.md has the method and its papers.
    """
    if resume and output is None:
        raise OptionError("resume=True continues the run in output=: name its folder")
    if schema is not None and to_postgres is None:
        raise OptionError("schema= is that of to_postgres=, which is not given")
    taken = mapping_of(mapping)
    rows = transactions_of(transactions, taken)
    lists = {
        name: list_of(table, name)
        for name, table in [
            ("known_bad", known_bad), ("trusted", trusted), ("confirmed", confirmed), ("cleared", cleared),
            ("entity_table", entity_table),
        ]
    }
    choices = given(
        window=span_of(window, "window"), slide=span_of(slide, "slide"), growing=growing, full_slides=full_slides,
        late=span_of(late, "late"), on_error=on_error,
        longest_gap=span_of(longest_gap, "longest_gap"), skip_late_rows=skip_late_rows, since=instant_of(since, "since"),
        before=instant_of(before, "before"),
        skip_repeated_files=skip_repeated_files, postgres=postgres, duckdb=None if duckdb is None else path_of(duckdb, "duckdb"),
        query=query, attenuation=attenuation, max_iterations=max_iterations, warm_iterations=warm_iterations,
        min_size=least_size(min_size), max_size=max_size, seeded_only=seeded_only, hub_degree=hub_degree, no_closure=no_closure, seed=seed,
        noise=noise, model=os.fspath(model) if is_path(model) else model, arrays=arrays, exact=exact, to_postgres=to_postgres,
        schema=schema, resume=resume, host_memory=host_memory, device=device, device_memory=device_memory, threads=threads,
        temporary=output is None, **lists,
    )
    temporary = temporary_folder() if output is None else None
    folder = Path(temporary.name if temporary is not None else path_of(output, "output"))
    try:
        with reporter(progress) as told:
            found = native.fraud_run(rows, taken, os.fspath(folder), {**choices, **given(progress=told)})
    except BaseException:
        if temporary is not None:
            temporary.cleanup()
        raise
    return Run(folder, temporary, found)


class Evaluation:
    """How many held-out accounts each ranking finds: the result of :func:`evaluate`, which does not change and can be pickled.

    Attributes
    ----------
    draws : Table
        The figures of each method in each draw, as the command's ``--output`` has them: ``draw``, ``method``, ``held_out``,
        ``found_at_…``, ``average_precision``, ``detected``, ``days_to_detection``, ``days_waited``.
    accounts, confirmed, unseen, windows : int
        Numbers of ranked accounts, of confirmed ones, of those in no window, and of windows.
    notes : list of str
        What the command says beside the tables.
    device : str
        What computed the labels.
    fallback : str or None
        Why it was the CPU, if the choice allowed a GPU.
    """

    __slots__ = ("_text", "accounts", "confirmed", "device", "draws", "fallback", "notes", "unseen", "windows")

    _text: str
    draws: Table
    accounts: int
    confirmed: int
    unseen: int
    windows: int
    notes: list[str]
    device: str
    fallback: str | None

    def __init__(
        self,
        draws: Table,
        text: str,
        counts: tuple[int, int, int, int],
        notes: list[str],
        device: str,
        fallback: str | None,
    ) -> None:
        names = ("draws", "_text", "accounts", "confirmed", "unseen", "windows", "notes", "device", "fallback")
        for name, value in zip(names, (draws, text, *counts, notes, device, fallback), strict=True):
            set_once(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an evaluation does not change")

    def __reduce__(self) -> tuple[Any, ...]:
        counts = (self.accounts, self.confirmed, self.unseen, self.windows)
        return (Evaluation, (self.draws, self._text, counts, self.notes, self.device, self.fallback))

    def __str__(self) -> str:
        """Returns the tables that the command prints: means over the draws, with their 95 % intervals."""
        return self._text

    def __repr__(self) -> str:
        return f"<ripplet.fraud.Evaluation: {self.confirmed:,} of {self.accounts:,} accounts confirmed, {self.windows} windows>"

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(self._text)}</pre>"


@options
def evaluate(
    transactions: TableLike = None,
    *,
    mapping: MappingLike,
    confirmed: TableLike,
    trusted: TableLike = None,
    cleared: TableLike = None,
    entity_table: TableLike = None,
    draws: int = 100,
    known: float = 0.2,
    top: float = 0.02,
    window: SpanLike = "30d",
    slide: SpanLike = "1d",
    growing: bool = False,
    full_slides: bool = False,
    late: SpanLike | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    longest_gap: SpanLike = "180d",
    skip_late_rows: bool = False,
    since: InstantLike | None = None,
    before: InstantLike | None = None,
    skip_repeated_files: bool = False,
    postgres: str | None = None,
    duckdb: str | os.PathLike[str] | None = None,
    query: str | None = None,
    attenuation: float | None = None,
    max_iterations: int | None = None,
    warm_iterations: int | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    seeded_only: bool = False,
    hub_degree: int | None = None,
    no_closure: bool = False,
    model: str | os.PathLike[str] = "auto",
    seed: int = 0,
    device: str | None = None,
    device_memory: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Evaluation:
    """Measures how many confirmed bad accounts a ranking finds that knows only a share of them: ``ripplet fraud evaluate``.

    Parameters
    ----------
    confirmed : table, path or list of ids
        Accounts that were confirmed to be bad: a column ``id``, and optional columns ``kind``, ``from`` and ``until``.
    draws : int, default 100
        The number of random draws of known accounts.
    known : float, default 0.2
        The share that is known, from 0 to below 1; the others are held out.
    top : float, default 0.02
        The share of all accounts among which an account counts as detected.
    cleared : table, path or list of ids, optional
        Accounts that analysts cleared: examples of good ones for ``score``, as in a run. That a held-out account was confirmed
        later is not known: it stays cleared.
    model : {"auto", "none"} or path
        How ``score`` is made: learnt in each window and draw, not at all (then there are no kinds of evidence either), or by
        the ``model.json`` of a window.
    transactions, mapping, trusted, entity_table and all others
        As of :func:`run`.

    Returns
    -------
    Evaluation
        Figures of each draw, and the command's tables as text.

    Raises
    ------
    InputError
        If a column is missing, a row is bad, a share is out of its range, or no confirmed account is in a window.

    References
    ----------
    docs/fraud-evaluation.md explains the figures.
    """
    taken = mapping_of(mapping)
    rows = transactions_of(transactions, taken)
    lists = [("confirmed", confirmed), ("trusted", trusted), ("cleared", cleared), ("entity_table", entity_table)]
    choices = given(
        draws=draws, known=known, top=top, window=span_of(window, "window"), slide=span_of(slide, "slide"), growing=growing,
        full_slides=full_slides, late=span_of(late, "late"), on_error=on_error,
        longest_gap=span_of(longest_gap, "longest_gap"), skip_late_rows=skip_late_rows, since=instant_of(since, "since"),
        before=instant_of(before, "before"),
        skip_repeated_files=skip_repeated_files, postgres=postgres, duckdb=None if duckdb is None else path_of(duckdb, "duckdb"),
        query=query, attenuation=attenuation, max_iterations=max_iterations, warm_iterations=warm_iterations,
        min_size=least_size(min_size), max_size=max_size, seeded_only=seeded_only, hub_degree=hub_degree, no_closure=no_closure, seed=seed,
        model=os.fspath(model) if is_path(model) else model, device=device, device_memory=device_memory, threads=threads,
        **{name: list_of(table, name) for name, table in lists},
    )
    with temporary_folder() as folder, reporter(progress) as told:
        path = os.path.join(folder, "draws.parquet")
        found = native.fraud_evaluate(rows, taken, path, {**choices, **given(progress=told)})
        table, text, counts, notes, name, fallback = found
        return Evaluation(Table(table), text, counts, notes, name, fallback)


@options
def window(
    transactions: TableLike = None,
    *,
    mapping: MappingLike,
    until: InstantLike | None = None,
    window: SpanLike = "30d",
    slide: SpanLike = "1d",
    growing: bool = False,
    full_slides: bool = False,
    late: SpanLike | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    longest_gap: SpanLike = "180d",
    skip_late_rows: bool = False,
    since: InstantLike | None = None,
    before: InstantLike | None = None,
    skip_repeated_files: bool = False,
    postgres: str | None = None,
    duckdb: str | os.PathLike[str] | None = None,
    query: str | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> Graph:
    """Builds the graph of one window, an edge for each pair with transactions, and its weight: ``ripplet fraud window``.

    Parameters
    ----------
    until : str, date or datetime, optional
        The window whose last day this is, such as ``2024-03-14``, or, with a time of day, that ends then; by default the last
        one.
    transactions, mapping and all others
        As of :func:`run`.

    Returns
    -------
    Graph
        The graph that the command writes, for every other function. The vertices are the entities with transactions in the
        window, by kind and id: ``user:7``. ``summary`` has the number of transactions, the days, and the rows that were left
        out.

    Raises
    ------
    InputError
        If a column is missing, a row is bad, the mapping is wrong, or no window ends then; also a ``ValueError``.
    OptionError
        If an option does not exist, or has a wrong type; also a ``TypeError``.
    FileError
        If a file cannot be read; also an ``OSError``.

    Examples
    --------
    >>> import ripplet as rp
    >>> table = {"day": ["2024-03-01", "2024-03-01", "2024-03-02"], "payer": [7, 7, 8], "payee": ["a", "a", "b"]}
    >>> mapping = {
    ...     "time": "day",
    ...     "source": {"column": "payer", "kind": "user"},
    ...     "target": {"column": "payee", "kind": "shop"},
    ... }
    >>> g = rp.fraud.window(table, mapping=mapping, until="2024-03-01", window="1d")
    >>> g.ids.tolist(), g.edge_arrays()[2].tolist()
    (['shop:a', 'user:7'], [2.0])
    """
    taken = mapping_of(mapping)
    rows = transactions_of(transactions, taken)
    choices = given(
        until=instant_of(until, "until"), window=span_of(window, "window"), slide=span_of(slide, "slide"), growing=growing,
        full_slides=full_slides, late=span_of(late, "late"), on_error=on_error,
        longest_gap=span_of(longest_gap, "longest_gap"), skip_late_rows=skip_late_rows, since=instant_of(since, "since"),
        before=instant_of(before, "before"),
        skip_repeated_files=skip_repeated_files, postgres=postgres, duckdb=None if duckdb is None else path_of(duckdb, "duckdb"),
        query=query, threads=threads,
    )
    with reporter(progress) as told:
        return Graph(native.fraud_window(rows, taken, {**choices, **given(progress=told)}))


def open(folder: str | os.PathLike[str]) -> Run:
    """Opens a run folder that the command, or :func:`run` with ``output``, wrote.

    Parameters
    ----------
    folder : path
        The run folder.

    Returns
    -------
    Run
        Its tables and its report.

    Raises
    ------
    InputError
        If there is no run, or one of another version.
    """
    if not is_path(folder):
        raise OptionError(f"folder: expected a path, not {type(folder).__name__}")
    manifest, notes = native.fraud_folder(path_of(folder, "folder"))
    return Run(Path(folder), None, (manifest, notes, "not recorded", None))
