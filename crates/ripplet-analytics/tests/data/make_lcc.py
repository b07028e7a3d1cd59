"""Writes lcc.json: what networkx and igraph say about the clustering of graphs.

    pip install networkx==3.6.1 igraph==1.0.0
    python make_lcc.py                # in this folder

`triangles` and, of undirected graphs, `ldbc` are networkx's `triangles` and `clustering`, checked
against igraph's local transitivity here; of directed graphs, `ldbc` is the number of arcs of the
subgraph that networkx induces on a vertex's neighbours, over d (d - 1), and `fagiolo` is networkx's
`clustering` of the DiGraph. Vertices are the ids that occur in edges, in ascending order; of a large
graph there is only every 7th, and the sums over all.
"""

import json
import random

import igraph
import networkx as nx

FOLDER = "../../../ripplet-lp/tests/data/altsoph"
NAMES = ["karate", "football", "dolphins", "polbooks", "polblogs", "eu-core"]
LARGE = 200
STEP = 7


def edges(name):
    with open(f"{FOLDER}/{name}.edges") as file:
        return [tuple(map(int, line.split())) for line in file if line.strip()]


def undirected(graph, vertices):
    """networkx's coefficients, if they are igraph's."""
    found = nx.clustering(graph)
    rank = {v: i for i, v in enumerate(vertices)}
    other = igraph.Graph(len(vertices), [(rank[s], rank[t]) for s, t in graph.edges()])
    second = other.transitivity_local_undirected(mode="zero")
    assert all(abs(found[v] - second[rank[v]]) < 1e-12 for v in vertices)
    return [found[v] for v in vertices]


def measure(pairs, directed):
    plain = nx.Graph()
    plain.add_edges_from((s, t) for s, t in pairs if s != t)
    plain.add_nodes_from(v for pair in pairs for v in pair)
    vertices = sorted(plain)
    triangles = nx.triangles(plain)
    case = {"directed": directed, "triangles": [triangles[v] for v in vertices]}
    if not directed:
        return {**case, "ldbc": undirected(plain, vertices), "fagiolo": undirected(plain, vertices)}
    graph = nx.DiGraph()
    graph.add_nodes_from(vertices)
    graph.add_edges_from((s, t) for s, t in pairs if s != t)

    def ldbc(v):
        degree = plain.degree(v)
        return graph.subgraph(plain[v]).number_of_edges() / (degree * (degree - 1)) if degree > 1 else 0

    fagiolo = nx.clustering(graph)
    return {**case, "ldbc": [ldbc(v) for v in vertices], "fagiolo": [fagiolo[v] for v in vertices]}


def files():
    for name in NAMES:
        for directed in (False, True):
            case = measure(edges(name), directed)
            fields = ["triangles", "ldbc", "fagiolo"]
            sums = {f"{field}_sum": sum(case[field]) for field in fields}
            step = STEP if len(case["ldbc"]) > LARGE else 1
            yield {"graph": name, "step": step, **case, **sums, **{f: case[f][::step] for f in fields}}


def small(seed):
    """A random graph of up to 20 vertices with self-loops, repeated and reciprocal edges."""
    toss = random.Random(seed)
    count = toss.randint(8, 20)
    pairs = [(v, v) for v in range(count)]
    pairs += [(toss.randrange(count), toss.randrange(count)) for _ in range(count * toss.randint(2, 8))]
    return {"pairs": pairs, **measure(pairs, seed % 2 == 1)}


def main():
    with open("lcc.json", "w") as file:
        cases = {"files": list(files()), "small": [small(seed) for seed in range(12)]}
        lines = [
            f'"{kind}": [\n' + ",\n".join(json.dumps(case) for case in group) + "\n]"
            for kind, group in cases.items()
        ]
        file.write("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
