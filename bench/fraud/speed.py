"""Sliding windows: `ripplet fraud run` beside pipelines of pandas or DuckDB with igraph, from the file to tables of each window.

| pipeline | computes in each window |
|---|---|
| `ripplet` | clusters with reasons, 37 kinds of evidence, a learnt score, its check, and the report |
| `ripplet none` | clusters and the report, by ties beyond chance and label propagation (`--model none`) |
| `pandas` | of each account, the number, sum, mean and maximum of its amounts and the number of its partners, as payer and as payee (groupby); igraph's label propagation, and the share of known bad in each community |
| `duckdb` | the same, aggregated by SQL |
| `boosting` | a learnt score, too: all features and communities of `boosting with graph` (baselines.py), and its five fits |

Each reads the file once and writes a Parquet file of accounts for each window; ripplet writes its whole run folder. DuckDB has two
threads, pandas and igraph have one.
"""

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import igraph
import numpy as np
import pandas as pd

import baselines
import machine
from compare import Draw, Ripplet
from sets import Set

KNOWN = 0.5
DEFAULT = ["ripplet", "ripplet none", "pandas", "duckdb"]


class Pipelines:
    """The pipelines on one set, with half of its bad known."""

    def __init__(self, folder: Path, program: str, window: int, slide: int):
        self.given = Set.read(folder)
        self.folder, self.table = folder, folder / "transactions.csv"
        self.program, self.window, self.slide = program, window, slide
        self.known = Draw.of(self.given, 1, KNOWN).known
        keys = zip(self.given.kinds[self.known], self.given.ids[self.known])
        self.known_names = [f"{kind} {i}" for kind, i in keys]
        if "amount" not in pd.read_csv(self.table, nrows=0):
            raise ValueError(f"{self.table} has no amounts, which the pipelines aggregate")

    def windows(self) -> list[tuple[pd.Timestamp, pd.Timestamp]]:
        """As ripplet's: whole days, the first from the first day on, the last to the last day, even if its slide is shorter."""
        first, last = (self.given.rows["time"].iloc[at].floor("D") for at in (0, -1))
        end, after = first + pd.Timedelta(days=self.window), last + pd.Timedelta(days=1)
        ends = [*pd.date_range(end, after, freq=f"{self.slide}D")]
        if not ends:
            raise ValueError(f"{self.given.name} is shorter than a window")
        ends += [after] if ends[-1] < after else []
        return [(end - pd.Timedelta(days=self.window), end) for end in ends]

    def all(self) -> dict[str, Callable[[Path], int]]:
        """Each pipeline by name; it is given a folder for its files and returns its number of windows."""
        return {
            "ripplet, 2 threads": lambda out: self.ripplet(out, 2, []),
            "ripplet, 1 thread": lambda out: self.ripplet(out, 1, []),
            "ripplet none, 2 threads": lambda out: self.ripplet(out, 2, ["--model", "none"]),
            "ripplet none, 1 thread": lambda out: self.ripplet(out, 1, ["--model", "none"]),
            "pandas": self.pandas,
            "duckdb": self.duckdb,
            "boosting": self.boosting,
        }

    def ripplet(self, out: Path, threads: int, options: list[str]) -> int:
        spans = ["--window", f"{self.window}d", "--slide", f"{self.slide}d"]
        Ripplet(self.program, threads).run(self.given, self.known, out, [*spans, *options])
        return sum(1 for _ in (out / "run" / "windows").iterdir())

    def pandas(self, out: Path) -> int:
        rows = pd.read_csv(self.table, parse_dates=["time"], dtype={"source": str, "target": str})
        for side, kind in zip(("source", "target"), self.kinds()):
            rows[side] = kind + " " + rows[side]
        for number, (start, end) in enumerate(self.windows()):
            first, after = rows["time"].searchsorted([start, end])
            inside = rows.iloc[first:after]
            sides = []
            for side, other in (("source", "target"), ("target", "source")):
                by = inside.groupby(side)
                table = by["amount"].agg(["size", "sum", "mean", "max"])
                table["partners"] = by[other].nunique()
                sides.append(table)
            accounts = sides[0].join(sides[1], how="outer", lsuffix="_out", rsuffix="_in")
            pairs = inside.groupby(["source", "target"]).size().reset_index(name="count")
            self.finish(out, number, accounts.rename_axis("name").reset_index(), pairs)
        return number + 1

    def duckdb(self, out: Path) -> int:
        link = duckdb.connect()
        link.execute("SET threads = 2")
        source, target = (f"'{kind} ' || {side}" for side, kind in zip(("source", "target"), self.kinds()))
        link.execute(
            f"CREATE TABLE rows AS SELECT time, {source} AS source, {target} AS target, amount "
            f"FROM read_csv('{self.table}', types={{'source': 'VARCHAR', 'target': 'VARCHAR', 'time': 'TIMESTAMP'}})"
        )
        for number, (start, end) in enumerate(self.windows()):
            inside = f"FROM rows WHERE time >= TIMESTAMP '{start}' AND time < TIMESTAMP '{end}'"
            side = (
                "SELECT {0} AS name, count(*) AS number, sum(amount) AS sum, avg(amount) AS mean, max(amount) AS max, "
                f"count(DISTINCT {{1}}) AS partners {inside} GROUP BY {{0}}"
            )
            accounts = link.execute(
                f"SELECT * FROM ({side.format('source', 'target')}) FULL JOIN ({side.format('target', 'source')}) USING (name)"
            ).df()
            pairs = link.execute(f"SELECT source, target, count(*) AS count {inside} GROUP BY ALL").df()
            self.finish(out, number, accounts, pairs)
        return number + 1

    def finish(self, out: Path, number: int, accounts: pd.DataFrame, pairs: pd.DataFrame) -> None:
        """Communities by igraph's label propagation, the share of known bad in each, and the file of the window."""
        igraph.set_random_number_generator(None)
        place = pd.Index(accounts["name"])
        ends = np.stack([place.get_indexer(pairs[side]) for side in ("source", "target")], axis=1)
        graph = igraph.Graph(len(place), ends, edge_attrs={"weight": pairs["count"].to_numpy(float)})
        labels = np.array(baselines.label_propagation(graph))
        known = place.isin(self.known_names).astype(float)
        accounts["community"] = labels
        accounts["share_of_known"] = (np.bincount(labels, known) / np.bincount(labels))[labels]
        accounts.to_parquet(out / f"{number:04}.parquet")

    def boosting(self, out: Path) -> int:
        given = Set.read(self.folder)
        for number, (start, end) in enumerate(self.windows()):
            first, after = given.rows["time"].searchsorted([start, end])
            inside = given.rows.iloc[first:after]
            # The window's entities are numbered anew; those without transactions are in no graph.
            numbers, present = pd.factorize(pd.concat([inside["u"], inside["v"]]), sort=True)
            u, v = np.split(numbers, 2)
            graph = baselines.Graph.of(inside.assign(u=u, v=v), len(present))
            known = self.known[present]
            found = baselines.LEARNT["boosting with graph"](baselines.Task(graph, known, ~known, seed=1))
            pd.DataFrame({"id": given.ids[present], "score": found}).to_parquet(out / f"{number:04}.parquet")
        return number + 1

    def kinds(self) -> tuple[str, str]:
        return self.given.kinds[self.given.rows["u"].iloc[0]], self.given.kinds[self.given.rows["v"].iloc[0]]


def first_days(folder: Path, days: int, out: Path) -> Path:
    """Writes the first days of a set as a set of its own."""
    short = out / f"{folder.name}, first {days} days"
    short.mkdir()
    rows = pd.read_csv(folder / "transactions.csv", dtype=str)
    times = pd.to_datetime(rows["time"])
    rows = rows[times < times.iloc[0].floor("D") + pd.Timedelta(days=days)]
    rows.to_csv(short / "transactions.csv", index=False)
    shutil.copy(folder / "mapping.toml", short)
    bad = pd.read_csv(folder / "bad.csv", dtype=str)
    seen = pd.concat([rows["source"], rows["target"]])
    bad[bad["id"].isin(seen)].to_csv(short / "bad.csv", index=False)
    return short


def time_all(pipelines: Pipelines, repeat: int, chosen: list[str]) -> Iterator[dict]:
    """A line for each pipeline and round. Rounds, so that what else the machine does falls on all pipelines alike."""
    every = pipelines.all()
    if set(chosen) - {name.split(",")[0] for name in every}:
        raise ValueError(f"no pipeline {', '.join(chosen)}; there are ripplet, ripplet none, pandas, duckdb, boosting")
    run = {name: call for name, call in every.items() if name.split(",")[0] in (chosen or DEFAULT)}
    expected = len(pipelines.windows())
    for turn in range(1, repeat + 1):
        for name, call in run.items():
            out = Path(tempfile.mkdtemp(prefix="fraud-speed-"))
            with machine.Neighbours() as others:
                start, own = time.perf_counter(), machine.own_seconds()
                windows = call(out)
                seconds, processor = time.perf_counter() - start, machine.own_seconds() - own
            shutil.rmtree(out)
            if windows != expected:
                raise ValueError(f"{name}: {windows} windows instead of {expected}")
            rows = len(pipelines.given.rows)
            yield {
                "kind": "fraud-speed",
                "set": pipelines.given.name,
                "rows": rows,
                "window": pipelines.window,
                "slide": pipelines.slide,
                "windows": windows,
                "pipeline": name,
                "turn": turn,
                "seconds": round(seconds, 3),
                "processor_seconds": round(processor, 3),
                "rows_per_second": round(rows / seconds),
                "cores_of_others": others.cores,
            }
