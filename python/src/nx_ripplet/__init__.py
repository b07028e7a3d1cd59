"""ripplet as a backend of NetworkX; NetworkX reads this module when it is imported, so it imports nothing."""

from __future__ import annotations

from typing import Any

FUNCTIONS = {
    "betweenness_centrality": "Hops, all nodes as sources; no `k`, `weight` or `endpoints`.",
    "closeness_centrality": "Hops, all nodes; no `u` or `distance`.",
    "clustering": "No `weight`.",
    "connected_components": "",
    "harmonic_centrality": "Hops, all nodes; no `nbunch`, `sources` or `distance`.",
    "label_propagation_communities": "The same sets in the same order, in parallel.",
    "number_connected_components": "",
    "pagerank": "Without weights; no `personalization`, `nstart` or `dangling`.",
    "triangles": "",
    "weakly_connected_components": "",
}
"""Functions, and what they do not take; NetworkX itself then runs."""


def get_info() -> dict[str, Any]:
    """Returns what NetworkX shows of the backend."""
    return {
        "backend_name": "ripplet",
        "project": "ripplet",
        "package": "nx_ripplet",
        "short_summary": "Exact, parallel centralities, clustering and label propagation on all cores.",
        "functions": {name: {"additional_docs": docs} for name, docs in FUNCTIONS.items()},
    }
