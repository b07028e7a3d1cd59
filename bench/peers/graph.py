"""The graph that every peer gets: simple, undirected, unweighted, vertices 0..n."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

UNKNOWN = -1
"""The truth of a vertex that the truth file does not name."""


@dataclass
class Graph:
    """Edges as an (m, 2) array of vertex numbers; each edge once, no loop.

    `ids[v]` is what the input calls vertex v, ascending. `truth[v]` is its planted or labelled
    community or UNKNOWN; None without a truth file. A vertex without an edge is not in the graph.
    """

    name: str
    ids: np.ndarray
    pairs: np.ndarray
    truth: np.ndarray | None = None

    @property
    def vertices(self) -> int:
        return len(self.ids)

    @property
    def edges(self) -> int:
        return len(self.pairs)

    @staticmethod
    def load(path: str, truth: str | None = None) -> "Graph":
        """Reads a text edge list (two integer columns, more are passed over) or a packed .npz."""
        if path.endswith(".npz"):
            with np.load(path) as arrays:
                kept = arrays["truth"] if "truth" in arrays else None
                graph = Graph(Path(path).stem, arrays["ids"], arrays["pairs"], kept)
        else:
            graph = Graph.of(Path(path).stem, read_two_columns(path))
        if truth is not None:
            graph.truth = graph.read_labels(truth)
        return graph

    @staticmethod
    def of(name: str, ends: np.ndarray) -> "Graph":
        """The graph of any rows of two ids: loops and repeated edges left out, ids made dense."""
        ids = np.sort(pd.unique(ends.ravel()))
        dense = ids[0] == 0 and ids[-1] == len(ids) - 1
        numbers = ends if dense else np.searchsorted(ids, ends)
        numbers = numbers[numbers[:, 0] != numbers[:, 1]]
        if len(numbers) == 0:
            raise ValueError(f"{name}: no edge between two vertices")
        low, high = np.minimum(*numbers.T), np.maximum(*numbers.T)
        keys = pd.unique(low * len(ids) + high)
        pairs = np.stack(np.divmod(keys, len(ids)), axis=1)
        # A file may be sorted; no peer shall profit from that.
        pairs = pairs[np.random.default_rng(0).permutation(len(pairs))]
        return Graph(name, ids, pairs)

    def save(self, path: str) -> None:
        arrays = {"ids": self.ids, "pairs": self.pairs.astype(np.uint32)}
        if self.truth is not None:
            arrays["truth"] = self.truth
        np.savez(path, **arrays)

    def read_labels(self, path: str) -> np.ndarray:
        """Lines of `id community`, as an array over the vertices; UNKNOWN where no line names one."""
        rows = read_two_columns(path)
        at = np.searchsorted(self.ids, rows[:, 0])
        at[at == len(self.ids)] = 0
        known = self.ids[at] == rows[:, 0]
        if not known.any():
            raise ValueError(f"{path}: no line names a vertex of {self.name}")
        _, communities = np.unique(rows[known, 1], return_inverse=True)
        labels = np.full(self.vertices, UNKNOWN, dtype=np.int64)
        labels[at[known]] = communities
        return labels


def read_two_columns(path: str) -> np.ndarray:
    """The first two columns of a text table of integers; lines of # and % are comments."""
    with open(path, encoding="utf-8") as file:
        skip = 0
        for line in file:
            if line.strip() and line[0] not in "#%":
                break
            skip += 1
        else:
            raise ValueError(f"{path}: no line with two integers")
    columns = pd.read_csv(
        path, sep=r"\s+", header=None, usecols=[0, 1], dtype=np.int64, comment="#", skiprows=skip
    )
    return columns.to_numpy()
