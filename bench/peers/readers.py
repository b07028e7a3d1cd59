"""How fast the peers read a plain edge list: two integers a line, separated by one space or tab.

A reader's time is from the file's name to what the library works on. For NetworKit and igraph that
is a graph, which no option of theirs leaves out; for pandas it is a table of two columns, so it is a
bound for parsing alone. The file is read once before, so that it comes from the page cache.
"""

import gc
from collections.abc import Iterator
from pathlib import Path

import igraph
import networkit
import numpy as np
import pandas as pd

from libraries import timed


def time_all(path: str, repeat: int) -> Iterator[dict]:
    """One line for each reader and repetition, in rounds."""
    size = len(Path(path).read_bytes())
    separator = separator_of(path)
    for _ in range(repeat):
        for name, version, returns, read in peers(path, separator):
            seconds, result = timed(read)
            del result
            gc.collect()
            yield {
                "kind": "read",
                "peer": name,
                "version": version,
                "returns": returns,
                "threads": 1,
                "file": Path(path).name,
                "bytes": size,
                "seconds": seconds,
                "mb_per_second": size / seconds / 1e6,
            }


def peers(path: str, separator: str) -> list[tuple]:
    """Name, version, what comes back, and the call, of each reader."""
    graph = igraph.Graph
    return [
        (
            "networkit EdgeListReader",
            networkit.__version__,
            "graph",
            lambda: networkit.graphio.EdgeListReader(separator, 0).read(path),
        ),
        (
            "igraph Read_Edgelist",
            igraph.__version__,
            "graph",
            lambda: graph.Read_Edgelist(path, directed=False),
        ),
        (
            "igraph Read_Ncol",
            igraph.__version__,
            "graph",
            lambda: graph.Read_Ncol(path, names=True, weights=False, directed=False),
        ),
        (
            "pandas read_csv",
            pd.__version__,
            "table",
            lambda: pd.read_csv(path, sep=separator, header=None, dtype=np.uint32),
        ),
    ]


def separator_of(path: str) -> str:
    """The character between the two numbers of the first line."""
    with open(path, encoding="utf-8") as file:
        line = file.readline().strip()
    for separator in " \t,":
        if separator in line and line.replace(separator, "", 1).isdigit():
            return separator
    raise ValueError(f"{path}, line 1: {line[:40]!r} is not two integers; give a plain edge list")
