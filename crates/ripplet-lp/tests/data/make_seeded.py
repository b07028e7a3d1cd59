"""Makes seeded.json: what igraph finds on small graphs with some labels given and fixed.

    pip install igraph && python make_seeded.py > seeded.json

igraph draws its order and its ties, so each graph is run 4000 times and all outcomes are kept:
for each vertex the seed whose label it has, or -1 where no seed's label reaches it. (There igraph
makes labels up.) Graphs: undirected, some in several parts, every other one weighted.
"""

import json
import random

import igraph

RUNS = 4000


def case(number):
    toss = random.Random(number)
    vertices = toss.randrange(7, 13)
    weighted = number % 2 == 1
    pairs = [(s, t) for t in range(vertices) for s in range(t)]
    edges = sorted(toss.sample(pairs, min(len(pairs), toss.randrange(vertices - 2, 2 * vertices))))
    weights = [toss.randrange(1, 5) if weighted else 1 for _ in edges]
    seeds = sorted(toss.sample(range(vertices), toss.randrange(1, 4)))
    graph = igraph.Graph(n=vertices, edges=edges)
    initial = [seeds.index(v) if v in seeds else -1 for v in range(vertices)]
    fixed = [v in seeds for v in range(vertices)]
    found = set()
    for run in range(RUNS):
        igraph.set_random_number_generator(random.Random(run))
        labels = graph.community_label_propagation(
            weights=weights if weighted else None, initial=initial, fixed=fixed
        ).membership
        seed_of = {labels[seed]: seed for seed in seeds}
        found.add(tuple(seed_of.get(label, -1) for label in labels))
    return {
        "vertices": vertices,
        "edges": [[s, t, w] for (s, t), w in zip(edges, weights)],
        "weighted": weighted,
        "seeds": seeds,
        "outcomes": sorted(found),
    }


def main():
    cases = [case(number) for number in range(24)]
    lines = ",\n".join(json.dumps(case) for case in cases)
    print(f'{{"igraph": "{igraph.__version__}", "cases": [\n{lines}\n]}}')


if __name__ == "__main__":
    main()
