"""Memory of a run, which is planned instead of run."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from typing import Any, TypeAlias

from .errors import OptionError

Needs: TypeAlias = list[tuple[str, int]]
"""Purposes, and their bytes."""

Plan: TypeAlias = tuple[tuple[int, Needs], tuple[int, Needs], int, str]
"""A plan of the native part: of the host and the device the graph and the needs, the lists that stay on the host, the device."""

_estimating: contextvars.ContextVar[bool] = contextvars.ContextVar("estimating", default=False)


def estimating() -> bool:
    """Returns whether a run is planned instead of run."""
    return _estimating.get()


class Planned(Exception):
    """Ends a function with the plan of its run."""

    def __init__(self, plan: Plan) -> None:
        super().__init__("planned")
        self.plan = plan


class Estimate:
    """Memory that a run needs, in bytes: what ``--estimate=json`` of the command prints.

    Attributes
    ----------
    device : str
        ``cpu``, or what would compute.
    graph_host, graph_device : int
        The graph, in the memory of the host and of the device.
    plan, device_plan : list of tuple
        The needs beside the graph: purposes and bytes.
    graph_streamed : int
        The part of the graph's lists that stays in the host's memory, and is transferred when needed.
    """

    __slots__ = ("device", "device_plan", "graph_device", "graph_host", "graph_streamed", "plan")

    device: str
    graph_host: int
    plan: Needs
    graph_device: int
    device_plan: Needs
    graph_streamed: int

    def __init__(self, plan: Plan) -> None:
        (graph_host, needs), (graph_device, device_needs), streamed, device = plan
        for name, value in [
            ("graph_host", graph_host), ("plan", needs), ("graph_device", graph_device), ("device_plan", device_needs),
            ("graph_streamed", streamed), ("device", device),
        ]:
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("an estimate does not change")

    @property
    def algorithm_host(self) -> int:
        """The sum of ``plan``."""
        return sum(size for _, size in self.plan)

    @property
    def planned_host(self) -> int:
        """Bytes of the host: those of the graph and of ``plan``."""
        return self.graph_host + self.algorithm_host

    @property
    def algorithm_device(self) -> int:
        """The sum of ``device_plan``."""
        return sum(size for _, size in self.device_plan)

    @property
    def planned_device(self) -> int:
        """Bytes of the device: those of the graph and of ``device_plan``."""
        return self.graph_device + self.algorithm_device

    def __reduce__(self) -> tuple[type[Estimate], tuple[Plan]]:
        host, device = (self.graph_host, self.plan), (self.graph_device, self.device_plan)
        return (Estimate, ((host, device, self.graph_streamed, self.device),))

    def __repr__(self) -> str:
        of_device = f", {self.planned_device:,} bytes of {self.device}" if self.planned_device else ""
        return f"<ripplet.Estimate: {self.planned_host:,} bytes of the host{of_device}>"

    def _repr_html_(self) -> str:
        """Returns the needs as a table for a notebook."""
        from html import escape

        needs = [("graph", self.graph_host), *self.plan, ("total", self.planned_host)]
        rows = "".join(f"<tr><td>{escape(name)}</td><td style='text-align:right'>{size:,}</td></tr>" for name, size in needs)
        return f"<table><tr><th>host</th><th>bytes</th></tr>{rows}</table>"


def estimate(function: Callable[..., Any], data: Any, /, *arguments: Any, **options: Any) -> Estimate:
    """Returns the memory that a run needs, and does not run it: the command's ``--estimate``.

    Parameters
    ----------
    function : callable
        A function of this package that runs on a graph: :func:`ripplet.communities`, :func:`ripplet.betweenness` and others.
    data
        The graph, or anything that the function takes in its place, which becomes a graph.
    *arguments, **options
        Those of the function.

    Returns
    -------
    Estimate
        Bytes by purpose.

    Raises
    ------
    OptionError
        If the function runs nothing on a graph; also a ``TypeError``.

    Examples
    --------
    >>> import ripplet as rp
    >>> g = rp.graph([("ann", "bob"), ("bob", "cid"), ("cid", "ann")])
    >>> rp.estimate(rp.communities, g, device="cpu", threads=1).planned_host > 0
    True
    """
    name = getattr(function, "__name__", None)
    if not callable(function) or not str(getattr(function, "__module__", "")).startswith("ripplet"):
        raise OptionError(f"function: expected one of ripplet, such as ripplet.communities, not {function!r}")
    token = _estimating.set(True)
    try:
        function(data, *arguments, **options)
    except Planned as planned:
        return Estimate(planned.plan)
    except TypeError as error:
        if isinstance(error, OptionError):
            raise
        raise OptionError(f"function: {name}() runs nothing on a graph that could be planned: {error}") from None
    finally:
        _estimating.reset(token)
    raise OptionError(f"function: {name}() runs nothing on a graph that could be planned")
