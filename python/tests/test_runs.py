"""Runs: results, threads, Ctrl-C, the GIL, pickles."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PGP, ROOT, random_edges

import ripplet as rp
from ripplet._graph import id_column


@pytest.fixture(scope="module")
def pgp() -> rp.Graph:
    return rp.graph(PGP)


@pytest.fixture(scope="module")
def found(pgp: rp.Graph) -> rp.Communities:
    return rp.communities(pgp)


def test_labels_are_a_view(found: rp.Communities) -> None:
    first, second = found.labels, found.labels
    assert first.dtype == np.uint32 and first.shape == (10680,)
    assert np.shares_memory(first, second)
    with pytest.raises(ValueError):
        first[0] = 1
    del second
    kept = rp.communities([(1, 2)]).labels
    assert kept.tolist() == [0, 0]


def test_parts_of_a_result_agree(found: rp.Communities) -> None:
    sets = found.sets()
    assert len(sets) == len(found) == len(found.sizes) == len(found.names)
    assert [len(members) for members in sets] == found.sizes.tolist()
    assert sorted(found.sizes.tolist(), reverse=True) == found.sizes.tolist()
    assert set().union(*sets) == set(found.ids.tolist())
    for number in (0, 5, len(found) - 1):
        members = found.members(number)
        assert set(members.tolist()) == sets[number]
        assert all(found[id] == found.names[number] for id in members[:5].tolist())
        assert (found.numbers[[found.graph.vertex(id) for id in members.tolist()]] == number).all()
    with pytest.raises(IndexError):
        found.members(len(found))
    as_dict = found.to_dict()
    assert as_dict == {id: found[id] for id in found.ids.tolist()}
    quality = found.quality()
    assert quality["communities"] == len(found)
    assert abs(quality["modularity"] - found.modularity) < 1e-12
    assert len(found.rounds) > 1 and found.rounds[0].visited == 10680


def test_tables_of_a_result(found: rp.Communities) -> None:
    pandas, polars, arrow = found.to_pandas(), found.to_polars(), found.to_arrow()
    assert list(pandas.columns) == polars.columns == arrow.column_names == ["id", "community"]
    assert pandas["community"].tolist() == polars["community"].to_list() == arrow["community"].to_pylist()
    assert pandas["id"].tolist() == arrow["id"].to_pylist() == found.ids.tolist()


def test_overlapping_communities() -> None:
    u, v, _ = random_edges(1)
    found = rp.communities((u, v), program="slpa", iterations=20)
    table = found.to_pandas()
    assert list(table.columns) == ["id", "community", "strength"]
    assert found.overlap and len(table) == int(found.sizes.sum())
    for id, rows in table.groupby("id"):
        assert found[id] == rows["community"].tolist()
    with pytest.raises(rp.InputError, match="overlap"):
        found.quality()


def test_modularity_is_that_of_networkx(found: rp.Communities) -> None:
    nx = pytest.importorskip("networkx")
    u, v, w = random_edges(2)
    for directed in (False, True):
        plain = (nx.DiGraph if directed else nx.Graph)()
        for a, b, weight in zip(u.tolist(), v.tolist(), w.tolist(), strict=True):
            if a != b:
                before = plain.get_edge_data(a, b, {"weight": 0.0})["weight"]
                plain.add_edge(a, b, weight=before + weight)
        for weight in (None, "weight"):
            result = rp.communities(rp.graph(plain, weight=weight))
            expected = nx.community.modularity(plain, result.sets(), weight=weight)
            assert abs(result.modularity - expected) < 1e-9


def test_threads_do_not_change_labels(pgp: rp.Graph, found: rp.Communities) -> None:
    for threads in (1, 2, 5):
        graph = rp.graph(PGP, threads=threads)
        assert (graph.ids == pgp.ids).all()
        assert (rp.communities(graph, threads=threads).labels == found.labels).all()
    refined = [rp.communities(pgp, refine="modularity", threads=threads).labels for threads in (1, 3)]
    assert (refined[0] == refined[1]).all()


def test_pickles_and_copies(found: rp.Communities) -> None:
    for again in [pickle.loads(pickle.dumps(found)), copy.deepcopy(found)]:
        assert again == found and again.sets() == found.sets()
        assert again.modularity == found.modularity and again.reason == found.reason
    u, v, w = random_edges(3)
    named = rp.graph([f"v{id}" for id in u], [f"v{id}" for id in v], w)
    assert pickle.loads(pickle.dumps(named)).ids.tolist() == named.ids.tolist()
    overlap = rp.communities(named, program="slpa")
    assert pickle.loads(pickle.dumps(overlap)).to_dict() == overlap.to_dict()
    state: dict[str, Any] = found._native.state()
    for name, bad in [("labels", b"\1\2\3"), ("members", state["members"][:-4]), ("starts", b""),
                      ("communities", b"\xfe\xff\xff\xff" * len(found))]:
        with pytest.raises(rp.InputError, match="damaged"):
            type(found._native).of_state(found.graph._native, {**state, name: bad})


def test_initial_labels() -> None:
    graph = rp.graph([(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (2, 3)])
    halves = ["a", "a", "a", "b", "b", "b"]
    for labels in [halves, np.array(halves), dict(enumerate(halves)), rp.communities(graph)]:
        found = rp.communities(graph, labels=labels, iterations=0)
        assert found.sets() == [{0, 1, 2}, {3, 4, 5}]


def slow_graph() -> rp.Graph:
    draw = np.random.default_rng(5)
    return rp.graph(draw.integers(0, 60_000, (2, 300_000)))


# Minutes, if nothing ends it.
SLOW: dict[str, Any] = {"program": "slpa", "iterations": 3000, "device": "cpu"}


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Has SIGINT raise KeyboardInterrupt; a process that was started in the background ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_ends_a_run() -> None:
    graph = slow_graph()
    sent: list[float] = []

    def interrupt() -> None:
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.3, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        rp.communities(graph, **SLOW, progress=False)
    took = time.perf_counter() - sent[0]
    timer.join()
    # 200 ms are promised; the machine of the tests may be busy.
    assert took < 1.0, f"{took:.3f} s after Ctrl-C"
    assert rp.communities([(1, 2)]).sets() == [{1, 2}]


def threads_of_runs() -> int:
    """Returns the number of threads of this process that run ripplet's work."""
    count = 0
    for comm in Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(OSError):
            count += comm.read_text().startswith("ripplet")
    return count


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux")
def test_runs_leave_no_threads_behind(pgp: rp.Graph) -> None:
    runs = [
        lambda: rp.seeded(rp.graph([1, 2], [2, 3], [1.0, 2.0]), [1]),
        lambda: rp.estimate(rp.seeded, pgp, [1]),
        lambda: rp.overlapping(pgp, iterations=2),
        lambda: rp.communities(pgp, refine="modularity").quality(),
        lambda: rp.lcc(pgp),
    ]
    for run in runs:
        run()
        begin = time.perf_counter()
        while threads_of_runs() and time.perf_counter() - begin < 2:
            time.sleep(0.01)
        assert threads_of_runs() == 0


def stop_reading(data: Any, begun: threading.Event) -> float:
    """Begins to make a graph, and sends Ctrl-C once it reads; returns the seconds until no thread works on it any more."""
    working: list[int] = []
    sent: list[float] = []

    def interrupt() -> None:
        begun.wait(10)
        time.sleep(0.05)
        working.append(threads_of_runs())
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    interrupting = threading.Thread(target=interrupt)
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        rp.graph(data)
    while threads_of_runs() and time.perf_counter() - sent[0] < 10:
        time.sleep(0.01)
    took = time.perf_counter() - sent[0]
    interrupting.join()
    assert working[0] > 0
    return took


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux")
@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_stops_the_reading_itself(tmp_path: Path) -> None:
    # A pipe without an end: only a reader that stops ends.
    pipe = tmp_path / "edges.csv"
    os.mkfifo(pipe)
    begun, done = threading.Event(), threading.Event()
    text = b"source,target\n" + b"1,2\n2,3\n" * 5000

    def feed() -> None:
        with contextlib.suppress(BrokenPipeError), open(pipe, "wb", buffering=0) as file:
            while not done.is_set():
                file.write(text)
                begun.set()
                time.sleep(0.001)

    feeding = threading.Thread(target=feed)
    feeding.start()
    took = stop_reading(pipe, begun)
    done.set()
    feeding.join()
    assert took < 2.0, f"{took:.3f} s after Ctrl-C, threads still worked"


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are listed on Linux")
@pytest.mark.usefixtures("interrupts")
def test_ctrl_c_stops_a_stream_of_batches() -> None:
    pa = pytest.importorskip("pyarrow")
    begun = threading.Event()
    batch = pa.record_batch({"source": [1, 2], "target": [2, 3]})

    def batches() -> Iterator[Any]:
        while True:
            begun.set()
            yield batch

    took = stop_reading(pa.RecordBatchReader.from_batches(batch.schema, batches()), begun)
    assert took < 2.0, f"{took:.3f} s after Ctrl-C, threads still worked"


@pytest.mark.parametrize("kind", [str, int, np.str_])
def test_a_signal_stops_the_conversion_of_a_column(kind: type) -> None:
    ids: Any = np.arange(3_000_000).astype(np.str_) if kind is np.str_ else [kind(at) for at in range(3_000_000)]
    begin = time.perf_counter()
    id_column(ids, "source")
    whole = time.perf_counter() - begin
    # From outside: another thread of Python could not send one meanwhile.
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, whole / 20)
            begin = time.perf_counter()
            id_column(ids, "source")
            time.sleep(whole)
        took = time.perf_counter() - begin
    finally:
        signal.signal(signal.SIGALRM, before)
    assert took < whole / 2, f"{took:.3f} of {whole:.3f} s"


def test_the_gil_is_released_and_progress_is_told() -> None:
    graph = slow_graph()
    told: list[tuple[str, float | None, int, int | None]] = []
    stop = threading.Event()
    ticks = 0

    def count() -> None:
        nonlocal ticks
        while not stop.is_set():
            ticks += 1
            time.sleep(0.005)

    class Enough(Exception):
        pass

    def progress(stage: str, done: float | None, rounds: int, changed: int | None) -> None:
        told.append((stage, done, rounds, changed))
        if rounds >= 3 and ticks > 5:
            raise Enough

    counter = threading.Thread(target=count)
    counter.start()
    try:
        # What the callable raises ends the run.
        with pytest.raises(Enough):
            rp.communities(graph, **SLOW, progress=progress)
    finally:
        stop.set()
        counter.join()
    assert ticks > 5
    assert max(rounds for _, _, rounds, _ in told) >= 3 and any(changed for *_, changed in told)


def test_a_bar_shows_the_progress(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tqdm")
    from ripplet._progress import reporter

    with reporter(True) as told:
        assert told is not None
        time.sleep(0.6)  # a short run has no bar
        told("running", 0.5, 3, 10)
    shown = capsys.readouterr().err
    assert "running, round 3, 10 changed" in shown and "█" in shown
    with reporter("auto") as told:  # the output is no terminal
        assert told is None
    rp.communities([(1, 2)], progress=True)
    for name in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(rp.OptionError, match="pip install tqdm"):
        rp.communities([(1, 2)], progress=True)
    assert rp.communities([(1, 2)], progress="auto").sets() == [{1, 2}]


def test_threads_of_python_share_a_graph(pgp: rp.Graph, found: rp.Communities) -> None:
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(rp.communities(pgp).labels)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and all((labels == found.labels).all() for labels in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_a_forked_process_runs(pgp: rp.Graph, found: rp.Communities) -> None:
    code = """
import os, sys
import ripplet as rp
first = rp.communities(sys.argv[1])
child = os.fork()
if child == 0:
    again = rp.communities(sys.argv[1])
    os._exit(0 if (again.labels == first.labels).all() else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code, str(PGP)], timeout=60)
    assert done.returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_forked_processes_run_what_their_parent_ran() -> None:
    pytest.importorskip("networkx")
    # A process that waits for threads that it does not have is ended by its alarm.
    code = """
import multiprocessing, os, pickle, random, signal, sys
import networkx as nx
import ripplet as rp
from nx_ripplet.interface import backend

G = nx.barabasi_albert_graph(300, 3, seed=1)

def work(_=None):
    g = rp.graph(sys.argv[1])
    found = rp.communities(g, refine="modularity")
    H = backend.convert_from_nx(G, edge_attrs={"weight": 1})
    return (repr(g), found.labels.tolist(), found.modularity, found.plot().text, pickle.loads(pickle.dumps(g)).edges,
            rp.seeded(g, g.ids[:3].tolist()).labels.tolist(), rp.pagerank(g).values.tolist(), backend.betweenness_centrality(H), backend.pagerank(H),
            list(backend.asyn_lpa_communities(H, seed=random.Random(1))))

first = work()
with multiprocessing.get_context("fork").Pool(2, signal.alarm, [50]) as pool:
    assert all(again == first for again in pool.map(work, range(2)))
child = os.fork()
if child == 0:
    signal.alarm(50)
    os._exit(0 if work() == first else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    graph = ROOT / "examples" / "graphs" / "football.txt"
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code, graph], timeout=120)
    assert done.returncode == 0


@pytest.mark.skipif(shutil.which("cc") is None or not hasattr(os, "fork"), reason="needs a C compiler, and fork")
def test_a_forked_process_does_not_use_the_gpu_of_its_parent(tmp_path: Path) -> None:
    source = ROOT / "crates/ripplet-emulator/src/fakes/driver.c"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", tmp_path / "libcuda.so.1", source], check=True)
    shutil.copy(tmp_path / "libcuda.so.1", tmp_path / "libcuda.so")
    code = """
import os, sys
import ripplet as rp
assert len(rp.devices()["gpus"]) == 1, rp.devices()
before = rp.communities([(1, 2)], device="auto").fallback
child = os.fork()
if child == 0:
    message = ""
    try:
        rp.communities([(1, 2)], device="cuda:0")
    except rp.DeviceError as error:
        message = str(error)
    told = f"forked from process {os.getppid()}"
    found = rp.communities([(1, 2)], device="auto")
    good = told in message and told in found.fallback and told not in before and found.sets() == [{1, 2}]
    os._exit(0 if good else 3)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    environment = {**os.environ, "LD_LIBRARY_PATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, timeout=60)
    assert done.returncode == 0


def test_the_import_is_quick() -> None:
    code = "import numpy, time; t = time.perf_counter(); import ripplet; print(time.perf_counter() - t)"
    runs = [subprocess.run([sys.executable, "-c", code], capture_output=True, text=True) for _ in range(3)]
    # 100 ms are promised; the machine of the tests may be busy.
    assert min(float(run.stdout) for run in runs) < 0.5
