"""`score` of `ripplet fraud run` beside the baselines: on each set and draw, with the same known bad."""

import json
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

import baselines
import machine
from sets import Set

FIRST = 100
"""Precision is that of the first 100 entities."""


@dataclass
class Draw:
    """The bad that are known, and the entities that are ranked."""

    number: int
    known: np.ndarray
    ranked: np.ndarray

    @classmethod
    def of(cls, given: Set, number: int, share: float) -> "Draw":
        """Makes a share of the bad known. Ranked is who is not known, of a kind that has bad ones, with a partner."""
        partners = np.zeros(len(given.ids), dtype=bool)
        with_others = given.rows.loc[given.rows["u"] != given.rows["v"], ["u", "v"]]
        partners[np.unique(with_others)] = True
        bad = np.flatnonzero(given.bad & partners)
        known = np.zeros(len(given.ids), dtype=bool)
        known[np.random.default_rng(number).permutation(bad)[: round(share * len(bad))]] = True
        kinds = np.isin(given.kinds, given.kinds[given.bad])
        return cls(number, known, partners & kinds & ~known)


def judged(scores: np.ndarray, bad: np.ndarray) -> dict:
    """PR-AUC as average precision, equal scores as one step; precision of the first, equal scores by chance."""
    return {"pr_auc": float(average_precision_score(bad, scores)), "precision": precision(scores, bad)}


def precision(scores: np.ndarray, bad: np.ndarray, first: int = FIRST) -> float:
    """The expected share of bad among the first entities, if equal scores are in random order."""
    first = min(first, len(scores))
    last = -np.partition(-scores, first - 1)[first - 1]
    above, equal = scores > last, scores == last
    return float((bad[above].sum() + (first - above.sum()) * bad[equal].mean()) / first)


def compare(folder: Path, ripplet: "Ripplet", draws: int, share: float, methods: list[str]) -> Iterator[dict]:
    """A line for each method and draw of one set."""
    given = Set.read(folder)
    for number in range(1, draws + 1):
        draw = Draw.of(given, number, share)
        calls = {"score": lambda: ripplet.score(given, draw.known, table=False)}
        if given.features is not None:
            calls["score with table"] = lambda: ripplet.score(given, draw.known, table=True)
        calls.update(baselines.scores_of(given, draw.known, draw.ranked, number))
        for name, call in calls.items():
            if not methods or name in methods:
                yield line_of(given, draw, name, call)


def line_of(given: Set, draw: Draw, name: str, call: Callable) -> dict:
    with machine.Neighbours() as others:
        start = time.perf_counter()
        found = call()
        seconds = time.perf_counter() - start
    bad = given.bad[draw.ranked]
    scores, alone = (found, None) if isinstance(found, np.ndarray) else found
    if not np.isfinite(scores[draw.ranked]).all():
        raise ValueError(f"{given.name}: {name} has no score for {(~np.isfinite(scores[draw.ranked])).sum()} entities")
    line = {
        "kind": "fraud",
        "set": given.name,
        "rows": len(given.rows),
        "draw": draw.number,
        "method": name,
        "known": int(draw.known.sum()),
        "ranked": len(bad),
        "base": float(bad.mean()),
        **judged(scores[draw.ranked], bad),
        "seconds": round(seconds, 3),
        "cores_of_others": others.cores,
    }
    if alone is not None:
        # Missing values are last, as the guide says.
        line["evidence"] = {
            column: round(float(average_precision_score(bad, values[draw.ranked])), 4) for column, values in alone.items()
        }
    return line


@dataclass
class Ripplet:
    """The command, with the options of every run."""

    program: str
    threads: int

    def version(self) -> str:
        if not Path(self.program).is_file():
            raise ValueError(f"{self.program} is not there: cargo build --release -p ripplet-cli")
        return subprocess.run([self.program, "--version"], check=True, capture_output=True, text=True).stdout.strip()

    def score(self, given: Set, known: np.ndarray, table: bool) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """`score` of each entity, from one window over all rows, and each kind of evidence alone."""
        days = (given.rows["time"].max().floor("D") - given.rows["time"].min().floor("D")).days + 1
        with tempfile.TemporaryDirectory(prefix="ripplet-fraud-") as name:
            folder = Path(name)
            options = ["--window", f"{days}d", "--slide", f"{days}d"]
            if table:
                options += ["--entity-table", str(given.folder / "entities.csv")]
            self.run(given, known, folder, options)
            (window,) = (folder / "run" / "windows").iterdir()
            entities = pd.read_parquet(window / "entities.parquet")
        place = {key: number for number, key in enumerate(zip(given.kinds, given.ids))}
        numbers = [place[key] for key in zip(entities["kind"], entities["id"])]
        if entities.loc[entities["score"].notna(), "known_bad"].sum() != known.sum():
            raise ValueError(f"{given.name}: the run does not have the known bad that it was given")

        def by_entity(column: str, missing: float) -> np.ndarray:
            values = np.full(len(given.ids), missing)
            values[numbers] = entities[column].fillna(missing).astype(float)
            return values

        first = list(entities.columns).index("rank") + 1
        lowest = float(np.finfo(np.float32).min)
        alone = {column: by_entity(column, lowest) for column in entities.columns[first:]}
        return by_entity("score", np.nan), alone

    def run(self, given: Set, known: np.ndarray, folder: Path, options: list[str]) -> None:
        """Runs `ripplet fraud run` into `folder`/run; a failure is an error with what it printed."""
        pd.DataFrame({"id": given.ids[known], "kind": given.kinds[known]}).to_csv(folder / "known.csv", index=False)
        command = [
            *(self.program, "fraud", "run", str(given.folder / "transactions.csv")),
            *("--mapping", str(given.folder / "mapping.toml"), "--known-bad", str(folder / "known.csv")),
            *("--longest-gap", "400d", "--threads", str(self.threads), "--output", str(folder / "run"), *options),
        ]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")


def emit(line: dict) -> None:
    print(json.dumps(line), flush=True)
