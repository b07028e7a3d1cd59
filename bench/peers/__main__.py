"""Runs ripplet and its peers on one graph and prints one JSON line a run.

    python bench/peers run GRAPH [--truth FILE] [--threads N] [--repeat N] [--peers NAME,...]
    python bench/peers readers EDGELIST [--threads N] [--repeat N]
    python bench/peers overlapping --generator PROGRAM [--grid] [--seeds FIRST-LAST] [--peers NAME,...]
    python bench/peers clustering GRAPH [--threads N] [--repeat N]
    python bench/peers swarms FOLDER... [--threads N] [--repeat N]
    python bench/peers collect SOURCES FOLDER [--generator FILE]
    python bench/peers choosing FOLDER [--graphs NAME,...] [--peers NAME,...] [--threads N] [--repeat N]
    python bench/peers choosing-tables RUNS.jsonl... --pages PAGE.md... [--check]
    python bench/peers table RUNS.jsonl... [--quiet CORES]
    python bench/peers score GRAPH LABELS [--truth FILE]
    python bench/peers pack GRAPH OUT.npz [--truth FILE]
    python bench/peers self-test

GRAPH is a text edge list or an .npz made by `pack`, which loads in a second. The first line of
`run` and `readers` describes the machine. What is timed, and what is not: see ../README.md.
"""

import argparse
import itertools
import json
import math
import sys
from pathlib import Path

import choosing
import clustering
import collection
import machine
import overlapping
import readers
import roster
import score
import self_test
import swarms
import table
from graph import Graph


def main() -> int:
    arguments = command_line().parse_args()
    try:
        arguments.command(arguments)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python bench/peers", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="time label propagation, peers and ripplet")
    run.add_argument("graph", metavar="GRAPH")
    run.add_argument("--truth", metavar="FILE", help="lines of vertex and community, for NMI")
    run.add_argument("--threads", type=positive, default=machine.cores(), metavar="N")
    run.add_argument("--repeat", type=positive, default=5, metavar="N", help="runs of each peer")
    run.add_argument(
        "--peers",
        default=",".join(roster.DEFAULT),
        metavar="NAMES",
        help=f"of {', '.join(roster.PEERS)} (default: %(default)s)",
    )
    run.set_defaults(command=run_peers)

    read = commands.add_parser("readers", help="time the readers of text edge lists")
    read.add_argument("file", metavar="EDGELIST")
    read.add_argument("--threads", type=positive, default=machine.cores(), metavar="N")
    read.add_argument("--repeat", type=positive, default=3, metavar="N")
    read.set_defaults(command=run_readers)

    overlap = commands.add_parser("overlapping", help="slpa beside cdlib's, on LFR graphs")
    overlap.add_argument(
        "--generator",
        type=Path,
        required=True,
        metavar="PROGRAM",
        help="the LFR authors' `benchmark` for undirected, unweighted graphs",
    )
    overlap.add_argument("--grid", action="store_true", help="all 56 cells of the published grid")
    overlap.add_argument("--vertices", type=positive, metavar="N", help="only these, of the grid too")
    overlap.add_argument("--mixing", type=float, default=0.1, metavar="F")
    overlap.add_argument("--memberships", type=positive, default=2, metavar="N")
    overlap.add_argument("--seeds", type=span, default=range(1, 6), metavar="FIRST-LAST")
    overlap.add_argument("--peers", type=names, default=["ripplet", "cdlib"], metavar="NAMES")
    overlap.add_argument(
        "--options", type=str.split, default=[], metavar="TEXT", help="of `ripplet communities`"
    )
    overlap.set_defaults(command=run_overlapping)

    cluster = commands.add_parser("clustering", help="time local clustering coefficients")
    cluster.add_argument("graph", metavar="GRAPH")
    cluster.add_argument("--threads", type=positive, default=machine.cores(), metavar="N")
    cluster.add_argument("--repeat", type=positive, default=5, metavar="N")
    cluster.set_defaults(command=run_clustering)

    swarm = commands.add_parser("swarms", help="time centralities of many small graphs")
    swarm.add_argument("folders", nargs="+", metavar="FOLDER", help="of a TU data set")
    swarm.add_argument("--threads", type=positive, default=machine.cores(), metavar="N")
    swarm.add_argument("--repeat", type=positive, default=5, metavar="N")
    swarm.set_defaults(command=run_swarms)

    gather = commands.add_parser("collect", help="write the graphs of `choosing` into a folder")
    gather.add_argument("sources", metavar="SOURCES", help="folder with clones of the repositories")
    gather.add_argument("folder", metavar="FOLDER")
    gather.add_argument("--generator", metavar="FILE", help="the authors' LFR generator, for overlaps")
    gather.set_defaults(command=lambda a: collection.collect(a.sources, a.folder, a.generator))

    choose = commands.add_parser("choosing", help="time and score all programs on a folder of graphs")
    choose.add_argument("folder", metavar="FOLDER", help="with NAME.el, NAME.truth, NAME.cover")
    choose.add_argument("--graphs", type=names, default=[], metavar="NAMES", help="default: all")
    choose.add_argument("--peers", type=names, default=choosing.PEERS, metavar="NAMES")
    choose.add_argument("--threads", type=positive, default=machine.cores(), metavar="N")
    choose.add_argument("--repeat", type=positive, default=5, metavar="N")
    choose.add_argument("--first-seed", type=positive, default=1, metavar="N", help="of the runs")
    choose.set_defaults(command=run_choosing)

    pages = commands.add_parser("choosing-tables", help="write the tables of `choosing` into pages")
    pages.add_argument("files", nargs="+", metavar="RUNS.jsonl")
    pages.add_argument("--pages", nargs="+", required=True, metavar="PAGE.md")
    pages.add_argument("--check", action="store_true", help="only compare")
    pages.set_defaults(command=lambda a: choosing.fill(a.files, a.pages, a.check))

    show = commands.add_parser("table", help="medians and ratios of raw runs, as Markdown")
    show.add_argument("files", nargs="+", metavar="RUNS.jsonl")
    show.add_argument(
        "--quiet",
        type=float,
        default=math.inf,
        metavar="CORES",
        help="leave out runs during which others kept more cores busy",
    )
    show.set_defaults(command=lambda a: print(table.of(a.files, a.quiet)))

    rate = commands.add_parser("score", help="scores of labels from any program")
    rate.add_argument("graph", metavar="GRAPH")
    rate.add_argument("labels", metavar="LABELS")
    rate.add_argument("--truth", metavar="FILE")
    rate.set_defaults(command=score_labels)

    pack = commands.add_parser("pack", help="write the graph as .npz")
    pack.add_argument("graph", metavar="GRAPH")
    pack.add_argument("out", metavar="OUT.npz")
    pack.add_argument("--truth", metavar="FILE")
    pack.set_defaults(command=lambda a: Graph.load(a.graph, a.truth).save(a.out))

    test = commands.add_parser("self-test", help="check the judge, the loading, the peers")
    test.set_defaults(command=lambda _: self_test.run())
    return parser


def run_peers(arguments: argparse.Namespace) -> None:
    graph = Graph.load(arguments.graph, arguments.truth)
    peers = [roster.load(name, graph, arguments.threads) for name in arguments.peers.split(",")]
    emit(machine.describe())
    # Rounds, not blocks: what else the machine does in a minute then falls on every peer alike.
    for seed, peer in itertools.product(range(1, arguments.repeat + 1), peers):
        run, line = roster.measured(peer, graph, seed)
        emit({"kind": "run", **line, **run.details})


def run_readers(arguments: argparse.Namespace) -> None:
    emit(machine.describe())
    for line in readers.time_all(arguments.file, arguments.repeat, arguments.threads):
        emit(line)


def run_overlapping(arguments: argparse.Namespace) -> None:
    emit(machine.describe())
    one = overlapping.Benchmark(arguments.vertices or 5000, arguments.mixing, arguments.memberships)
    graphs = overlapping.GRID if arguments.grid else [one]
    if arguments.vertices:
        graphs = [graph for graph in graphs if graph.vertices == arguments.vertices]
    peers = arguments.peers
    rest = arguments.generator, arguments.seeds, peers, arguments.options
    for line in itertools.chain.from_iterable(overlapping.compare(graph, *rest) for graph in graphs):
        emit(line)


def run_clustering(arguments: argparse.Namespace) -> None:
    graph = Graph.load(arguments.graph)
    methods = clustering.roster(graph, arguments.threads)
    emit(machine.describe())
    for line in clustering.time_all(graph, methods, arguments.repeat):
        emit(line)


def run_choosing(arguments: argparse.Namespace) -> None:
    emit(machine.describe())
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.repeat)
    options = (arguments.graphs, arguments.peers, arguments.threads, seeds)
    for line in choosing.time_all(arguments.folder, *options):
        emit(line)


def run_swarms(arguments: argparse.Namespace) -> None:
    emit(machine.describe())
    for folder in arguments.folders:
        for line in swarms.time_all(folder, arguments.threads, arguments.repeat):
            emit(line)


def score_labels(arguments: argparse.Namespace) -> None:
    graph = Graph.load(arguments.graph, arguments.truth)
    emit(
        {
            "kind": "score",
            "graph": graph.name,
            **score.of(graph, graph.read_labels(arguments.labels)),
        }
    )


def emit(line: dict) -> None:
    print(json.dumps(line), flush=True)


def span(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def names(text: str) -> list[str]:
    return text.split(",")


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
