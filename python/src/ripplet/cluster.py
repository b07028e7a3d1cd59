"""Communities of a graph whose edges several processes have, each its own rows.

For processes that ``mpirun`` or ``srun`` started, such as programs of mpi4py: each passes the rows that it has read or computed, and
gets the communities of its share of the vertices. No process has the whole graph.

.. code-block:: python

    import pandas
    import ripplet as rp

    rank = …                                                     # of mpi4py, for instance
    rows = pandas.read_parquet(f"transfers/{rank}.parquet")      # this process's own
    found = rp.cluster.communities(rows, source="from", target="to")
    found.rows.to_pandas().to_parquet(f"communities/{rank}.parquet")
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._communities import Round, interval, read_only
from ._graph import columns_of_edges, refuse_nulls, view
from ._options import given, options, path_of
from ._progress import Progress, reporter
from ._ranks import end_with_the_interpreter
from ._tables import Table, native_table
from .errors import OptionError, RippletError

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

__all__ = ["SharedCommunities", "communities"]


class SharedCommunities:
    """Communities of a graph that several processes have: what this one knows of them.

    ``len(found)`` is the number of communities of all processes.

    Attributes
    ----------
    vertices, edges : int
        Vertices of the graph, and rows of edges, of all processes.
    modularity : float
        Of the communities of all processes.
    reason : str
        Why the rounds ended.
    seconds : float
        From the rows to the communities.
    rank, ranks : int
        The number of this process, and of all.
    """

    __slots__ = ("_native", "_rows")

    def __init__(self, found: native.ClusterFound) -> None:
        self._native = found
        self._rows = Table(found.rows)

    @property
    def rows(self) -> Table:
        """The vertices of this process: ``id``, ``community`` (the id of the vertex that names it) and ``number``.

        Ids ascend, also from a process to the next: all rows, in the order of ``rank``, are those of one process.
        Communities have numbers from 0, the largest first. Vertices without a community have no row.
        """
        return self._rows

    @property
    def vertices(self) -> int:
        return self._native.counts[0]

    @property
    def edges(self) -> int:
        return self._native.counts[1]

    @property
    def modularity(self) -> float:
        return self._native.modularity

    @property
    def sizes(self) -> npt.NDArray[np.uint64]:
        """The number of members of each community in all processes, the largest first, shape ``(len(found),)``."""
        return read_only(view(self._native.sizes))

    @property
    def rounds(self) -> list[Round]:
        """What each round did, in all processes."""
        return [Round(*figures) for figures in self._native.rounds]

    @property
    def reason(self) -> str:
        return self._native.reason

    @property
    def seconds(self) -> float:
        return self._native.seconds

    @property
    def rank(self) -> int:
        return self._native.place[0]

    @property
    def ranks(self) -> int:
        return self._native.place[1]

    def __len__(self) -> int:
        return len(view(self._native.sizes))

    def to_pandas(self) -> pandas.DataFrame:
        """Returns :attr:`rows` as a data frame of pandas."""
        return self._rows.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Returns :attr:`rows` as a data frame of polars."""
        return self._rows.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        """Returns :attr:`rows` as a table of pyarrow, without a copy."""
        return self._rows.to_arrow()

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._rows.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return (
            f"<ripplet.cluster.SharedCommunities: {len(self):,} communities of {self.vertices:,} vertices,"
            f" {len(self._rows):,} in process {self.rank} of {self.ranks}>"
        )


@options
def communities(
    rows: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | bool | None = None,
    directed: bool = False,
    keep_loops: bool = False,
    keep_duplicates: bool = False,
    coarse_weights: bool = False,
    program: Literal["lpa", "cdlp", "llp"] | None = None,
    schedule: Literal["sync", "phased"] | None = None,
    phases: int | None = None,
    counter: str = "exact",
    min_size: int | None = None,
    guard: float | None = None,
    gamma: float | None = None,
    iterations: int | None = None,
    max_iterations: int | None = None,
    tolerance: float | None = None,
    keep_disconnected: bool = False,
    merge: float | Literal["off"] | None = None,
    seed: int = 0,
    host_memory: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int | str | None = None,
    resume: bool = False,
    rank_deadline: int | None = None,
    rank_labels: Literal["auto", "all", "ghosts"] = "auto",
    threads: int | None = None,
    progress: Progress = "auto",
) -> SharedCommunities:
    """Finds the communities of a graph of which each process has some rows.

    All processes call it with the same options, each with its own rows. The communities are those that
    :func:`ripplet.communities` finds of a table of all rows, for every number of processes, however the rows are divided.

    Parameters
    ----------
    rows : table
        The edges that this process has, one a row, perhaps none: a data frame of pandas or polars, pyarrow table or record
        batch, DuckDB relation, anything with ``__arrow_c_stream__``, or a dict of columns. All have the same columns.
    source, target, weight, directed, keep_loops, keep_duplicates, coarse_weights
        As of :func:`ripplet.graph`.
    program, schedule, phases, counter, min_size, guard, gamma, iterations, max_iterations, tolerance, keep_disconnected, merge, \
seed, host_memory, checkpoint, checkpoint_every, resume, rank_deadline, rank_labels, threads, progress
        As of :func:`ripplet.communities`. ``host_memory`` is of each process.

    Returns
    -------
    SharedCommunities
        The communities of this process's vertices, which are about as many in each process.

    Raises
    ------
    InputError
        If rows of this process are no edges, or processes have ids of different kinds, or only some have weights. If it is the
        rows of one process, the others have a ``RunError``.
    RunError
        If MPI does not start, or another process failed, is lost, or has other options.
    OutOfMemoryError
        If memory is refused.

    Notes
    -----
    A process has the lists of its own vertices; of all vertices it has labels and ids, so that it can name communities. See
    the page on several machines for what is sent.
    """
    if program not in (None, "lpa", "cdlp", "llp"):
        raise OptionError(f"program: expected lpa, cdlp or llp, not {program!r}; ripplet.communities(g, ranks='mpi') takes others")
    if schedule not in (None, "sync", "phased"):
        raise OptionError(f"schedule: expected sync or phased, not {schedule!r}")
    load = given(
        source=source, target=target, weight=weight if isinstance(weight, str) else None, weighted=weight not in (None, False),
        directed=directed, keep_loops=keep_loops, keep_duplicates=keep_duplicates, coarse_weights=coarse_weights,
    )
    choices = given(
        program=program, schedule=schedule, phases=phases, counter=counter, min_size=min_size, guard=guard, gamma=gamma,
        iterations=iterations, max_iterations=max_iterations, tolerance=tolerance, keep_disconnected=keep_disconnected or None,
        merge=merge, seed=seed or None, host_memory=host_memory, device="cpu",
        checkpoint=None if checkpoint is None else path_of(checkpoint, "checkpoint"), checkpoint_every=interval(checkpoint_every),
        resume=resume or None, ranks="mpi", rank_deadline=rank_deadline, rank_labels=rank_labels, threads=threads,
    )
    end_with_the_interpreter()

    def needed() -> list[str]:
        return columns_of_edges(rows, load)

    try:
        refuse_nulls(rows, needed)
        table = native_table(rows, "rows", needed=needed)
    except Exception:
        # The others wait for the rows of this process.
        with contextlib.suppress(RippletError):
            native.cluster_communities(None, load, choices)
        raise
    with reporter(progress) as told:
        return SharedCommunities(native.cluster_communities(table, load, {**choices, **given(progress=told)}))
