"""The graphs of `choosing`: real ones from public repositories, and generated ones with a truth.

`collect` writes each as NAME.el (edges of vertices 0..n, each once, no loops), with its truth as
NAME.truth (lines of vertex and community) or NAME.cover (the same, several lines a vertex).
"""

import gzip
from dataclasses import dataclass
from pathlib import Path

import networkit
import numpy as np

import overlapping

LABELLED = "community_loglike/datasets"
NETWORKIT, KAHIP, SNAP = "networkit/input", "KaHIP/examples", "SNAPDatasets.jl/data"


@dataclass(frozen=True)
class Source:
    """Where a real graph is, below the folder of all repositories, and of which kind it is."""

    kind: str
    path: str
    truth: str | None = None


def labelled(kind: str, name: str, file: str | None = None) -> Source:
    stem = f"{LABELLED}/{name}/{file or name}"
    return Source(kind, f"{stem}.edges", f"{stem}.clusters")


REAL = {
    "ego-twitter": Source("social", f"{SNAP}/ego-twitter/ego-twitter-undirected.jlg"),
    "soc-slashdot0902": Source("social", f"{SNAP}/soc-slashdot0902/soc-slashdot0902-undirected.jlg"),
    "tolokers": Source("social", "heterophilous-graphs/data/tolokers.npz"),
    "MIT8": Source("social", f"{NETWORKIT}/MIT8.edgelist"),
    "wiki-Vote": Source("social", f"{NETWORKIT}/wiki-Vote.txt"),
    "PGPgiantcompo": Source("social", f"{NETWORKIT}/PGPgiantcompo.graph"),
    "football": labelled("games", "football"),
    "email-enron": Source("e-mail", f"{SNAP}/email-enron/email-enron.jlg"),
    "eu-core": labelled("e-mail", "eu-core"),
    "astro-ph": Source("co-author", f"{NETWORKIT}/astro-ph.graph"),
    "ca-condmat-cc1": Source("co-author", f"{SNAP}/ca-condmat/ca-condmat-cc1.jlg"),
    "hep-th": Source("co-author", f"{NETWORKIT}/hep-th.graph"),
    "arxiv-cit-hep-ph": Source("citation", f"{SNAP}/arxiv_cit/arxiv-cit-hep-ph.jlg"),
    "cora_full": labelled("citation", "cora_full", "cora"),
    "polblogs": labelled("web", "polblogs"),
    "as": labelled("internet", "as"),
    "as-caida20071105": Source("internet", f"{SNAP}/as-caida/as-caida20071105.jlg"),
    "power": Source("power grid", f"{NETWORKIT}/power.graph"),
    "rgg_n_2_15_s0": Source("mesh", f"{KAHIP}/rgg_n_2_15_s0.graph"),
    "wing": Source("mesh", f"{NETWORKIT}/wing.graph"),
    "delaunay_n15": Source("mesh", f"{KAHIP}/delaunay_n15.graph"),
    "4elt": Source("mesh", f"{NETWORKIT}/4elt.graph"),
    "fe_4elt2": Source("mesh", f"{NETWORKIT}/fe_4elt2.graph"),
    "airfoil1": Source("mesh", f"{NETWORKIT}/airfoil1.graph"),
}
"""By kind, and within a kind by edges: the first two of each kind are those of docs/choosing.md."""

LFR = {1000: (10, 50), 5000: (20, 100), 20000: (20, 100)}
"""Vertices of the LFR graphs, and the sizes of their communities."""

MIXING = (0.1, 0.3, 0.5, 0.6)
COVERS = [(mixing, memberships) for mixing in (0.1, 0.3) for memberships in (2, 4)]


def collect(sources: str, folder: str, generator: str | None) -> None:
    """Writes the graphs; those with overlapping communities need the authors' LFR generator."""
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    for name, source in REAL.items():
        edges, ids = simple(read_edges(Path(sources) / source.path))
        save(out, name, edges)
        if source.truth:
            known = read_truth(Path(sources) / source.truth)
            rows = [(v, known[old]) for v, old in enumerate(ids) if old in known]
            save_rows(out / f"{name}.truth", rows)
    for name, edges, truth in lfr_graphs():
        save(out, name, edges)
        save_rows(out / f"{name}.truth", list(enumerate(truth)))
    for mixing, memberships in COVERS if generator else []:
        name = f"overlapping-5000-{mixing}-{memberships}"
        benchmark = overlapping.Benchmark(mixing=mixing, memberships=memberships)
        edges, cover = benchmark.generate(Path(generator), seed=1)
        save(out, name, edges)
        save_rows(out / f"{name}.cover", cover)


def lfr_graphs():
    """NetworKit's LFR graphs: mean degree 10, at most 50, exponents 2 and 1; vertices in random order."""
    networkit.engineering.setSeed(7, False)
    networkit.setNumberOfThreads(1)
    for vertices, sizes in LFR.items():
        for mixing in MIXING:
            generator = networkit.generators.LFRGenerator(vertices)
            generator.generatePowerlawDegreeSequence(10, 50, -2)
            generator.generatePowerlawCommunitySizeSequence(*sizes, -1)
            generator.setMu(mixing)
            edges = np.array(list(generator.generate().iterEdges()))
            order = np.random.default_rng(1).permutation(vertices)
            truth = np.empty(vertices, dtype=int)
            truth[order] = generator.getPartition().getVector()
            yield f"lfr-{vertices}-{mixing}", simple(order[edges])[0], truth


def read_edges(path: Path) -> np.ndarray:
    """A METIS file (`.graph`), arrays (`.npz`: `edges`), or rows of two integers and more."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return arrays["edges"].astype(np.int64)
    lines = [line for line in text_of(path).splitlines() if line.strip() and line[0] not in "#%"]
    if path.suffix != ".graph":
        # A header has letters: names of columns, or of the format.
        rows = [line for line in lines if not any(c.isalpha() for c in line)]
        return np.array([line.replace(",", " ").split()[:2] for line in rows], dtype=np.int64)
    lines = [line for line in text_of(path).splitlines() if not line.startswith("%")]
    head = lines[0].split()
    step = 2 if len(head) > 2 and head[2].endswith("1") else 1
    rows = [(v, int(u) - 1) for v, line in enumerate(lines[1 : int(head[0]) + 1]) for u in line.split()[::step]]
    return np.array(rows, dtype=np.int64)


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode()


def read_truth(path: Path) -> dict[int, int]:
    names: dict[str, int] = {}
    rows = [line.split() for line in text_of(path).splitlines()]
    return {int(row[0]): names.setdefault(row[1], len(names)) for row in rows if len(row) > 1}


def simple(edges: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each edge once, no loops, vertices with an edge from 0 on in the order of their ids; and the ids."""
    edges = edges[edges[:, 0] != edges[:, 1]]
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    ids = np.unique(edges)
    return np.searchsorted(ids, edges), ids


def save(folder: Path, name: str, edges: np.ndarray) -> None:
    save_rows(folder / f"{name}.el", edges)
    print(f"{name}: {edges.max() + 1:,} vertices, {len(edges):,} edges", flush=True)


def save_rows(path: Path, rows) -> None:
    np.savetxt(path, np.array(rows, dtype=np.int64), fmt="%d")
