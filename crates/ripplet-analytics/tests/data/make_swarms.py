"""Writes swarms.json: what networkx and igraph say about weighted graphs and about a batch.

    pip install networkx==3.6.1 igraph==1.0.0
    python make_swarms.py             # in this folder

Values are igraph's, checked against networkx here to 1e-9 (PageRank: 1e-10 each); `wasserman_faust` is
networkx's. `weighted` has lesmis with its own weights and other graphs whose edge between the ids s and t
weighs 1 + s t mod 5, repeated edges once. `batch` has the first ten graphs of ENZYMES, undirected and without
weights. `edges` are sums of shares of ways along edges, each [s, t, value], by rank of the ids; of many there
is every 7th. Names of values are those of make_paths.py.
"""

import json
import math

import igraph
import networkx as nx

from make_lcc import edges
from make_paths import close

NAMES = ["karate", "dolphins", "polbooks", "football"]
IO = "../../../ripplet-io/tests/data"
MANY = 400
STEP = 7


def lesmis():
    with open(f"{IO}/networkit/lesmis.graph") as file:
        lines = [line for line in file if not line.startswith("%")]
    rows = [list(map(int, line.split())) for line in lines[1:]]
    pairs = {}
    for s, row in enumerate(rows):
        for t, weight in zip(row[::2], row[1::2]):
            pairs[min(s, t - 1), max(s, t - 1)] = weight
    return len(rows), pairs


def weighted(name, directed):
    """How many vertices there are, and the weight of each edge, by rank."""
    if name == "lesmis":
        return lesmis()
    pairs = edges(name)
    rank = {v: i for i, v in enumerate(sorted({v for pair in pairs for v in pair}))}
    found = {}
    for s, t in pairs:
        ends = (rank[s], rank[t]) if directed else (min(rank[s], rank[t]), max(rank[s], rank[t]))
        if s != t:
            found[ends] = 1 + s * t % 5
    return len(rank), found


def enzymes():
    with open(f"{IO}/tu/ENZYMES_graph_indicator.txt") as file:
        graph_of = [int(line) for line in file]
    first = {}
    for vertex, graph in enumerate(graph_of):
        first.setdefault(graph, vertex)
    found = [(graph_of.count(graph), {}) for graph in sorted(first)]
    with open(f"{IO}/tu/ENZYMES_A.txt") as file:
        for line in file:
            s, t = (int(part) - 1 for part in line.split(","))
            begin = first[graph_of[s]]
            found[graph_of[s] - 1][1][min(s, t) - begin, max(s, t) - begin] = 1
    return found


def measure(vertices, pairs, directed, weight):
    graph = nx.DiGraph() if directed else nx.Graph()
    graph.add_nodes_from(range(vertices))
    graph.add_weighted_edges_from((s, t, w) for (s, t), w in pairs.items())
    other = igraph.Graph(vertices, list(pairs), directed=directed)
    weights = list(pairs.values()) if weight else None

    def agree(found, second):
        assert all(close(found[v], second[v]) for v in range(vertices))
        return found

    between = agree(
        other.betweenness(directed=directed, weights=weights),
        nx.betweenness_centrality(graph, normalized=False, weight=weight),
    )
    harmonic = agree(
        other.harmonic_centrality(mode="in", normalized=False, weights=weights),
        nx.harmonic_centrality(graph, distance=weight),
    )
    wasserman = nx.closeness_centrality(graph, distance=weight)
    reciprocal = other.closeness(mode="in", normalized=False, weights=weights)
    rank = agree(
        other.pagerank(directed=directed, damping=0.85, weights=weights),
        nx.pagerank(graph, alpha=0.85, tol=1e-14, max_iter=1000, weight=weight),
    )
    along = other.edge_betweenness(directed=directed, weights=weights)
    second = nx.edge_betweenness_centrality(graph, normalized=False, weight=weight)
    for (s, t), value in zip(pairs, along):
        assert close(value, second[(s, t)] if (s, t) in second else second[(t, s)])
    rows = other.distances(mode="out", weights=weights)
    finite = [d for s, row in enumerate(rows) for t, d in enumerate(row) if s != t and d < math.inf]
    component = [0] * vertices
    for members in other.connected_components(mode="weak"):
        for v in members:
            component[v] = min(members)
    sample = sorted([s, t, value] for (s, t), value in zip(pairs, along))
    return {
        "vertices": vertices,
        "pairs_of_edges": [[s, t, w] for (s, t), w in pairs.items()],
        "betweenness": between,
        "reciprocal": [0 if math.isnan(c) else c for c in reciprocal],
        "wasserman_faust": [wasserman[v] for v in range(vertices)],
        "harmonic": harmonic,
        "pagerank": rank,
        "components": component,
        "edges": sample[:: STEP if len(sample) > MANY else 1],
        "edges_sum": math.fsum(along),
        "pairs": len(finite),
        "distances": int(sum(finite)),
        "diameter": int(max(finite, default=0)),
    }


def main():
    cases = {"weighted": [], "batch": []}
    for name in ["lesmis"] + NAMES:
        for directed in [False, True]:
            if name == "lesmis" and directed:
                continue
            found = measure(*weighted(name, directed), directed, "weight")
            cases["weighted"].append({"graph": name, "directed": directed, **found})
    for at, (vertices, pairs) in enumerate(enzymes()):
        found = measure(vertices, pairs, False, None)
        cases["batch"].append({"graph": f"ENZYMES {at + 1}", "directed": False, **found})
    with open("swarms.json", "w") as file:
        json.dump(cases, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
