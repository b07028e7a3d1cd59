"""Checks of keyword options: a wrong name is answered with the names that are near."""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

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


def given(**values: Any) -> dict[str, Any]:
    """Returns the options that are not ``None``."""
    return {name: value for name, value in values.items() if value is not None}
