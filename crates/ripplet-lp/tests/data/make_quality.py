"""Writes quality.json: what networkx and scikit-learn say about labellings of graphs.

    pip install networkx==3.6.1 scikit-learn==1.9.1 igraph==1.0.0
    python make_quality.py            # in this folder

Modularity is networkx's, checked against igraph's here; coverage is networkx's (weighted: the
same ratio of sums, as networkx has none); connectedness is networkx's; NMI, AMI, ARI, homogeneity and
completeness are scikit-learn's, against the known truth; VI is igraph's. Vertices are the ids that occur in edges.

Labellings, by name: `clusters` and `louvain` are the files; `hash` scatters vertices over 8
labels; `modulo` is id % 3, whose communities fall apart; `one` is 7 for all; `own` is the id plus
4,000,000,000. A vertex without a line in a file has label 4294967294.
"""

import json
import random

import igraph
import networkx as nx
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    completeness_score,
    homogeneity_score,
    normalized_mutual_info_score,
)

NAMES = ["karate", "football", "dolphins", "polbooks", "polblogs", "eu-core"]
UNLISTED = 2**32 - 2


def rows(path):
    with open(path) as file:
        return [tuple(map(int, line.split())) for line in file if line.strip()]


def labels_of(name, labelling, vertices):
    if labelling in ("clusters", "louvain"):
        found = dict(rows(f"altsoph/{name}.{labelling}"))
        return [found.get(v, UNLISTED) for v in vertices]
    rule = {
        "hash": lambda v: (v * 2654435761 % 2**32) >> 29,
        "modulo": lambda v: v % 3,
        "one": lambda v: 7,
        "own": lambda v: v + 4_000_000_000,
    }
    return [rule[labelling](v) for v in vertices]


def measure(graph, vertices, labels, resolution):
    members = {}
    for vertex, label in zip(vertices, labels):
        members.setdefault(label, []).append(vertex)
    communities = list(members.values())
    modularity = nx.community.modularity(graph, communities, "weight", resolution)

    rank = {v: i for i, v in enumerate(vertices)}
    edges = list(graph.edges(data="weight", default=1))
    other = igraph.Graph(
        len(vertices), [(rank[s], rank[t]) for s, t, _ in edges], directed=graph.is_directed()
    )
    dense = {label: i for i, label in enumerate(members)}
    second = other.modularity(
        [dense[label] for label in labels],
        weights=[w for _, _, w in edges],
        resolution=resolution,
        directed=graph.is_directed(),
    )
    assert abs(modularity - second) < 1e-12, (modularity, second)

    label_of = dict(zip(vertices, labels))
    within = sum(w for s, t, w in edges if label_of[s] == label_of[t])
    coverage = within / sum(w for _, _, w in edges)
    if all(w == 1 for _, _, w in edges):
        official, _ = nx.community.partition_quality(graph, communities)
        assert abs(official - coverage) < 1e-12
    plain = graph.to_undirected(as_view=True) if graph.is_directed() else graph
    apart = sum(not nx.is_connected(plain.subgraph(part)) for part in communities)
    return {
        "resolution": resolution,
        "modularity": modularity,
        "coverage": coverage,
        "communities": len(communities),
        "singletons": sum(len(part) == 1 for part in communities),
        "disconnected": apart,
        "smallest": min(map(len, communities)),
        "largest": max(map(len, communities)),
    }


def agreement(truth, labels):
    numbers = {label: at for at, label in enumerate(dict.fromkeys(labels))}
    dense = [numbers[label] for label in labels]
    vi = igraph.compare_communities(truth, dense, method="vi")
    return {
        "nmi": normalized_mutual_info_score(truth, labels),
        "ami": adjusted_mutual_info_score(truth, labels),
        "ari": adjusted_rand_score(truth, labels),
        "vi": vi,
        "homogeneity": homogeneity_score(truth, labels),
        "completeness": completeness_score(truth, labels),
    }


def files():
    for name in NAMES:
        for directed in (False, True):
            graph = nx.DiGraph() if directed else nx.Graph()
            graph.add_edges_from(rows(f"altsoph/{name}.edges"))
            vertices = sorted(graph)
            truth = labels_of(name, "clusters", vertices)
            for labelling in ("clusters", "louvain", "hash", "modulo", "one", "own"):
                labels = labels_of(name, labelling, vertices)
                resolution = 0.5 if labelling == "modulo" else 1
                yield {
                    "graph": name,
                    "directed": directed,
                    "labelling": labelling,
                    **measure(graph, vertices, labels, resolution),
                    **agreement(truth, labels),
                }


def small(seed):
    """A random graph of 12 vertices with self-loops; weights are eighths, exact in binary."""
    toss = random.Random(seed)
    directed, weighted = seed % 2 == 1, seed % 4 >= 2
    graph = nx.DiGraph() if directed else nx.Graph()
    vertices = list(range(12))
    graph.add_nodes_from(vertices)
    for _ in range(30):
        s, t = toss.choice(vertices), toss.choice(vertices)
        weight = toss.randint(1, 99) / 8 if weighted else 1
        graph.add_edge(s, t, weight=weight)
    labels = [toss.choice([0, 5, 2**32 - 2]) for _ in vertices]
    truth = [toss.choice([1, 2, 3, 4]) for _ in vertices]
    return {
        "directed": directed,
        "weighted": weighted,
        "edges": [[s, t, w] for s, t, w in graph.edges(data="weight")],
        "labels": labels,
        "truth": truth,
        **measure(graph, vertices, labels, 1 + seed / 8),
        **agreement(truth, labels),
    }


with open("quality.json", "w") as file:
    cases = {"files": list(files()), "small": [small(seed) for seed in range(16)]}
    lines = [
        f'"{kind}": [\n' + ",\n".join(json.dumps(case) for case in group) + "\n]"
        for kind, group in cases.items()
    ]
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
