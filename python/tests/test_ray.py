"""Ray starts ranks on its nodes: on a real Ray of three local ones."""

from __future__ import annotations

import importlib.util
import logging
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

import ripplet as rp

REQUIRED = "RIPPLET_REQUIRE_RAY"
if importlib.util.find_spec("ray") is None:
    assert REQUIRED not in os.environ, f"{REQUIRED} is set, but Ray is not installed"
    pytest.skip("Ray is not installed", allow_module_level=True)
if "RIPPLET_MPICH" not in os.environ:
    assert REQUIRED not in os.environ, f"{REQUIRED} is set, but RIPPLET_MPICH is not"
    pytest.skip("RIPPLET_MPICH names no MPICH", allow_module_level=True)

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import ray
import ray.data

import ripplet.ray

NODES = 3
LIMIT = 400
"""Seconds. The first test takes 10, and has taken more than 100 beside other tests on two cores: it starts all of Ray's workers."""
OPTIONS: dict[str, Any] = {"rank_deadline": 30, "start_deadline": 200, "progress": False, "threads": 1}
ENDLESS = {"source": list(range(0, 600, 2)), "target": list(range(1, 600, 2))}
"""Pairs of vertices, which exchange their labels in each round of CDLP."""
WITHOUT_END = {**OPTIONS, "program": "cdlp", "iterations": 1 << 31}


@pytest.fixture(autouse=True)
def ends_in_time() -> Iterator[None]:
    """Ends a test that waits for ever, and with it all tests: while it waits, Ray lets no other exception pass."""

    def late(*_: Any) -> None:
        raise KeyboardInterrupt(f"a test takes more than {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Starts Ray's nodes: with the wheel of MPICH, and as if Slurm had started them."""
    from ray.cluster_utils import Cluster

    (wheel,) = Path(os.environ["RIPPLET_MPICH"]).glob("lib/python3*/site-packages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join([*filter(None, sys.path), str(wheel)]))
        patch.delenv("RIPPLET_MPI", raising=False)
        for name, value in {"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "5", "SLURM_STEP_ID": "0"}.items():
            patch.setenv(name, value)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("RAY_prestart_worker_first_driver", "0")
        node = {"num_cpus": 1, "object_store_memory": 256 << 20}
        found = Cluster(initialize_head=True, head_node_args={**node, "num_cpus": 2, "include_dashboard": False})
        try:
            for _ in range(NODES - 1):
                found.add_node(**node)
            ray.init(address=found.address, log_to_driver=False, logging_level=logging.ERROR)
            logging.getLogger("ray.data").setLevel(logging.ERROR)
            ray.data.DataContext.get_current().enable_progress_bars = False
            yield found
        finally:
            ray.shutdown()
            found.shutdown()


def actors() -> list[int]:
    """Returns the ids of the processes of all ranks, of any Ray on this machine."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if command.startswith(b"ray::Rank"):
                found.append(int(folder.name))
    return sorted(found)


def nothing_is_left(before: list[int]) -> None:
    """Waits until no process of a rank is left, nor a placement group."""
    end = time.monotonic() + 40
    while True:
        processes = sorted(set(actors()) - set(before))
        groups = [group["state"] for group in ray.util.placement_group_table().values() if group["state"] != "REMOVED"]
        if not processes and not groups:
            return
        assert time.monotonic() < end, (processes, groups)
        time.sleep(0.1)


def table(kind: str, rows: int = 900) -> pa.Table:
    """Returns edges with a weight, and a column that is not asked for."""
    draw = np.random.default_rng(7)
    source = draw.integers(0, 300, rows)
    target = (source + draw.integers(1, 9, rows)) % 300
    name: Callable[[Any], Any] = {"int": lambda v: v, "signed": lambda v: v - 150, "name": lambda v: [f"u{at}" for at in v]}[kind]
    weights = draw.integers(1, 40, rows) / 4
    return pa.table({"note": ["-"] * rows, "from": name(source), "to": name(target), "eur": weights})


def blocks(whole: pa.Table, *sizes: int) -> list[pa.Table]:
    """Returns a table in blocks of these numbers of rows, the last one with all others."""
    ends = np.cumsum([0, *sizes]).tolist()
    return [*(whole.slice(begin, end - begin) for begin, end in zip(ends, ends[1:])), whole.slice(ends[-1])]


def as_text(rows: pa.Table) -> str:
    return str(rows.to_pandas().to_csv(index=False))


@pytest.mark.parametrize(
    "ranks, kind, sizes, load, run",
    [
        ({"ranks": 1}, "int", (1,), {}, {}),
        # Two on a node, which is possible on the first one alone.
        ({"ranks": 2, "strategy": "STRICT_PACK"}, "name", (13, 401, 0), {"weight": "eur"}, {"program": "llp", "gamma": 0.5}),
        # One block less than ranks.
        ({}, "signed", (250,), {"weight": "eur", "directed": True}, {"schedule": "sync", "merge": "off"}),
    ],
)
def test_rows_are_those_of_one_process(
    cluster: Any, ranks: dict[str, Any], kind: str, sizes: tuple[int, ...], load: Any, run: Any
) -> None:
    whole, before = table(kind), actors()
    parts = blocks(whole, *sizes)
    if kind == "signed":
        parts[0] = parts[0].set_column(1, "from", parts[0]["from"].cast("int16"))
    dataset = ray.data.from_pandas([part.to_pandas() for part in parts]) if kind == "int" else ray.data.from_arrow(parts)
    found = rp.ray.communities(dataset, source="from", target="to", **ranks, **load, **run, **OPTIONS)
    alone = rp.communities(rp.graph(whole, source="from", target="to", **load), **run)
    expected = alone.to_pandas()
    expected["number"] = alone.numbers
    tables = ray.get(found.rows.to_arrow_refs())
    assert len(tables) == len(found.nodes) == ranks.get("ranks", NODES)
    assert as_text(pa.concat_tables(tables)) == expected.to_csv(index=False)
    assert found.rows.schema().names == ["id", "community", "number"]
    assert (len(found), found.vertices, found.edges) == (len(alone), len(expected), len(whole)) and len(found) > 5
    assert found.modularity == alone.modularity and found.sizes.tolist() == alone.sizes.tolist()
    assert [r.changed for r in found.rounds] == [r.changed for r in alone.rounds] and found.reason == alone.reason
    assert repr(found) == f"<ripplet.ray.DatasetCommunities: {len(found)} communities of {found.vertices} vertices>"
    nothing_is_left(before)


def test_the_program_of_the_page_runs(cluster: Any, tmp_path: Path) -> None:
    page = (ROOT / "docs/several-machines.md").read_text()
    (program,) = re.findall(r"^```py\n(import ray\n.*?)^```", page, re.MULTILINE | re.DOTALL)
    # To read files takes Ray several processes; what is read is a dataset like others.
    instead = {
        "ranks=16": "ranks=2",
        'ray.data.read_parquet("/data/transfers")': "ray.data.from_arrow(whole)",
        '"/data/': f'"{tmp_path}/',
    }
    for shown, tried in instead.items():
        assert program.count(shown) == 1
        program = program.replace(shown, tried)
    whole = table("name")
    exec(program, {"__name__": "__main__", "whole": whole})
    rows = parquet.read_table(tmp_path / "communities").to_pandas().sort_values("id")
    alone = rp.communities(rp.graph(whole, source="from", target="to", weight="eur"))
    assert rows[["id", "community"]].values.tolist() == alone.to_pandas().values.tolist()


def test_what_cannot_run_is_refused_before_ranks_start(cluster: Any) -> None:
    dataset = ray.data.from_arrow(pa.table({"from": [1, 2], "to": [2, 3]}))
    places = f"at most {NODES} ranks on Ray's {NODES} nodes that have 1 CPUs, not 4: take fewer or start more nodes, or let .*SPREAD"
    wrong: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (dataset, {"ranks": 4}, rp.InputError, places),
        (dataset, {"ranks": 4, "strategy": "STRICT_PACK"}, rp.InputError, "STRICT_PACK places at most 2 ranks .* more nodes$"),
        (dataset, {"ranks": 5, "strategy": "SPREAD"}, rp.InputError, "at most 4 ranks .* more nodes$"),
        (dataset, {"cpus": 3}, rp.InputError, "0 nodes that have 3 CPUs"),
        (dataset, {"ranks": 0}, rp.InputError, "ranks: expected a whole number, 1 or above, not 0"),
        (dataset, {"cpus": 0.5}, rp.InputError, "cpus: expected a whole number"),
        (dataset, {"strategy": "spread"}, rp.OptionError, "strategy: expected STRICT_SPREAD, .*, not 'spread'"),
        (dataset, {"seeed": 1}, rp.OptionError, "has no option seeed: did you mean seed"),
        (dataset, {"rows": 1}, rp.OptionError, "has no option rows"),
        (dataset, {"source": "frm"}, rp.InputError, "source: the dataset has no column 'frm'; the columns are from, to"),
        (dataset, {"source": "from", "target": "to", "weight": "eur"}, rp.InputError, "weight: .* no column 'eur'"),
        (pa.table({"a": [1], "b": [2]}), {}, rp.OptionError, "expected a ray.data.Dataset, not Table"),
        (ray.data.from_arrow(pa.table({"from": [], "to": []})), {}, rp.InputError, "it has no rows"),
        (ray.data.from_items([]), {"source": "from", "target": "to"}, rp.InputError, "it has no rows"),
    ]
    for data, options, kind, message in wrong:
        with pytest.raises(kind, match=message):
            rp.ray.communities(data, **{**OPTIONS, **options})
    assert not [group for group in ray.util.placement_group_table().values() if group["state"] != "REMOVED"]


def test_ray_is_not_waited_for_longer_than_the_deadline(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = ray.data.from_arrow(pa.table({"a": [1, 2], "b": [2, 3]}))
    taken = ray.util.placement_group([{"CPU": 1}] * (NODES + 1), strategy="SPREAD")
    try:
        assert taken.wait(30)
        with pytest.raises(rp.RunError, match="has not reserved 2 times 1 CPUs within 1 seconds: 0 are free"):
            rp.ray.communities(dataset, ranks=2, **{**OPTIONS, "start_deadline": 1})
        # While Ray waits for CPUs, all nodes but one are lost.
        nodes, asked = ray.nodes(), []
        monkeypatch.setattr(ray, "nodes", lambda: (asked.append(1), nodes if len(asked) < 3 else nodes[:1])[1])
        with pytest.raises(rp.InputError, match="places at most 1 ranks on Ray's 1 nodes"):
            rp.ray.communities(dataset, ranks=2, **OPTIONS)
    finally:
        ray.util.remove_placement_group(taken)
    nothing_is_left([])


def test_the_error_of_a_rank_is_raised_with_its_class_and_node(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = actors()
    good = pa.table({"source": [1, 2], "target": [2, 3]})
    wrong = ray.data.from_arrow([good, pa.table({"source": [5, None], "target": [6, 7]})])
    with pytest.raises(rp.InputError, match=r"^rank [01] on [\d.]+: .*row 1") as raised:
        rp.ray.communities(wrong, ranks=2, **OPTIONS)
    assert raised.value.__cause__ is not None
    nothing_is_left(before)
    floats = ray.data.from_arrow(pa.table({"source": [1.5], "target": [2.5]}))
    with pytest.raises(rp.InputError, match=r"^rank 0 on [\d.]+: the column `source` is Float64, but ids are integers or strings"):
        rp.ray.communities(floats, ranks=1, **OPTIONS)
    monkeypatch.setattr(ripplet.ray.native, "version", "0.0.0")
    with pytest.raises(rp.RunError, match=rf"^[\d.]+ has ripplet {rp.__version__}, and this process 0.0.0: install one version"):
        rp.ray.communities(ray.data.from_arrow(good), ranks=1, **OPTIONS)
    nothing_is_left(before)


def test_mpi_that_is_not_installed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RIPPLET_MPI", raising=False)
    monkeypatch.setattr(sys, "path", [path for path in sys.path if not list(Path(path).glob("mpich-*.dist-info"))])
    with pytest.raises(rp.RunError, match="MPI is not installed: pip install mpich"):
        ripplet.ray.start_mpi(0, 1, None)


def test_blocks_of_a_result_have_a_bounded_number_of_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ripplet.ray, "BLOCK_ROWS", 7)
    rank = ripplet.ray.Rank(0, 1)
    for rows, sizes in ((20, [7, 7, 6]), (7, [7]), (0, [0])):
        rank.table = pa.table({"id": list(range(rows))})
        found = list(rank.blocks())
        assert [len(block) for block in found] == sizes and pa.concat_tables(found).equals(rank.table)


def test_ranks_get_as_many_blocks_and_first_those_of_their_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"a": ["n0"], "b": ["n0"], "c": ["n0"], "d": ["n1"], "e": []}
    found = {block: {"node_ids": nodes} for block, nodes in places.items()}
    monkeypatch.setattr(ray.experimental, "get_object_locations", lambda blocks: found)
    # The third block of the first node is one too many for it.
    assert ripplet.ray.shared(list("abcde"), ["n0", "n1", "n2"]) == [["a", "b"], ["c", "d"], ["e"]]
    assert ripplet.ray.shared(["d"], ["n0", "n1"]) == [[], ["d"]]
    assert ripplet.ray.shared(list("ab"), ["n0", "n0"]) == [["a"], ["b"]]


def test_a_rank_that_is_killed_ends_the_run(cluster: Any) -> None:
    before, reports = actors(), []

    def kill(stage: str, done: float | None, rounds: int, changed: int | None) -> None:
        if rounds > 3 and not reports:
            reports.append((rounds, changed))
            os.kill((set(actors()) - set(before)).pop(), signal.SIGKILL)

    begin = time.monotonic()
    with pytest.raises(rp.RunError, match=r"^rank \d on [\d.]+ is lost: .*worker process has died"):
        rp.ray.communities(ray.data.from_arrow(pa.table(ENDLESS)), ranks=2, **{**WITHOUT_END, "progress": kill})
    assert [changed for _, changed in reports] == [600]
    assert time.monotonic() - begin < 60
    nothing_is_left(before)


def test_an_error_of_the_callers_progress_ends_the_run(cluster: Any) -> None:
    before = actors()

    def interrupt(stage: str, done: float | None, rounds: int, changed: int | None) -> None:
        if rounds > 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rp.ray.communities(ray.data.from_arrow(pa.table(ENDLESS)), ranks=2, **{**WITHOUT_END, "progress": interrupt})
    nothing_is_left(before)


def test_the_end_of_the_caller_ends_the_ranks(cluster: Any) -> None:
    script = f"""
    import logging, ray, pyarrow, ripplet.ray
    ray.init(address={cluster.address!r}, log_to_driver=False, logging_level=logging.ERROR)
    dataset = ray.data.from_arrow(pyarrow.table({ENDLESS!r}))
    def report(stage, done, rounds, changed):
        if rounds > 3:
            print("runs", flush=True)
    for ranks in (2, 1):
        try:
            ripplet.ray.communities(dataset, ranks=ranks, **{{**{WITHOUT_END!r}, "progress": report}})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """
    before = actors()
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, env=variables, text=True, stdout=subprocess.PIPE, start_new_session=True) as caller:
        try:
            lines = map(str.strip, caller.stdout or ())
            for ranks, how in ((2, signal.SIGINT), (1, signal.SIGKILL)):
                assert "runs" in lines and len(set(actors()) - set(before)) >= ranks
                caller.send_signal(how)
                assert how == signal.SIGKILL or "interrupted" in lines
            assert caller.wait(timeout=40) == -signal.SIGKILL
        finally:
            caller.kill()
    nothing_is_left(before)


def test_a_node_that_is_lost_ends_the_run(cluster: Any) -> None:
    # The last test: one node less is left.
    before: list[int] = actors()
    gone: list[Any] = []

    def remove(stage: str, done: float | None, rounds: int, changed: int | None) -> None:
        if rounds > 3 and not gone:
            gone.append(list(cluster.worker_nodes)[-1])
            cluster.remove_node(gone[0], allow_graceful=False)

    with pytest.raises(rp.RunError, match=r"^rank \d on [\d.]+ is lost: "):
        rp.ray.communities(ray.data.from_arrow(pa.table(ENDLESS)), **{**WITHOUT_END, "progress": remove})
    assert gone
    nothing_is_left(before)
