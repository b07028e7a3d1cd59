"""Processes that a launcher of MPI started share a run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import ripplet as rp

LAUNCHERS = {"mpich": "RIPPLET_MPICH", "openmpi": "RIPPLET_OPENMPI"}
EDGES = [(a, a * 7 % 90) for a in range(90)] + [(a, (a + 1) % 90) for a in range(90)]

PLAIN = f"""
    import ripplet as rp
    g = rp.graph({EDGES!r})
    alone = rp.communities(g, threads=1)
"""
SHARED = """
    c = rp.communities(g, ranks="mpi", rank_deadline=30, threads=1)
    assert c.labels.tolist() == alone.labels.tolist() and c.modularity == alone.modularity
    assert [(r.changed, r.visited, r.scanned) for r in c.rounds] == [(r.changed, r.visited, r.scanned) for r in alone.rounds]
"""


def mpirun(mpi: str, processes: int, *parts: str) -> subprocess.CompletedProcess[str]:
    """Runs a script in processes that share runs; it must end within two minutes."""
    script = "".join(map(textwrap.dedent, parts))
    folder = os.environ.get(LAUNCHERS[mpi])
    if folder is None:
        assert "RIPPLET_REQUIRE_MPI" not in os.environ, f"{LAUNCHERS[mpi]} is not set"
        pytest.skip(f"{LAUNCHERS[mpi]} names no MPI")
    environment = {
        **os.environ,
        "PATH": f"{folder}/bin{os.pathsep}{os.environ['PATH']}",
        "LD_LIBRARY_PATH": f"{folder}/lib{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}",
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }
    options = ["--oversubscribe"] if mpi == "openmpi" else []
    command = [str(Path(folder, "bin/mpirun")), *options, "-n", str(processes), sys.executable, "-c", script]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


@pytest.fixture(params=LAUNCHERS)
def mpi(request: Any) -> str:
    return str(request.param)


def test_processes_that_share_runs_have_the_communities_of_one(mpi: str) -> None:
    script = """
    for options in ({"program": "cdlp"}, {"schedule": "sync", "merge": "off"}, {"program": "llp", "gamma": 0.5}, {"rank_labels": "ghosts"},
                    {"rank_labels": "all", "program": "llp"}):
        found = rp.communities(g, ranks="auto", rank_deadline=30, **options)
        assert found.labels.tolist() == rp.communities(g, **options).labels.tolist(), options
    try:
        rp.communities(g, refine="modularity", ranks="mpi", rank_deadline=30)
    except rp.RippletError as error:
        assert "not possible on several ranks" in str(error), error
    else:
        raise AssertionError("refined")
    assert rp.communities(g, ranks="mpi", rank_deadline=30, seed=3).labels.tolist() == rp.communities(g, seed=3).labels.tolist()
    print("done")
    """
    ran = mpirun(mpi, 3, PLAIN, SHARED, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 3, (ran.stdout, ran.stderr)


def test_processes_that_share_analyses_have_the_values_of_one(mpi: str) -> None:
    script = """
    runs = [
        (rp.pagerank, {}), (rp.pagerank, {"personalize": [3, 5], "iterations": 7}), (rp.components, {}), (rp.lcc, {}),
        (rp.lcc, {"definition": "fagiolo"}), (rp.triangles, {}),
    ]
    for function, options in runs:
        shared = function(g, ranks="mpi", rank_deadline=30, **options)
        one = function(g, **options)
        assert shared.values.tobytes() == one.values.tobytes(), (function, options)
        assert shared.device == "cpu" and repr(shared) == repr(one).replace(one.device, "cpu")
    try:
        rp.lcc(g, ranks="mpi", rank_deadline=30, device="cuda")
    except rp.RippletError as error:
        assert "leave the device" in str(error), error
    else:
        raise AssertionError("on a GPU")
    assert rp.communities(g, ranks="mpi", rank_deadline=30).labels.tolist() == alone.labels.tolist()
    print("done")
    """
    ran = mpirun(mpi, 3, PLAIN, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 3, (ran.stdout, ran.stderr)


def test_the_deadline_of_the_first_run_holds_for_all(mpi: str) -> None:
    script = """
    assert rp.communities(g, ranks="mpi", rank_deadline=7).labels.tolist() == alone.labels.tolist()
    assert rp.components(g, ranks="mpi").values.tolist() == rp.components(g).values.tolist()
    rp.communities(g, ranks="mpi", rank_deadline=7)
    try:
        rp.communities(g, ranks="mpi", rank_deadline=60)
    except rp.InputError as error:
        assert "has 7 seconds, which hold for all: leave rank_deadline out" in str(error), error
    else:
        raise AssertionError("another deadline")
    print("done")
    """
    ran = mpirun(mpi, 2, PLAIN, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 2, (ran.stdout, ran.stderr)


def test_processes_share_checkpoints_and_the_failure_of_one(mpi: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    script = f"""
    import os
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")))
    kept = dict(ranks="mpi", rank_deadline=30, threads=1, checkpoint_every=1)
    found = rp.communities(g, checkpoint={str(tmp_path / "kept")!r}, **kept)
    assert found.labels.tolist() == alone.labels.tolist()
    assert rank > 0 or not os.path.exists({str(tmp_path / "kept")!r})
    try:
        rp.communities(g, checkpoint={str(tmp_path / "file")!r}, **kept)
    except rp.RippletError as error:
        print(f"rank {{rank}} has {{type(error).__name__}}: {{error}}", flush=True)
    # The processes are still in step.
    assert rp.communities(g, ranks="mpi", rank_deadline=30, threads=1).labels.tolist() == alone.labels.tolist()
    print("done")
    """
    ran = mpirun(mpi, 2, PLAIN, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 2, (ran.stdout, ran.stderr)
    assert "rank 0 has FileError: " in ran.stdout and "rank 1 has RunError: rank 0 failed: " in ran.stdout, ran.stdout


def test_an_analysis_with_other_options_is_an_error(mpi: str) -> None:
    script = """
    import os
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")))
    try:
        rp.pagerank(g, ranks="mpi", rank_deadline=5, damping=0.8 + rank / 10)
    except rp.RippletError as error:
        print("refused:", error, flush=True)
    """
    ran = mpirun(mpi, 2, PLAIN, script)
    assert "refused: " in ran.stdout and "rank 1" in ran.stdout, (ran.stdout, ran.stderr)
    assert ran.returncode != 0


def test_analyses_of_one_process_need_no_launcher() -> None:
    g = rp.graph([(1, 2), (2, 3)])
    assert rp.components(g, ranks="auto").values.tolist() == [0, 0, 0]
    with pytest.raises(rp.RippletError, match="none started this one"):
        rp.components(g, ranks="mpi")


def test_a_process_with_other_options_is_an_error_in_all(mpi: str) -> None:
    script = """
    import os
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")))
    try:
        rp.communities(g, ranks="mpi", seed=rank)
    except rp.RippletError as error:
        print("refused:", error, flush=True)
    """
    ran = mpirun(mpi, 2, PLAIN, script)
    # The launcher ends the other one with the first that ends, which has the code 1.
    assert "refused: " in ran.stdout and "rank 1" in ran.stdout, (ran.stdout, ran.stderr)
    assert ran.returncode != 0


def test_a_process_that_leaves_ends_the_run_of_the_others(mpi: str) -> None:
    script = """
    import os, sys
    if os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK")) == "1":
        rp.communities(g, ranks="mpi", rank_deadline=5)
        sys.exit()
    rp.communities(g, ranks="mpi", rank_deadline=5)
    try:
        rp.communities(g, ranks="mpi", rank_deadline=5)
    except rp.RippletError as error:
        print("ended:", error, flush=True)
    """
    ran = mpirun(mpi, 2, PLAIN, script)
    assert "ended: " in ran.stdout, (ran.stdout, ran.stderr)


THREADS = """
    import collections, os, sys, threading
    import ripplet as rp
    g, _ = rp.generate.planted(20_000, 200_000)

    def usual_threads(**options):
        # The number that the process has most of the time: others live for a moment.
        numbers, done = collections.Counter(), threading.Event()
        def watch():
            while not done.wait(0.0005):
                numbers[len(os.listdir("/proc/self/task"))] += 1
        watcher = threading.Thread(target=watch)
        watcher.start()
        for _ in range(5):
            rp.communities(g, ranks="mpi", rank_deadline=30, program="cdlp", iterations=40, **options)
        done.set()
        watcher.join()
        return numbers.most_common(1)[0][0]
"""


def test_processes_on_a_machine_divide_its_cores(mpi: str) -> None:
    script = """
    cores = len(os.sched_getaffinity(0))
    # MPI starts with the first run, and with it threads of its own.
    rp.communities(g, ranks="mpi", rank_deadline=30)
    one = usual_threads(threads=1)
    # In one piece, so that lines of two processes do not mix.
    sys.stdout.write(f"cores: {cores} beyond one: {usual_threads() - one} of 4: {usual_threads(threads=4) - one}\\n")
    """
    ran = mpirun(mpi, 2, THREADS, script)
    lines = [line.split() for line in ran.stdout.splitlines() if line.startswith("cores:")]
    assert ran.returncode == 0 and len(lines) == 2, (ran.stdout, ran.stderr)
    for cores, beyond, of_four in ((int(line[1]), int(line[4]), int(line[7])) for line in lines):
        assert of_four == 3, lines
        # Open MPI binds each process to a core of its own.
        assert beyond == (0 if mpi == "openmpi" and cores == 1 else max(1, cores // 2) - 1), lines


def test_the_mpi_of_mpi4py_is_shared(mpi: str) -> None:
    pytest.importorskip("mpi4py")
    script = """
    assert MPI.COMM_WORLD.allreduce(1) == MPI.COMM_WORLD.size == 2
    print("done")
    """
    ran = mpirun(mpi, 2, "from mpi4py import MPI", PLAIN, SHARED, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 2, (ran.stdout, ran.stderr)


def test_an_mpi_for_one_thread_is_refused(mpi: str) -> None:
    pytest.importorskip("mpi4py")
    begin = """
    import mpi4py
    mpi4py.rc.thread_level = "serialized"
    from mpi4py import MPI
    """
    script = """
    try:
        rp.communities(g, ranks="mpi")
    except rp.RippletError as error:
        assert "MPI_THREAD_MULTIPLE" in str(error), error
        print("refused", flush=True)
    """
    ran = mpirun(mpi, 2, begin, PLAIN, script)
    assert ran.stdout.count("refused") == 2, (ran.stdout, ran.stderr)


def test_one_process_is_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    assert rp.communities(EDGES, ranks="auto").labels.tolist() == rp.communities(EDGES).labels.tolist()
    with pytest.raises(rp.InputError, match="mpirun or srun"):
        rp.communities(EDGES, ranks="mpi")
    with pytest.raises(ValueError, match="ranks: expected none, auto or mpi, not two"):
        rp.communities(EDGES, ranks="two")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="rank_labels: expected auto, all or ghosts, not some"):
        rp.communities(EDGES, rank_labels="some")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="86400"):
        rp.communities(EDGES, ranks="auto", rank_deadline=10**6)


ROWS = f"""
    import os, pandas, ripplet as rp
    rank = int(os.environ.get("PMI_RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0")))
    size = int(os.environ.get("PMI_SIZE", os.environ.get("OMPI_COMM_WORLD_SIZE", "1")))
    edges = {EDGES!r}
    def of_rank(name):
        rows = [(name(a), name(b), 1.0 + (a + b) % 5) for a, b in edges]
        # The last process has none.
        own = [row for at, row in enumerate(rows) if at * 7 % 11 % max(1, size - 1) == rank]
        return [pandas.DataFrame(some, columns=["from", "to", "eur"]) for some in (rows, own)]
"""


def test_processes_with_rows_of_their_own_have_the_communities_of_one(mpi: str, tmp_path: Path) -> None:
    script = f"""
    for name, kind in ((int, "int"), (lambda v: v - 40, "signed"), (lambda v: f"u{{v}}", "name")):
        for options in ({{}}, {{"weight": "eur"}}, {{"directed": True}}, {{"rank_labels": "ghosts", "program": "llp", "gamma": 0.5}}):
            whole, own = of_rank(name)
            load = {{key: options[key] for key in ("weight", "directed") if key in options}}
            run = {{key: options[key] for key in ("program", "gamma") if key in options}}
            alone = rp.communities(rp.graph(whole, source="from", target="to", **load), **run)
            given = own.astype({{"from": str if kind == "name" else "int64", "to": str if kind == "name" else "int64", "eur": float}})
            found = rp.cluster.communities(given, source="from", target="to", rank_deadline=30, **options)
            expected = alone.to_pandas()
            expected["number"] = alone.numbers
            assert (found.rank, found.ranks) == (rank, size) and found.vertices == 90 and found.edges == len(whole), found
            assert len(found) == len(alone) and found.modularity == alone.modularity and found.sizes.tolist() == alone.sizes.tolist()
            assert [r.changed for r in found.rounds] == [r.changed for r in alone.rounds]
            rows = found.to_pandas()
            share = expected[expected["id"].isin(rows["id"])]
            assert len(rows) < 90 and rows.values.tolist() == share[["id", "community", "number"]].values.tolist(), (kind, options)
            rows.to_csv(f"{tmp_path}/{{kind}}-{{len(options)}}-{{'directed' in options}}-{{rank}}.csv", index=False, header=False)
            if rank == 0:
                expected[["id", "community", "number"]].to_csv(f"{tmp_path}/{{kind}}-{{len(options)}}-{{'directed' in options}}.csv", index=False, header=False)
    print("done")
    """
    ran = mpirun(mpi, 3, ROWS, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 3, (ran.stdout, ran.stderr)
    whole = sorted(path for path in tmp_path.iterdir() if not path.stem[-1].isdigit())
    assert len(whole) == 12
    for path in whole:
        # All rows, in the order of the processes, are those of one.
        parts = [path.with_name(f"{path.stem}-{rank}.csv").read_text() for rank in range(3)]
        assert "".join(parts) == path.read_text(), path


def test_the_program_of_the_page_runs(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("mpi4py")
    (program,) = re.findall(r"^```py\n(# mpirun .*?)^```", (ROOT / "docs/python.md").read_text(), re.MULTILINE | re.DOTALL)
    table = pandas.DataFrame(EDGES, columns=["from", "to"]).assign(eur=1.5)
    for folder in ("transfers", "communities"):
        (tmp_path / folder).mkdir()
    for rank in range(2):
        table[rank::2].to_parquet(tmp_path / f"transfers/part-{rank}.parquet")
    ran = mpirun("mpich", 2, f"import os\nos.chdir({str(tmp_path)!r})\n", program)
    assert ran.returncode == 0, (ran.stdout, ran.stderr)
    parts = [pandas.read_parquet(tmp_path / f"communities/part-{rank}.parquet") for rank in range(2)]
    alone = rp.communities(rp.graph(table, source="from", target="to", weight="eur"))
    assert pandas.concat(parts)[["id", "community"]].values.tolist() == alone.to_pandas().values.tolist()


def test_wrong_rows_of_one_process_end_the_call_in_all(mpi: str) -> None:
    script = """
    good = {"source": [1, 2], "target": [2, 3]}
    wrong = [
        ({"source": [1, None], "target": [2, 3]}, rp.InputError, "row 1", rp.RunError, "another process"),
        ({"source": [[1], 2], "target": [2, 3]}, rp.RippletError, "source", rp.RunError, "another process"),
        ({"a": [1], "b": [2], "c": [3]}, rp.InputError, "source", rp.RunError, "another process"),
        ({"source": ["x"], "target": ["y"]}, rp.RippletError, "names", rp.RippletError, "another process"),
        (7, rp.OptionError, "expected a table", rp.RunError, "another process"),
    ]
    for rows, own, says, others, told in wrong:
        try:
            rp.cluster.communities(rows if rank == 1 else good, rank_deadline=30)
        except rp.RippletError as error:
            kind, text = (own, says) if rank == 1 else (others, told)
            assert isinstance(error, kind) and text in str(error), (rank, type(error), str(error))
        else:
            raise AssertionError(rows)
    try:
        rp.cluster.communities({**good, "w": [1.0, 2.0]} if rank else good, weight="w" if rank else None, rank_deadline=30)
    except rp.RippletError as error:
        assert "weights" in str(error) or "another process" in str(error), error
    else:
        raise AssertionError("weights of some")
    assert len(rp.cluster.communities(good, rank_deadline=30)) == 1
    try:
        rp.cluster.communities({"source": [], "target": []}, rank_deadline=30)
    except rp.InputError as error:
        assert "no edges" in str(error), error
    else:
        raise AssertionError("no rows at all")
    print("done")
    """
    ran = mpirun(mpi, 2, ROWS, script)
    assert ran.returncode == 0 and ran.stdout.count("done") == 2, (ran.stdout, ran.stderr)


def test_rows_of_a_process_that_no_launcher_started_are_refused() -> None:
    with pytest.raises(rp.InputError, match="mpirun"):
        rp.cluster.communities({"source": [1], "target": [2]})
    with pytest.raises(rp.OptionError, match="lpa, cdlp or llp"):
        rp.cluster.communities({"source": [1], "target": [2]}, program="slpa")  # type: ignore[arg-type]
