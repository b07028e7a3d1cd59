"""Scores for all peers alike: modularity and the agreement with a truth, in numpy.

Every peer's labels, and ripplet's, are scored by these few lines, so that no difference in a table
comes from two definitions. `self_test` holds them against networkx and scikit-learn.
"""

import numpy as np
from scipy.special import gammaln

from graph import UNKNOWN, Graph


def of(graph: Graph, labels: np.ndarray, compared: np.ndarray | None = None) -> dict:
    """Modularity, communities, and NMI, AMI and ARI against the truth (None without one).

    A mask limits the vertices that are compared with the truth.
    """
    if (labels == UNKNOWN).any():
        raise ValueError(f"{(labels == UNKNOWN).sum()} vertices of {graph.name} have no label")
    _, dense = np.unique(labels, return_inverse=True)
    quality = {"modularity": modularity(graph.pairs, dense), "communities": int(dense.max()) + 1}
    quality |= {"nmi": None, "ami": None, "ari": None}
    if graph.truth is not None:
        known = graph.truth != UNKNOWN
        quality |= agreement(graph.truth, dense, known if compared is None else known & compared)
    return quality


def agreement(truth: np.ndarray, labels: np.ndarray, compared: np.ndarray) -> dict:
    """NMI, AMI and ARI over the vertices of a mask."""
    sides = truth[compared], labels[compared]
    return {"nmi": nmi(*sides), "ami": ami(*sides), "ari": ari(*sides)}


def modularity(pairs: np.ndarray, labels: np.ndarray) -> float:
    """Newman's modularity (resolution 1) of an unweighted, undirected graph; labels are 0..k."""
    m = len(pairs)
    ends = labels[pairs]
    inside = np.count_nonzero(ends[:, 0] == ends[:, 1])
    degrees = np.bincount(ends.ravel()).astype(np.float64)
    return float(inside / m - np.square(degrees / (2 * m)).sum())


def nmi(a: np.ndarray, b: np.ndarray) -> float:
    """Mutual information over the mean of the entropies, as scikit-learn's default. 1 is equal."""
    rows, columns, joint = table(a, b)
    if len(rows) == 1 and len(columns) == 1:
        return 1.0
    return float(mutual(rows, columns, joint) / ((entropy(rows) + entropy(columns)) / 2))


def ami(a: np.ndarray, b: np.ndarray) -> float:
    """NMI less what chance gives, over 1 less that (Vinh, Epps, Bailey 2010), as scikit-learn's default."""
    rows, columns, joint = table(a, b)
    if len(rows) == len(columns) and len(rows) in (1, len(a)):
        return 1.0
    chance = expected_mutual(rows, columns)
    most = (entropy(rows) + entropy(columns)) / 2
    return float((mutual(rows, columns, joint) - chance) / (most - chance))


def ari(a: np.ndarray, b: np.ndarray) -> float:
    """The adjusted Rand index (Hubert, Arabie 1985): 0 is chance, 1 is equal."""
    rows, columns, joint = table(a, b)
    together, in_a, in_b = (pairs_within(counts) for counts in (joint, rows, columns))
    chance = in_a * in_b / pairs_within(np.array([len(a)]))
    most = (in_a + in_b) / 2
    return 1.0 if most == chance else float((together - chance) / (most - chance))


def table(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sizes of a's communities, of b's, and of their overlaps that are not empty."""
    _, a = np.unique(a, return_inverse=True)
    _, b = np.unique(b, return_inverse=True)
    _, joint = np.unique(a.astype(np.int64) * (b.max() + 1) + b, return_counts=True)
    return np.bincount(a), np.bincount(b), joint


def mutual(rows: np.ndarray, columns: np.ndarray, joint: np.ndarray) -> float:
    return max(0.0, entropy(rows) + entropy(columns) - entropy(joint))


def expected_mutual(rows: np.ndarray, columns: np.ndarray) -> float:
    """The mean of the mutual information over all pairs of labellings with these sizes, in nats.

    Overlaps follow the hypergeometric distribution; communities of equal size share one term.
    """
    n = rows.sum()
    logs = gammaln(np.arange(n + 1) + 1.0)
    total = 0.0
    for a, times_a in zip(*np.unique(rows, return_counts=True)):
        for b, times_b in zip(*np.unique(columns, return_counts=True)):
            both = np.arange(max(1, a + b - n), min(a, b) + 1)
            chance = (
                logs[a] + logs[b] + logs[n - a] + logs[n - b] - logs[n]
                - logs[both] - logs[a - both] - logs[b - both] - logs[n - a - b + both]
            )  # fmt: skip
            terms = both / n * np.log(n * both / (a * b)) * np.exp(chance)
            total += times_a * times_b * terms.sum()
    return float(total)


def pairs_within(counts: np.ndarray) -> float:
    counts = counts.astype(np.float64)
    return float((counts * (counts - 1) / 2).sum())


def entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
