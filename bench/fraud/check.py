"""Warnings about scores on random lists, and on lists drawn from labelled sets.

    python bench/fraud/check.py null RIPPLET           25 random graphs of 400 accounts for each number of random known bad
    python bench/fraud/check.py sets RIPPLET SETS      the sets of `python bench/fraud sets`, two draws of each number of known bad

Of each run: what the check in `window.json` has, which caution the notes have (`chance`: no better than chance, `few`: too few to
judge, `better`: a clearly better evidence), and of sets how the scores, and the column that is advised, rank the bad that are not
listed. `scores` is a hash of scores and ranks.
"""
import glob, json, os, re, shutil, subprocess, sys, tempfile, tomllib
import numpy as np, pandas as pd
from sklearn.metrics import average_precision_score, roc_auc_score

COUNTS = {"null": (5, 10, 20, 60), "sets": (5, 10, 20, 50)}


def run(ripplet, table, mapping, known, window, folder):
    listed, out = folder + "/known.csv", folder + "/out"
    pd.DataFrame({"id": known}).to_csv(listed, index=False)
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([ripplet, "fraud", "run", table, "--mapping", mapping, "--output", out, "--known-bad", listed,
                           "--threads", "1", "--window", window, "--slide", window, "--arrays", "none"],
                          capture_output=True, text=True, check=True)
    windows = sorted(glob.glob(out + "/windows/*/"))
    notes = [line.strip() for line in done.stderr.splitlines() if "scores" in line or "evidence" in line]
    return json.load(open(windows[-1] + "window.json"))["scores"], windows[-1] + "entities.parquet", notes


def kind(notes):
    """The caution about the scores: `chance`, `few`, `better` or `-`."""
    text = " ".join(notes)
    return "chance" if "no better than chance" in text else "few" if "too few" in text else "better" if "WARNING" in text else "-"


def null(ripplet):
    with tempfile.TemporaryDirectory() as folder:
        mapping, table = folder + "/m.toml", folder + "/n.csv"
        open(mapping, "w").write('time="t"\namount="a"\n[source]\ncolumn="s"\nkind="account"\n[target]\ncolumn="d"\nkind="account"\n')
        for known in COUNTS["null"]:
            rows = []
            for seed in range(25):
                rng = np.random.default_rng(1000 * known + seed)
                t = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.sort(rng.integers(0, 30 * 86400, 3000)), unit="s")
                p = 1 / np.arange(1, 401) ** .5
                p /= p.sum()
                pd.DataFrame({"t": t, "s": rng.choice(400, 3000, p=p), "d": rng.choice(400, 3000, p=p),
                              "a": np.round(np.exp(rng.normal(3, 1, 3000)), 2)}).to_csv(table, index=False)
                scores, _, notes = run(ripplet, table, mapping, rng.choice(400, known, replace=False), "30d", folder)
                check = scores["check"]
                z = (check["average_precision"] - check["chance"]) / check["chance_deviation"]
                rows.append((z, kind(notes)))
                print(f"  {known} known, seed {seed}: average precision {check['average_precision']:.4f}, chance {check['chance']:.4f}, "
                      f"deviations {z:.1f}, AUC {check.get('auc', float('nan')):.3f}, {kind(notes)}")
            kinds = [of for _, of in rows]
            print(f"{known} known of 400 at random: mean of the deviations above chance {np.mean([z for z, _ in rows]):.2f}; of 25 lists: "
                  f"{kinds.count('chance')} no better than chance, {kinds.count('few')} too few, {kinds.count('better')} other warning, "
                  f"{kinds.count('-')} none", flush=True)


def sets(ripplet, folder_of_sets):
    total = []
    with tempfile.TemporaryDirectory() as folder:
        for name in sorted(os.listdir(folder_of_sets)):
            at = f"{folder_of_sets}/{name}/"
            source = tomllib.load(open(at + "mapping.toml", "rb"))["source"]["kind"]
            time = pd.to_datetime(pd.read_csv(at + "transactions.csv", usecols=["time"]).time)
            days = f"{(time.max().normalize() - time.min().normalize()).days + 1}d"
            bad = np.array(pd.read_csv(at + "bad.csv", dtype=str)["id"])
            for known in COUNTS["sets"]:
                if known >= len(bad):
                    continue
                for seed in (1, 2):
                    chosen = np.random.default_rng(seed).choice(bad, known, replace=False)
                    scores, path, notes = run(ripplet, at + "transactions.csv", at + "mapping.toml", chosen, days, folder)
                    e = pd.read_parquet(path)
                    digest = pd.util.hash_pandas_object(e[["score", "rank"]]).sum()
                    e = e[(e.kind == source) & e.score.notna() & ~e.known_bad]
                    y = e.id.isin(set(bad) - set(chosen)).to_numpy().astype(int)
                    of_score, check = average_precision_score(y, e.score), scores["check"]
                    advice = re.search(r"`(\w+)`(?: alone)? has", " ".join(l for l in notes if "WARNING" in l))
                    value = average_precision_score(y, np.nan_to_num(e[advice[1]].astype(float), nan=-1e300)) if advice else float("nan")
                    total.append((known, kind(notes), of_score / y.mean(), value, of_score))
                    print(f"{name}, {known} known, seed {seed}: unlisted bad: average precision {of_score:.3f}, base {y.mean():.4f}, AUC "
                          f"{roc_auc_score(y, e.score):.3f}; check {check['average_precision']:.4f} / {check['chance']:.4f}, AUC "
                          f"{check.get('auc', float('nan')):.3f}; {kind(notes)}"
                          + (f"; advice {advice[1]} {value:.3f}" if advice else "") + f"; scores {digest}", flush=True)
    for known in COUNTS["sets"]:
        of = [row for row in total if row[0] == known]
        false = [row for row in of if row[1] == "chance" and row[2] > 2]
        advice = [row for row in of if row[3] == row[3]]
        print(f"{known} known, {len(of)} runs: {sum(r[1] == 'chance' for r in of)} no better than chance ({len(false)} of them rank at twice the "
              f"base rate or more), {sum(r[1] == 'few' for r in of)} too few, {sum(r[1] == 'better' for r in of)} better evidence; {len(advice)} "
              f"columns advised, {sum(r[3] < r[4] for r in advice)} of them worse than the score")


if __name__ == "__main__":
    null(sys.argv[2]) if sys.argv[1] == "null" else sets(sys.argv[2], sys.argv[3])
