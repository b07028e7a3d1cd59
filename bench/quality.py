#!/usr/bin/env python3
"""Measures of communities beside igraph, scikit-learn and cdlib: values, seconds, peak memory.

    ripplet communities g.el -o labels.tsv
    ripplet communities g.el -o truth.tsv --seed 7
    python3 bench/quality.py target/release/ripplet 3 g.el labels.tsv truth.tsv

GRAPH is a list of edges, LABELS and TRUTH are tables of `ripplet`: `id`, `community`. A peer's line has the seconds
that its function takes once everything is in memory; `reading` is what reading and importing take it. ripplet's lines
are whole commands, from files to the answer. A peer is given five minutes. All are medians. Libraries after the files
(`igraph`, `scikit-learn`, `cdlib`) are the only ones that run.
"""
import json
import os
import statistics
import subprocess
import sys
import time

LIMIT = 300
PEERS = [
    *(f"igraph {name}" for name in ["modularity", "nmi", "ari", "vi"]),
    *(f"scikit-learn {name}" for name in ["nmi", "ami", "ari", "homogeneity"]),
    *(f"cdlib {name}" for name in ["nmi_lfk", "nmi_max", "omega"]),
]


def table(path):
    import pandas

    return pandas.read_csv(path, sep="\t").sort_values("id", kind="stable")


def read(peer, labels, truth):
    """What a peer's functions take: a partition as an array, a cover as sets of members."""
    rows = [table(path) for path in (labels, truth)]
    if peer.startswith("cdlib"):
        return [[frozenset(ids) for ids in table.groupby("community")["id"].agg(list)] for table in rows]
    import pandas

    return [pandas.factorize(table["community"])[0] for table in rows]


def of_igraph(name, files, a, b):
    import igraph

    a, b = a.tolist(), b.tolist()
    if name == "modularity":
        import pandas

        edges = pandas.read_csv(files[0], sep=r"\s+", header=None, comment="#", engine="c").to_numpy()
        places = table(files[1])["id"].to_numpy().searchsorted(edges)
        graph = igraph.Graph(n=len(a), edges=places).simplify()
        return lambda: graph.modularity(a)
    method = {"nmi": "nmi", "ari": "adjusted_rand", "vi": "vi"}[name]
    return lambda: igraph.compare_communities(a, b, method=method)


def of_scikit_learn(name, _, a, b):
    from sklearn import metrics

    function = {
        "nmi": metrics.normalized_mutual_info_score,
        "ami": metrics.adjusted_mutual_info_score,
        "ari": metrics.adjusted_rand_score,
        "homogeneity": metrics.homogeneity_score,
    }[name]
    return lambda: function(b, a)


def of_cdlib(name, _, a, b):
    from cdlib.evaluation.internal.omega import Omega
    from cdlib.evaluation.internal.onmi import onmi

    if name == "omega":
        numbered = [dict(enumerate(map(sorted, side))) for side in (a, b)]
        return lambda: Omega(*numbered).omega_score
    vertices = set().union(*a, *b)
    return lambda: onmi(a, b, vertices, {"nmi_lfk": "LFK", "nmi_max": "MGH"}[name])


def measure(peer, *files):
    """Returns the seconds of reading, those of the measure, and its value."""
    begin = time.time()
    library, name = peer.split()
    of_library = {"igraph": of_igraph, "scikit-learn": of_scikit_learn, "cdlib": of_cdlib}[library]
    run = of_library(name, files, *read(peer, *files[1:]))
    middle = time.time()
    value = run()
    return middle - begin, time.time() - middle, value


def once(command):
    """Returns the output of a command and its seconds, or nothing if it takes too long."""
    begin = time.time()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        output, _ = child.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        return None
    assert child.returncode == 0, command
    return output, time.time() - begin


def load():
    with open("/proc/loadavg") as file:
        print("# load", file.read().split()[0], flush=True)


def own(runs, ripplet, graph, labels, truth):
    """Times ripplet and returns its values."""
    values = {}
    base = [ripplet, "quality", graph, labels, "-q"]
    more = {"": [], "--truth": ["--truth", truth], "--per-community": ["--per-community", "figures.parquet"]}
    for name, options in more.items():
        found = [once(base + options) for _ in range(runs)]
        values.update(json.loads(found[0][0]))
        seconds = statistics.median(seconds for _, seconds in found)
        print(f"{seconds:9.3f} s  ripplet quality {name}", flush=True)
    return values


def compare(runs, peer, files, expected):
    found = []
    for _ in range(runs):
        done = once([sys.executable, sys.argv[0], "measure", peer, *files])
        if done is None:
            return print(f"  > {LIMIT} s      {peer}: ended", flush=True)
        found.append(json.loads(done[0]))
    reading, seconds, value = (statistics.median(column) for column in zip(*found))
    same = "equal" if abs(value - expected) < 1e-9 else f"ripplet: {expected!r}"
    print(f"{seconds:9.3f} s  {peer} {value!r}, {same}; reading {reading:.2f} s", flush=True)


def main(ripplet, runs, *rest):
    files, libraries = rest[:3], rest[3:]
    if ripplet == "measure":
        return print(json.dumps(measure(runs, *files)))
    load()
    values = own(int(runs), ripplet, *files)
    for peer in PEERS:
        if peer.split()[1] in values and (not libraries or peer.split()[0] in libraries):
            compare(int(runs), peer, files, values[peer.split()[1]])
    load()


if __name__ == "__main__":
    main(*sys.argv[1:])
