"""How fast the peers read a plain edge list: two integers a line, separated by one space or tab.

A reader's time is from the file's name to what the library works on. For NetworKit and igraph that
is a graph, which no option of theirs leaves out; for pandas it is a table of two columns, so it is a
bound for parsing alone; ripplet's is reading and building together, from its `--stats`, with one
thread and with all. The file is read once before, so that it comes from the page cache.
"""

import gc
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import igraph
import networkit
import numpy as np
import pandas as pd

import machine
import ripplet
from libraries import timed


def time_all(path: str, repeat: int, threads: int) -> Iterator[dict]:
    """One line for each reader and repetition, in rounds."""
    size = len(Path(path).read_bytes())
    readers = roster(path, separator_of(path), threads)
    for _ in range(repeat):
        for reader in readers:
            with machine.Neighbours() as others:
                seconds = reader.seconds()
            gc.collect()
            yield {
                "kind": "read",
                "peer": reader.name,
                "version": reader.version,
                "returns": reader.returns,
                "threads": reader.threads,
                "file": Path(path).name,
                "bytes": size,
                "seconds": seconds,
                "cores_of_others": others.cores,
                "mb_per_second": size / seconds / 1e6,
            }


@dataclass
class Reader:
    """A reader; `seconds` reads the file once."""

    name: str
    version: str
    returns: str
    seconds: Callable[[], float]
    threads: int = 1


def roster(path: str, separator: str, threads: int) -> list[Reader]:
    """The libraries' readers, and ripplet's where its binary is there."""
    graph = igraph.Graph
    calls = {
        ("networkit EdgeListReader", networkit.__version__, "graph"): partial(
            networkit.graphio.EdgeListReader(separator, 0).read, path
        ),
        ("igraph Read_Edgelist", igraph.__version__, "graph"): partial(
            graph.Read_Edgelist, path, directed=False
        ),
        ("igraph Read_Ncol", igraph.__version__, "graph"): partial(
            graph.Read_Ncol, path, names=True, weights=False, directed=False
        ),
        ("pandas read_csv", pd.__version__, "table"): partial(
            pd.read_csv, path, sep=separator, header=None, dtype=np.uint32
        ),
    }
    readers = [Reader(*key, partial(seconds_of, call)) for key, call in calls.items()]
    if ripplet.is_built():
        for count in sorted({1, threads}):
            call = partial(ripplet.reading_seconds, path, count)
            readers.append(Reader("ripplet", ripplet.version(), "graph", call, count))
    return readers


def seconds_of(call: Callable) -> float:
    return timed(call)[0]


def separator_of(path: str) -> str:
    """The character between the two numbers of the first line."""
    with open(path, encoding="utf-8") as file:
        line = file.readline().strip()
    for separator in " \t,":
        if separator in line and line.replace(separator, "", 1).isdigit():
            return separator
    raise ValueError(f"{path}, line 1: {line[:40]!r} is not two integers; give a plain edge list")
