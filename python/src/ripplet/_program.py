"""Programs of the user's own: four hooks, as text or as a class."""

from __future__ import annotations

import ast
import linecache
import os
import re
import types
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._graph import Graph, set_once, view
from ._lowering import PAGE, Constants, Lowering, Refused
from ._options import Variable, literal, unknown_option
from ._tables import columns_of
from .errors import FileError, InputError, OptionError, ProgramError

Places = list[list[tuple[int, int, int]]]


class Program:
    """A program of label propagation of your own: made by :func:`ripplet.program`, run by :func:`ripplet.communities`.

    Called with parameters, it returns the program with these: ``Wary(popular=5)``.

    Attributes
    ----------
    name : str
        The name, as in the text.
    text : str
        The text in the language of hooks.
    parameters, columns : dict
        The type of each parameter and column.
    """

    __slots__ = ("_native", "_param", "text")

    _native: native.Program
    _param: dict[str, Any]
    text: str

    def __init__(self, found: native.Program, text: str, param: Mapping[str, Any]) -> None:
        set_once(self, "_native", found)
        set_once(self, "text", text)
        set_once(self, "_param", dict(param))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a program does not change: call it with other parameters")

    @property
    def name(self) -> str:
        """The program's name."""
        return self._native.name

    @property
    def parameters(self) -> dict[str, str]:
        """The type of each parameter: ``u32``, ``i32``, ``u64``, ``i64``, ``f32`` or ``bool``."""
        return dict(self._native.parameters)

    @property
    def columns(self) -> dict[str, str]:
        """The type of each column: ``u32`` or ``f32``."""
        return {name: kind for name, kind, *_ in self._native.columns}

    @property
    def param(self) -> dict[str, Any]:
        """The values of parameters that are given."""
        return dict(self._param)

    def __call__(self, *values: Any, **param: Any) -> Program:
        """Returns the program with these values of parameters, which go by name."""
        if values:
            names = ", ".join(f"{name}=…" for name in self.parameters)
            takes = f"takes parameters by name: {names}" if names else "has no parameters"
            raise OptionError(f"{self.name}() {takes}")
        for name in param:
            if name not in self.parameters:
                raise unknown_option(self.name, name, list(self.parameters))
        return Program(self._native, self.text, {**self._param, **param})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return (self.text, self._param) == (other.text, other._param)

    def __hash__(self) -> int:
        return hash(self.text)

    def __reduce__(self) -> tuple[Callable[..., Program], tuple[str, dict[str, Any]]]:
        return (unpickled, (self.text, self._param))

    def __repr__(self) -> str:
        given = "".join(f", {name}={value!r}" for name, value in self._param.items())
        return f"<ripplet.Program: {self.name}{given}>"


def variable(own: Program) -> Variable:
    """Returns how a written call has a program: as a variable, with the parameters that are given."""
    values = "".join(f", {name}={literal(value)}" for name, value in own._param.items())
    return Variable(f"program({values[2:]})" if values else "program")


def unpickled(text: str, param: dict[str, Any]) -> Program:
    """Returns a program that was pickled."""
    return Program(_read("program", text), text, param)


def program(source: str | os.PathLike[str] | type) -> Program:
    """Makes a program of label propagation of your own.

    Parameters
    ----------
    source : str, path or class
        The text of a program in the language of hooks (docs/hooks.md); the path of a file with it, as a
        ``pathlib.Path``; or, as a decorator, a class with the hooks. Annotated names of the class are parameters,
        ``name: float = column(default=1.0)`` a column (:mod:`ripplet.hooks`). The class is translated, never run.

    Returns
    -------
    Program

    Raises
    ------
    ProgramError
        If the text is no program. It names the line and the column, in a class those of Python. Also a
        ``SyntaxError``.

    Notes
    -----
    A class runs as fast as the text, on the CPU and on GPUs: its hooks become the same machine code. Whole numbers have 32 or
    64 bits and wrap around.

    Examples
    --------
    >>> import ripplet as rp
    >>> @rp.program
    ... class Wary:
    ...     popular: int
    ...     def load_neighbor(self, v, u):
    ...         trust = 1 if u.degree() > self.popular else 16
    ...         return Vote(u.label, trust * u.weight)
    ...     def label_score(self, v, c):
    ...         return c.frequency
    >>> g = rp.graph([("ann", "bob"), ("bob", "cid"), ("cid", "ann"), ("cid", "dan"), ("dan", "eve"), ("eve", "dan")])
    >>> rp.communities(g, program=Wary(popular=5))["ann"]
    'ann'
    """
    if isinstance(source, type):
        return _of_class(source)
    if isinstance(source, os.PathLike):
        return program_file(source)
    if not isinstance(source, str):
        raise OptionError(f"a program is a text, a pathlib.Path or a class, not {type(source).__name__}")
    if "\n" not in source and source.strip().endswith(".rs"):
        raise OptionError(f"a text is the program itself: for the file {source}, pass pathlib.Path({source!r})")
    return Program(_read("program", source), source, {})


def program_file(path: str | os.PathLike[str]) -> Program:
    """Returns the program of a file."""
    if not isinstance(path, (str, os.PathLike)):
        # A number would be a file that is open.
        raise OptionError(f"program_file: expected the path of a file, not {type(path).__name__}")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        raise FileError(error.errno, error.strerror, os.fspath(path)) from None
    except UnicodeDecodeError:
        raise InputError(f"{os.fspath(path)} is no text in UTF-8") from None
    return Program(_read(os.fspath(path), text), text, {})


def _read(name: str, text: str, source: list[str] | None = None, places: Places | None = None) -> native.Program:
    """Returns a program, or raises its errors at the places that the text comes from."""
    found, errors = native.read_program(name, text)
    if found is not None:
        return found
    rows = text.splitlines() if source is None else source
    listed = []
    for line, column, width, message, help in errors:
        if places is not None and line <= len(places):
            spots = [spot for spot in places[line - 1] if spot[0] <= column] or places[line - 1][:1]
            _, line, column = spots[-1]
            width = 1
            message, help = in_python(message), help and in_python(help)
        listed.append((line, column, width, message if help is None else f"{message}; {help}"))
    line, column, width, message = listed[0]
    shown = rows[line - 1] if 0 < line <= len(rows) else ""
    all_of_them = [f"{name}:{line}:{column}: {message}" for line, column, _, message in listed]
    raise ProgramError(message, (name, line, column, shown, line, column + width), all_of_them)


PYTHON = (
    ("Rust takes it for an f64, which hooks do not have: write `1.5_f32` or `: f32`", "say it: f32(1.5), or x: f32 = 1.5"),
    ("say it: `5_u32`, or `let x: u64 = …`", "say it: u32(5), or x: u64 = 5"),
    ("give it another type, as in `3_000_000_000_u64`", "give it another type, as in x: u64 = 3_000_000_000"),
    ("only `let mut` locals are assigned to; columns are set with `v.set_…(…)`", "variables and, in update_vertex, columns are"),
    ("only `update_vertex`, which has a &mut VertexMut, sets columns", "only update_vertex sets columns"),
    ("write `for i in first..end` with u32 or i32 ends", "write `for i in range(first, end)` with u32 or i32 ends"),
    ("ranges stand in `for i in a..b` and in `match`", "ranges stand in `for i in range(a, b)`"),
    ("write `Vote { label, weight }`", "write `Vote(label, weight)`"),
    ("`x as u32 as f32`", "`f32(u32(x))`"),
    ("write `#[len(PARAMETER)]` before it, with a u32 parameter of the program, or `#[len(NUMBER)]`",
     "write `column(len=\"PARAMETER\")` with a u32 parameter of the program, or `column(len=NUMBER)`"),
    ("say it: `5_u32`, `1.0_f32`, or `let x: u64 = …`", "say it: u32(5), or x: u64 = 5"),
    ("`x.wrapping_neg()`", "`0 - x`"),
    ("`for _ in 0..1000 { if done { break; } … }`", "`for _ in range(1000):` with `if done: break`"),
    ("`while i < end && … { … i += 1; }`", "`while i < end:` with `i += 1`"),
    ("`x /= 2`", "`x //= 2`"),
    ("columns are declared by `#[columns] struct Columns { … }`", "columns are declared as `name: float = column(default=1.0)`"),
    ("is needed here, not ()", "is needed here, not None: return one on every path"),
    ("`true` and `false`", "`True` and `False`"),
    ("write `a.checked_div(b).unwrap_or(c)`, or divide by a literal or by `b.max(1)`", "divide by a literal, or by `max(b, 1)`"),
    ("write `a.checked_rem(b).unwrap_or(c)`, or divide by a literal or by `b.max(1)`", "divide by a literal, or by `max(b, 1)`"),
)
"""Parts of messages of the language of hooks, and the same in Python."""


def in_python(message: str) -> str:
    """Returns a message of the language of hooks as it is for Python."""
    for hooks, python in PYTHON:
        message = message.replace(hooks, python)
    message = re.sub(r"write `let mut \w+`", "assign to another variable", message)
    message = re.sub(r"`([\d_.]+)_([uif](?:32|64))`", r"`\2(\1)`", message)
    message = re.sub(r"`(\w+)::from\(x\)`", r"`\1(x)`", message)
    message = re.sub(r"\b(\w+)::(\w+)\b", r"\1.\2", message)
    message = re.sub(r"`as (\w+)`", r"`\1(x)`", message)
    return re.sub(r"`(\w+) as (\w+)`", r"`\2(\1)`", message)


def _of_class(cls: type) -> Program:
    functions = [value for value in vars(cls).values() if isinstance(value, types.FunctionType)]
    if not functions:
        raise OptionError(f"{cls.__name__} has no hooks: a program needs at least label_score(self, v, c)")
    file = functions[0].__code__.co_filename
    rows = [row.rstrip("\n") for row in linecache.getlines(file, functions[0].__globals__)]
    first = min(function.__code__.co_firstlineno for function in functions)
    tree = _find(rows, cls.__name__, first)
    if tree is None:
        raise InputError(
            f"Python does not keep the source of {cls.__name__}: write it in a file or a notebook, or pass rp.program the text"
            f" ({PAGE})"
        )
    values: dict[str, Any] = {}
    for function in functions:
        values.update(function.__globals__)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        values.update({name: cell.cell_contents for name, cell in cells if _is_set(cell)})
    try:
        lowered = Lowering(tree, Constants(values))
    except Refused as refused:
        line, column = getattr(refused.node, "lineno", 1), getattr(refused.node, "col_offset", 0) + 1
        end, last = getattr(refused.node, "end_lineno", line), getattr(refused.node, "end_col_offset", column) + 1
        place = (file, line, column, rows[line - 1], end, last)
        raise ProgramError(refused.message, place, [f"{file}:{line}:{column}: {refused.message}"]) from None
    return Program(_read(file, lowered.text, rows, lowered.places), lowered.text, lowered.defaults)


def _is_set(cell: types.CellType) -> bool:
    try:
        cell.cell_contents
    except ValueError:
        return False
    return True


def _find(rows: list[str], name: str, line: int) -> ast.ClassDef | None:
    """Returns the class of this name in a source around a line."""
    try:
        module = ast.parse("\n".join(rows))
    except SyntaxError:
        return None
    for node in ast.walk(module):
        if isinstance(node, ast.ClassDef) and node.name == name and node.lineno <= line <= (node.end_lineno or 0):
            return node
    return None


def choices_of(own: Program, of: Graph, param: Mapping[str, Any] | None, vertex_table: Any, check: bool) -> dict[str, Any]:
    """Returns the options of a run of a program."""
    found = {**with_parameters(own, param), "check_program": check or None}
    if vertex_table is not None:
        found["columns"] = _columns(own, of, vertex_table)
    return {name: value for name, value in found.items() if value is not None}


def with_parameters(own: Program, param: Mapping[str, Any] | None) -> dict[str, Any]:
    """Returns the options of a program with its parameters."""
    given = {**own._param, **_mapping(param)}
    return {"own": own._native, "param": {str(name): _text(name, value) for name, value in given.items()}}


def chosen_program(program: Any, file: str | os.PathLike[str] | None) -> str | Program | None:
    """Returns the program of the options ``program`` and ``program_file``: a name, one of the user's own, or none."""
    if program is not None and not isinstance(program, (str, Program)):
        raise OptionError(f"program: expected a name, or a program of ripplet.program(), not {type(program).__name__}")
    if file is None:
        return program
    if program is not None:
        raise InputError("program_file is a program by itself: leave program out")
    return program_file(file)


def _mapping(param: Mapping[str, Any] | None) -> Mapping[str, Any]:
    if param is not None and not isinstance(param, Mapping):
        raise OptionError(f"param: expected a dict of the parameters by name, not {type(param).__name__}")
    return param or {}


def _text(name: str, value: Any) -> str:
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float, str)):
        return str(value)
    raise OptionError(f"param: {name} is {value!r}, and parameters are numbers or bools")


def _columns(own: Program, of: Graph, table: Any) -> list[tuple[str, npt.NDArray[Any]]]:
    """Returns the columns of a vertex table that the program reads."""
    wanted = [(name, kind) for name, kind, single, _, _ in own._native.columns if single]
    if not wanted:
        raise InputError("the program reads no columns of a table: leave vertex_table out, or declare columns in the program")
    if isinstance(table, (str, os.PathLike)):
        read, skipped = native.vertex_table(of._native, os.fspath(table), wanted)
        found = [(name, view(values)) for name, values in read]
    else:
        found, skipped = _of_table(columns_of(table, "vertex_table"), of, wanted)
    if not found:
        raise InputError(f"vertex_table has none of the program's columns: the program reads {', '.join(n for n, _ in wanted)}")
    if skipped:
        warnings.warn(f"{skipped} rows of vertex_table are of no vertex of the graph: skipped", stacklevel=5)
    return found


def _of_table(
    columns: dict[str, npt.NDArray[Any]], of: Graph, wanted: list[tuple[str, str]]
) -> tuple[list[tuple[str, npt.NDArray[Any]]], int]:
    ids = next((columns[name] for name in ("id", "vertex", "node", "name") if name in columns), None)
    count = next((len(values) for values in columns.values()), 0)
    if ids is None:
        # Values in the order of the vertices.
        if count != of.vertices:
            raise InputError(f"vertex_table has {count} rows without a column id, and the graph {of.vertices} vertices")
        rows = list(range(count))
    else:
        rows = [-1] * of.vertices
        for row, id in enumerate(ids.tolist()):
            if id in of:
                vertex = of.vertex(id)
                if rows[vertex] >= 0:
                    raise InputError(f"row {row} of vertex_table (the first is 0): vertex {id} has a second row")
                rows[vertex] = row
        missing = [vertex for vertex, row in enumerate(rows) if row < 0]
        if missing:
            have = "has" if len(missing) == 1 else "have"
            raise InputError(
                f"{len(missing)} of {of.vertices} vertices {have} no row in vertex_table, the first of them vertex"
                f" {of.ids[missing[0]]}: expected a row for each"
            )
    found = [(name, _values(columns[name], name, kind)[rows]) for name, kind in wanted if name in columns]
    return found, 0 if ids is None else count - of.vertices


def _values(values: npt.NDArray[Any], name: str, kind: str) -> npt.NDArray[Any]:
    """Returns a column as the program has it; an error names the row."""

    def refused(row: int, what: str) -> InputError:
        return InputError(f"row {row} of vertex_table (the first is 0): the column `{name}` is {values[row]!r}, which is no {what}")

    if values.dtype.kind not in "iufb":
        for row, value in enumerate(values.tolist()):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                raise refused(row, "number")
        values = np.array(values.tolist(), dtype=np.float64)
    if kind == "f32":
        bad = np.isnan(values) if values.dtype.kind == "f" else np.zeros(len(values), dtype=bool)
        if bad.any():
            raise refused(int(bad.argmax()), "number")
        return np.ascontiguousarray(values, dtype=np.float32)
    bad = ~((values >= 0) & (values < 2**32))
    if values.dtype.kind == "f":
        bad |= values != np.floor(values)
    if bad.any():
        raise refused(int(bad.argmax()), "whole number from 0 to 4294967295")
    return np.ascontiguousarray(values, dtype=np.uint32)


__all__ = ["Program", "program"]
