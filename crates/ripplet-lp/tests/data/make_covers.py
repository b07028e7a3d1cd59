"""Writes covers.json: what cdlib, networkx and plain definitions say about communities that overlap.

    pip install networkx==3.6.1 scipy cdlib==0.4.1
    python make_covers.py            # in this folder

Overlapping NMI and the omega index are cdlib's; F1 is its definition, written out. Conductance, density,
connectedness and triangles are networkx's; a community's term of the modularity is its definition, checked against
networkx's modularity where communities are a partition.
"""

import importlib.util
import json
import random
import site
from itertools import combinations
from pathlib import Path

import networkx as nx


def module(name):
    folder = Path(site.getsitepackages()[0]) / "cdlib/evaluation/internal"
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


onmi, omega = module("onmi").onmi, module("omega").Omega
GRAPHS = ["karate", "dolphins", "football", "polbooks"]


def rows(path):
    with open(path) as file:
        return [tuple(map(int, line.split())) for line in file if line.strip()]


def random_cover(toss, vertices, count):
    """Every vertex is in one of the communities, a third in a second one, a tenth in a third."""
    members = [set() for _ in range(count)]
    for vertex in vertices:
        times = 1 + (toss.random() < 1 / 3) + (toss.random() < 1 / 10)
        for community in toss.sample(range(count), min(times, count)):
            members[community].add(vertex)
    return [sorted(community) for community in members if community]


def moved(toss, vertices, cover):
    """The cover with some vertices taken out of a community and some put into another."""
    members = [set(community) for community in cover]
    for vertex in vertices:
        if toss.random() < 0.2:
            members[toss.randrange(len(members))].add(vertex)
        homes = [community for community in members if vertex in community]
        if len(homes) > 1 and toss.random() < 0.3:
            homes[0].remove(vertex)
    return [sorted(community) for community in members if community]


def mean_best_f1(first, second):
    best = lambda one, others: max(2 * len(one & other) / (len(one) + len(other)) for other in others)
    return sum(best(one, second) for one in first) / len(first)


def agreement(first, second):
    first, second = [set(one) for one in first], [set(one) for one in second]
    nodes = set().union(*first) | set().union(*second)
    numbered = lambda cover: {at: sorted(one) for at, one in enumerate(cover)}
    return {
        "nmi_lfk": onmi(first, second, nodes, "LFK"),
        "nmi_max": onmi(first, second, nodes, "MGH"),
        "omega": omega(numbered(first), numbered(second)).omega_score,
        "f1": (mean_best_f1(first, second) + mean_best_f1(second, first)) / 2,
    }


def figures(graph, cover):
    degree = dict(graph.degree(weight="weight"))
    total = sum(degree.values())
    for one in cover:
        inside = graph.subgraph(one)
        weight = lambda edges: sum(w for *_, w in edges)
        inner = list(inside.edges(data="weight", default=1))
        outer = [edge for edge in graph.edges(data="weight", default=1) if (edge[0] in one) != (edge[1] in one)]
        volume = sum(degree[v] for v in one)
        simple = nx.Graph(inside)
        simple.remove_edges_from(list(nx.selfloop_edges(simple)))
        cut = 0 < volume < total
        yield {
            "inner_edges": len(inner),
            "outer_edges": len(outer),
            "inner_weight": weight(inner),
            "outer_weight": weight(outer),
            "conductance": nx.conductance(graph, one, weight="weight") if cut else 0,
            "density": nx.density(simple) if len(one) > 1 else 0,
            "modularity": 2 * weight(inner) / total - (volume / total) ** 2,
            "triangle_participation": sum(count > 0 for count in nx.triangles(simple).values()) / len(one),
            "connected": nx.is_connected(inside),
        }


def case(toss, graph, vertices, count):
    truth = random_cover(toss, vertices, count)
    labels = moved(toss, vertices, truth) if toss.random() < 0.7 else random_cover(toss, vertices, count + 2)
    return {
        "edges": [[s, t, w] for s, t, w in graph.edges(data="weight", default=1)],
        "vertices": vertices,
        "labels": labels,
        "truth": truth,
        "agreement": agreement(labels, truth),
        "communities": list(figures(graph, labels)),
    }


def cases():
    toss = random.Random(7)
    for name in GRAPHS:
        graph = nx.Graph(rows(f"altsoph/{name}.edges"))
        yield case(toss, graph, sorted(graph), 5)
        groups = {}
        for vertex, label in rows(f"altsoph/{name}.clusters"):
            groups.setdefault(label, []).append(vertex)
        partition = [sorted(set(group) & set(graph)) for group in groups.values()]
        found = [sorted(one) for one in nx.community.louvain_communities(graph, seed=1)]
        if set().union(*map(set, partition)) == set(graph):
            terms = sum(one["modularity"] for one in figures(graph, found))
            assert abs(terms - nx.community.modularity(graph, found)) < 1e-12
            yield {
                "edges": [[s, t, 1] for s, t in graph.edges],
                "vertices": sorted(graph),
                "labels": found,
                "truth": partition,
                "agreement": agreement(found, partition),
                "communities": list(figures(graph, found)),
            }
    for seed in range(24):
        toss = random.Random(seed)
        vertices = list(range(14))
        graph = nx.Graph()
        graph.add_nodes_from(vertices)
        for s, t in combinations(vertices, 2):
            if toss.random() < 0.25:
                graph.add_edge(s, t, weight=toss.randint(1, 99) / 8)
        if seed % 3 == 0:
            graph.add_edge(3, 3, weight=2.5)
        yield case(toss, graph, vertices, 1 + seed % 4)


with open("covers.json", "w") as file:
    file.write("[\n" + ",\n".join(json.dumps(case) for case in cases()) + "\n]\n")
