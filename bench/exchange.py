#!/usr/bin/env python3
"""Time and peak memory of exchange formats and of drawing: the median of some runs of whole commands.

    ripplet generate planted --vertices 100000 --edges 1000000 -o g1.rg
    python3 bench/exchange.py target/release/ripplet 5 g1        # writes and reads each format
    python3 bench/exchange.py peers 1 g1                         # networkx and igraph read the same files
    python3 bench/exchange.py run 5 ripplet draw g1.rg c.tsv -o g1.html

A line has seconds, seconds of all cores, peak memory, and the command.
"""
import json
import os
import statistics
import subprocess
import sys
import time

FORMATS = ["graphml", "gexf", "gml", "net", "json"]


def once(command):
    begin = time.time()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0, command
    return time.time() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def measure(runs, command):
    wall, cpu, memory = map(statistics.median, zip(*(once(command) for _ in range(runs))))
    print(f"{wall:7.2f} s {cpu:7.2f} s CPU {memory:6.0f} MiB  {' '.join(command)}", flush=True)


def load():
    with open("/proc/loadavg") as file:
        print("# load", file.read().split()[0], flush=True)


def read(peer, path):
    kind = path.rsplit(".", 1)[1]
    if peer == "igraph":
        import igraph

        readers = {"graphml": "Read_GraphML", "gml": "Read_GML", "net": "Read_Pajek"}
        return getattr(igraph.Graph, readers[kind])(path).ecount()
    import networkx as nx

    if kind == "json":
        return nx.node_link_graph(json.load(open(path)), edges="edges").number_of_edges()
    readers = {"graphml": nx.read_graphml, "gexf": nx.read_gexf, "gml": nx.read_gml, "net": nx.read_pajek}
    return readers[kind](path).number_of_edges()


def main(what, runs, *rest):
    if what == "read":
        return read(runs, *rest)
    load()
    if what == "run":
        measure(int(runs), list(rest))
    elif what == "peers":
        for peer, formats in [("igraph", ["graphml", "gml", "net"]), ("networkx", FORMATS)]:
            for kind in formats:
                path = f"{rest[0]}.{kind}"
                measure(int(runs), [sys.executable, sys.argv[0], "read", peer, path])
    else:
        graph = rest[0]
        for kind in FORMATS + ["dot"]:
            measure(int(runs), [what, "convert", f"{graph}.rg", f"{graph}.{kind}", "-q"])
            print(f"# {os.path.getsize(f'{graph}.{kind}'):,} bytes")
        for kind in FORMATS:
            measure(int(runs), [what, "convert", f"{graph}.{kind}", "back.rg", "-q"])
    load()


if __name__ == "__main__":
    main(*sys.argv[1:])
