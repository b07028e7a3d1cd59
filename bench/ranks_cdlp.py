"""CDLP on ranks beside libgrape-lite: the same graph files, launcher, ranks and rounds, in turns.

    python bench/ranks_cdlp.py RIPPLET RUN_APP GRAPH… [--ranks 2] [--runs 5]

RUN_APP is libgrape-lite's program of that name (https://github.com/alibaba/libgrape-lite, `examples/analytical_apps`),
GRAPH names a graph of LDBC Graphalytics without its ending: GRAPH.v and GRAPH.e, undirected. `mpirun` is the one of the search
path. All labels are compared. Prints medians and, in parentheses, all runs: seconds of the algorithm as each program says, seconds
of the whole process, and seconds of processor time of all ranks.
"""

import argparse
import json
import resource
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

ROUNDS = 10


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("ripplet")
    parser.add_argument("run_app")
    parser.add_argument("graphs", nargs="+")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    launcher = ["mpirun", "-n", str(given.ranks)]
    version = subprocess.run([given.ripplet, "--version"], capture_output=True, text=True, check=True)
    mpi = subprocess.run(["mpirun", "--version"], capture_output=True, text=True, check=True)
    named = [line.strip() for line in mpi.stdout.splitlines() if "Version" in line or "Open MPI" in line]
    print(f"# {version.stdout.strip()}; MPI: {named[0]}; {given.ranks} ranks, {ROUNDS} rounds, {given.runs} runs in turns")
    for graph in given.graphs:
        figures: dict[str, list[tuple[float, float, float]]] = {}
        for _ in range(given.runs):
            labels = set()
            for name, run in PROGRAMS.items():
                with tempfile.TemporaryDirectory() as folder:
                    seconds, whole, processor, found = measured(run, launcher, given, graph, Path(folder))
                figures.setdefault(name, []).append((seconds, whole, processor))
                labels.add(found)
            if len(labels) != 1:
                raise SystemExit(f"{graph}: the programs found different labels")
        for name, runs in figures.items():
            parts = zip(("algorithm", "process", "processor"), zip(*runs))
            said = ", ".join(f"{part} {statistics.median(of):.3f} ({' '.join(f'{one:.3f}' for one in of)})" for part, of in parts)
            print(f"{Path(graph).name}, {name}: {said}", flush=True)


def measured(run, launcher: list[str], given, graph: str, folder: Path) -> tuple[float, float, float, int]:
    """Seconds of the algorithm, of the process and of processors, and a hash of the labels in the order of ids."""
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    seconds = run(launcher, given, graph, folder)
    whole, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rows = [row.split() for part in folder.glob("labels*") for row in part.read_text().splitlines()]
    return seconds, whole, processor, hash(tuple(sorted((int(v), int(label)) for v, label in rows)))


def ripplet(launcher: list[str], given, graph: str, folder: Path) -> float:
    out, stats = folder / "labels.txt", folder / "stats.json"
    command = [*launcher, given.ripplet, "communities", f"{graph}.e", "--program", "cdlp", "--iterations", str(ROUNDS)]
    subprocess.run([*command, "-o", out, "--stats", stats], check=True, capture_output=True)
    return json.loads(stats.read_text())["seconds"]["compute"]


def grape(launcher: list[str], given, graph: str, folder: Path, *options: str) -> float:
    files = ["--vfile", f"{graph}.v", "--efile", f"{graph}.e", "--out_prefix", str(folder / "labels")]
    command = [*launcher, given.run_app, *files, "--application", "cdlp", "--cdlp_mr", str(ROUNDS), *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True)
    for part in (folder / "labels").iterdir():
        part.rename(folder / f"labels-{part.name}")
    (folder / "labels").rmdir()
    [line] = [line for line in (said.stdout + said.stderr).splitlines() if "run algorithm" in line]
    return float(line.split(":")[1].split()[0])


PROGRAMS = {
    "ripplet": ripplet,
    "libgrape-lite": grape,
    "libgrape-lite --opt": lambda *given: grape(*given, "--opt"),
}

if __name__ == "__main__":
    main()
