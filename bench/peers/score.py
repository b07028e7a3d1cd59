"""Scores for all peers alike: modularity and normalized mutual information, in numpy.

Every peer's labels, and ripplet's, are scored by these few lines, so that no difference in a table
comes from two definitions. `self_test` holds them against networkx and scikit-learn.
"""

import numpy as np

from graph import UNKNOWN, Graph


def of(graph: Graph, labels: np.ndarray) -> dict:
    """Modularity, communities, and NMI against the truth (None without one)."""
    if (labels == UNKNOWN).any():
        raise ValueError(f"{(labels == UNKNOWN).sum()} vertices of {graph.name} have no label")
    _, dense = np.unique(labels, return_inverse=True)
    quality = {"modularity": modularity(graph.pairs, dense), "communities": int(dense.max()) + 1}
    quality["nmi"] = None
    if graph.truth is not None:
        known = graph.truth != UNKNOWN
        quality["nmi"] = nmi(graph.truth[known], dense[known])
    return quality


def modularity(pairs: np.ndarray, labels: np.ndarray) -> float:
    """Newman's modularity (resolution 1) of an unweighted, undirected graph; labels are 0..k."""
    m = len(pairs)
    ends = labels[pairs]
    inside = np.count_nonzero(ends[:, 0] == ends[:, 1])
    degrees = np.bincount(ends.ravel()).astype(np.float64)
    return float(inside / m - np.square(degrees / (2 * m)).sum())


def nmi(a: np.ndarray, b: np.ndarray) -> float:
    """Mutual information over the mean of the entropies, as scikit-learn's default. 1 is equal."""
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    if a.max() == 0 and b.max() == 0:
        return 1.0
    _, joint = np.unique(a.astype(np.int64) * (b.max() + 1) + b, return_counts=True)
    h_a, h_b, h_joint = entropy(np.bincount(a)), entropy(np.bincount(b)), entropy(joint)
    return float(max(0.0, h_a + h_b - h_joint) / ((h_a + h_b) / 2))


def entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
