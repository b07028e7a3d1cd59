"""Makes sets of transactions with known bad accounts, and compares `ripplet fraud run` with other methods on them.

    python bench/fraud sets OUT [--sources FOLDER] [--ripplet PATH] [--only NAME,...]
    python bench/fraud run SETS --ripplet PATH [--known SHARE] [--draws N] [--only NAME,...] [--methods NAME,...]
    python bench/fraud speed SET --ripplet PATH [--window DAYS] [--slide DAYS] [--days N] [--repeat N]
    python bench/fraud table RUNS.jsonl...
    python bench/fraud self-test [--ripplet PATH]

`run` and `speed` print one JSON line a measurement; their first line describes the machine and has the versions. What is
compared: baselines.py and speed.py. FOLDER has the sources as their authors publish them, as far as there are any:

    tolokers/edges.csv.gz, tolokers/workers.csv.gz    (source,target; id,banned,f0..f9) of heterophilous-graphs' tolokers.npz
    20K_cycle200.tgz                                  IBM/AMLSim, sample
    soc-sign-bitcoinotc.csv, soc-sign-bitcoinalpha.csv, or .csv.gz    SNAP
    reddit.pt.zip                                     pygod-team/data
"""

import os

# A method has one thread, unless it is told otherwise: threads of OpenMP wait for each other on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parent.parent / "peers"))

import baselines
import compare
import machine
import self_test
import sets
import speed
import table


def main() -> int:
    arguments = command_line().parse_args()
    try:
        arguments.command(arguments)
    except (OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python bench/fraud", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    make = commands.add_parser("sets", help="make the sets")
    make.add_argument("out", type=Path, metavar="OUT")
    make.add_argument("--sources", type=Path, metavar="FOLDER", help="with the files of the real sets")
    make.add_argument("--ripplet", metavar="PATH", help="generates the purchases")
    make.add_argument("--only", type=names, default=[], metavar="NAMES")
    make.set_defaults(command=make_sets)

    run = commands.add_parser("run", help="`score` beside the baselines")
    run.add_argument("sets", type=Path, metavar="SETS", help="folder of sets")
    run.add_argument("--ripplet", required=True, metavar="PATH")
    run.add_argument("--known", type=share, default=0.5, metavar="SHARE", help="of the bad (default: %(default)s)")
    run.add_argument("--draws", type=positive, default=3, metavar="N")
    run.add_argument("--only", type=names, default=[], metavar="NAMES", help="of sets")
    run.add_argument("--methods", type=names, default=[], metavar="NAMES")
    run.set_defaults(command=run_all)

    time = commands.add_parser("speed", help="sliding windows beside pandas, DuckDB and igraph")
    time.add_argument("set", type=Path, metavar="SET")
    time.add_argument("--ripplet", required=True, metavar="PATH")
    time.add_argument("--window", type=positive, default=30, metavar="DAYS")
    time.add_argument("--slide", type=positive, default=1, metavar="DAYS")
    time.add_argument("--days", type=positive, metavar="N", help="only the first days of the set")
    time.add_argument("--repeat", type=positive, default=3, metavar="N")
    time.add_argument("--pipelines", type=names, default=[], metavar="NAMES", help="default: all but `boosting`")
    time.set_defaults(command=run_speed)

    show = commands.add_parser("table", help="means and medians of raw runs, as Markdown")
    show.add_argument("files", nargs="+", metavar="RUNS.jsonl")
    show.set_defaults(command=lambda a: print(table.of(a.files)))

    test = commands.add_parser("self-test", help="check the judge, the sets, the baselines, the tables")
    test.add_argument("--ripplet", metavar="PATH", help="check its score, too")
    test.set_defaults(command=lambda a: self_test.run(a.ripplet))
    return parser


def make_sets(arguments: argparse.Namespace) -> None:
    sets.make_all(arguments.out, arguments.sources, arguments.ripplet, arguments.only)


def run_all(arguments: argparse.Namespace) -> None:
    folders = chosen(arguments.sets, arguments.only)
    unknown = set(arguments.methods) - {"score", "score with table", *baselines.names()}
    if unknown:
        raise ValueError(f"no method {' or '.join(sorted(unknown))}; there are: score, {', '.join(baselines.names())}")
    ripplet = compare.Ripplet(arguments.ripplet, threads=1)
    compare.emit(described(ripplet))
    for folder in folders:
        for line in compare.compare(folder, ripplet, arguments.draws, arguments.known, arguments.methods):
            compare.emit(line)


def run_speed(arguments: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory(prefix="fraud-speed-set-") as out:
        folder = speed.first_days(arguments.set, arguments.days, Path(out)) if arguments.days else arguments.set
        pipelines = speed.Pipelines(folder, arguments.ripplet, arguments.window, arguments.slide)
        lines = speed.time_all(pipelines, arguments.repeat, arguments.pipelines)
        compare.emit(described(compare.Ripplet(arguments.ripplet, threads=1)))
        for line in lines:
            compare.emit(line)


def described(ripplet: compare.Ripplet) -> dict:
    """The machine, the versions of all, and the command."""
    packages = ("numpy", "scipy", "pandas", "scikit-learn", "igraph", "duckdb")
    versions = {"ripplet": ripplet.version(), **{name: version(name) for name in packages}}
    return {**machine.describe(), "versions": versions, "command": ["python", "bench/fraud", *sys.argv[1:]]}


def chosen(folder: Path, only: list[str]) -> list[Path]:
    found = sorted(path.parent for path in folder.glob("*/mapping.toml"))
    if not found:
        raise ValueError(f"{folder} has no sets: python bench/fraud sets {folder}")
    missing = set(only) - {path.name for path in found}
    if missing:
        raise ValueError(f"{folder} has no set {' or '.join(sorted(missing))}")
    return [path for path in found if not only or path.name in only]


def names(text: str) -> list[str]:
    return text.split(",")


def share(text: str) -> float:
    number = float(text)
    if not 0 < number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 1")
    return number


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


if __name__ == "__main__":
    sys.exit(main())
