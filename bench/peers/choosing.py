"""All programs on all graphs of a folder, and the tables of docs/choosing.md and ../real-graphs.md.

A page has its tables between `<!-- table NAME -->` and `<!-- end -->`; `fill` writes them there from the
raw lines. Times are medians, scores are means over the runs.
"""

import itertools
import math
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import mean, median

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

import collection
import covers
import roster
from graph import Graph
from table import lines_of

PROPAGATION = {
    "ripplet phased": "ripplet, default",
    "ripplet async": "ripplet `async`",
    "ripplet cdlp": "ripplet `cdlp`",
    "ripplet llp": "ripplet `llp --sweep 6`",
    "igraph fast": "igraph `fast`",
    "networkit plp": "NetworKit PLP",
    "gve lpa": "GVE-LPA",
}
OPTIMIZERS = {
    "ripplet refine": "ripplet `--resolution 1`",
    "ripplet refine-auto": "ripplet `auto`",
    "gve leiden": "GVE-Leiden",
    "networkit leiden": "NetworKit ParallelLeiden",
    "networkit plm": "NetworKit PLM",
    "igraph leiden": "igraph Leiden",
    "igraph louvain": "igraph Louvain",
    "igraph infomap": "igraph Infomap",
}
AGAINST_TRUTH = {
    "ripplet phased": "ripplet, default",
    "ripplet async": "ripplet `--schedule async`",
    "ripplet cdlp": "ripplet `--program cdlp`",
    "ripplet llp": "ripplet `--program llp --sweep 6`",
    "ripplet refine": "ripplet `--refine modularity --resolution 1`",
    "ripplet refine-auto": "ripplet `--refine modularity`",
    "ripplet slpa": "ripplet `--program slpa`, strongest",
    "ripplet seeded": "ripplet `--program seeded`, 10 % known",
} | {name: title for name, title in (PROPAGATION | OPTIMIZERS).items() if "ripplet" not in name}
README = {
    "ripplet phased": "ripplet, default",
    "ripplet async": "ripplet `--schedule async`",
    "gve lpa": "GVE-LPA",
    "networkit plp": "NetworKit PLP",
    "ripplet refine": "ripplet `--refine modularity --resolution 1`",
    "gve leiden": "GVE-Leiden",
    "networkit leiden": "NetworKit ParallelLeiden",
    "igraph leiden": "igraph Leiden",
}
PEERS = [
    "ripplet-phased", "ripplet-async", "ripplet-cdlp", "ripplet-llp", "ripplet-refine",
    "ripplet-refine-auto", "ripplet-slpa", "ripplet-seeded", "gve-lpa", "gve-leiden", "networkit",
    "networkit-leiden", "networkit-plm", "igraph-fast", "igraph-leiden", "igraph-louvain",
    "igraph-infomap",
]  # fmt: skip
TRUTHS = ["football", "polblogs", "eu-core", "cora_full", "as"]
RAW = "runs/2026-11-27-2-cores/choosing-6d002afa.jsonl"
PAGES = {"../docs/choosing.md": RAW, "real-graphs.md": RAW, "../README.md": RAW}
"""The pages that have tables, and their raw lines, both from `bench/`; the self-test compares them."""

DIGITS = {"modularity": 5, "nmi": 4, "ami": 4, "ari": 4, "onmi": 4, "seconds": 6, "cores_of_others": 2}


def time_all(folder: str, names: list[str], peers: list[str], threads: int, seeds: range) -> Iterator[dict]:
    """A line a run. `seeded` runs on graphs with a truth only.

    Each seed is a round over all graphs: the speed of a machine changes within an hour.
    """
    names = names or sorted(path.stem for path in Path(folder).glob("*.el"))
    for seed, name in itertools.product(seeds, names):
        stem = Path(folder) / name
        truth = stem.with_name(f"{name}.truth")
        graph = Graph.load(f"{stem}.el", str(truth) if truth.is_file() else None)
        cover = stem.with_name(f"{name}.cover")
        groups = np.loadtxt(cover, dtype=np.int64) if cover.is_file() else None
        chosen = [peer for peer in peers if peer != "ripplet-seeded" or graph.truth is not None]
        for peer in [roster.load(peer, graph, threads) for peer in chosen]:
            run, line = roster.measured(peer, graph, seed)
            line = {"kind": "choosing", **line, "disconnected": disconnected(graph, run.labels)}
            if groups is not None:
                alone = np.stack([np.arange(graph.vertices), run.labels], axis=1)
                found = alone if run.cover is None else run.cover
                line["onmi"] = covers.nmi_max(found, groups, graph.vertices)
            yield {key: round(value, DIGITS[key]) if key in DIGITS and value is not None else value
                   for key, value in line.items()}  # fmt: skip


def disconnected(graph: Graph, labels: np.ndarray) -> int:
    """Communities that their own edges do not connect."""
    inner = graph.pairs[labels[graph.pairs[:, 0]] == labels[graph.pairs[:, 1]]]
    shape = (graph.vertices, graph.vertices)
    edges = coo_matrix((np.ones(len(inner), dtype=np.int8), inner.T), shape=shape)
    _, parts = connected_components(edges, directed=False)
    of_part = labels[np.unique(parts, return_index=True)[1]]
    return int((np.unique(of_part, return_counts=True)[1] > 1).sum())


class Runs:
    """The lines of a file, by graph and program."""

    def __init__(self, paths: list[str]):
        self.lines = defaultdict(list)
        self.sizes: dict[str, tuple[int, int]] = {}
        for line in lines_of(paths):
            if line["kind"] == "choosing":
                self.lines[line["graph"], f"{line['peer']} {line['variant']}"].append(line)
                self.sizes[line["graph"]] = line["vertices"], line["edges"]

    def mean(self, graph: str, program: str, field: str) -> float | None:
        values = [line.get(field) for line in self.lines[graph, program]]
        return mean(values) if values and None not in values else None

    def seconds(self, graph: str, program: str) -> float | None:
        values = [line["seconds"] for line in self.lines[graph, program]]
        return median(values) if values else None

    def real(self, few: bool) -> list[str]:
        """Real graphs by kind, all or the first two of each."""
        rank: dict[str, int] = defaultdict(int)
        chosen = []
        for name, source in collection.REAL.items():
            rank[source.kind] += 1
            if name in self.sizes and (not few or rank[source.kind] <= 2):
                chosen.append(name)
        return chosen


def tables(paths: list[str]) -> dict[str, str]:
    """All tables by name."""
    runs = Runs(paths)
    made = {}
    for name, few in (("few", True), ("all", False)):
        graphs = runs.real(few)
        made[f"graphs {name}"] = table_of_graphs(runs, graphs)
        made[f"propagation {name}"] = table_of_programs(runs, graphs, PROPAGATION)
        made[f"optimizers {name}"] = table_of_programs(runs, graphs, OPTIMIZERS)
    made["summary"] = table_of_means(runs, runs.real(False))
    made["truths"] = table_of_truths(runs, TRUTHS)
    generated = sorted((name for name in runs.sizes if name.startswith("lfr-")), key=by_numbers)
    made["lfr few"] = table_of_truths(runs, [name for name in generated if name.endswith(("0.3", "0.5"))])
    made["lfr all"] = table_of_truths(runs, generated)
    made["overlapping"] = table_of_covers(runs)
    made["readme"] = table_of_readme(runs)
    return made


def by_numbers(name: str) -> list[float]:
    return [float(part) for part in name.split("-")[1:]]


def table_of_graphs(runs: Runs, graphs: list[str]) -> str:
    rows = ["| graph | kind | vertices | edges | from |", "|---|---|--:|--:|---|"]
    for name in graphs:
        source, (vertices, edges) = collection.REAL[name], runs.sizes[name]
        rows.append(f"| `{name}` | {source.kind} | {vertices:,} | {edges:,} | `{source.path}` |")
    return "\n".join(rows)


def table_of_programs(runs: Runs, graphs: list[str], programs: dict[str, str]) -> str:
    """A row for each graph: modularity and milliseconds. The highest modularity is bold."""
    rows = [f"| | {' | '.join(programs.values())} |", "|---|" + "--:|" * len(programs)]
    for graph in graphs:
        values = {program: runs.mean(graph, program, "modularity") for program in programs}
        best = max(shown(value) for value in values.values() if value is not None)
        cells = []
        for program, value in values.items():
            if value is None:
                cells.append("")
                continue
            text = fraction(value)
            text = f"**{text}**" if shown(value) == best else text
            cells.append(f"{text} · {milliseconds(runs.seconds(graph, program))} ms")
        rows.append(f"| `{graph}`, {collection.REAL[graph].kind} | {' | '.join(cells)} |")
    return "\n".join(rows)


def table_of_means(runs: Runs, graphs: list[str]) -> str:
    """A row for each program: means over the graphs that all programs ran on."""
    slpa = {"ripplet slpa": "ripplet `slpa`, strongest"}
    programs = PROPAGATION | slpa | {n: t.replace("ripplet", "ripplet `--refine modularity`") if "ripplet" in n else t
                              for n, t in OPTIMIZERS.items()}  # fmt: skip
    both = [graph for graph in graphs if all(runs.lines[graph, program] for program in programs)]
    rows = [
        f"| means over {len(both)} graphs | modularity | graphs where it is igraph Leiden's or higher | time, default = 1 "
        "| time, GVE-Leiden = 1 | communities that are not connected |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for program, title in programs.items():
        modularity = mean(runs.mean(graph, program, "modularity") for graph in both)
        ratios = [ratio(runs, both, program, other) for other in ("ripplet phased", "gve leiden")]
        broken = sum(runs.mean(graph, program, "disconnected") for graph in both)
        high = sum(
            # Beyond what is shown, and not to the last bit, in which sums of equal parts differ.
            round(runs.mean(graph, program, "modularity") - runs.mean(graph, "igraph leiden", "modularity"), 6) >= 0
            for graph in both
        )
        cells = [fraction(modularity), str(high), *(f"{value:.2f}" for value in ratios), f"{broken:,.0f}"]
        rows.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def ratio(runs: Runs, graphs: list[str], program: str, other: str) -> float:
    """The geometric mean of a program's time over another's."""
    logs = [math.log(runs.seconds(graph, program) / runs.seconds(graph, other)) for graph in graphs]
    return math.exp(mean(logs))


def table_of_truths(runs: Runs, graphs: list[str]) -> str:
    """A row for each program: NMI, AMI and ARI on each graph. The highest AMI but seeded's is bold."""
    rows = [f"| NMI, AMI, ARI | {' | '.join(f'`{graph}`' for graph in graphs)} |", "|---|" + "--:|" * len(graphs)]
    values = {
        (graph, program): [runs.mean(graph, program, field) for field in ("nmi", "ami", "ari")]
        for graph in graphs
        for program in AGAINST_TRUTH
        if runs.lines[graph, program]
    }
    best = {
        graph: max(shown(ami) for (other, program), (_, ami, _) in values.items()
                   if other == graph and program != "ripplet seeded")
        for graph in graphs
    }  # fmt: skip
    for program, title in AGAINST_TRUTH.items():
        cells = []
        for graph in graphs:
            if (graph, program) not in values:
                cells.append("")
                continue
            nmi, ami, ari = values[graph, program]
            bold = program != "ripplet seeded" and shown(ami) == best[graph]
            middle = f"**{fraction(ami)}**" if bold else fraction(ami)
            cells.append(f"{fraction(nmi)} {middle} {fraction(ari)}")
        rows.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def table_of_covers(runs: Runs) -> str:
    """A row for each program: overlapping NMI."""
    graphs = sorted((name for name in runs.sizes if name.startswith("overlapping-")), key=by_numbers)
    heads = [f"μ {mixing}, {memberships:.0f} communities" for _, mixing, memberships in map(by_numbers, graphs)]
    rows = [f"| overlapping NMI | {' | '.join(heads)} |", "|---|" + "--:|" * len(graphs)]
    programs = {n: t.replace(", strongest", "") for n, t in AGAINST_TRUTH.items() if n != "ripplet seeded"}
    best = {graph: max(shown(runs.mean(graph, p, "onmi") or 0) for p in programs) for graph in graphs}
    for program, title in programs.items():
        values = {graph: runs.mean(graph, program, "onmi") for graph in graphs}
        cells = [
            "" if value is None else f"**{fraction(value)}**" if shown(value) == best[graph] else fraction(value)
            for graph, value in values.items()
        ]
        rows.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(rows)


def table_of_readme(runs: Runs) -> str:
    """Modularity and time on the largest graph of four kinds, and on all."""
    kinds = ("social", "citation", "internet", "mesh")
    largest = {}
    for name, source in collection.REAL.items():
        largest.setdefault(source.kind, name)
    graphs = [largest[kind] for kind in kinds]
    every = [g for g in runs.real(False) if all(runs.lines[g, program] for program in README)]
    heads = [f"`{graph}`, {runs.sizes[graph][1]:,} edges" for graph in graphs]
    rows = [f"| modularity · time | {' | '.join(heads)} | {len(every)} graphs |", "|---|" + "--:|" * 5]
    for program, title in README.items():
        cells = [
            f"{fraction(runs.mean(graph, program, 'modularity'))} · {milliseconds(runs.seconds(graph, program))} ms"
            for graph in graphs
        ]
        times = ratio(runs, every, program, "ripplet phased")
        modularity = mean(runs.mean(graph, program, "modularity") for graph in every)
        rows.append(f"| {title} | {' | '.join(cells)} | {fraction(modularity)} · {times:.1f} × |")
    return "\n".join(rows)


def shown(value: float) -> float:
    return round(value, 3)


def fraction(value: float) -> str:
    return f"{shown(value) + 0.0:.3f}"


def milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:.1f}" if seconds < 0.00995 else f"{1000 * seconds:.0f}"


MARKED = re.compile(r"<!-- table ([a-z ]+) -->\n.*?<!-- end -->", re.DOTALL)


def filled(text: str, made: dict[str, str]) -> str:
    """A page with its tables."""

    def put(match: re.Match) -> str:
        if match[1] not in made:
            raise ValueError(f"no table is called {match[1]}: there are {', '.join(made)}")
        return f"<!-- table {match[1]} -->\n{made[match[1]]}\n<!-- end -->"

    return MARKED.sub(put, text)


def fill(paths: list[str], pages: list[str], check: bool) -> None:
    """Writes the tables into the pages; with `check`, fails if that would change one."""
    made = tables(paths)
    for page in map(Path, pages):
        text = page.read_text(encoding="utf-8")
        new = filled(text, made)
        if check and new != text:
            raise ValueError(f"{page} differs from the raw lines")
        if not check:
            page.write_text(new, encoding="utf-8")
