"""Files that Python writes are the command's, byte for byte."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import PAYMENTS, PGP

import ripplet as rp

RUNS: list[dict[str, Any]] = [
    {},
    {"seed": 7},
    {"program": "llp", "gamma": 0.25},
    {"program": "cdlp", "iterations": 4},
    {"program": "slpa", "iterations": 10},
    {"schedule": "sync", "max_iterations": 9, "tolerance": 0.05},
    {"phases": 3, "guard": 0.5},
    {"counter": "mg:4"},
    {"preset": "nu-bm", "schedule_": None},
    {"refine": "modularity"},
    {"refine": "cpm", "resolution": 0.1, "max_size": 40},
    {"merge": "off", "keep_disconnected": True},
]


def arguments(options: dict[str, Any]) -> list[str]:
    """Returns the command's arguments for options of Python."""
    rows: list[str] = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        rows += [flag] if value is True else [flag, str(value)]
    return rows


@pytest.mark.parametrize("options", RUNS, ids=str)
def test_communities_are_the_commands(options: dict[str, Any], command: Any, tmp_path: Path) -> None:
    options = {name: value for name, value in options.items() if value is not None}
    if options.get("preset"):
        # The preset is asynchronous: one thread makes it repeatable.
        options["threads"] = 1
    expected, written = tmp_path / "expected.csv", tmp_path / "written.csv"
    command("communities", PGP, "-o", expected, *arguments(options))
    rp.communities(str(PGP), **options).write(written)
    assert written.read_bytes() == expected.read_bytes()


def test_parts_are_the_commands(command: Any, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    graph = rp.graph(PGP)
    runs: list[tuple[dict[str, Any], list[Any]]] = [
        ({"refine": "modularity", "resolution": 0.5, "seed": 3}, ["--refine", "modularity", "--resolution", 0.5, "--seed", 3]),
        ({"refine": "cpm", "resolution": 0.01}, ["--refine", "cpm", "--resolution", 0.01]),
    ]
    for options, arguments in runs:
        command("communities", PGP, "-o", tmp_path / "found.csv", "--levels", tmp_path / "levels.csv", *arguments)
        parts = rp.communities(graph, **options).parts(threads=2)
        assert parts.columns.tolist()[:2] == ["id", "part_1"] and parts.columns[-1] == "community"
        assert parts.equals(pandas.read_csv(tmp_path / "levels.csv").astype(parts.dtypes))
    found = rp.communities(graph)
    assert found.parts()["community"].tolist() == found.numbers.tolist()
    assert not found.parts().equals(found.parts(resolution=5.0))
    for made, options, message in [
        (rp.communities(graph, refine="modularity"), {}, "give a number"), (rp.overlapping([(1, 2)]), {}, "overlap"),
        (rp.seeded([(1, 2), (3, 4)], [1]), {}, "no community"), (found, {"resolution": -1.0}, "resolution"),
    ]:
        with pytest.raises(rp.InputError, match=message):
            made.parts(**options)


def test_fixed_vertices_are_the_commands(command: Any, tmp_path: Path) -> None:
    expected, written, listed = tmp_path / "expected.csv", tmp_path / "written.csv", tmp_path / "fixed.csv"
    fixed = list(range(1, 400, 3))
    listed.write_text("id\n" + "".join(f"{id}\n" for id in fixed))
    begin = tmp_path / "begin.csv"
    graph = rp.graph(PGP)
    rp.communities(graph, seed=3).write(begin)
    for labels, arguments in ((None, []), (rp.communities(graph, seed=3), ["--labels", begin])):
        command("communities", PGP, "-o", expected, "--refine", "modularity", "--fixed", listed, *arguments)
        found = rp.communities(graph, refine="modularity", fixed=iter(fixed), labels=labels)
        found.write(written)
        assert written.read_bytes() == expected.read_bytes()
        assert found != rp.communities(graph, refine="modularity", labels=labels)
    apart = rp.communities([(1, 2), (2, 3), (3, 1)], refine="modularity", fixed=[1, 2])
    assert apart[1] != apart[2] and "fixed=[1, 2]" in apart._repr_html_()
    bad: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"fixed": [1, 99]}, KeyError, "99"), ({"fixed": [1, 1]}, ValueError, "twice"), ({"fixed": "12"}, TypeError, "a string"),
        ({"fixed": 5}, TypeError, "expected ids"), ({"fixed": [1], "refine": None}, ValueError, "fixed vertices"),
    ]
    for options, error, message in bad:
        with pytest.raises(error, match=message) as raised:
            rp.communities([(1, 2)], **{"refine": "modularity", **options})
        assert isinstance(raised.value, rp.RippletError)


@pytest.mark.parametrize("program", ["lpa", "cdlp"])
@pytest.mark.parametrize("joins", [False, True])
def test_small_communities_are_the_commands(command: Any, tmp_path: Path, program: Any, joins: bool) -> None:
    expected, written = tmp_path / "expected.csv", tmp_path / "written.csv"
    command("communities", PGP, "-o", expected, "--program", program, "--min-size", "9", *["--join-small"] * joins)
    found = rp.communities(PGP, program=program, min_size=9, join_small=joins)
    found.write(written)
    assert written.read_bytes() == expected.read_bytes()
    assert found.sizes.min() >= 9 and len(found) < len(rp.communities(PGP, program=program))
    assert ("join_small=True" in found._repr_html_()) == joins


def test_small_communities_that_cannot_be_are_refused() -> None:
    bad: list[tuple[dict[str, Any], str]] = [
        ({"join_small": True}, "give min_size"), ({"min_size": 0}, "min_size"),
        ({"program": "slpa", "min_size": 2, "join_small": True}, "drop them"),
        ({"refine": "modularity", "max_size": 3, "min_size": 2, "join_small": True}, "limit of sizes"),
    ]
    for options, message in bad:
        with pytest.raises(ValueError, match=message):
            rp.communities([(1, 2), (2, 3)], **options)
    dropped = rp.communities([(1, 2), (2, 3), (3, 1), (8, 9)], min_size=3)
    assert dropped[8] is None and dropped.members(0).tolist() == [1, 2, 3] and len(dropped) == 1
    assert (dropped.labels == rp.hooks.NO_LABEL).tolist() == [False, False, False, True, True]
    overlapping = rp.communities([(1, 2), (2, 3), (3, 1), (8, 9)], program="slpa", min_size=3)
    assert len(overlapping) == 1 and not overlapping[8]


def test_the_counter_that_fits_is_found_and_said() -> None:
    graph = rp.graph([(0, leaf) for leaf in range(1, 60_000)])
    options: dict[str, Any] = {"schedule": "async", "keep_disconnected": True, "merge": "off", "threads": 1, "device": "cpu"}
    exact = rp.communities(graph, counter="auto", **options)
    sketch = rp.communities(graph, counter="auto", host_memory=5 << 20, **options)
    assert (exact.counter, sketch.counter) == ("exact", "mg:8")
    assert pickle.loads(pickle.dumps(sketch)).counter == "mg:8"
    with pytest.raises(MemoryError, match="more than the limit of 5242880"):
        rp.communities(graph, host_memory=5 << 20, **options)


@pytest.mark.parametrize("suffix", ["txt", "tsv", "jsonl", "parquet", "arrow", "gexf"])
def test_every_format_is_the_commands(suffix: str, command: Any, tmp_path: Path) -> None:
    expected, written = tmp_path / f"expected.{suffix}", tmp_path / f"written.{suffix}"
    command("communities", PAYMENTS, "--weighted", "-o", expected)
    rp.communities(rp.graph(PAYMENTS, weight=True)).write(written)
    assert written.read_bytes() == expected.read_bytes()


def test_numbers_are_those_of_names_number(command: Any, tmp_path: Path) -> None:
    out = tmp_path / "numbers.csv"
    command("communities", PGP, "-o", out, "--names", "number")
    found = rp.communities(str(PGP))
    rows = [line.split(",") for line in out.read_text().splitlines()[1:]]
    assert [int(row[1]) for row in rows] == found.numbers.tolist()


def test_an_rg_is_mapped_and_is_what_the_command_made(command: Any, tmp_path: Path) -> None:
    command("convert", PAYMENTS, tmp_path / "a.rg", "--weighted", "--directed")
    graph = rp.graph(tmp_path / "a.rg")
    assert graph.directed and graph.weighted
    graph.write(tmp_path / "b.rg")
    assert (tmp_path / "b.rg").read_bytes() == (tmp_path / "a.rg").read_bytes()
    with pytest.raises(rp.InputError, match="stored directed"):
        rp.graph(tmp_path / "a.rg", directed=False)
