"""Writes paths.json: what networkx and igraph say about the distances of graphs.

    pip install networkx==3.6.1 igraph==1.0.0
    python make_paths.py              # in this folder

Values are igraph's, checked against networkx here to 1e-9: `betweenness` unnormalized; `reciprocal` is
igraph's closeness (to a vertex, of those that reach it), `wasserman_faust` networkx's; `harmonic` is the
sum of 1 / distance to a vertex. `pairs` and `distances` are how many ordered pairs have a way, and the sum
of their distances. Vertices are the ids that occur in edges, in ascending order; of a large graph there is
only every 7th, and the sums over all.
"""

import json
import math

import igraph
import networkx as nx

from make_lcc import LARGE, NAMES, STEP, edges


def close(a, b):
    return abs(a - b) <= 1e-9 * max(abs(b), 1)


def measure(pairs, directed):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(sorted({v for pair in pairs for v in pair}))
    graph.add_edges_from((s, t) for s, t in pairs if s != t)
    vertices = sorted(graph)
    rank = {v: i for i, v in enumerate(vertices)}
    other = igraph.Graph(
        len(vertices), [(rank[s], rank[t]) for s, t in graph.edges()], directed=directed
    )
    between = other.betweenness(directed=directed)
    second = nx.betweenness_centrality(graph, normalized=False)
    assert all(close(between[rank[v]], second[v]) for v in vertices)
    reciprocal = [0 if math.isnan(c) else c for c in other.closeness(mode="in", normalized=False)]
    wasserman = nx.closeness_centrality(graph)
    harmonic = nx.harmonic_centrality(graph)
    found = other.harmonic_centrality(mode="in", normalized=False)
    assert all(close(found[rank[v]], harmonic[v]) for v in vertices)
    rows = other.distances(mode="out")
    finite = [d for s, row in enumerate(rows) for t, d in enumerate(row) if s != t and d < math.inf]
    return {
        "directed": directed,
        "betweenness": between,
        "reciprocal": reciprocal,
        "wasserman_faust": [wasserman[v] for v in vertices],
        "harmonic": [harmonic[v] for v in vertices],
        "pairs": len(finite),
        "distances": int(sum(finite)),
    }


def main():
    cases = []
    for name in NAMES:
        for directed in (False, True):
            case = {"graph": name, **measure(edges(name), directed)}
            step = STEP if len(case["harmonic"]) > LARGE else 1
            for key in ("betweenness", "reciprocal", "wasserman_faust", "harmonic"):
                case[key + "_sum"] = math.fsum(case[key])
                case[key] = case[key][::step]
            cases.append({"step": step, **case})
    with open("paths.json", "w") as file:
        json.dump(cases, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
