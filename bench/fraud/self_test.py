"""Checks the judge, the sets, the baselines and the tables on data whose answers are known."""

import dataclasses
import json
import pickle
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

import baselines
import compare
import sets
import simulators
import speed
import table


def run(ripplet: str | None) -> None:
    """Raises AssertionError at the first thing that is not as it should be."""
    check_judge()
    check_table()
    check_simulators()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        check_sources(folder)
        sets.write(folder / "cliques", cliques())
        given = sets.Set.read(folder / "cliques")
        draw = compare.Draw.of(given, 1, 0.5)
        check_baselines(given, draw)
        check_windows(folder / "cliques")
        if ripplet is None:
            print("self-test: without --ripplet PATH, the score of ripplet is not checked")
        else:
            check_score(compare.Ripplet(ripplet, 1), given, draw)
            check_pipelines(folder / "cliques", ripplet)
    print("self-test: all as it should be")


def check_judge() -> None:
    bad = np.array([True, False, True, False])
    near(compare.judged(np.array([0.9, 0.8, 0.7, 0.6]), bad)["pr_auc"], (1 + 2 / 3) / 2)
    near(compare.judged(np.ones(4), bad)["pr_auc"], 0.5)
    near(compare.precision(np.array([0.9, 0.8, 0.7, 0.6]), bad, 3), 2 / 3)
    # One of the three equal ones is among the first two.
    near(compare.precision(np.array([0.9, 0.7, 0.7, 0.7]), bad, 2), (1 + 1 / 3) / 2)
    near(compare.precision(np.array([3.0, 2.0]), np.array([True, False]), 100), 0.5)


def check_table() -> None:
    def line(method: str, name: str, pr_auc: float) -> dict:
        return {"kind": "fraud", "set": name, "method": method, "base": 0.1, "pr_auc": pr_auc, "precision": 1.0, "seconds": 2.0}

    lines = [line(*of) for of in (("score", "a", 0.5), ("score", "a", 0.7), ("sgc", "a", 0.2), ("sgc", "a", 0.4))]
    lines += [line(*of) for of in (("score", "b", 0.5), ("score", "b", 0.52), ("sgc", "b", 0.9), ("sgc", "b", 0.9))]
    rows = table.table_of_methods(lines, "pr_auc", table.spread, best=True).splitlines()
    assert rows[2] == "| *random* | 0.100 | 0.100 |", rows
    assert rows[3] == "| score | **0.600 ±0.141** | 0.510 ±0.014 |", rows
    assert rows[4] == "| sgc | 0.300 ±0.141 | **0.900 ±0.000** |", rows
    assert rows[5] == "| *the better score less the best from outside* | +0.300! | -0.390! (sgc) |", rows
    timed = {"kind": "fraud-speed", "set": "a", "rows": 100, "window": 30, "slide": 1, "windows": 2}
    timed |= {"processor_seconds": 1.0, "cores_of_others": None}
    lines = [timed | {"pipeline": "ripplet, 2 threads", "seconds": s} for s in (1.0, 3.0, 2.0)]
    lines += [timed | {"pipeline": "pandas", "seconds": 5.0}]
    (block,) = table.tables_of_speed(lines)
    assert "| pandas | 1 | 5.0 [5.0 … 5.0] | 1.0 | 20 | 2.50 |  |" in block, block
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "raw.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in [{"kind": "machine"}, *lines]), encoding="utf-8")
        assert table.of([str(path)]) == block


def check_simulators() -> None:
    """The same seed gives the same rows, in the order of time, and every bad account is in one."""
    for name, draw in simulators.SIMULATORS.items():
        (rows, bad), (again, _), (other, _) = draw(5), draw(5), draw(6)
        assert rows.equals(again) and not rows.equals(other), name
        assert rows["time"].is_monotonic_increasing and (rows["amount"] > 0).all(), name
        ends = rows["source"] if name == "cards" else np.union1d(rows["source"], rows["target"])
        assert len(np.unique(bad)) == len(bad) > 50 and np.isin(bad, ends).all(), name


def check_sources(folder: Path) -> None:
    """Real sets from small files of their form; bad traders have two ratings or more, with a sum below 0."""
    path = folder / "soc-sign-bitcoinotc.csv"
    path.write_text("1,2,-5,30.5\n3,2,4,10.25\n1,3,-9,20\n2,1,-1,40\n3,1,1,50\n", encoding="utf-8")
    made = sets.trust(path)
    assert made.bad.tolist() == ["2"] and made.rows["source"].tolist() == ["3", "1", "1", "2", "3"], made
    assert "rating" not in made.rows
    for maker in (sets.real(folder)["alpha"], sets.real(None)["otc"], lambda: sets.purchases(None)):
        try:
            maker()
        except FileNotFoundError:
            continue
        raise AssertionError("a set without its source was made")
    refused(lambda: sets.make_all(folder, None, None, ["otcc"]), "no set otcc")
    refused(compare.Ripplet(str(folder / "none"), 1).version, "cargo build")
    refused(lambda: sets.purchases("false"), "exit code 1")
    with zipfile.ZipFile(folder / "reddit.pt", "w") as archive:
        archive.writestr("archive/data.pkl", pickle.dumps(print))
    refused(lambda: sets.tensors((folder / "reddit.pt").read_bytes()), "builtins.print is no part of a graph")


SIZE = 60


def cliques() -> sets.Made:
    """Two cliques of 60 accounts with one payment between them, in 34 days; one clique is bad, and pays other amounts."""
    pairs = [(a + c, b + c) for c in (0, SIZE) for a in range(SIZE) for b in range(a + 1, SIZE)] + [(0, SIZE)]
    order = np.random.default_rng(2).permutation(len(pairs))
    rows = pd.DataFrame(np.array(pairs)[order], columns=["source", "target"])
    rows.insert(0, "time", simulators.FIRST_DAY + pd.to_timedelta(np.arange(len(rows)) * 34 // len(rows), unit="D"))
    rows["amount"] = np.where(rows["source"] < SIZE, 10.0, 11.0)
    return sets.Made(rows, np.arange(SIZE))


def check_baselines(given: sets.Set, draw: compare.Draw) -> None:
    """All are perfect on two cliques, but Leiden at resolutions at which each account is a community of its own."""
    half = SIZE // 2
    assert draw.known.sum() == half and draw.ranked.sum() == 3 * half and not (draw.known & draw.ranked).any()
    assert (draw.known & given.bad).sum() == half
    assert (compare.Draw.of(given, 2, 0.5).known != draw.known).any()
    for name, call in baselines.scores_of(given, draw.known, draw.ranked, seed=1):
        got = compare.judged(call()[draw.ranked], given.bad[draw.ranked])["pr_auc"]
        alone = name in ("leiden 10", "leiden 100")
        # Account 0 pays both amounts, so that boosting may take its partner for a bad one.
        error = 0.05 if "boosting" in name else 1e-9
        assert abs(got - (1 / 3 if alone else 1)) < error, (name, got)
    graph = baselines.Graph.of(given.rows, len(given.ids))
    place = {i: n for n, i in enumerate(given.ids)}
    counts = baselines.known_neighbours(graph, draw.known)
    assert counts[place["0"]] == half - draw.known[place["0"]] and counts[place[str(SIZE + 1)]] == 0
    assert graph.partners[place["0"]] == SIZE and graph.partners[place["1"]] == SIZE - 1
    check_nothing_leaks()


def check_nothing_leaks() -> None:
    """No signal of a fold uses its own known bad; and no learning method ranks random labels better than chance."""
    rng = np.random.default_rng(4)
    u, v = rng.integers(0, 600, (2, 3000))
    rows = pd.DataFrame({"time": simulators.FIRST_DAY, "amount": rng.random(3000), "u": u, "v": v})
    bad = rng.random(600) < 0.4
    known = bad & (rng.random(600) < 0.5)
    task = baselines.Task(baselines.Graph.of(rows, 600), known, ~known, 1)
    values = task.signals_by_fold()
    for fold in range(baselines.FOLDS):
        rest = dataclasses.replace(task, known=known & (task.folds != fold))
        assert np.array_equal(rest.signals_by_fold()[task.folds == fold], values[task.folds == fold])
    base = bad[~known].mean()
    for name, method in baselines.LEARNT.items():
        got = compare.judged(method(task)[~known], bad[~known])["pr_auc"]
        assert abs(got - base) < 0.1, (name, got, base)


def check_windows(folder: Path) -> None:
    pipelines = speed.Pipelines(folder, "ripplet", window=30, slide=2)
    days = (pipelines.given.rows["time"].iloc[-1] - simulators.FIRST_DAY).days + 1
    spans = pipelines.windows()
    assert days == 34 and [(end - simulators.FIRST_DAY).days for _, end in spans] == [30, 32, 34], spans
    last = speed.Pipelines(folder, "ripplet", window=31, slide=2).windows()[-1]
    assert (last[1] - simulators.FIRST_DAY).days == 34, last


def check_score(ripplet: compare.Ripplet, given: sets.Set, draw: compare.Draw) -> None:
    scores, evidence = ripplet.score(given, draw.known, table=False)
    assert compare.judged(scores[draw.ranked], given.bad[draw.ranked])["pr_auc"] > 0.9, scores
    assert "pagerank" in evidence, list(evidence)
    broken = dataclasses.replace(given, folder=given.folder / "none")
    refused(lambda: ripplet.score(broken, draw.known, table=False), "transactions.csv")


def check_pipelines(folder: Path, ripplet: str) -> None:
    """All pipelines have the same windows, and pandas' and DuckDB's tables are equal but for the communities."""
    pipelines = speed.Pipelines(folder, ripplet, window=30, slide=2)
    tables = {}
    for name, call in pipelines.all().items():
        with tempfile.TemporaryDirectory() as out:
            assert call(Path(out)) == 3, name
            if name in ("pandas", "duckdb"):
                frame = pd.read_parquet(sorted(Path(out).glob("*.parquet"))[-1]).sort_values("name")
                tables[name] = frame.drop(columns=["name", "community"]).to_numpy(dtype=float)
    assert np.allclose(tables["pandas"], tables["duckdb"], equal_nan=True), tables


def refused(call: Callable[[], object], reason: str) -> None:
    try:
        call()
    except ValueError as error:
        assert reason in str(error), error
        return
    raise AssertionError(f"not refused: {reason}")


def near(got: float, expected: float, error: float = 1e-12) -> None:
    assert abs(got - expected) < error, (got, expected)
