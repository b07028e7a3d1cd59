"""Keyword options: a wrong name is answered with the names that are near, and a call is written as a line of Python."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

import numpy as np

from .errors import OptionError

P = ParamSpec("P")
R = TypeVar("R")


def options(function: Callable[P, R]) -> Callable[P, R]:
    """Raises :class:`OptionError` for a keyword that the function does not have, with the near ones."""
    signature = inspect.signature(function)
    parameters = signature.parameters.values()
    known = [p.name for p in parameters if p.kind in (p.KEYWORD_ONLY, p.POSITIONAL_OR_KEYWORD)]

    @functools.wraps(function)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        for name in kwargs:
            if name not in known:
                raise unknown_option(function.__name__, name, known)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            raise OptionError(f"{function.__name__}(): {error}") from None
        return function(*args, **kwargs)

    return checked


def unknown_option(function: str, name: str, known: list[str]) -> OptionError:
    """Returns the error of an option that does not exist."""
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        hint = f"did you mean {' or '.join(near)}?"
    else:
        hint = f"the options are {', '.join(known)}"
    return OptionError(f"{function}() has no option {name}: {hint}")


def path_of(value: Any, name: str) -> str:
    """Returns the path that an option of this name has, as text."""
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else value
    if not isinstance(path, str):
        raise OptionError(f"{name}: expected a path, as a text or a pathlib.Path, not {path!r}")
    return path


def given(**values: Any) -> dict[str, Any]:
    """Returns the options that are not ``None``."""
    return {name: value for name, value in values.items() if value is not None}


LONGEST_LITERAL = 120
"""Characters of a value that a written call has at most; a variable stands for a longer one."""


class Variable(str):
    """Code that begins with the name of a variable, such as ``program(popular=5)``."""


def call(function: str, positional: Mapping[str, Any], keywords: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Returns a call of a function of the package as a line of Python, with the graph as ``g``, and the variables in it.

    A value that cannot be written, such as a table, is a variable of the argument's name.
    """
    variables: list[str] = []

    def written(name: str, value: Any) -> str:
        text = value if isinstance(value, Variable) else literal(value)
        if text is None or len(text) > LONGEST_LITERAL and not isinstance(value, Variable):
            text = Variable(name)
        if isinstance(text, Variable):
            variables.append(text.partition("(")[0])
        return text

    arguments = ["g", *(written(name, value) for name, value in positional.items())]
    arguments += [f"{name}={written(name, value)}" for name, value in keywords.items()]
    return f"ripplet.{function}({', '.join(arguments)})", variables


def literal(value: Any) -> str | None:
    """Returns a value as a literal of Python; ``None`` if there is none."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return f"float('{value}')"
    if value is None or kind in (bool, int, float, str):
        return repr(value)
    if kind is dict:
        pairs = [(literal(key), literal(item)) for key, item in value.items()]
        return None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{key}: {item}' for key, item in pairs)}}}"
    if kind in (list, tuple, set) and (value or kind is not set):
        items = [literal(item) for item in value]
        brackets = "()" if kind is tuple else "[]" if kind is list else "{}"
        comma = "," if kind is tuple and len(items) == 1 else ""
        return None if None in items else f"{brackets[0]}{', '.join(map(str, items))}{comma}{brackets[1]}"
    return None
