"""Tables that users bring: their columns as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import InputError, OptionError


def columns_of(table: Any, name: str) -> dict[str, npt.NDArray[Any]]:
    """Returns the columns of a table of pandas, polars, pyarrow or DuckDB, or of a dict, by name."""
    if isinstance(table, Mapping):
        columns = {str(key): np.asarray(values) for key, values in table.items()}
    else:
        if type(table).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
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
