"""Scores for all peers alike: modularity and normalized mutual information, also of overlapping communities.

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


def overlapping(found: list[set], truth: list[set], vertices: int) -> dict:
    """NMI of two covers: `nmi_lfk` after Lancichinetti, Fortunato, Kertész (New Journal of Physics 11,
    2009), and `nmi_max` after McDaid, Greene, Hurley (arXiv:1110.2515), normalized by the larger entropy.
    """
    if not found or not truth:
        return {"nmi_lfk": 0.0, "nmi_max": 0.0}
    given_truth, own_found = conditional_entropies(found, truth, vertices)
    given_found, own_truth = conditional_entropies(truth, found, vertices)
    lfk = 1 - (mean_share(given_truth, own_found) + mean_share(given_found, own_truth)) / 2
    shared = (own_found.sum() - given_truth.sum() + own_truth.sum() - given_found.sum()) / 2
    largest = max(own_found.sum(), own_truth.sum())
    return {"nmi_lfk": float(lfk), "nmi_max": float(shared / largest) if largest > 0 else 1.0}


def conditional_entropies(
    cover: list[set], other: list[set], vertices: int
) -> tuple[np.ndarray, np.ndarray]:
    """For each community of `cover`, its entropy given the community of `other` that tells most about
    it, and its own entropy. A community that tells more by its complement tells nothing."""
    of = {}
    for number, community in enumerate(other):
        for vertex in community:
            of.setdefault(vertex, []).append(number)
    given, own = [], []
    for community in cover:
        x = len(community)
        alone = binary_entropy(x, vertices)
        best = alone
        numbers, shared = np.unique(
            [number for vertex in community for number in of.get(vertex, ())], return_counts=True
        )
        for number, both in zip(numbers.astype(int), shared):
            y = len(other[number])
            neither, only_x, only_y = vertices - x - y + both, x - both, y - both
            four = [bits(count / vertices) for count in (neither, both, only_x, only_y)]
            if four[0] + four[1] > four[2] + four[3]:
                best = min(best, sum(four) - binary_entropy(y, vertices))
        given.append(best)
        own.append(alone)
    return np.array(given), np.array(own)


def mean_share(given: np.ndarray, own: np.ndarray) -> float:
    """The mean of given / own; 1 for a community of all vertices, as in the authors' program."""
    return float(np.divide(given, own, out=np.ones_like(given), where=own > 0).mean())


def binary_entropy(count: int, all_of_them: int) -> float:
    return bits(count / all_of_them) + bits(1 - count / all_of_them)


def bits(share: float) -> float:
    return -share * np.log2(share) if share > 0 else 0.0


def entropy(counts: np.ndarray) -> float:
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log(share)).sum())
