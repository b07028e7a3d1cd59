"""The overlapping NMI by both definitions, in numpy.

`nmi_lfk` is that of Lancichinetti, Fortunato and Kertész (New Journal of Physics 11, 2009), `nmi_max`
that of McDaid, Greene and Hurley (arXiv:1110.2515). A cover is an array of rows of vertex and
community; a partition is a cover, too.
"""

import numpy as np
from scipy.sparse import csr_matrix


def nmi_lfk(found: np.ndarray, truth: np.ndarray, vertices: int) -> float:
    """1 less the mean share of a community's entropy that the other cover leaves; 1 is equal."""
    shares = []
    for alone, left in entropies(found, truth, vertices):
        # A community of all vertices has no entropy; its share is 1 in the authors' program.
        shares.append(np.divide(left, alone, out=np.ones_like(left), where=alone > 0).mean())
    return float(1 - sum(shares) / 2)


def nmi_max(found: np.ndarray, truth: np.ndarray, vertices: int) -> float:
    """Mutual information over the larger entropy; 1 is equal."""
    (alone_x, left_x), (alone_y, left_y) = entropies(found, truth, vertices)
    entropy_x, entropy_y = alone_x.sum(), alone_y.sum()
    if max(entropy_x, entropy_y) == 0:
        return 1.0
    shared = (entropy_x - left_x.sum() + entropy_y - left_y.sum()) / 2
    return float(shared / max(entropy_x, entropy_y))


def entropies(
    found: np.ndarray, truth: np.ndarray, vertices: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each cover, the entropy of each community alone, and given the other cover."""
    x, y = membership(found, vertices), membership(truth, vertices)
    sizes_x, sizes_y = (np.asarray(side.sum(axis=1)).ravel() for side in (x, y))
    both = (x @ y.T).toarray()
    return [
        (entropy_of(sizes_x, vertices), conditional(both, sizes_x, sizes_y, vertices)),
        (entropy_of(sizes_y, vertices), conditional(both.T, sizes_y, sizes_x, vertices)),
    ]


def membership(cover: np.ndarray, vertices: int) -> csr_matrix:
    """A row for each community: 1 for its members."""
    rows = np.unique(cover, axis=0)
    names, numbers = np.unique(rows[:, 1], return_inverse=True)
    ones = np.ones(len(rows), dtype=np.int64)
    return csr_matrix((ones, (numbers, rows[:, 0])), shape=(len(names), vertices))


def conditional(
    both: np.ndarray, sizes: np.ndarray, others: np.ndarray, vertices: int
) -> np.ndarray:
    """The entropy of each community given the other cover's community that explains it best."""
    only, other = sizes[:, None] - both, others[None, :] - both
    neither = vertices - both - only - other
    part = {name: h(count, vertices) for name, count in zip("abcd", (neither, other, only, both))}
    given = sum(part.values()) - entropy_of(others, vertices)[None, :]
    # What is rather the complement of a community does not explain it.
    allowed = part["a"] + part["d"] >= part["b"] + part["c"]
    alone = entropy_of(sizes, vertices)
    return np.minimum(np.where(allowed, given, np.inf).min(axis=1), alone)


def entropy_of(sizes: np.ndarray, vertices: int) -> np.ndarray:
    return h(sizes, vertices) + h(vertices - sizes, vertices)


def h(counts: np.ndarray, vertices: int) -> np.ndarray:
    share = counts / vertices
    return -share * np.log2(share, out=np.zeros_like(share), where=share > 0)
