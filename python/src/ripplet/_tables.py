"""Tables: those that users bring, and those that results have."""

from __future__ import annotations

import datetime
import decimal
import difflib
import os
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._graph import column, exported, is_of_pandas, is_series, objects, package_of, refuse_mask, series_of, set_once, view
from .errors import InputError, OptionError, UnknownColumnError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow


class Table:
    """A table of a result, which does not change and can be pickled.

    ``len(table)`` is the number of rows, ``table["score"]`` a column as an array, and every package that reads Arrow's
    ``__arrow_c_stream__`` takes the table without a copy.
    """

    __slots__ = ("_native", "__weakref__")

    _native: native.Table

    def __init__(self, table: native.Table) -> None:
        set_once(self, "_native", table)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a table does not change")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("a table does not change")

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return [name for name, _ in self._native.columns]

    def __len__(self) -> int:
        return self._native.rows

    def __getitem__(self, column: str) -> npt.NDArray[Any]:
        """Returns a column, shape ``(len(table),)``.

        Strings are objects, times ``datetime64[us]`` in UTC, and amounts floats. Nulls are ``None``, ``NaT`` or NaN, so that
        integers with nulls are floats: :meth:`to_arrow` has the exact values.

        Raises
        ------
        UnknownColumnError
            If there is no such column; also a ``KeyError``.
        """
        names = self.columns
        if column not in names:
            near = difflib.get_close_matches(str(column), names, n=3, cutoff=0.6)
            hint = f"did you mean {' or '.join(near)}?" if near else f"the columns are {', '.join(names)}"
            raise UnknownColumnError(f"there is no column {column!r}: {hint}")
        (values, kind), nulls = self._native.values(names.index(column))
        if isinstance(values, list):
            if kind == "decimal":
                return np.array([np.nan if text is None else float(text) for text in values], dtype=np.float64)
            return objects(values)
        array: npt.NDArray[Any] = view(values).view(kind)
        if nulls is None:
            return array
        missing = view(nulls).view(np.bool_)
        if kind == "bool":
            array = array.astype(object)
            array[missing] = None
        elif kind.startswith("datetime64"):
            array = array.copy()
            array[missing] = np.datetime64("NaT")
        else:
            array = array.astype(np.float32 if kind == "float32" else np.float64)
            array[missing] = np.nan
        return array

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Goes over the rows as dictionaries."""
        columns = {name: self[name].tolist() for name in self.columns}
        for row in range(len(self)):
            yield {name: values[row] for name, values in columns.items()}

    def to_pandas(self) -> pandas.DataFrame:
        """Returns a data frame of pandas; times are in UTC, amounts floats."""
        import pandas

        columns = {}
        for name in self.columns:
            values = self[name]
            columns[name] = pandas.Series(values)
            if values.dtype.kind == "M":
                columns[name] = columns[name].dt.tz_localize("UTC")
        return pandas.DataFrame(columns, columns=self.columns)

    def to_polars(self) -> polars.DataFrame:
        """Returns a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> pyarrow.Table:
        """Returns a table of pyarrow, without a copy."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._native.stream()

    def __reduce__(self) -> tuple[Callable[[bytes], Table], tuple[bytes]]:
        return (unpickled, (self._native.to_bytes(),))

    def __repr__(self) -> str:
        return f"<ripplet.Table: {len(self):,} rows of {', '.join(self.columns)}>"

    def _repr_html_(self) -> str:
        """Returns the first rows for a notebook."""
        from html import escape

        shown = {name: self[name][:10].tolist() for name in self.columns}
        head = "".join(f"<th>{escape(name)}</th>" for name in shown)
        rows = "".join(
            "<tr>" + "".join(f"<td>{escape(str(values[row]))}</td>" for values in shown.values()) + "</tr>"
            for row in range(min(10, len(self)))
        )
        return f"<table><tr>{head}</tr>{rows}</table><p>{len(self):,} rows</p>"


def unpickled(data: bytes) -> Table:
    """Returns a table that was pickled."""
    return Table(native.Table.of_bytes(data))


Column: TypeAlias = tuple[str, Any, Any, str | None]
"""Name, values, mask of nulls, and unit of times or ``bool``, as the native part takes a column."""


def native_table(
    table: Any,
    name: str,
    wanted: Collection[str] | None = None,
    needed: Callable[[], Collection[str]] | None = None,
) -> native.Table:
    """Returns a table as the native part takes it: without a copy of columns of Arrow and of numbers.

    Parameters
    ----------
    table
        A data frame of pandas or polars, a table, batch or reader of pyarrow, a DuckDB relation, or a mapping of columns.
    name
        The name of the table in messages.
    wanted
        Columns that are needed; others of data frames and mappings are left out.
    needed
        Finds the columns that are needed, if a data frame of polars has some that Arrow has no type for; by default ``wanted``, or
        all of them.
    """
    if isinstance(table, Table):
        return table._native
    package = package_of(table)
    if package in ("duckdb", "_duckdb") and hasattr(table, "arrow"):
        table = table.arrow()
    if package == "pandas" and hasattr(table, "columns"):
        names = list(table.columns)
        for column in names:
            if not isinstance(column, str):
                raise InputError(f"{name}: names of columns are strings, not {column!r}")
        kept = kept_columns(names, name, wanted)
        return native.Table.of_columns([pandas_cells(table.iloc[:, at], names[at]) for at in kept], name)
    if isinstance(table, Mapping):
        items = [(str(key), values) for key, values in table.items()]
        kept = kept_columns([key for key, _ in items], name, wanted)
        return native.Table.of_columns([cells(items[at][1], items[at][0]) for at in kept], name)
    if is_series(table):
        raise OptionError(f"{name}: {type(table).__name__} of {package} is no table: pass it as one of the columns of a dict")
    if hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__"):
        return native.Table.of_stream(exported(table, needed or (lambda: wanted)), name)
    raise OptionError(
        f"{name}: expected a table (pandas, polars, pyarrow, DuckDB, or a dict of columns) or a path, not {type(table).__name__}"
    )


def kept_columns(names: list[str], name: str, wanted: Collection[str] | None) -> list[int]:
    """Returns the places of the wanted columns, or of all."""
    for column in wanted or ():
        if column not in names:
            raise InputError(
                f"{name}: there is no column `{column}`; the columns are {', '.join(names[:30])}: name one of them in the mapping"
            )
    return [at for at, column in enumerate(names) if wanted is None or column in wanted]


def is_path(value: Any) -> bool:
    """Returns whether a value is a path."""
    return isinstance(value, (str, os.PathLike))


def has_ids(series: Any) -> bool:
    """Returns whether the index of a Series of pandas has ids: whether it is not the default one, positions from 0."""
    if not is_of_pandas(series) or not hasattr(series, "items") or hasattr(series, "columns"):
        return False
    return not is_default(series.index)


def is_default(index: Any) -> bool:
    """Returns whether an index of pandas is the default one: positions from 0."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def is_frame(values: Any) -> bool:
    """Returns whether a value is a table of several columns: iterating over it gives their names, or whole columns."""
    return (hasattr(values, "columns") or hasattr(values, "column_names")) and not isinstance(values, Mapping)


def plain_values(values: Any, name: str) -> Any:
    """Returns the values of a column of pyarrow as Python's, and others as they are: pyarrow iterates over scalars of its own,
    which are equal to no value of Python.

    Raises
    ------
    OptionError
        If the values, of an option of this name, are a table.
    """
    if is_frame(values):
        raise OptionError(f"{name}: expected a column of values, and not a table: pass one of its columns")
    return values.to_pylist() if hasattr(values, "to_pylist") else values


def pandas_cells(series: Any, name: str) -> Column:
    """Returns a column of pandas. Its dtype may be numpy's, an extension's or a category's."""
    dtype = series.dtype
    if str(dtype) == "category":
        codes = series.cat.codes.to_numpy()
        missing = codes < 0
        if missing.all():
            return (name, [""] * len(series), np.ones(len(series), dtype=np.uint8), None)
        # The categories alone are converted one by one.
        names = column(series.cat.categories.to_series(), name)
        codes = np.ascontiguousarray(np.where(missing, 0, codes))
        mask = missing.astype(np.uint8) if missing.any() else None
        return (name, native.Column.dictionary(codes, names, name), mask, None)
    if isinstance(dtype, np.dtype):
        return cells(series.to_numpy(), name)
    if getattr(dtype, "tz", None) is not None:
        return cells(series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy(), name)
    if type(dtype).__name__ == "ArrowDtype" and hasattr(series, "__arrow_c_stream__"):
        return (name, series, None, None)
    missing = series.isna().to_numpy()
    kind = {"i": np.int64, "u": np.uint64, "f": np.float64, "b": np.uint8}.get(getattr(dtype, "kind", "O"))
    if kind is not None:
        mask = missing.astype(np.uint8) if missing.any() else None
        return (name, series.to_numpy(dtype=kind, na_value=0), mask, "bool" if kind is np.uint8 else None)
    return cells(series.to_numpy(dtype=object, na_value=None), name)


def cells(values: Any, name: str) -> Column:
    """Returns a column of an array, a list or an Arrow array."""
    if is_of_pandas(values):
        return pandas_cells(series_of(values, name), name)
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return (name, exported(values), None, None)
    if isinstance(values, (str, bytes)) or not hasattr(values, "__len__"):
        raise OptionError(f"{name}: expected an array or a list, not {type(values).__name__}")
    if not hasattr(values, "dtype"):
        return cells_of_objects(list(values), name)
    if isinstance(values, np.ma.MaskedArray) and np.ma.getmaskarray(values).any():
        return masked_cells(values, name)
    array = np.asarray(values)
    if array.ndim != 1:
        raise InputError(f"{name}: expected one dimension, not {array.ndim}")
    kind = array.dtype.kind
    if kind == "M":
        unit = np.datetime_data(array.dtype)
        if unit[0] not in ("s", "ms", "us", "ns") or unit[1] != 1:
            array = array.astype("datetime64[us]")
            unit = ("us", 1)
        missing = np.isnat(array)
        mask = missing.astype(np.uint8) if missing.any() else None
        return (name, np.ascontiguousarray(array).view(np.int64), mask, unit[0])
    if kind == "b":
        return (name, array.astype(np.uint8), None, "bool")
    if kind in "iuf":
        if not array.dtype.isnative or array.dtype.itemsize not in (1, 2, 4, 8) or array.dtype == np.float16:
            array = array.astype(np.float64 if kind == "f" else array.dtype.newbyteorder("="))
        return (name, np.ascontiguousarray(array), None, None)
    if kind in "OUT":
        return cells_of_objects(array.tolist(), name)
    raise InputError(f"{name}: expected integers, floats, strings or times, not {array.dtype}")


def masked_cells(values: np.ma.MaskedArray[Any, Any], name: str) -> Column:
    """Returns a column of an array with masked entries, which are nulls."""
    if values.dtype.kind in "OUT":
        return cells_of_objects(values.tolist(), name)
    _, read, mask, unit = cells(values.data, name)
    masked = np.ma.getmaskarray(values).astype(np.uint8)
    return (name, read, masked if mask is None else masked | mask, unit)


def cells_of_objects(values: list[Any], name: str) -> Column:
    """Returns a column of Python's objects, which are of one kind, or ``None``."""
    kinds: dict[type, int] = {}
    missing = np.zeros(len(values), dtype=np.uint8)
    for row, value in enumerate(values):
        if is_missing(value):
            missing[row] = 1
        else:
            kinds.setdefault(type(value), row)
    mask = missing if missing.any() else None
    if all(issubclass(kind, str) for kind in kinds):
        return (name, ["" if lost else str(value) for value, lost in zip(values, missing, strict=True)], mask, None)
    if all(issubclass(kind, (bool, np.bool_)) for kind in kinds):
        return (name, np.array([value is not None and bool(value) for value in values], dtype=np.uint8), mask, "bool")
    if all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds):
        return (name, [0 if lost else int(value) for value, lost in zip(values, missing, strict=True)], mask, None)
    if all(issubclass(kind, (int, float, np.number)) and kind is not bool for kind in kinds):
        numbers = [0.0 if lost else float(value) for value, lost in zip(values, missing, strict=True)]
        return (name, np.array(numbers, dtype=np.float64), mask, None)
    if all(issubclass(kind, (datetime.date, np.datetime64)) for kind in kinds):
        texts = ["" if lost else time_text(value) for value, lost in zip(values, missing, strict=True)]
        return (name, texts, mask, None)
    if all(issubclass(kind, (int, decimal.Decimal)) and kind is not bool for kind in kinds):
        texts = ["" if lost else f"{decimal.Decimal(value):f}" for value, lost in zip(values, missing, strict=True)]
        return (name, texts, mask, None)
    (one, _), (other, row) = [*kinds.items(), *kinds.items()][:2]
    if one is other:
        raise InputError(
            f"row {row} (the first is 0): {name} is of the type {one.__name__}, but cells are strings, numbers or times"
        )
    raise InputError(
        f"row {row} (the first is 0): {name} is of the type {other.__name__}, and {one.__name__} before: make them alike"
    )


def is_missing(value: Any) -> bool:
    """Returns whether a cell is ``None``, NaN, NaT, pandas' NA, or masked."""
    if value is None or value is np.ma.masked or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, (float, np.floating, np.datetime64, decimal.Decimal)) and bool(value != value)


def time_text(value: Any) -> str:
    """Returns a time as text; one with a zone in UTC."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        value = value.astimezone(datetime.timezone.utc).replace(tzinfo=None)
    return value.isoformat() if isinstance(value, datetime.date) else str(value)


def columns_of(table: Any, name: str) -> dict[str, npt.NDArray[Any]]:
    """Returns the columns of a table of pandas, polars, pyarrow or DuckDB, or of a dict, by name."""
    if isinstance(table, Mapping):
        for key, values in table.items():
            refuse_mask(values, str(key))
        columns = {str(key): np.asarray(values) for key, values in table.items()}
    else:
        if package_of(table) in ("duckdb", "_duckdb"):
            table = table.arrow()
        if hasattr(table, "read_all"):
            table = table.read_all()
        names = getattr(table, "column_names", None)
        if names is None:
            names = getattr(table, "columns", None)
        if names is None or not hasattr(table, "__getitem__"):
            raise OptionError(f"{name}: expected a table, a dict of columns or a path, not {type(table).__name__}")
        columns = {str(key): np.asarray(table[key]) for key in list(names)}
    lengths = {len(values) if values.ndim == 1 else -1 for values in columns.values()}
    if len(lengths) > 1 or -1 in lengths:
        raise InputError(f"{name}: the columns have different lengths")
    return columns
