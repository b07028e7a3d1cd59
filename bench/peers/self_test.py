"""Checks the scores against networkx and scikit-learn, and everything else that could make a table wrong."""

import json
import os
import sys
import tempfile
from pathlib import Path

import networkx
import numpy as np
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
)

import choosing
import clustering
import covers
import gve
import ripplet
import roster
import score
import table
from graph import UNKNOWN, Graph


def run() -> None:
    """Raises AssertionError at the first thing that is not as it should be."""
    club = networkx.karate_club_graph()
    graph = Graph.of("karate", np.array(club.edges))
    graph.truth = np.array([int(club.nodes[v]["club"] == "Officer") for v in graph.ids])
    check_scores(club, graph)
    check_covers()
    check_connectedness(graph)
    check_pages()
    check_loading(graph)
    check_peers()
    check_clustering(club, graph)
    check_table_of_clustering()
    check_peak_memory()
    print("self-test: all as it should be")


def check_scores(club: networkx.Graph, graph: Graph) -> None:
    rng = np.random.default_rng(7)
    labellings = [rng.integers(0, k, graph.vertices) for k in (1, 2, 5, 34)]
    for labels in [*labellings, graph.truth, np.arange(graph.vertices)]:
        got = score.of(graph, labels)
        groups = [set(np.flatnonzero(labels == label)) for label in np.unique(labels)]
        near(got["modularity"], networkx.community.modularity(club, groups, weight=None))
        near(got["nmi"], normalized_mutual_info_score(graph.truth, labels))
        near(got["ami"], adjusted_mutual_info_score(graph.truth, labels), 1e-9)
        near(got["ari"], adjusted_rand_score(graph.truth, labels))
        assert got["communities"] == len(groups), got
    one = np.zeros(4, dtype=np.int64)
    alone = np.arange(4)
    for a, b in [(one, one), (alone, alone), (one, alone), (alone, one)]:
        near(score.nmi(a, b), normalized_mutual_info_score(a, b))
        near(score.ami(a, b), adjusted_mutual_info_score(a, b))
        near(score.ari(a, b), adjusted_rand_score(a, b))
    a, b = rng.integers(0, 90, 3000), rng.integers(0, 40, 3000)
    near(score.ami(a, a // 2), adjusted_mutual_info_score(a, a // 2), 1e-9)
    near(score.ami(a, b), adjusted_mutual_info_score(a, b), 1e-9)


def check_covers() -> None:
    """Overlapping NMI: the values of the program of McDaid and others, and those of `ripplet quality`."""
    one = cover_of([{0, 1, 2, 3}, {3, 4, 5}, {5, 6, 7, 8, 0}, {9, 10}])
    two = cover_of([{0, 1, 2}, {2, 3, 4, 5}, {6, 7, 8, 9, 5}, {10, 1}, set(range(11)), {4, 10}])
    for a, b in ((one, two), (two, one)):
        near(covers.nmi_lfk(a, b, 11), 0.360693051994, 1e-11)
        near(covers.nmi_max(a, b, 11), 0.372659732507, 1e-11)
    rng = np.random.default_rng(5)
    groups = np.stack([rng.integers(0, 60, 90), rng.integers(0, 7, 90)], axis=1)
    truth = np.concatenate([groups, np.stack([np.arange(60), np.full(60, 8)], axis=1)])
    found = np.stack([np.arange(60), np.arange(60) % 5], axis=1)
    near(covers.nmi_lfk(groups, groups, 60), 1.0)
    near(covers.nmi_max(truth, truth, 60), 1.0)
    near(covers.nmi_max(found, found, 60), 1.0)
    if not ripplet.is_built():
        return
    with tempfile.TemporaryDirectory() as folder:
        edges, a, b = (str(Path(folder) / name) for name in ("e.el", "a.csv", "b.csv"))
        np.savetxt(edges, np.stack([np.arange(60), (np.arange(60) + 1) % 60], axis=1), fmt="%d")
        for left, right in ((found, truth), (truth, found)):
            for path, cover in ((a, left), (b, right)):
                rows = "".join(f"{v},c{c}\n" for v, c in np.unique(cover, axis=0))
                Path(path).write_text("id,community\n" + rows)
            printed = json.loads(ripplet.call("quality", edges, a, "--truth", b))
            near(covers.nmi_lfk(left, right, 60), printed["nmi_lfk"])
            near(covers.nmi_max(left, right, 60), printed["nmi_max"])


def cover_of(communities: list[set[int]]) -> np.ndarray:
    return np.array([(v, number) for number, members in enumerate(communities) for v in members])


def check_connectedness(graph: Graph) -> None:
    assert choosing.disconnected(graph, np.zeros(34, dtype=np.int64)) == 0
    assert choosing.disconnected(graph, np.arange(34)) == 0
    # Vertices 11 and 14 have no edge between them.
    far = np.zeros(34, dtype=np.int64)
    far[[14, 11]] = 1
    assert choosing.disconnected(graph, far) == 1


def check_pages() -> None:
    """The tables of the pages are those of their raw lines."""
    bench = Path(__file__).resolve().parent.parent
    for page, raw in choosing.PAGES.items():
        if (bench / raw).exists():
            choosing.fill([str(bench / raw)], [str(bench / page)], check=True)
    page = "a\n<!-- table x -->\nold\n<!-- end -->\nb\n"
    assert choosing.filled(page, {"x": "new"}) == page.replace("old", "new")
    refused(lambda: choosing.filled(page, {}))


def check_loading(graph: Graph) -> None:
    """Comments, loops, repeated and reversed edges, gaps between ids, an incomplete truth."""
    with tempfile.TemporaryDirectory() as folder:
        edges, truth, packed = (str(Path(folder) / name) for name in ("e.el", "t.txt", "g.npz"))
        ends = graph.ids[graph.pairs] * 1000 + 7
        lines = [f"{u}\t{v} 0.5" for u, v in [*ends, *ends[:9, ::-1], *ends[:9], (7, 7)]]
        Path(edges).write_text("# a comment\n% another\n" + "\n".join(lines) + "\n")
        Path(truth).write_text("".join(f"{v * 1000 + 7} {v % 3}\n" for v in range(20)) + "5 1\n")

        loaded = Graph.load(edges, truth)
        loaded.save(packed)
        for other in (loaded, Graph.load(packed)):
            assert (other.ids == np.arange(34) * 1000 + 7).all()
            assert edge_set(other) == edge_set(graph)
            assert (other.truth[:20] == np.arange(20) % 3).all()
            assert (other.truth[20:] == UNKNOWN).all()


def check_peers() -> None:
    """Ten cliques of ten in a ring, the vertices shuffled: labels at random have NMI below 0.4."""
    ring = networkx.ring_of_cliques(10, 10)
    shuffled = np.random.default_rng(3).permutation(100)
    graph = Graph.of("cliques", shuffled[np.array(ring.edges)])
    graph.truth = np.argsort(shuffled) // 10
    names = list(roster.LIBRARIES)
    for name, (variable, _, _) in gve.PROGRAMS.items():
        if variable in os.environ:
            names.append(f"gve-{name}")
        else:
            print(f"self-test: {variable} is not set; GVE is left out")
    if ripplet.is_built():
        # The guard of LDBC's CDLP is none: it need not find cliques.
        names += [name for name in roster.PEERS if name.startswith("ripplet") and "cdlp" not in name]
    for name in names:
        peer = roster.load(name, graph, threads=2)
        run = peer.run(seed=1)
        assert run.seconds > 0, name
        quality = score.of(graph, run.labels, run.compared)
        assert quality["nmi"] > 0.7, (name, quality)


def check_clustering(club: networkx.Graph, graph: Graph) -> None:
    """All methods give networkx's coefficients, and one that gives others ends the comparison."""
    coefficients = networkx.clustering(club)
    expected = np.array([coefficients[v] for v in graph.ids])
    assert (expected == 0).any(), "a vertex with one neighbour is among them"
    built = ripplet.is_built()
    methods = clustering.roster(graph, 2) if built else clustering.libraries(graph, 2)
    for method in methods:
        found = method.run()
        assert found.seconds > 0, method
        assert np.abs(found.values - expected).max() < 1e-12, method
    if not built:
        print(f"self-test: {ripplet.PROGRAM} is not there; ripplet's own coefficients not compared")
    for line in clustering.time_all(graph, methods, repeat=2):
        assert line["difference"] < 1e-12, line

    def off_by(error: float | np.ndarray, peer: str = "networkit") -> clustering.Method:
        wrong = clustering.Found(expected + error, 1.0)
        return clustering.Method(peer, "0", "wrong", 1, lambda: wrong)

    one = np.zeros(graph.vertices)
    one[20] = 2e-9
    right = off_by(0)
    assert len(list(clustering.time_all(graph, [right, off_by(one / 4)], 1))) == 2
    for wrong in (off_by(one), off_by(-one), off_by(one * np.nan), off_by(one / 4, "ripplet")):
        refused(lambda: list(clustering.time_all(graph, [right, wrong], 1)))
    short = clustering.Method("igraph", "0", "short", 1, lambda: clustering.Found(one[1:], 1.0))
    refused(lambda: list(clustering.time_all(graph, [right, short], 1)))


def check_table_of_clustering() -> None:
    """The faster variant stands for its library, and is compared at its own number of threads."""
    seconds = {
        ("ripplet", "lcc", 2): [1, 9, 2],
        ("ripplet", "lcc", 1): [4, 3, 2],
        ("networkit", "plain", 2): [7, 7, 7],
        ("networkit", "turbo", 2): [5, 5, 8],
        ("igraph", "zero", 1): [6, 6, 6],
    }
    groups = {
        key: [{"variant": key[1], "seconds": s, "difference": 1e-16} for s in times]
        for key, times in seconds.items()
    }
    row = table.table_of_clustering({"`g` | 9": groups}).splitlines()[2]
    cells = "2 [1 … 9] | 3 [2 … 4] | 5 [5 … 8], 2.50 × (turbo) | 6 [6 … 6], 2.00 ×"
    assert row == f"| `g` | 9 | 3 | {cells} | 2.50 × |", row


def check_peak_memory() -> None:
    """A small program started by a large one is not charged with the large one's memory."""
    ballast = np.ones(300_000_000, dtype=np.uint8)
    ripplet.PROGRAM, binary = sys.executable, ripplet.PROGRAM
    small = ripplet.peak_memory_of(["-S", "-c", "pass"])
    large = ripplet.peak_memory_of(["-S", "-c", "b = b'1' * 150_000_000"])
    ripplet.PROGRAM = binary
    del ballast
    assert small < 50e6, small
    assert 150e6 < large < 200e6, large


def edge_set(graph: Graph) -> set[tuple[int, int]]:
    return set(map(tuple, graph.pairs.tolist()))


def refused(call) -> None:
    try:
        call()
    except ValueError:
        return
    raise AssertionError("what should be refused is not")


def near(got: float, expected: float, error: float = 1e-12) -> None:
    assert abs(got - expected) < error, (got, expected)
