"""Bad input is an exception that says what, where, and what to do; never a crash."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ripplet as rp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")


def frames(columns: dict[str, list[Any]]) -> list[Any]:
    return [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), columns]


def test_nulls_are_named_by_row() -> None:
    for columns in [{"source": ["a", "b", None], "target": ["b", "c", "d"]},
                    {"source": [1, 2, 3], "target": [2, 3, None]}]:
        for table in frames(columns):
            with pytest.raises(rp.InputError, match="row 2"):
                rp.graph(table)
    nullable = pd.DataFrame({"source": pd.array([1, None], dtype="Int64"), "target": [2, 3]})
    with pytest.raises(rp.InputError, match="row 1"):
        rp.graph(nullable)


def test_bad_weights_are_named_by_row() -> None:
    for bad in [float("nan"), float("inf"), -1.0]:
        for table in frames({"source": [1, 2], "target": [2, 3], "weight": [1.0, bad]}):
            with pytest.raises(rp.InputError, match="row 1"):
                rp.graph(table, weight=True)
        with pytest.raises(rp.InputError, match="row 1"):
            rp.graph([1, 2], [2, 3], [1.0, bad])
        with pytest.raises(rp.InputError, match="edge 1"):
            rp.graph([1, 2], [2, 3], [1.0, bad], vertices=4)
    with pytest.raises(rp.InputError):
        rp.graph({"source": [1], "target": [2], "weight": ["much"]}, weight=True)


CASES: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    ({"source": ["a"], "goal": ["b"], "x": [1]}, {}, ValueError, "target"),
    (pa.table({"source": ["a"], "goal": ["b"], "x": [1]}), {}, ValueError, "target"),
    ({"source": ["a"], "target": ["b"]}, {"source": "from"}, ValueError, "from"),
    ({"source": ["a"], "target": ["b"]}, {"weight": "eur"}, ValueError, "eur"),
    (([1, "a"], [2, 3]), {}, ValueError, "row 1"),
    (([1, 2], ["a", "b"]), {}, ValueError, "make both strings"),
    (([1.5, 2.0], [2, 3]), {}, ValueError, "float"),
    (([1, 2], [2]), {}, ValueError, "different length"),
    (([True], [False]), {}, ValueError, "bool"),
    (([2**64], [1]), {}, ValueError, "64 bits"),
    (([-1, 2**63], [1, 2]), {}, ValueError, "negative"),
    (([1],), {}, TypeError, "two arrays"),
    ([(1, 2), (3,)], {}, ValueError, "pairs"),
    (np.zeros((3, 4)), {}, ValueError, "shape"),
    (np.array([[0.5], [1.0]]), {}, TypeError, "integers"),
    (np.array([["0"], ["1"]]), {}, TypeError, "integers"),
    ([(1, 2)], {"vertices": 2.0}, TypeError, "vertices"),
    (3, {}, TypeError, "int"),
    (None, {}, TypeError, "NoneType"),
    ([(1, 2)], {"storage": "small"}, ValueError, "storage"),
    ([(1, 2)], {"threads": 0}, ValueError, "threads"),
    ([(1, 2)], {"threads": 4097}, ValueError, "threads: expected at most 4096"),
    ([(1, 2)], {"threads": "all"}, TypeError, "threads"),
    ([(1, 2)], {"vertices": 2}, ValueError, "from 0 to 1"),
    ([(1, 2)], {"format": "csv"}, TypeError, "format"),
    ([(1, 2)], {"sauce": "a"}, TypeError, "source"),
    ("missing.csv", {}, OSError, "missing.csv"),
    (__file__, {}, ValueError, "extension"),
    ("missing.csv", {"format": "xyz"}, ValueError, "xyz"),
    ("missing.csv", {"vertices": 3}, TypeError, "vertices"),
]


@pytest.mark.parametrize("data, options, built_in, message", CASES, ids=lambda value: str(value)[:40])
def test_no_graph(data: Any, options: dict[str, Any], built_in: type[Exception], message: str) -> None:
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.graph(data, **options)
    assert isinstance(raised.value, built_in), type(raised.value).__mro__


RUNS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"program": "louvain"}, ValueError, "expected lpa"),
    ({"program": 3}, TypeError, "program"),
    ({"program": "seeded"}, TypeError, "seeded begins"),
    ({"program_file": 0}, TypeError, "program_file: expected the path of a file, not int"),
    ({"program_file": "missing.rs"}, OSError, "missing.rs"),
    ({"gamma": 1.0}, ValueError, "parameter of llp"),
    ({"program": "llp", "gamma": -1}, ValueError, "gamma"),
    ({"program": "llp", "gamma": float("nan")}, ValueError, "gamma"),
    ({"schedule": "slow"}, ValueError, "phased"),
    ({"schedule": "sync", "phases": 3}, ValueError, "phases"),
    ({"pick_less": 4}, ValueError, "async"),
    ({"program": "cdlp", "schedule": "phased"}, ValueError, "synchronous"),
    ({"program": "cdlp", "tolerance": 0.1}, ValueError, "fixed number"),
    ({"counter": "mg:99"}, ValueError, "counter"),
    ({"refine": "leiden"}, ValueError, "modularity"),
    ({"refine": "cpm"}, ValueError, "resolution"),
    ({"refine": "modularity", "program": "lpa"}, ValueError, "replaces"),
    ({"refine": "modularity", "schedule": "sync"}, ValueError, "schedule"),
    ({"resolution": 1.0}, ValueError, "no resolution"),
    ({"tolerance": 2.0}, ValueError, "tolerance"),
    ({"iterations": 3, "tolerance": 0.1}, ValueError, "exact"),
    ({"iterations": -1}, ValueError, "iterations"),
    ({"iterations": 2**40}, ValueError, "iterations"),
    ({"seed": 0.5}, ValueError, "seed"),
    ({"seed": True}, TypeError, "seed"),
    ({"merge": 3.0}, ValueError, "merge"),
    ({"max_size": 3}, ValueError, "refinement"),
    ({"device": "gpu"}, ValueError, "device"),
    ({"device": 0}, TypeError, "device"),
    ({"threads": -4}, ValueError, "threads"),
    ({"labels": [1]}, ValueError, "labels"),
    ({"labels": {"nobody": 1}}, KeyError, "nobody"),
    ({"progress": "yes"}, TypeError, "progress"),
    ({"resolutoin": 1.0}, TypeError, "did you mean resolution"),
]


@pytest.mark.parametrize("options, built_in, message", RUNS, ids=str)
def test_no_run(options: dict[str, Any], built_in: type[Exception], message: str) -> None:
    graph = rp.graph([(1, 2), (2, 3)])
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.communities(graph, **options)
    assert isinstance(raised.value, built_in), type(raised.value).__mro__


def test_a_missing_gpu_is_named() -> None:
    graph = rp.graph([(1, 2)])
    found = rp.communities(graph)
    if found.device != "cpu":
        pytest.skip("there is a GPU")
    with pytest.raises(rp.DeviceError):
        rp.communities(graph, device="cuda")
    assert found.fallback


def test_strided_and_foreign_arrays_are_read() -> None:
    u = np.arange(20)
    expected = rp.graph(u[::2].copy(), u[1::2].copy())
    assert (rp.graph(u[::2], u[1::2]).ids == expected.ids).all()
    assert (rp.graph(u[::2].astype(">i8"), u[1::2].astype(">u2")).ids == expected.ids).all()
    unaligned = np.frombuffer(b"\0" + np.arange(4, dtype=np.int64).tobytes(), dtype=np.uint8)[1:].view(np.int64)
    assert rp.graph(unaligned, unaligned[::-1]).vertices == 4


def test_empty_tables_are_refused_and_empty_numbers_are_not() -> None:
    with pytest.raises(rp.InputError, match="no rows"):
        rp.graph([], [])
    assert rp.graph(np.zeros((2, 0), dtype=int), vertices=3).vertices == 3
    assert rp.communities(rp.graph(np.zeros((2, 0), dtype=int))).sets() == []


@pytest.mark.parametrize("seeds", [{1: (2,)}, {1: (2, "much")}, {1: 2.5}, [(1, 2)], 3, [[1]]], ids=str)
def test_seeds_that_are_none(seeds: Any) -> None:
    with pytest.raises(rp.RippletError):
        rp.seeded([(1, 2), (2, 3)], seeds)
