"""Swarms, estimates and data sets: values of the command, and bad input."""

from __future__ import annotations

import csv
import gzip
import json
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PGP, ROOT

import ripplet as rp
from ripplet.hooks import NO_LABEL, Vote, column, u32, u64

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MOLECULES = ROOT / "examples" / "molecules.csv"
FOLDER = ROOT / "examples" / "molecules"

RUNS: list[tuple[str, dict[str, Any], list[str]]] = [
    ("closeness", {}, ["closeness"]),
    ("closeness", {"measure": "wasserman-faust"}, ["closeness", "--measure", "wasserman-faust"]),
    ("harmonic", {"normalized": True}, ["harmonic", "--normalized"]),
    ("betweenness", {}, ["betweenness"]),
    ("betweenness", {"edges": True}, ["betweenness", "--edges"]),
    ("pagerank", {"iterations": 7}, ["pagerank", "--iterations", "7"]),
    ("lcc", {"triangles": True}, ["lcc", "--triangles"]),
    ("lcc", {}, ["lcc"]),
    ("components", {}, ["components"]),
    ("kcore", {}, ["kcore"]),
    ("apsp", {}, ["apsp"]),
    ("apsp", {"rows": "vertices"}, ["apsp", "--rows", "vertices"]),
    ("apsp", {"rows": "graphs"}, ["apsp", "--rows", "graphs"]),
    ("communities", {}, ["communities"]),
    ("communities", {"program": "cdlp", "iterations": 3}, ["communities", "--program", "cdlp", "--iterations", "3"]),
    ("communities", {"seed": 5, "merge": "off", "guard": 0.25}, ["communities", "--seed", "5", "--merge", "off", "--guard", "0.25"]),
]


def molecules() -> dict[str, list[str]]:
    with open(MOLECULES, newline="") as file:
        rows = list(csv.DictReader(file))
    return {"molecule": [row["graph"] for row in rows], "u": [row["source"] for row in rows], "v": [row["target"] for row in rows]}


@pytest.mark.parametrize("name, options, arguments", RUNS, ids=str)
def test_tables_are_the_commands(
    name: str, options: dict[str, Any], arguments: list[str], command: Any, tmp_path: Path
) -> None:
    out = tmp_path / "out.parquet"
    command(arguments[0], MOLECULES, "--batch", *arguments[1:], "-o", out)
    pq = pytest.importorskip("pyarrow.parquet")
    expected = pq.read_table(out)
    swarm = rp.swarm(molecules(), graph="molecule", source="u", target="v")
    for threads in (1, 3):
        found = getattr(swarm, name)(**options, threads=threads, progress=False)
        assert found.to_arrow().equals(expected)
        assert found.device == "cpu" and found.skipped == []


LOUD = """
struct Loud { voice: u32 }

impl Program for Loud {
    type Score = u64;
    fn load_neighbor(&self, v: Vertex, u: Neighbor) -> Vote {
        Vote::new(u.label, if u.id < v.id { self.voice } else { 1 })
    }
    fn label_score(&self, v: Vertex, c: Candidate) -> u64 { c.frequency }
}
"""


@rp.program
class Loud:
    voice: int = 3

    def load_neighbor(self, v, u):
        if u.id < v.id:
            return Vote(u.label, self.voice)
        return Vote(u.label, 1)

    def label_score(self, v, c):
        return c.frequency


@pytest.mark.parametrize("options, arguments", [
    ({}, []),
    ({"seed": 7, "schedule": "sync", "max_iterations": 3}, ["--seed", "7", "--schedule", "sync", "--max-iterations", "3"]),
    ({"merge": 0.2, "keep_disconnected": True, "iterations": 2}, ["--merge", "0.2", "--keep-disconnected", "--iterations", "2"]),
], ids=str)
def test_a_program_of_ones_own_has_the_commands_communities(
    options: dict[str, Any], arguments: list[str], command: Any, tmp_path: Path
) -> None:
    (tmp_path / "loud.rs").write_text(LOUD)
    out = tmp_path / "out.parquet"
    command("communities", MOLECULES, "--batch", "--program-file", tmp_path / "loud.rs", "--param", "voice=3", *arguments, "-o", out)
    pq = pytest.importorskip("pyarrow.parquet")
    expected = pq.read_table(out)
    for swarm in (rp.swarm(molecules(), graph="molecule"), rp.swarm(MOLECULES)):
        for own in (
            {"program_file": tmp_path / "loud.rs", "param": {"voice": 3}},
            {"program": rp.program(LOUD), "param": {"voice": 3}},
            {"program": rp.program(LOUD)(voice=3)},
            {"program": Loud},
            {"program": Loud(voice=9), "param": {"voice": 3}, "threads": 3},
        ):
            assert swarm.communities(**own, **options).to_arrow().equals(expected)
    if not options:
        assert not swarm.communities(program=Loud(voice=1)).to_arrow().equals(expected), "parameters count"


def test_a_program_of_ones_own_finds_what_it_finds_of_each_graph_alone() -> None:
    table = molecules()
    found = rp.swarm(table, graph="molecule").communities(program=Loud, seed=2).to_pandas()
    for molecule in set(table["molecule"]):
        of = [row for row, name in enumerate(table["molecule"]) if name == molecule]
        alone = rp.communities(rp.graph([table["u"][row] for row in of], [table["v"][row] for row in of]), program=Loud, seed=2)
        rows = found[found["graph"] == molecule]
        assert dict(zip(rows["id"], rows["community"], strict=True)) == alone.to_dict()


@rp.program
class Aged:
    age: u32 = column()

    def label_score(self, v, c):
        return c.frequency + u64(v.age)


@rp.program
class Gone:
    def label_score(self, v, c):
        return c.frequency

    def update_vertex(self, v, label, score):
        if v.degree() > 1:
            return label
        return NO_LABEL


BAD_PROGRAMS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"program": "lap"}, ValueError, "lap"),
    ({"program": 7}, TypeError, "program: expected a name, or a program of ripplet.program"),
    ({"program": "lpa", "program_file": "loud.rs"}, ValueError, "leave program out"),
    ({"program_file": "nowhere.rs"}, OSError, "nowhere.rs"),
    ({"program_file": 7}, TypeError, "program_file: expected the path of a file"),
    ({"param": {"voice": 3}}, ValueError, "param is for a program of your own"),
    ({"program": rp.program(LOUD)}, ValueError, "`voice` must be given"),
    ({"program": Loud, "param": {"vioce": 3}}, ValueError, "vioce"),
    ({"program": Loud, "param": [3]}, TypeError, "param: expected a dict"),
    ({"program": Loud, "gamma": 0.5}, ValueError, "gamma is a parameter of llp, but the program is your own"),
    ({"program": Loud, "counter": "mg:8"}, ValueError, "needs every label's exact frequency"),
    ({"program": Loud, "counter": "auto"}, ValueError, "about one graph"),
    ({"program": Loud, "check_program": True}, TypeError, "no option check_program"),
    ({"program": Loud, "vertex_table": {"id": [1]}}, TypeError, "no option vertex_table"),
    ({"program": Aged}, ValueError, "the program needs the column `age`, but the input is a batch, which has no columns"),
    ({"program": Gone}, ValueError, "the program leaves a vertex of the graph acetone without a label"),
]


@pytest.mark.parametrize("options, error, message", BAD_PROGRAMS, ids=lambda value: str(value)[:40])
def test_a_program_that_does_not_fit_is_an_exception(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.swarm(molecules(), graph="molecule").communities(threads=3, **options)
    assert isinstance(raised.value, error)


def test_every_source_gives_the_same_values(tmp_path: Path) -> None:
    columns = molecules()
    expected = rp.swarm(columns, graph="molecule").closeness()
    for source in (pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns)):
        assert rp.swarm(source, graph="molecule", source="u", target="v").closeness().to_arrow().equals(expected.to_arrow())
    for path in (MOLECULES, FOLDER, str(FOLDER)):
        of_files = rp.swarm(path)
        assert of_files.closeness().to_arrow().equals(expected.to_arrow())
        with pytest.raises(rp.OptionError, match="not known before"):
            len(of_files)
    assert rp.datasets.molecules().closeness().to_arrow().equals(expected.to_arrow())
    swarm = rp.swarm(columns, graph="molecule")
    assert len(swarm) == 10 and "10 graphs" in repr(swarm)
    assert pickle.loads(pickle.dumps(expected)).to_arrow().equals(expected.to_arrow())
    with pytest.raises(AttributeError):
        swarm.x = 1  # type: ignore[attr-defined]


def test_values_are_those_of_each_graph_alone() -> None:
    draw = np.random.default_rng(3)
    graphs, u, v = (draw.integers(0, most, 300) for most in (7, 9, 9))
    swarm = rp.swarm({"graph": graphs, "source": u, "target": v, "weight": draw.integers(1, 5, 300)}, weight="weight", directed=True)
    found = swarm.betweenness().to_pandas()
    distances = swarm.apsp(weighted=True).to_pandas()
    for graph in range(7):
        of = graphs == graph
        alone = rp.graph(u[of], v[of], directed=True)
        assert found[found["graph"] == graph]["value"].tolist() == rp.betweenness(alone).values.tolist()
        assert len(distances[distances["graph"] == graph]) == alone.vertices * (alone.vertices - 1)


def test_files_that_are_no_graph_are_skipped_on_demand(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1 2\n2 3\n")
    (tmp_path / "b.txt").write_text("1 2\n3\n")
    with pytest.raises(ValueError, match="b.txt"):
        rp.swarm(tmp_path).kcore()
    found = rp.swarm(tmp_path, on_error="skip").kcore()
    assert len(found) == 3 and [graph for graph, _ in found.skipped] == ["b"]


BAD: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ({"source": ["a"], "target": ["b"]}, {}, ValueError, "no column `graph`"),
    ({"g": [1], "source": ["a"], "target": ["b"]}, {"graph": "molecule"}, ValueError, "no column `molecule`"),
    ({"graph": [1, None], "source": ["a", "b"], "target": ["b", "c"]}, {}, ValueError, "row 1"),
    ({"graph": [1, 1], "source": ["a", 2], "target": ["b", "c"]}, {}, ValueError, "row 1"),
    ({"graph": [1, 1], "source": ["a", "b"], "target": [2, 3]}, {}, ValueError, "make both strings"),
    ({"graph": [1], "source": ["a"], "target": ["b"], "weight": [-1.0]}, {"weight": True}, ValueError, "row 0"),
    ({"graph": [], "source": [], "target": []}, {}, ValueError, "no rows"),
    (7, {}, TypeError, "expected a table"),
    ("nowhere.swarm", {}, OSError, "nowhere.swarm"),
    ({"graph": [1], "source": ["a"], "target": ["b"]}, {"header": True}, TypeError, "of files"),
    ({"graph": [1], "source": ["a"], "target": ["b"]}, {"grpah": "x"}, TypeError, "did you mean graph"),
    ({"graph": [1], "source": ["a"], "target": ["b"]}, {"on_error": "x"}, ValueError, "expected stop or skip"),
]


@pytest.mark.parametrize("data, options, error, message", BAD, ids=lambda value: str(value)[:30])
def test_bad_input_is_an_exception(data: Any, options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.swarm(data, **options)
    assert isinstance(raised.value, error)


def test_a_swarm_is_not_pickled_but_says_what_is() -> None:
    with pytest.raises(rp.OptionError, match="pickle the table or the path that it is made of, or the tables of its methods"):
        pickle.dumps(rp.swarm(molecules(), graph="molecule"))


def test_bad_options_of_runs_are_exceptions() -> None:
    swarm = rp.swarm(molecules(), graph="molecule")
    for wrong in [
        lambda: swarm.apsp(rows="pair"),
        lambda: swarm.closeness(weighted=True),
        lambda: swarm.closeness(measure="x"),
        lambda: swarm.communities(program="slpa"),
        lambda: swarm.communities(gama=1),
        lambda: swarm.pagerank(damping=2.0),
        lambda: swarm.betweenness(device="tpu"),
    ]:
        with pytest.raises(rp.RippletError):
            wrong()


# Estimates.

@pytest.mark.parametrize("function, options, arguments", [
    (rp.communities, {}, ["communities"]),
    (rp.communities, {"program": "llp", "schedule": "sync"}, ["communities", "--program", "llp", "--schedule", "sync"]),
    (rp.communities, {"refine": "modularity"}, ["communities", "--refine", "modularity"]),
    (rp.overlapping, {}, ["communities", "--program", "slpa"]),
    (rp.cdlp, {}, ["communities", "--program", "cdlp"]),
    (rp.betweenness, {}, ["betweenness"]),
    (rp.closeness, {}, ["closeness"]),
    (rp.apsp, {}, ["apsp"]),
    (rp.pagerank, {}, ["pagerank"]),
    (rp.triangles, {}, ["lcc", "--triangles"]),
    (rp.kcore, {}, ["kcore"]),
], ids=str)
def test_estimates_are_the_commands(function: Any, options: dict[str, Any], arguments: list[str]) -> None:
    path = os.environ.get("RIPPLET_COMMAND", "")
    if not Path(path).is_file():
        pytest.skip("RIPPLET_COMMAND does not name the command")
    device = [] if arguments[0] in ("pagerank", "kcore") else ["--device", "cpu"]
    done = subprocess.run([path, arguments[0], str(PGP), *arguments[1:], *device, "--threads", "2", "--estimate=json"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    if device:
        options = {**options, "device": "cpu"}
    found = rp.estimate(function, rp.graph(PGP), threads=2, **options)
    assert [{"purpose": purpose, "bytes": size} for purpose, size in found.plan] == expected["plan"]
    assert found.algorithm_host == expected["algorithm_host"] and found.device == "cpu"
    # The command maps or keeps the same graph.
    assert found.graph_host == expected["graph_host"] and found.planned_host == expected["planned_host"]
    assert found.planned_device == expected["planned_device"] == 0


def test_estimates_run_nothing_and_refuse_what_is_no_run() -> None:
    graph = rp.datasets.power()
    found = rp.estimate(rp.communities, graph, device="cpu")
    assert pickle.loads(pickle.dumps(found)).plan == found.plan and "total" in found._repr_html_()
    assert len(rp.communities(graph)) > 1
    for wrong in (print, 7, rp.devices, rp.graph):
        with pytest.raises(TypeError) as raised:
            rp.estimate(wrong, graph)  # type: ignore[arg-type]
        assert isinstance(raised.value, rp.RippletError)
    with pytest.raises(rp.RippletError, match="did you mean program"):
        rp.estimate(rp.communities, graph, progam="lpa")
    with pytest.raises(rp.RippletError, match="expected"):
        rp.estimate(rp.communities, graph, program="lap")


# Data sets.

def test_data_sets_are_those_of_the_repository() -> None:
    data = Path(rp.datasets.__file__).parent / "data"
    examples = ROOT / "examples"
    for name in ("pgp.graph", "hep-th.graph", "power.graph", "football.txt"):
        assert gzip.decompress((data / f"{name}.gz").read_bytes()) == (examples / "graphs" / name).read_bytes()
    assert (data / "molecules.csv").read_bytes() == MOLECULES.read_bytes()
    conferences = (examples / "graphs" / "football-conferences.txt").read_bytes()
    assert (data / "football-conferences.txt").read_bytes() == conferences
    assert sum(path.stat().st_size for path in data.iterdir()) < 1 << 20
    licences = (data / "LICENSES.md").read_text()
    for path in data.iterdir():
        assert path.name == "LICENSES.md" or path.name in licences


def test_data_sets_have_their_sizes_and_sources() -> None:
    sizes = {"pgp": (10680, 24316), "hep_th": (8361, 15751), "power": (4941, 6594)}
    for name, (vertices, edges) in sizes.items():
        graph = getattr(rp.datasets, name)()
        assert (graph.vertices, graph.edges) == (vertices, edges)
        assert rp.datasets.about(name)["licence"] == "MIT"
    graph, conferences = rp.datasets.football()
    assert (graph.vertices, graph.edges, len(conferences)) == (115, 613, 115)
    assert rp.communities(graph).compare(conferences)["nmi"] > 0.8
    with pytest.raises(ValueError, match="did you mean power"):
        rp.datasets.about("powr")
    assert all(rp.datasets.about(name)["source"] for name in rp.datasets.__all__ if name != "about")
