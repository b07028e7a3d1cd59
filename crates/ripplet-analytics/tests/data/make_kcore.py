"""Writes kcore.json: igraph's coreness of graphs with loops and repeated edges.

    pip install igraph==1.0.0
    python make_kcore.py              # in this folder

`coreness` is igraph's with mode `all`: a directed graph's arcs count in both directions. Edges are of
networks (the small ones of make_lcc.py), and random ones with loops and repetitions.
"""

import json
import random

import igraph

from make_lcc import edges

NETWORKS = ["karate", "dolphins", "football"]


def main():
    cases = []
    graphs = []
    for name in NETWORKS:
        pairs = edges(name)
        ids = {v: i for i, v in enumerate(sorted({v for pair in pairs for v in pair}))}
        graphs.append((name, len(ids), [(ids[s], ids[t]) for s, t in pairs]))
    draw = random.Random(26)
    for vertices, count in ((20, 60), (50, 400)):
        pairs = [(draw.randrange(vertices), draw.randrange(vertices)) for _ in range(count)]
        graphs.append((f"random with {count} edges", vertices, pairs))
    for name, vertices, pairs in graphs:
        for directed in (False, True):
            found = igraph.Graph(vertices, pairs, directed=directed).coreness(mode="all")
            cases.append(
                {
                    "graph": name,
                    "directed": directed,
                    "vertices": vertices,
                    "edges": pairs,
                    "coreness": found,
                }
            )
    with open("kcore.json", "w") as file:
        json.dump(cases, file, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main()
