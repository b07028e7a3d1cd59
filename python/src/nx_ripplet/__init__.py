"""ripplet as a backend of NetworkX; NetworkX reads this module when it is imported, so it imports nothing."""

from __future__ import annotations

from typing import Any

FUNCTIONS = {
    "all_pairs_dijkstra_path_length": "No functions as weights.",
    "all_pairs_shortest_path_length": "",
    "asyn_lpa_communities": "Undirected graphs; another draw than NetworkX's: each node has a most frequent label of its neighbours.",
    "average_clustering": "No `weight`.",
    "average_shortest_path_length": "By hops.",
    "betweenness_centrality": "No functions as weights.",
    "center": "By hops; no `e`, `usebounds` or `weight`.",
    "closeness_centrality": "No functions as weights.",
    "clustering": "No `weight`.",
    "connected_components": "",
    "core_number": "",
    "diameter": "By hops; no `e`, `usebounds` or `weight`.",
    "eccentricity": "By hops, all nodes; no `v`, `sp` or `weight`.",
    "edge_betweenness_centrality": "No functions as weights.",
    "fast_label_propagation_communities": "Another draw than NetworkX's: each node has a most frequent label of its neighbours.",
    "global_efficiency": "",
    "harmonic_centrality": "By hops; no `sources` or `distance`.",
    "is_connected": "",
    "is_weakly_connected": "",
    "label_propagation_communities": "The same sets in the same order, in parallel.",
    "leiden_communities": "Communities of Leiden's quality by another algorithm, in parallel; undirected graphs, no `max_level`, `theta` or negative weights.",
    "modularity": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "",
    "partition_quality": "Partitions that are lists or tuples.",
    "periphery": "By hops; no `e`, `usebounds` or `weight`.",
    "radius": "By hops; no `e`, `usebounds` or `weight`.",
    "transitivity": "Undirected graphs.",
    "triangles": "",
    "weakly_connected_components": "",
    "wiener_index": "By hops.",
}
"""Functions, and what they do not take; NetworkX itself then runs."""

DEFAULTS: dict[str, Any] = {"threads": None, "device": "cpu", "smallest_graph": 200}
"""``networkx.config.backends.ripplet``: threads of a run, ``None`` being one per core; the device of the functions that a GPU
computes, as of :func:`ripplet.communities`; and the number of nodes below which a graph stays with NetworkX, as its conversion
takes as long as the run."""


def get_info() -> dict[str, Any]:
    """Returns what NetworkX shows of the backend."""
    return {
        "backend_name": "ripplet",
        "project": "ripplet",
        "package": "nx_ripplet",
        "short_summary": "Exact, parallel centralities, clustering and label propagation on all cores.",
        "default_config": dict(DEFAULTS),
        "functions": {name: {"additional_docs": docs} for name, docs in FUNCTIONS.items()},
    }
