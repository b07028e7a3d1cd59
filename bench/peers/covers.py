"""The overlapping NMI of McDaid, Greene and Hurley (2011), in numpy.

A cover is an array of rows of vertex and community; a partition is a cover, too.
"""

import numpy as np
from scipy.sparse import csr_matrix


def nmi_max(found: np.ndarray, truth: np.ndarray, vertices: int) -> float:
    """Mutual information over the larger entropy; 1 is equal."""
    x, y = membership(found, vertices), membership(truth, vertices)
    sizes_x, sizes_y = (np.asarray(side.sum(axis=1)).ravel() for side in (x, y))
    both = (x @ y.T).toarray()
    entropy_x, entropy_y = (entropy_of(sizes, vertices).sum() for sizes in (sizes_x, sizes_y))
    if max(entropy_x, entropy_y) == 0:
        return 1.0
    left_x = conditional(both, sizes_x, sizes_y, vertices)
    left_y = conditional(both.T, sizes_y, sizes_x, vertices)
    shared = (entropy_x - left_x + entropy_y - left_y) / 2
    return float(shared / max(entropy_x, entropy_y))


def membership(cover: np.ndarray, vertices: int) -> csr_matrix:
    """A row for each community: 1 for its members."""
    rows = np.unique(cover, axis=0)
    names, numbers = np.unique(rows[:, 1], return_inverse=True)
    ones = np.ones(len(rows), dtype=np.int64)
    return csr_matrix((ones, (numbers, rows[:, 0])), shape=(len(names), vertices))


def conditional(both: np.ndarray, sizes: np.ndarray, others: np.ndarray, vertices: int) -> float:
    """The entropy of each community given the other cover's community that explains it best."""
    only, other = sizes[:, None] - both, others[None, :] - both
    neither = vertices - both - only - other
    part = {name: h(count, vertices) for name, count in zip("abcd", (neither, other, only, both))}
    given = sum(part.values()) - entropy_of(others, vertices)[None, :]
    # What is rather the complement of a community does not explain it.
    allowed = part["a"] + part["d"] >= part["b"] + part["c"]
    alone = entropy_of(sizes, vertices)
    return float(np.minimum(np.where(allowed, given, np.inf).min(axis=1), alone).sum())


def entropy_of(sizes: np.ndarray, vertices: int) -> np.ndarray:
    return h(sizes, vertices) + h(vertices - sizes, vertices)


def h(counts: np.ndarray, vertices: int) -> np.ndarray:
    share = counts / vertices
    return -share * np.log2(share, out=np.zeros_like(share), where=share > 0)
