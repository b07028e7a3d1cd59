"""`score` beside each kind of evidence, from one known bad account on, and the advice of a better evidence.

    python bench/fraud/few.py run SETS --ripplet NAME=PATH [--ripplet NAME=PATH ...] [--known 1,2,...,half] [--draws N] [--only NAME,...]
    python bench/fraud/few.py table RUNS.jsonl...

`run` prints a JSON line for each set, number of known bad, draw and version of ripplet: average precision of `score`, and of each
kind of evidence alone, over the entities that are not known, of the kind of the sources; which evidence the notes of the run advise; and
what the check estimated. All versions have the same known bad. `table` prints the means
as Markdown, and what other rules than that of the notes would have advised.
"""
import argparse
import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.metrics import average_precision_score

sys.path.append(str(Path(__file__).resolve().parent.parent / "peers"))

import check
import machine


def main() -> None:
    parser = argparse.ArgumentParser(prog="python bench/fraud/few.py", description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser("run")
    run.add_argument("sets", type=Path)
    run.add_argument("--ripplet", action="append", required=True, metavar="NAME=PATH")
    run.add_argument("--known", default="1,2,3,4,5,8,12,20,50")
    run.add_argument("--draws", type=int, default=5)
    run.add_argument("--only", default="")
    run.set_defaults(command=run_all)
    table = commands.add_parser("table")
    table.add_argument("files", nargs="+", type=Path)
    table.set_defaults(command=lambda a: print_tables([json.loads(line) for file in a.files for line in file.open()]))
    arguments = parser.parse_args()
    arguments.command(arguments)


def run_all(arguments: argparse.Namespace) -> None:
    versions = dict(of.split("=", 1) for of in arguments.ripplet)
    packages = {"numpy": np.__version__, "pandas": pd.__version__}
    packages |= {name: subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.strip() for name, path in versions.items()}
    print(json.dumps({**machine.describe(), "versions": packages, "command": ["python", "bench/fraud/few.py", *sys.argv[1:]]}), flush=True)
    folders = sorted(path.parent for path in arguments.sets.glob("*/mapping.toml"))
    for folder in folders:
        if arguments.only and folder.name not in arguments.only.split(","):
            continue
        source = tomllib.loads((folder / "mapping.toml").read_text())["source"]["kind"]
        time = pd.to_datetime(pd.read_csv(folder / "transactions.csv", usecols=["time"]).time)
        days = f"{(time.max().normalize() - time.min().normalize()).days + 1}d"
        bad = np.array(pd.read_csv(folder / "bad.csv", dtype=str)["id"])
        for count in arguments.known.split(","):
            known = len(bad) // 2 if count == "half" else int(count)
            if known >= len(bad) or (count != "half" and 2 * known > len(bad)):
                continue
            for draw in range(1, arguments.draws + 1):
                # The first of a permutation: who is known of few is known of many.
                chosen = np.random.default_rng(draw).permutation(bad)[:known]
                for name, path in versions.items():
                    line = judged(path, folder, days, source, bad, chosen)
                    print(json.dumps({"set": folder.name, "known": count, "draw": draw, "version": name, **line}), flush=True)


def judged(ripplet: str, folder: Path, days: str, source: str, bad: np.ndarray, known: np.ndarray) -> dict:
    with tempfile.TemporaryDirectory() as out:
        scores, path, notes = check.run(ripplet, str(folder / "transactions.csv"), str(folder / "mapping.toml"), known, days, out)
        entities = pd.read_parquet(path)
    of = entities[(entities.kind == source) & entities.score.notna() & ~entities.known_bad]
    is_bad = of.id.isin(set(bad) - set(known)).to_numpy().astype(int)
    at = list(entities.columns).index("pagerank")
    columns = [name for name in entities.columns[at:] if pd.api.types.is_numeric_dtype(entities[name])]
    alone = {name: average_precision_score(is_bad, np.nan_to_num(of[name].astype(float), nan=-1e300)) for name in columns}
    # Rank follows from all digits of the points, and scores are rounded.
    value = average_precision_score(is_bad, -of["rank"].to_numpy().astype(float))
    advice = re.search(r"`(\w+)`(?: alone)? has", " ".join(line for line in notes if "WARNING" in line))
    checked = scores.get("check") or {}
    return {"base": float(is_bad.mean()), "score": value, "evidence": alone, "learnt": scores["learnt"], "caution": check.kind(notes),
            "advice": advice[1] if advice else None, "estimated": checked.get("average_precision"),
            "estimated_evidence": checked.get("evidence"), "errors": checked.get("evidence_error")}


def print_tables(lines: list[dict]) -> None:
    frame = pd.DataFrame([line for line in lines if "set" in line])
    sets = sorted(frame.set.unique())
    counts = [of for of in dict.fromkeys(frame.known)]
    versions = list(dict.fromkeys(frame.version))
    print("| known | |", " | ".join(sets), "|\n|---|---|" + "--:|" * len(sets))
    for known in counts:
        of = frame[frame.known == known]
        rows = {}
        for version in versions:
            means = of[of.version == version].groupby("set").score.agg(["mean", "std"])
            rows[f"score, {version}"] = {name: f"{m:.3f} ±{s:.3f}" for name, m, s in means.itertuples()}
        # Evidence does not depend on the version.
        of = of[of.version == versions[-1]]
        for label, needs in (("best single evidence", None), ("its name", None)):
            best = {}
            for name, group in of.groupby("set"):
                alone = pd.DataFrame(list(group.evidence)).mean()
                best[name] = f"{alone.max():.3f}" if label.startswith("best") else str(alone.idxmax())
            rows[label] = best
        rows["pagerank_by_strength"] = {name: f"{np.mean([e['pagerank_by_strength'] for e in g.evidence]):.3f}" for name, g in of.groupby("set")}
        rows["random"] = {name: f"{g.base.mean():.3f}" for name, g in of.groupby("set")}
        for label, cells in rows.items():
            print(f"| {known} | {label} |", " | ".join(cells.get(name, "") for name in sets), "|")
    print("\n| known | version | runs | advised | right | wrong | sum of right less score | no better than chance | too few |\n|---|---|" + "--:|" * 7)
    for known in counts:
        for version in versions:
            of = frame[(frame.known == known) & (frame.version == version)]
            advised = of[of.advice.notna()]
            gains = np.array([row.evidence[row.advice] - row.score for row in advised.itertuples()])
            print(f"| {known} | {version} | {len(of)} | {len(advised)} | {int((gains > 0).sum())} | {int((gains <= 0).sum())} | {gains.sum():.3f} |"
                  f" {(of.caution == 'chance').sum()} | {(of.caution == 'few').sum()} |")
    print_rules(frame)


def print_rules(frame: pd.DataFrame) -> None:
    """What other rules would advise: the evidence of the highest estimate, if that is above the score's by some standard errors."""
    print("\n| version | runs with 20 known bad or more | one evidence is better than the score | rule | advised | right |\n|---|--:|--:|---|--:|--:|")
    for version, of in frame[frame.estimated.notna() & ~frame.known.isin(["1", "2", "3", "4", "5", "8", "12"])].groupby("version"):
        better = sum(max(row.evidence.values()) > row.score for row in of.itertuples())
        for margin in (0.0, 0.1):
            for errors in (0, 1, 1.5, 2, 3, 4):
                advised = right = 0
                for row in of.itertuples():
                    best = max(row.estimated_evidence, key=row.estimated_evidence.get)
                    gain = row.estimated_evidence[best] - row.estimated
                    if gain > margin * row.estimated and gain > errors * row.errors[best]:
                        advised += 1
                        right += row.evidence[best] > row.score
                print(f"| {version} | {len(of)} | {better} | {errors} errors, {margin:.0%} | {advised} | {right} |")


if __name__ == "__main__":
    main()
