"""Synthetic graphs, the same from the same parameters anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _native as native
from ._graph import Graph, view
from ._options import given, options

__all__ = ["planted"]


@options
def planted(
    vertices: int = 100_000,
    edges: int | None = None,
    *,
    mixing: float = 0.3,
    degree_exponent: float | None = None,
    max_degree: int | None = None,
    size_exponent: float | None = None,
    min_size: int | None = None,
    max_size: int | None = None,
    seed: int = 1,
    threads: int | None = None,
) -> tuple[Graph, npt.NDArray[np.uint32]]:
    """Returns a graph with planted communities, as ``ripplet generate planted`` makes it, and the community of each vertex.

    Parameters
    ----------
    vertices, edges : int
        Numbers of vertices, and of edges that are drawn, 10 per vertex by default: repeated ones are merged, so that the graph
        has fewer, above all if it is small.
    mixing : float, default 0.3
        Share of edges that lead out of their community.
    degree_exponent, max_degree, size_exponent, min_size, max_size
        Of the power laws of degrees and of sizes of communities.
    seed : int, default 1
        Draws the graph.

    Returns
    -------
    Graph
        An undirected graph.
    numpy.ndarray
        The community of each vertex, shape ``(vertices,)``, numbered from 0.

    Examples
    --------
    >>> import ripplet as rp
    >>> g, truth = rp.generate.planted(1000, 5000, mixing=0.1)
    >>> rp.communities(g).compare(truth)["nmi"] > 0.9
    True
    """
    choices: dict[str, Any] = given(
        vertices=vertices, edges=edges, mixing=mixing, degree_exponent=degree_exponent, max_degree=max_degree,
        size_exponent=size_exponent, min_size=min_size, max_size=max_size, seed=seed, threads=threads,
    )
    graph, truth = native.planted(choices)
    return Graph(graph), view(truth)
