"""Communities of a Ray Dataset: Ray starts the ranks, and the dataset's blocks are their rows.

Ray is imported with this module alone: ``import ripplet.ray``, or ``rp.ray`` at its first use.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import metadata
from math import inf
from typing import Any, Literal, get_args

import numpy.typing as npt

from . import _native as native, cluster
from ._communities import Round
from ._options import unknown_option
from ._progress import Progress, Report, reporter
from .errors import InputError, OptionError, RippletError, RunError

try:
    import pyarrow
    import ray
    from ray.exceptions import RayActorError, RayError
    from ray.util.placement_group import placement_group, remove_placement_group
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy
except ImportError as error:
    raise ImportError("ripplet.ray needs Ray 2.40 or newer: pip install 'ray[data]>=2.40'") from error

__all__ = ["DatasetCommunities", "communities"]

Strategy = Literal["STRICT_SPREAD", "SPREAD", "PACK", "STRICT_PACK"]
Pairs = dict[str, str]

LIBRARY = "libmpi.so.12"  # Of MPICH, in all its versions since 3.1.
BLOCK_ROWS = 4 << 20  # Of the result: with ids of 8 bytes, 80 MiB, of the 128 MiB that Ray advises at most.
TICK = 0.2  # Seconds between two reports of progress.
SETTLE = 3.0  # Seconds that other ranks have to fail after the first one: the error that explains all may come later.


@dataclass(frozen=True, repr=False)
class DatasetCommunities:
    """Communities of a dataset. ``len(found)`` is their number; the attributes are as of :class:`ripplet.Communities`, and:

    ``rows``, a Ray Dataset, has a row for each vertex with a community: ``id``, ``community`` (the id of the vertex that names
    it) and ``number`` (from 0, the largest first). Ids ascend from block to block: all rows are those of one process.
    ``nodes`` are the addresses of the ranks' nodes. If a node is lost, so are its blocks of ``rows``.
    """

    rows: Any
    vertices: int
    edges: int
    modularity: float
    sizes: npt.NDArray[Any]
    rounds: list[Round]
    reason: str
    seconds: float
    nodes: list[str]

    def __len__(self) -> int:
        return len(self.sizes)

    def __repr__(self) -> str:
        return f"<ripplet.ray.DatasetCommunities: {len(self):,} communities of {self.vertices:,} vertices>"


class Rank:
    """An actor that is one rank: MPI starts in its process, and ends with it. All ranks meet in the first one."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank, self.ranks, self.meeting = rank, ranks, threading.Barrier(ranks)
        self.pairs: Pairs = {}
        self.last: Any = None

    def place(self) -> tuple[str, str, str]:
        """Returns the version of ripplet, and the address and the id of the node."""
        return native.version, ray.util.get_node_ip_address(), ray.get_runtime_context().get_node_id()

    def exchange(self, pairs: Pairs) -> Pairs:
        """Waits until all ranks have called this on the first one, and returns the pairs of all."""
        self.pairs.update(pairs)
        self.meeting.wait()
        return dict(self.pairs)

    def reported(self) -> Any:
        last, self.last = self.last, None
        return last

    def run(self, first: Any, blocks: list[Any], others: list[Any], options: dict[str, Any]) -> DatasetCommunities:
        """Finds communities together with the other ranks, and returns what is known of all, without the rows."""
        own = ray.get(blocks) or [table.slice(0, 0) for table in ray.get(others)]  # The columns alone.
        rows = pyarrow.concat_tables(own, promote_options="permissive")
        ray.get(first.exchange.remote({}))  # A rank that has its rows late would be lost for those that are in MPI already.
        start_mpi(self.rank, self.ranks, first)
        found = cluster.communities(rows, progress=lambda *last: setattr(self, "last", last), **options)
        native.end_ranks()
        self.table = found.to_arrow()
        counts = found.vertices, found.edges, found.modularity, found.sizes if self.rank == 0 else found.sizes[:0]
        return DatasetCommunities(None, *counts, found.rounds, found.reason, found.seconds, [])

    def blocks(self) -> Iterator[pyarrow.Table]:
        """Yields the rows of this rank's vertices."""
        for begin in range(0, max(1, len(self.table)), BLOCK_ROWS):
            yield self.table.slice(begin, BLOCK_ROWS)


def start_mpi(rank: int, ranks: int, first: Any) -> None:
    """Makes this process a rank for MPICH, which asks its launcher through a socket how others are reached."""
    # Ray itself may have been started by a launcher of MPI, as on clusters of Slurm.
    for name in [name for name in os.environ if name.startswith(("OMPI_", "PMI_", "PMIX_", "SLURM_"))]:
        del os.environ[name]
    for library in [file for wheel in metadata.distributions(name="mpich") for file in wheel.files or [] if file.name == LIBRARY]:
        os.environ.setdefault("RIPPLET_MPI", os.path.realpath(library.locate()))
    if "RIPPLET_MPI" not in os.environ:
        raise RunError("MPI is not installed: pip install mpich where Ray runs, or let RIPPLET_MPI name the library of an MPICH")
    launcher, process = socket.socketpair()
    os.environ.update(PMI_FD=str(process.detach()), PMI_RANK=str(rank), PMI_SIZE=str(ranks))
    threading.Thread(target=answer_pmi, args=(launcher, ranks, first), daemon=True).start()


def answer_pmi(launcher: socket.socket, ranks: int, first: Any) -> None:
    """Answers what MPICH asks, in the wire protocol of PMI-1 (RFC 13 of Flux). A barrier is an exchange of all pairs."""
    # Each rank is on a node of its own: they use the network, and no shared memory is left behind if they are killed.
    pairs = {"PMI_process_mapping": f"(vector,(0,{ranks},1))"}
    answers = {
        "init": "response_to_init rc=0 pmi_version=1 pmi_subversion=1",
        "get_maxes": "maxes rc=0 kvsname_max=64 keylen_max=64 vallen_max=1024",
        "get_appnum": "appnum rc=0 appnum=0", "get_universe_size": f"universe_size rc=0 size={ranks}",
        "get_my_kvsname": "my_kvsname rc=0 kvsname=ripplet",
        "put": "put_result rc=0", "barrier_in": "barrier_out rc=0", "finalize": "finalize_ack rc=0",
    }
    with launcher, launcher.makefile("rw", newline="\n") as lines:
        for line in lines:
            asked = dict(word.partition("=")[::2] for word in line.split())
            if asked["cmd"] == "put":
                pairs[asked["key"]] = asked["value"]
            elif asked["cmd"] == "barrier_in":
                pairs |= ray.get(first.exchange.remote(pairs))
            value = pairs.get(asked.get("key", ""))
            answers["get"] = "get_result rc=-1" if value is None else f"get_result rc=0 value={value}"
            lines.write(f"cmd={answers.get(asked['cmd'], 'unknown rc=-1')}\n")
            lines.flush()


def communities(
    dataset: Any, *, ranks: int | None = None, strategy: Strategy = "STRICT_SPREAD", cpus: int = 1,
    start_deadline: int = 300, progress: Progress = "auto", **options: Any,
) -> DatasetCommunities:
    """Finds the communities of a graph whose edges are the rows of a dataset: those of one process that has all rows.

    Parameters
    ----------
    dataset : ray.data.Dataset
        It is computed first, into Ray's object store: if ``source`` and ``target`` are given, without the other columns.
    ranks, strategy
        The number of ranks, by default one for each node that has the CPUs, and the strategy of their placement group:
        ``"STRICT_SPREAD"`` places each on a node of its own, others may place several on one.
    cpus : int
        CPUs that Ray reserves for each rank. It runs on all cores of its node, unless ``threads`` says on how many.
    start_deadline : int
        Seconds that Ray has to reserve these CPUs, and again to start the actors.
    progress, options
        ``source``, ``target``, ``weight`` and all others of :func:`ripplet.cluster.communities`. Progress is reported here.
        ``checkpoint`` is a folder on the node of the first rank: to resume, all nodes must share it.

    Raises
    ------
    RippletError
        Of the class that it has in one process, with the rank and its node. If a rank, its node or MPI is lost, a ``RunError``,
        and if there are fewer nodes than ranks, an ``InputError``. All actors and reservations are gone then.
    """
    import ray.data  # Takes longer to import than all else, and ranks have no datasets.

    if not isinstance(dataset, ray.data.Dataset):
        raise OptionError(f"dataset: expected a ray.data.Dataset, not {type(dataset).__name__}; ripplet.communities takes tables")
    known = inspect.signature(cluster.communities).parameters.keys() - {"rows"}
    for name in options.keys() - known:
        raise unknown_option("communities", name, sorted(known))
    if options.get("checkpoint") is not None:
        options["checkpoint"] = os.path.abspath(options["checkpoint"])
    count = possible_ranks(ranks, strategy, cpus)
    blocks = computed(dataset, options)
    with reporter(progress) as told, placed(count, strategy, cpus, start_deadline) as (actors, nodes, ids):
        runs = [a.run.remote(actors[0], own, blocks[:1], options) for a, own in zip(actors, shared(blocks, ids), strict=True)]
        names = [f"rank {rank} on {node}" for rank, node in enumerate(nodes)]
        found: DatasetCommunities = answers(runs, names, told=told, first=actors[0])[0]
        results = [block for actor in actors for block in actor.blocks.options(num_returns="streaming").remote()]
    return replace(found, rows=ray.data.from_arrow_refs(results), nodes=list(nodes))


def possible_ranks(ranks: int | None, strategy: Strategy, cpus: int) -> int:
    """Returns the number of ranks. It is an error if no nodes can have them, for which Ray would wait for ever."""
    for name, value in (("ranks", ranks), ("cpus", cpus)):
        if value is not None and (not isinstance(value, int) or value < 1):
            raise InputError(f"{name}: expected a whole number, 1 or above, not {value!r}")
    if strategy not in get_args(Strategy):
        raise OptionError(f"strategy: expected {', '.join(get_args(Strategy))}, not {strategy!r}")
    of_nodes = [int(node["Resources"].get("CPU", 0)) // cpus for node in ray.nodes() if node["Alive"]]
    nodes = sum(room > 0 for room in of_nodes)
    room = {"STRICT_SPREAD": nodes, "STRICT_PACK": max(of_nodes, default=0)}.get(strategy, sum(of_nodes))
    if (ranks or 1) > room:
        places = f"ranks: {strategy} places at most {room} ranks on Ray's {nodes} nodes that have {cpus} CPUs, not {ranks or 1}"
        or_share = ", or let ranks share nodes by strategy='SPREAD'" if strategy == "STRICT_SPREAD" else ""
        raise InputError(f"{places}: take fewer or start more nodes{or_share}")
    return ranks or min(nodes, room)


def computed(dataset: Any, options: dict[str, Any]) -> list[Any]:
    """Returns the blocks of a dataset, as tables of Arrow in the object store."""
    named = {name: options[name] for name in ("source", "target", "weight") if isinstance(options.get(name), str)}
    columns = dataset.columns() or []
    for option, name in named.items():
        if columns and name not in columns:
            raise InputError(f"{option}: the dataset has no column {name!r}; the columns are {', '.join(columns[:30])}")
    needed = list(dict.fromkeys(named.values()))
    if columns not in ([], needed) and {"source", "target"} <= named.keys() and options.get("weight") is not True:
        dataset = dataset.select_columns(needed)
    dataset = dataset.materialize()
    if not dataset.count():
        raise InputError("dataset: it has no rows, and each edge is one")
    return list(dataset.to_arrow_refs())


def shared(blocks: list[Any], nodes: list[str]) -> list[list[Any]]:
    """Returns the blocks of each rank: about as many for all, and of these first the ones that are on its node."""
    places = ray.experimental.get_object_locations(blocks)
    shares: list[list[Any]] = [[] for _ in nodes]
    most = -(-len(blocks) // len(nodes))
    for block in blocks:
        near = [share for share, node in zip(shares, nodes, strict=True) if node in places[block]["node_ids"] and len(share) < most]
        min(near or shares, key=len).append(block)
    return shares


@contextlib.contextmanager
def placed(ranks: int, strategy: Strategy, cpus: int, deadline: int) -> Iterator[tuple[Any, ...]]:
    """Yields an actor for each rank, and the addresses and ids of their nodes; at the end, all actors are killed."""
    group = placement_group([{"CPU": cpus}] * ranks, strategy=strategy)
    actors: list[Any] = []
    end = time.monotonic() + deadline
    try:
        while not group.wait(1):
            possible_ranks(ranks, strategy, cpus)  # A node may be lost meanwhile.
            if time.monotonic() > end:
                free = f"{ray.available_resources().get('CPU', 0):g} are free"
                raise RunError(f"Ray has not reserved {ranks} times {cpus} CPUs within {deadline} seconds: {free}; take fewer")
        for rank in range(ranks):
            place = PlacementGroupSchedulingStrategy(group, placement_group_bundle_index=rank)
            # All ranks may wait in the first one at the same time, while it runs and reports.
            actor = ray.remote(Rank).options(num_cpus=cpus, scheduling_strategy=place, max_concurrency=ranks + 2)
            actors.append(actor.remote(rank, ranks))
        places = answers([actor.place.remote() for actor in actors], [f"rank {rank}" for rank in range(ranks)], deadline)
        for version, address in {place[:2] for place in places if place[0] != native.version}:
            raise RunError(f"{address} has ripplet {version}, and this process {native.version}: install one version")
        yield actors, *zip(*[place[1:] for place in places], strict=True)
    finally:
        for actor in actors:
            ray.kill(actor)
        remove_placement_group(group)


def answers(asked: list[Any], names: list[str], deadline: float = inf, told: Report | None = None, first: Any = None) -> list[Any]:
    """Waits for the answers of all ranks, and reports the progress of the first one; raises the error that explains the others'."""
    waiting, errors, end = dict(zip(asked, names, strict=True)), [], time.monotonic() + deadline
    while waiting and time.monotonic() < end:
        ready, _ = ray.wait(list(waiting), timeout=TICK)
        with contextlib.suppress(RayError):
            if told and (last := ray.get(first.reported.remote(), timeout=5 * TICK)):
                told(*last)
        for answer in ready:
            name = waiting.pop(answer)
            try:
                ray.get(answer)
            except RayError as error:
                errors.append((*failure(name, error), error))
                end = min(end, time.monotonic() + SETTLE)
    if errors:
        _, raised, cause = min(errors, key=lambda entry: entry[0])
        raise raised from cause
    if waiting:
        raise RunError(f"{min(waiting.values())} does not answer within {deadline} seconds: Ray's logs of its node may say why")
    return list(ray.get(asked))


def failure(name: str, error: RayError) -> tuple[int, Exception]:
    """Returns a rank's error, of its own class if it is ripplet's, and its place among those that may explain the others."""
    cause = getattr(error, "cause", None) or error
    if isinstance(cause, RippletError):  # A RunError is that of ranks that lose another one.
        return 2 if isinstance(cause, RunError) else 0, type(cause)(f"{name}: {cause}")
    if isinstance(error, RayActorError):
        return 1, RunError(f"{name} is lost: {' '.join(str(error).split())}")
    return 0, RunError(f"{name}: {type(cause).__name__}: {cause}")
