"""NetworkX functions with and without ripplet as their backend, on graphs of 10^4 to 10^6 edges.

    pip install . networkx        # from the clone
    python3 bench/networkx_backend.py > networkx-backend.jsonl
    python3 bench/networkx_backend.py --table networkx-backend.jsonl

A line is one function on one graph: the seconds of NetworkX, of the conversion, and of ripplet on the converted graph, which
NetworkX keeps; each in wall and CPU seconds of this process, and the cores that others kept busy. Results are compared, a
difference is an error. The table counts the conversion to ripplet. NetworkX's closeness is computed for some nodes and multiplied where all would take
longer than --most seconds; such lines have `of_nodes`.
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import time

EDGES = (10_000, 100_000, 1_000_000)
# Functions that draw at random.
DRAW = {"betweenness_centrality"}
# Edges per node.
DEGREE = 10


def busy_seconds():
    """The CPU seconds of all processes so far."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    return (sum(ticks[:8]) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")


def timed(call):
    """Returns a result, and the median wall and CPU seconds of five runs, or fewer if these take more than a second."""
    runs = []
    while len(runs) < 5 and sum(spent["wall"] for _, spent in runs) < 1:
        runs.append(timed_once(call))
    spent = {part: statistics.median(spent[part] for _, spent in runs) for part in ("wall", "cpu")}
    others = [spent["cores_of_others"] for _, spent in runs if spent["cores_of_others"] is not None]
    return runs[-1][0], {**spent, "runs": len(runs), "cores_of_others": max(others, default=None)}


def timed_once(call):
    """Returns a result, and the wall and CPU seconds and the cores that others kept busy."""
    busy, wall, cpu = busy_seconds(), time.perf_counter(), time.process_time()
    result = call()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    others = max(0.0, busy_seconds() - busy - cpu) / wall if wall > 0.1 else None
    return result, {"wall": round(wall, 6), "cpu": round(cpu, 6), "cores_of_others": others and round(others, 2)}


def close(found, expected):
    if isinstance(expected, dict):
        return all(abs(found[node] - value) <= 1e-9 * max(1, abs(value)) for node, value in expected.items())
    return abs(found - expected) <= 1e-9 if isinstance(expected, float) else list(found) == list(expected)


def measure(arguments):
    import networkx as nx

    from nx_ripplet.interface import backend

    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "networkx": nx.__version__}
    print(json.dumps({"machine": machine, "degree": DEGREE, "graph": "barabasi_albert_graph(edges / 10, 10, seed=1)"}), flush=True)
    for edges in arguments.edges:
        graph = nx.barabasi_albert_graph(edges // DEGREE, DEGREE, seed=1)
        clusters = list(backend.label_propagation_communities(backend.convert_from_nx(graph)))
        if len(clusters) < 10:  # these graphs have no communities; modularity is as fast with any
            nodes = list(graph)
            clusters = [set(nodes[first::100]) for first in range(100)]
        calls = [
            ("label_propagation_communities", {}, None),
            ("betweenness_centrality", {"k": 64}, None),
            ("clustering", {}, None),
            ("modularity", {"communities": clusters}, "weight"),
            ("core_number", {}, None),
            ("closeness_centrality", {}, None),
        ]
        for name, options, attribute in calls:
            if name not in arguments.functions:
                continue
            original = (getattr(nx, name, None) or getattr(nx.community, name)).orig_func
            line = {"function": name, "nodes": len(graph), "edges": graph.number_of_edges()}
            mine, line["conversion"] = timed(
                lambda: backend.convert_from_nx(graph, edge_attrs={attribute: 1} if attribute else None)
            )

            def called(function, graph):
                return function(graph, **options, **({"seed": random.Random(1)} if name in DRAW else {}))

            found, line["ripplet"] = timed(lambda: called(getattr(backend, name), mine))
            print(f"{edges} {name} ripplet {line['ripplet']}", file=sys.stderr, flush=True)
            if name == "closeness_centrality" and len(graph) * edges / 5e6 > arguments.most:
                nodes = random.Random(1).sample(list(graph), arguments.nodes)
                expected, spent = timed(lambda: {node: original(graph, node) for node in nodes})
                factor = len(graph) / len(nodes)
                line |= {"of_nodes": len(nodes), "networkx": {**spent, "wall": spent["wall"] * factor, "cpu": spent["cpu"] * factor}}
            else:
                expected, line["networkx"] = timed(lambda: called(original, graph))
            assert close(found, expected), name
            print(json.dumps(line), flush=True)


def short(seconds):
    return f"{seconds:,.0f}" if seconds >= 10 else f"{seconds:.2g}"


def table(paths):
    print("| function | edges | conversion (s) | ripplet (s) | NetworkX (s) | faster by | CPU: conversion | ripplet | NetworkX | less by |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
    lines = []
    for path in paths:
        with open(path) as file:
            lines += [line for line in map(json.loads, file) if "function" in line]
    for line in lines:
        about = "about " if "of_nodes" in line else ""
        cells = []
        for kind in ("wall", "cpu"):
            conversion, mine, theirs = (line[part][kind] for part in ("conversion", "ripplet", "networkx"))
            cells += [short(conversion), short(mine), about + short(theirs), f"{about}{theirs / (mine + conversion):,.0f}×"]
        print(f"| `{line['function']}` | {line['edges']:,} | {' | '.join(cells)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", metavar="FILE", nargs="+", help="print the table of files of lines")
    parser.add_argument("--edges", type=int, nargs="+", default=EDGES)
    parser.add_argument("--functions", nargs="+", default=["label_propagation_communities", "betweenness_centrality", "clustering",
                                                           "modularity", "core_number", "closeness_centrality"])
    parser.add_argument("--most", type=float, default=60, help="most seconds of NetworkX's closeness (default 60)")
    parser.add_argument("--nodes", type=int, default=20, help="nodes of which its closeness is computed otherwise")
    arguments = parser.parse_args()
    if arguments.table:
        table(arguments.table)
    else:
        measure(arguments)


if __name__ == "__main__":
    main()
