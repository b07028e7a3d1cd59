"""Sets of transactions with known bad accounts, each a folder that `ripplet fraud` and the baselines read.

| file | |
|---|---|
| `transactions.csv` | `time`, `source`, `target` and, if there are amounts, `amount`; in the order of time |
| `mapping.toml` | the mapping of `ripplet fraud` |
| `bad.csv` | `id` of the bad, which are of the sources' kind |
| `entities.csv` | features by `id`, if the set has some |
"""

import io
import pickle
import subprocess
import tarfile
import tempfile
import tomllib
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from simulators import FIRST_DAY, SIMULATORS

SEED = 1
FOR_SPEED = "purchases-40-days"
"""A larger set, which is made only if it is named."""


@dataclass
class Made:
    """A set in memory: rows, ids of the bad, kinds of both sides, and features by `id`."""

    rows: pd.DataFrame
    bad: np.ndarray
    kinds: tuple[str, str] = ("account", "account")
    features: pd.DataFrame | None = None


@dataclass
class Set:
    """A set as it is read from its folder. Entities are numbered; those of the sources' kind come first."""

    name: str
    folder: Path
    rows: pd.DataFrame
    """`time`, `amount` (0 if there are none), and the numbers of both ends: `u`, `v`."""
    ids: np.ndarray
    kinds: np.ndarray
    bad: np.ndarray
    """Whether each entity is bad."""
    features: pd.DataFrame | None
    """A row for each entity, NaN if it has none."""

    @classmethod
    def read(cls, folder: Path) -> "Set":
        mapping = tomllib.loads((folder / "mapping.toml").read_text(encoding="utf-8"))
        kinds = mapping["source"]["kind"], mapping["target"]["kind"]
        table = pd.read_csv(folder / "transactions.csv", dtype={"source": str, "target": str}, parse_dates=["time"])
        ends = [kind + " " + table[side] for kind, side in zip(kinds, ("source", "target"))]
        numbers, names = pd.factorize(pd.concat(ends, ignore_index=True))
        kind_of, ids = zip(*(name.split(" ", 1) for name in names))
        u, v = np.split(numbers, 2)
        amounts = table["amount"] if "amount" in table else np.zeros(len(table))
        rows = pd.DataFrame({"time": table["time"], "amount": amounts, "u": u, "v": v})
        number_of = dict(zip(names, range(len(names))))
        bad = np.zeros(len(names), dtype=bool)
        listed = pd.read_csv(folder / "bad.csv", dtype=str)["id"]
        bad[[number_of[f"{kinds[0]} {i}"] for i in listed]] = True
        features = None
        if (folder / "entities.csv").exists():
            features = pd.read_csv(folder / "entities.csv", dtype={"id": str})
            features.index = kinds[0] + " " + features.pop("id")
            features = features.reindex(names).reset_index(drop=True)
        return cls(folder.name, folder, rows, np.array(ids), np.array(kind_of), bad, features)


def make_all(out: Path, sources: Path | None, ripplet: str | None, only: list[str]) -> None:
    """Writes the sets; one whose source is not there is left out with a sentence."""
    makers = {**simulated(ripplet), **real(sources)}
    if unknown := set(only) - set(makers):
        raise ValueError(f"no set {' or '.join(sorted(unknown))}; there are {', '.join(makers)}")
    for name in only or [name for name in makers if name != FOR_SPEED]:
        maker = makers[name]
        try:
            made = maker()
        except FileNotFoundError as error:
            print(f"{name}: left out: {error}", flush=True)
            continue
        write(out / name, made)
        ends = len(set(made.rows["source"])) if made.kinds[0] != made.kinds[1] else count_ends(made.rows)
        print(f"{name}: {len(made.rows):,} rows, {ends:,} {made.kinds[0]}s, {len(made.bad):,} bad", flush=True)


def count_ends(rows: pd.DataFrame) -> int:
    return pd.concat([rows["source"], rows["target"]]).nunique()


def write(folder: Path, made: Made) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    made.rows.to_csv(folder / "transactions.csv", index=False, date_format="%Y-%m-%d %H:%M:%S")
    amount = 'amount = "amount"\n' if "amount" in made.rows else ""
    sides = "".join(
        f'\n[{side}]\ncolumn = "{side}"\nkind = "{kind}"\n' for side, kind in zip(("source", "target"), made.kinds)
    )
    (folder / "mapping.toml").write_text(f'time = "time"\n{amount}{sides}', encoding="utf-8")
    pd.DataFrame({"id": made.bad}).to_csv(folder / "bad.csv", index=False)
    if made.features is not None:
        made.features.to_csv(folder / "entities.csv", index=False)


def simulated(ripplet: str | None) -> dict[str, Callable[[], Made]]:
    makers = {name: (lambda draw=draw, name=name: simulate(name, draw)) for name, draw in SIMULATORS.items()}
    large = lambda: purchases(ripplet, days=40, scale=2e-4, once=False)
    return {**makers, "purchases": lambda: purchases(ripplet), FOR_SPEED: large}


def simulate(name: str, draw: Callable) -> Made:
    rows, bad = draw(SEED)
    return Made(rows, bad, ("card", "merchant") if name == "cards" else ("account", "account"))


def purchases(ripplet: str | None, days: int = 10, scale: float = 5e-5, once: bool = True) -> Made:
    """Purchases of `ripplet generate transactions`; with `once`, only the first of each pair of buyer and item."""
    if ripplet is None:
        raise FileNotFoundError("name the binary that generates them: --ripplet PATH")
    with tempfile.TemporaryDirectory() as folder:
        table, truth = (str(Path(folder) / name) for name in ("rows.csv", "rings.csv"))
        options = ["--days", str(days), "--scale", str(scale), "--ring-share", "0.02", "--seed", str(SEED)]
        command = [ripplet, "generate", "transactions", *options, "-o", table, "--truth", truth]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            raise ValueError(f"{' '.join(command)}: exit code {done.returncode}: {done.stderr.strip()}")
        rows = pd.read_csv(table)
        members = pd.read_csv(truth)["id"]
    # The members of a ring are buyers and items; buyers are the bad.
    bad = np.intersect1d(members, rows["source"])
    if once:
        rows = rows.drop_duplicates(["source", "target"])
    rows["time"] = FIRST_DAY + pd.to_timedelta(rows.pop("day"), unit="D")
    rows = rows.sort_values("time", kind="stable")[["time", "source", "target", "amount"]]
    return Made(rows, bad, ("buyer", "item"))


def real(sources: Path | None) -> dict[str, Callable[[], Made]]:
    def source(*names: str) -> Path:
        """The first of these files that is in the folder of sources."""
        if sources is None:
            raise FileNotFoundError("name the folder of its source: --sources FOLDER")
        for name in names:
            if (sources / name).exists():
                return sources / name
        raise FileNotFoundError(f"no {' or '.join(names)} in {sources}")

    return {
        "tolokers": lambda: tolokers(source("tolokers/edges.csv.gz"), source("tolokers/workers.csv.gz")),
        "amlsim": lambda: amlsim(source("20K_cycle200.tgz", "amlsim_cycle200/20K_cycle200.tgz")),
        "otc": lambda: trust(source("soc-sign-bitcoinotc.csv.gz", "soc-sign-bitcoinotc.csv")),
        "alpha": lambda: trust(source("soc-sign-bitcoinalpha.csv.gz", "soc-sign-bitcoinalpha.csv")),
        "reddit": lambda: reddit(source("reddit.pt.zip")),
    }


def tolokers(edges: Path, workers: Path) -> Made:
    """Crowd workers who worked on the same task, without times; bad are the banned."""
    rows, table = pd.read_csv(edges), pd.read_csv(workers)
    rows.insert(0, "time", FIRST_DAY)
    ids = table.loc[table.pop("banned") == 1, "id"].to_numpy()
    return Made(rows, ids, ("worker", "worker"), table)


def amlsim(archive: Path) -> Made:
    """AMLSim's sample of 200 cycles; bad are the accounts of the cycles."""
    with tarfile.open(archive) as files:
        rows, nodes = (pd.read_csv(files.extractfile(f"20K_cycle200/{name}.csv")) for name in ("transactions", "nodes"))
    rows.columns = ["source", "target", "amount", "time"]
    rows["time"] = pd.Timestamp("2017-01-01") + pd.to_timedelta(rows["time"], unit="D")
    rows = rows.sort_values("time", kind="stable")[["time", "source", "target", "amount"]]
    seen = np.union1d(rows["source"], rows["target"])
    features = nodes[["nodeid", "init_balance"]].rename(columns={"nodeid": "id"})
    return Made(rows, np.intersect1d(nodes.loc[nodes["isFraud"] == 1, "nodeid"], seen), features=features)


def trust(path: Path) -> Made:
    """Who rates whom in SNAP's networks of Bitcoin traders; bad are those with two ratings or more whose sum is below 0.

    The ratings themselves are left out of the rows.
    """
    rows = pd.read_csv(path, header=None, names=["source", "target", "rating", "time"], dtype=str)
    # SNAP's file has no names of columns; copies of it may.
    rows = rows[rows["source"].str.isdigit()].astype({"rating": float, "time": float})
    of = rows.groupby("target")["rating"].agg(["sum", "size"])
    bad = of.index[(of["sum"] < 0) & (of["size"] >= 2)].to_numpy()
    rows["time"] = pd.to_datetime(rows["time"].astype(np.int64), unit="s")
    return Made(rows.sort_values("time", kind="stable")[["time", "source", "target"]], bad, ("trader", "trader"))


def reddit(path: Path) -> Made:
    """Users and the forums where they post, each pair once, without times; bad are the banned users. 64 features."""
    with zipfile.ZipFile(path) as outer:
        arrays = tensors(outer.read("reddit.pt"))
    edges, bad = np.sort(arrays["edge_index"].T, axis=1), np.flatnonzero(arrays["y"])
    rows = pd.DataFrame(np.unique(edges, axis=0), columns=["source", "target"])
    rows = rows[rows["source"] != rows["target"]]
    users = np.unique(rows["source"])
    if np.isin(rows["target"], users).any() or not np.isin(bad, users).all():
        raise ValueError(f"{path} is not a graph of users and forums, users first")
    rows.insert(0, "time", FIRST_DAY)
    features = pd.DataFrame(arrays["x"][users]).add_prefix("f")
    features.insert(0, "id", users)
    return Made(rows, bad, ("user", "forum"), features)


def tensors(data: bytes) -> dict[str, np.ndarray]:
    """The tensors of a graph of PyTorch Geometric, without PyTorch; no other code of the file is called."""
    types = {"FloatStorage": np.float32, "DoubleStorage": np.float64, "LongStorage": np.int64}

    class Graph(dict):
        def __setstate__(self, state: dict) -> None:
            self.update(state)

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        root = next(name for name in archive.namelist() if name.endswith("/data.pkl"))[: -len("data.pkl")]

        def tensor(storage: np.ndarray, offset: int, shape: tuple, strides: tuple, *_) -> np.ndarray:
            steps = [step * storage.itemsize for step in strides]
            return np.lib.stride_tricks.as_strided(storage[offset:], shape, steps).copy()

        class Reader(pickle.Unpickler):
            def find_class(self, module: str, name: str):
                if module == "torch" and name in types:
                    return types[name]
                known = {"_rebuild_tensor_v2": tensor, "Data": Graph, "GlobalStorage": Graph, "OrderedDict": OrderedDict}
                if name not in known:
                    raise ValueError(f"{module}.{name} is no part of a graph")
                return known[name]

            def persistent_load(self, key: tuple) -> np.ndarray:
                _, kind, name, _, _ = key
                return np.frombuffer(archive.read(f"{root}data/{name}"), dtype=kind)

        graph = Reader(io.BytesIO(archive.read(f"{root}data.pkl"))).load()
    return graph["_store"]["_mapping"]
