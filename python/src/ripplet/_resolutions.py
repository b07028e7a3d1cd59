"""Communities at many resolutions: sweeps of layered label propagation, and profiles of a score."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._communities import Communities, initial_labels, read_only, unpickled
from ._estimate import Planned, estimating
from ._graph import Graph, graph, set_once, view
from ._options import call, given, options
from ._progress import Progress, reporter
from .errors import InputError, OptionError

if TYPE_CHECKING:
    import pandas


class Layer(NamedTuple):
    """The result of a sweep at one gamma."""

    gamma: float
    """The resolution: the larger, the smaller the communities."""
    communities: int
    """The number of communities."""
    modularity: float
    """Their modularity, at resolution 1."""


class SweptCommunities(Communities):
    """Communities of the highest modularity of a sweep, with the results at each gamma.

    Attributes
    ----------
    layers : list of Layer
        The result at each gamma, from the finest communities to the coarsest.
    order : numpy.ndarray
        The place of each vertex in the order that all layers make, shape ``(vertices,)``: ``--order``. Vertices that are
        close in the graph have close places, so that a graph in this order compresses well.
    """

    __slots__ = ("layers", "order")

    layers: list[Layer]
    order: npt.NDArray[np.uint32]

    def _with(self, layers: list[Layer], order: npt.NDArray[np.uint32]) -> SweptCommunities:
        set_once(self, "layers", layers)
        set_once(self, "order", order)
        return self

    def __reduce__(self) -> tuple[Callable[..., SweptCommunities], tuple[Any, ...]]:
        return (_unpickled, (super().__reduce__()[1], self.layers, self.order))


def _unpickled(state: tuple[Any, ...], layers: list[Layer], order: npt.NDArray[np.uint32]) -> SweptCommunities:
    of = unpickled(*state)
    return SweptCommunities(of._native, of._graph, of._options, of._call)._with(layers, read_only(order))


@options
def sweep(
    data: Any,
    halvings: int = 8,
    *,
    schedule: Literal["sync", "phased", "async"] | None = None,
    seed: int = 0,
    device: str = "auto",
    threads: int | None = None,
    progress: Progress = "auto",
) -> SweptCommunities:
    """Runs layered label propagation at gamma 1, 1/2, … and 0, and keeps the communities of the highest modularity.

    This is ``--program llp --sweep N``.

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    halvings : int, default 8
        The smallest gamma above 0 is ``1 / 2**halvings``; from 0 to 16.
    schedule, seed, device, threads, progress
        As of :func:`communities`.

    Returns
    -------
    SweptCommunities
        ``c.options["gamma"]`` is the gamma of the highest modularity, ``c.layers`` has the results at all of them, and
        ``c.order`` the place of each vertex.

    Examples
    --------
    >>> import ripplet as rp
    >>> c = rp.sweep([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)], 3)
    >>> [layer.gamma for layer in c.layers]
    [1.0, 0.5, 0.25, 0.125, 0.0]
    >>> len(c), sorted(c.order.tolist())
    (2, [0, 1, 2, 3, 4, 5])
    """
    if isinstance(halvings, bool) or not isinstance(halvings, int) or not 0 <= halvings <= 16:
        raise InputError(f"halvings: expected a whole number from 0 to 16, not {halvings!r}")
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    choices = given(
        program="llp",
        schedule=schedule,
        seed=seed or None,
        device=None if device == "auto" else device,
        threads=threads,
    )
    with reporter(progress) as told:
        reported = {**choices, **given(progress=told)}
        if estimating():
            raise Planned(native.plan_sweep(of._native, halvings, reported))
        found, rows, order = native.sweep(of._native, halvings, reported)
    layers = [Layer(*row) for row in rows]
    # Of equal ones the first, as the sweep has it.
    best = max(layers, key=lambda layer: layer.modularity)
    chosen = {"program": choices.pop("program"), "gamma": best.gamma, **choices}
    return SweptCommunities(found, of, chosen, call("communities", {}, chosen))._with(layers, view(order))


class ResolutionProfile:
    """The best partitions of a graph that were found over a range of resolutions.

    ``len(p)`` is the number of partitions, from the coarsest to the finest; ``p[0]`` are the communities of one, and
    ``for c in p`` goes over them.

    Attributes
    ----------
    chosen : Communities
        Those of the widest resolutions, by their ratio.
    runs : int
        The number of runs, without one more for each partition.
    is_cut : bool
        Whether the number of runs ended the search: between two partitions there may be others.
    """

    __slots__ = ("_columns", "_communities", "chosen", "is_cut", "runs")

    def __init__(
        self,
        communities: list[Communities],
        chosen: int,
        runs: int,
        is_cut: bool,
        columns: dict[str, npt.NDArray[Any]],
    ) -> None:
        self._communities, self._columns = communities, columns
        self.chosen, self.runs, self.is_cut = communities[chosen], runs, is_cut

    def __len__(self) -> int:
        return len(self._communities)

    def __getitem__(self, index: int) -> Communities:
        return self._communities[index]

    def __iter__(self) -> Iterator[Communities]:
        return iter(self._communities)

    def to_pandas(self) -> pandas.DataFrame:
        """Returns the command's table: a row a partition.

        ``communities``, ``chosen``, the resolutions between which it is the best one found (``resolution_from``,
        ``resolution_to``), their ``width`` (the logarithm of the ratio), the part of all weight that is ``inner``,
        ``modularity``, the agreement with the next partition (``nmi_next``, ``ari_next``), and with one found by another
        seed (``nmi_seeds``, ``ari_seeds``).
        """
        import pandas

        table = pandas.DataFrame(self._columns)
        table.insert(1, "chosen", [communities is self.chosen for communities in self._communities])
        return table

    def __repr__(self) -> str:
        counts = ", ".join(str(len(communities)) for communities in self._communities)
        return f"<ripplet.ResolutionProfile: {len(self)} partitions of {counts} communities, after {self.runs} runs>"


@options
def resolution_profile(
    data: Any,
    *,
    refine: Literal["modularity", "cpm"] = "modularity",
    resolution: tuple[float, float] | None = None,
    profile_runs: int | None = None,
    labels: Any = None,
    seed: int = 0,
    host_memory: int | None = None,
    threads: int | None = None,
    progress: Progress = "auto",
) -> ResolutionProfile:
    """Finds the best partitions over a range of resolutions: ``--refine … --resolution-profile``. It runs on the CPU.

    Parameters
    ----------
    data
        A graph, or anything that :func:`graph` takes by itself.
    refine : {"modularity", "cpm"}, default "modularity"
        The score.
    resolution : tuple of float, optional
        The least and the largest resolution; by default found from the graph.
    profile_runs : int, optional
        Most runs, without one more for each partition; 50 by default.
    labels
        Labels that the runs at both ends begin with, as of :func:`communities`.
    seed, host_memory, threads, progress
        As of :func:`communities`.

    Returns
    -------
    ResolutionProfile

    Raises
    ------
    InputError
        If the range is empty or too wide.

    Examples
    --------
    >>> import ripplet as rp
    >>> p = rp.resolution_profile([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
    >>> len(p.chosen), p.to_pandas()["communities"].tolist()
    (2, [1, 2, 6])
    """
    if refine not in ("modularity", "cpm"):
        raise InputError(f"refine: expected modularity or cpm, not {refine}")
    of = data if isinstance(data, Graph) else graph(data, threads=threads)
    low, high = ends_of(resolution)
    choices = given(
        refine=refine,
        # The profile replaces it.
        resolution=1.0 if refine == "cpm" else None,
        seed=seed or None,
        host_memory=host_memory,
        threads=threads,
        low=low,
        high=high,
        runs=profile_runs,
        initial=None if labels is None else initial_labels(of, labels),
    )
    with reporter(progress) as told:
        reported = {**choices, **given(progress=told)}
        if estimating():
            raise Planned(native.plan_resolution_profile(of._native, reported))
        found, chosen, runs, is_cut, figures = native.resolution_profile(of._native, reported)
    columns = {name: view(column) for name, column in figures}
    written = given(refine=refine, resolution=resolution, profile_runs=profile_runs, labels=labels, seed=seed or None)
    line, variables = call("resolution_profile", {}, written)
    every = zip(found, columns["resolution_from"], columns["resolution_to"], strict=True)
    communities = [
        Communities(
            one,
            of,
            {"refine": refine, "resolution": float(np.sqrt(low * high)), **given(seed=seed or None)},
            (f"{line}[{index}]", variables),
        )
        for index, (one, low, high) in enumerate(every)
    ]
    return ResolutionProfile(communities, chosen, runs, is_cut, columns)


def ends_of(resolution: Any) -> tuple[float | None, float | None]:
    """Returns both ends of a range of resolutions."""
    if resolution is None:
        return None, None
    try:
        low, high = (float(end) for end in resolution)
    except (TypeError, ValueError):
        raise OptionError(
            f"resolution: expected the least and the largest one, such as (0.1, 10), not {resolution!r}"
        ) from None
    return low, high
