"""Runs over tables have the command's files, byte for byte; results and bad input."""

from __future__ import annotations

import csv
import datetime
import decimal
import os
import pickle
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ROOT

import ripplet as rp

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

PAYMENTS = ROOT / "examples" / "fraud" / "payments.csv"
TRANSACTIONS = ROOT / "examples" / "fraud" / "transactions.csv.gz"
MAPPING: dict[str, Any] = {
    "time": "date",
    "amount": {"column": "amount", "decimals": 2},
    "source": {"column": "payer", "kind": "account"},
    "target": {"column": "payee", "kind": "account"},
}
TOML = """time = "date"
amount = { column = "amount", decimals = 2 }
[source]
column = "payer"
kind = "account"
[target]
column = "payee"
kind = "account"
"""
WINDOWS = {"window": "14d", "slide": "4d"}
KNOWN = {"id": ["ivo", "kai", "leo", "max", "nobody"], "from": ["2024-03-20", None, None, "2024-03-10", None]}


def rows() -> dict[str, list[Any]]:
    """Returns the payments by column, as Python has them."""
    with open(PAYMENTS, newline="") as file:
        all_rows = list(csv.DictReader(file))
    times = [datetime.datetime.strptime(row["date"], "%Y-%m-%d %H:%M") for row in all_rows]
    return {
        "date": times,
        "payer": [row["payer"] for row in all_rows],
        "payee": [row["payee"] for row in all_rows],
        "amount": [float(row["amount"]) for row in all_rows],
        "unread": [object() for _ in all_rows],
    }


def files(folder: Path) -> dict[str, bytes]:
    """Returns the files of the windows of a run, without figures of time and memory."""
    found = {}
    for path in sorted((folder / "windows").rglob("*")):
        if path.is_file() and path.name != "window.json":
            found[str(path.relative_to(folder))] = path.read_bytes()
    return found


@pytest.fixture(scope="module")
def expected(command: Any, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("expected")
    (folder / "m.toml").write_text(TOML)
    with open(folder / "known.csv", "w", newline="") as file:
        csv.writer(file).writerows([KNOWN.keys(), *zip(*KNOWN.values(), strict=True)])
    command("fraud", "run", PAYMENTS, "--mapping", folder / "m.toml", "--window", "14d", "--slide", "4d", "--known-bad",
            folder / "known.csv", "--output", folder / "run", "--seed", "3", "--hub-degree", "20")
    return files(folder / "run")


def sources() -> dict[str, Any]:
    columns = rows()
    typed = {name: values for name, values in columns.items() if name != "unread"}
    frame = pd.DataFrame(columns)
    exact = {**typed, "amount": [decimal.Decimal(str(value)) for value in typed["amount"]]}
    texts = {**typed, "date": [time.isoformat() for time in typed["date"]]}
    return {
        "dict": columns,
        "dict of decimals and datetimes with zones": {
            **exact, "date": [time.replace(tzinfo=datetime.timezone.utc) for time in typed["date"]]
        },
        "dict of numpy": {name: np.array(values) for name, values in typed.items()},
        "pandas": frame,
        "pandas with categories and zones": frame.assign(
            payer=frame["payer"].astype("category"), date=frame["date"].dt.tz_localize("UTC").dt.as_unit("ns")
        ),
        "dict of arrays of pandas": {
            **typed, "payer": pd.Categorical(typed["payer"]), "payee": pd.array(typed["payee"], dtype="string"),
            "amount": pd.array(typed["amount"], dtype="Float64"), "date": frame["date"].array,
        },
        "pandas of pyarrow": pd.DataFrame(texts).convert_dtypes(dtype_backend="pyarrow"),
        "polars": pl.DataFrame(typed, schema_overrides={"payee": pl.Categorical}),
        "polars with columns that cannot be exported": pl.DataFrame(typed).with_columns(
            large=pl.lit(1, dtype=pl.Int128), empty=pl.lit(None)
        ),
        "pyarrow": pa.table(exact),
        "pyarrow in batches": pa.Table.from_batches(pa.table(typed).to_batches(max_chunksize=50)),
    }


@pytest.mark.parametrize("source", sources())
def test_tables_become_the_commands_files(source: str, expected: dict[str, bytes]) -> None:
    run = rp.fraud.run(sources()[source], mapping=MAPPING, known_bad=KNOWN, seed=3, hub_degree=20, threads=2, **WINDOWS)
    assert files(run.folder) == expected


def test_paths_and_lists_of_every_kind(expected: dict[str, bytes], tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(TOML)
    known = pl.DataFrame(KNOWN).with_columns(pl.col("from").str.to_date())
    for mapping, list_of_bad, threads in [(tmp_path / "m.toml", known, 1), (TOML, pd.DataFrame(KNOWN), 3)]:
        run = rp.fraud.run([PAYMENTS], mapping=mapping, known_bad=list_of_bad, seed=3, hub_degree=20, threads=threads, **WINDOWS)
        assert files(run.folder) == expected


def test_what_the_package_reads_is_what_another_reader_reads(command: Any, tmp_path: Path) -> None:
    (tmp_path / "m.toml").write_text(TOML)
    (tmp_path / "known.csv").write_text("id\nivo\nkai\n")
    command("fraud", "run", PAYMENTS, "--mapping", tmp_path / "m.toml", "--window", "14d", "--slide", "4d", "--known-bad",
            tmp_path / "known.csv", "--output", tmp_path / "run")
    pq = pytest.importorskip("pyarrow.parquet")
    opened = rp.fraud.open(tmp_path / "run")
    for name in ["clusters", "members", "edges", "transactions", "known_bad", "ended", "entities", "reasons", "active"]:
        paths = sorted((tmp_path / "run" / "windows").glob(f"*/{name}.parquet"))
        table = pa.concat_tables([pq.read_table(path) for path in paths])
        assert opened.table(name).to_arrow().equals(table)
        assert opened.table(name, -1).to_arrow().equals(pq.read_table(paths[-1]))
    scores = opened.scores.to_pandas()
    written = pq.read_table(min((tmp_path / "run" / "windows").glob("*/entities.parquet"))).to_pandas()
    first = scores[scores["window"] == 0].reset_index(drop=True)
    for name in ["vertex", "id", "known_bad", "score", "rank"]:
        assert first[name].isna().tolist() == written[name].isna().tolist()
        assert first[name].dropna().tolist() == written[name].dropna().tolist()


@pytest.fixture(scope="module")
def run() -> rp.fraud.Run:
    return rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], **WINDOWS)


def test_results_do_not_change_and_are_pickled(run: rp.fraud.Run) -> None:
    for thing in (run, run.clusters):
        with pytest.raises(AttributeError):
            thing.manifest = {}  # type: ignore[union-attr, misc, assignment]
        with pytest.raises(AttributeError):
            del thing.manifest  # type: ignore[union-attr]
    again = pickle.loads(pickle.dumps(run))
    assert again.folder != run.folder and files(again.folder) == files(run.folder)
    assert again.manifest == run.manifest and again.report == run.report
    clusters = pickle.loads(pickle.dumps(run.clusters))
    assert clusters.to_arrow().equals(run.clusters.to_arrow())
    folder = again.folder
    del again
    assert not folder.exists() and run.folder.exists()


def test_tables_are_taken_by_every_package(run: rp.fraud.Run) -> None:
    arrow = run.edges.to_arrow()
    assert arrow.num_rows == len(run.edges) > 0 and run.edges.columns == arrow.column_names
    assert run.edges.to_polars()["source"].to_list() == arrow["source"].to_pylist()
    frame = run.edges.to_pandas()
    assert frame["source"].tolist() == arrow["source"].to_pylist()
    assert frame["amount"].tolist() == [float(value) for value in arrow["amount"].to_pylist()]
    assert str(frame["first"].dtype) == "datetime64[us, UTC]"
    assert [time.to_pydatetime() for time in frame["first"]] == arrow["first"].to_pylist()
    growth = [value for value in run.clusters.to_arrow()["growth"].to_pylist()]
    assert [None if np.isnan(value) else value for value in run.clusters["growth"]] == growth
    assert [row["id"] for row in run.members] == run.members.to_arrow()["id"].to_pylist()
    # A table of a result is an input as well.
    ends = set(arrow["source"].to_pylist()) | set(arrow["target"].to_pylist())
    assert set(rp.graph(run.transactions, source="source", target="target").ids.tolist()) == ends
    assert run.scores["score"].max() <= 1
    windows = run.windows.to_pandas()
    assert windows["clusters"].tolist() == [record["clusters"] for record in run.manifest["windows"]]
    assert windows["warm"].tolist() == [False, True, True, True, True] and len(run) == 5
    assert str(windows["until"][0]) == "2024-03-15 00:00:00+00:00"


def test_reports_and_arrays(run: rp.fraud.Run) -> None:
    assert run.report == (run.folder / "report.html").read_text()
    page = run._repr_html_()
    assert "<iframe srcdoc=" in page and "2024-03-15" in page and len(page) > len(run.report)
    assert "known_bad" in run.clusters._repr_html_() and "3 clusters" in repr(run)
    arrays = run.arrays()
    assert arrays["edge_index"].shape[0] == 2
    bare = rp.fraud.run(rows(), mapping=MAPPING, model="none", arrays="none", **WINDOWS)
    assert len(bare.reasons) == 0
    with pytest.raises(rp.InputError, match='arrays="none"'):
        bare.arrays()


def test_runs_go_on_and_models_are_files(run: rp.fraud.Run, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    first = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], output=folder, **WINDOWS)
    assert files(folder) == files(run.folder) and first.folder == folder
    again = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], output=folder, resume=True, **WINDOWS)
    assert files(folder) == files(run.folder) and again.manifest["state"] == "finished"
    model = next(folder.glob("windows/*/model.json"))
    by_model = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo"], model=model, **WINDOWS)
    assert len(by_model.scores) == len(run.scores)
    with pytest.raises(ValueError, match="has a run in it already"):
        rp.fraud.run(rows(), mapping=MAPPING, output=folder, **WINDOWS)


def test_evaluations_are_the_commands(tmp_path: Path) -> None:
    path = os.environ.get("RIPPLET_COMMAND", "")
    if not Path(path).is_file():
        pytest.skip("RIPPLET_COMMAND does not name the command")
    (tmp_path / "m.toml").write_text(TOML)
    confirmed = ["ivo", "kai", "leo", "max", "sue", "wim", "nobody"]
    (tmp_path / "confirmed.csv").write_text("\n".join(["id", *confirmed]) + "\n")
    arguments = ["fraud", "evaluate", PAYMENTS, "-m", tmp_path / "m.toml", "-c", tmp_path / "confirmed.csv", "--draws", "2", "-w", "14d",
                 "-s", "8d", "--known", "0.5", "--top", "0.03", "-o", tmp_path / "draws.parquet"]
    done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pq = pytest.importorskip("pyarrow.parquet")
    found = rp.fraud.evaluate(rows(), mapping=MAPPING, confirmed=confirmed, draws=2, window="14d", slide="8d", known=0.5, top=0.03)
    assert found.draws.to_arrow().equals(pq.read_table(tmp_path / "draws.parquet"))
    assert str(found).strip() == done.stdout.strip()
    assert (found.unseen, found.windows) == (2, 3) and found._repr_html_().startswith("<pre>")
    assert str(pickle.loads(pickle.dumps(found))) == str(found)

    (tmp_path / "cleared.csv").write_text("id\nada\nbob\n")
    model = next(rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], output=tmp_path / "run", **WINDOWS)
                 .folder.glob("windows/*/model.json"))
    for options in ({"model": "none"}, {"model": model}):
        flags = ["--cleared", tmp_path / "cleared.csv", "--model", options["model"]]
        done = subprocess.run([path, *map(str, [*arguments, *flags])], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        other = rp.fraud.evaluate(rows(), mapping=MAPPING, confirmed=confirmed, cleared=["ada", "bob"], draws=2, window="14d",
                                  slide="8d", known=0.5, top=0.03, **options)
        assert str(other).strip() == done.stdout.strip() and str(other) != str(found)
        assert ("| score |" in str(other)) is (options["model"] != "none")
    for wrong in ({"known": 1.5}, {"top": 0.0}, {"draws": 0}, {"confirmed": ["nobody"]}, {"confirmed": {"id": []}}):
        with pytest.raises(rp.RippletError) as raised:
            rp.fraud.evaluate(rows(), **{"mapping": MAPPING, "confirmed": confirmed, **WINDOWS, **wrong})
        assert isinstance(raised.value, ValueError)
    with pytest.raises(rp.FileError, match="the model cannot be used"):
        rp.fraud.evaluate(rows(), mapping=MAPPING, confirmed=confirmed, model=tmp_path / "none.json", **WINDOWS)


def change(**columns: Any) -> dict[str, Any]:
    table = {name: values[:4] for name, values in rows().items() if name != "unread"}
    return {**table, **columns}


BAD: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"transactions": change(payer=["a", None, "c", "d"])}, ValueError, "row 1 .*payer` is empty"),
    ({"transactions": pd.DataFrame(change(amount=[1.0, 2.0, None, 3.0]))}, ValueError, "row 2 .*amount"),
    ({"transactions": pl.DataFrame(change(amount=[1.0, -2.0, 1.0, 3.0]))}, ValueError, "row 1 .*below 0"),
    ({"transactions": change(date=["2024-03-01", "soon", "2024-03-01", "2024-03-02"])}, ValueError, "row 1 .*no time"),
    ({"transactions": change(date=["2024-03-09", "2024-03-09", "2024-03-01", "2024-03-02"])}, ValueError, "row 2 .*comes after"),
    ({"transactions": change(payer=["a", 7, "c", "d"])}, ValueError, "row 1 .*payer is of the type int, and str before"),
    ({"transactions": change(payer=[1.5, 2.5, 3.5, 4.5])}, ValueError, "`payer` is Float64, but ids are strings or integers"),
    ({"transactions": change(payer=["a"])}, ValueError, "payer.*|columns make no table"),
    ({"transactions": change(payer=[object()] * 4)}, ValueError, "row 0 .*cells are strings, numbers or times"),
    ({"transactions": pd.DataFrame({"date": [], "payer": []})}, ValueError, "no column `payee`"),
    ({"transactions": change(payer="abcd")}, TypeError, "payer: expected an array"),
    ({"transactions": {}}, ValueError, "no column `payer`"),
    ({"transactions": 7}, TypeError, "transactions: expected a table"),
    ({"transactions": None}, TypeError, "transactions: a table or paths"),
    ({"transactions": "nowhere.csv"}, OSError, "nowhere.csv"),
    ({"mapping": {"tme": "date"}}, ValueError, "unknown field `tme`, expected one of `time`"),
    ({"mapping": {**MAPPING, "time": 1.5}}, TypeError, "mapping.time: expected a string"),
    ({"mapping": {**MAPPING, "source": {"column": "from", "kind": "a"}}}, ValueError, "no column `from`; the columns are date"),
    ({"mapping": "nowhere.toml"}, OSError, "nowhere.toml"),
    ({"mapping": None}, TypeError, "mapping: expected a dict"),
    ({"known_bad": pd.DataFrame({"x": ["a"], "y": ["b"]})}, ValueError, "no column is called `id`"),
    ({"known_bad": {"id": ["a"], "kind": ["shop"]}}, ValueError, "row 0 .*kind `shop` is none"),
    ({"known_bad": ["a", None]}, ValueError, "known_bad: entry 1 .the first is 0. is missing, and no id"),
    ({"known_bad": [7.5]}, TypeError, "known_bad: entry 0 .the first is 0. is 7.5: an id is a string or a whole number"),
    ({"trusted": [True]}, TypeError, "trusted: entry 0 .the first is 0. is True"),
    ({"cleared": np.zeros((2, 2))}, ValueError, "cleared: expected one dimension, not 2"),
    ({"confirmed": pd.Series([1.0, None])}, ValueError, "confirmed: entry 1 .the first is 0. is missing"),
    ({"known_bad": 7}, TypeError, "known_bad: expected a table"),
    ({"window": datetime.timedelta(microseconds=1)}, TypeError, "window: expected whole seconds"),
    ({"known_bad": {"id": ["a", None]}}, ValueError, "row 1 .*id` is empty"),
    ({"known_bad": ["ivo"], "trusted": ["ivo"]}, ValueError, "known to be bad and trusted"),
    ({"entity_table": {"id": ["a", "a"], "x": [1, 2]}}, ValueError, "row 1 .*has a row already"),
    ({"window": "30"}, ValueError, "window: "),
    ({"window": 30}, TypeError, "window: expected a text such as .*'30d'.*, or a datetime.timedelta, not 30"),
    ({"slide": np.timedelta64(1, "D")}, TypeError, "slide: expected a text such as"),
    ({"output": 5}, TypeError, "output: expected a path, as a text or a pathlib.Path, not 5"),
    ({"window": "1d", "slide": "2d"}, ValueError, "slide"),
    ({"since": "2024-03-05", "before": "2024-03-01"}, ValueError, "no time is between"),
    ({"on_error": "ignore"}, ValueError, "on_error: expected stop, skip, not ignore"),
    ({"arrays": "all"}, ValueError, "arrays: expected clusters, window, none"),
    ({"noise": 2.0}, ValueError, "from 0 to 1"),
    ({"attenuation": 0.0}, ValueError, "attenuation"),
    ({"seeded_only": True}, ValueError, "need a list"),
    ({"model": "nowhere.json"}, OSError, "nowhere.json"),
    ({"resume": True}, TypeError, "output="),
    ({"schema": "x"}, TypeError, "to_postgres"),
    ({"device": "tpu"}, ValueError, "device"),
    ({"host_memory": 1}, MemoryError, "MiB are allowed"),
    ({"threads": 0}, ValueError, "threads"),
    ({"windw": "3d"}, TypeError, "did you mean window"),
    ({"progress": "yes"}, TypeError, "progress"),
]


@pytest.mark.parametrize("options, error, message", BAD, ids=lambda value: str(value)[:40])
def test_bad_input_is_an_exception(options: dict[str, Any], error: type[Exception], message: str) -> None:
    taken = {"transactions": rows(), "mapping": MAPPING, **WINDOWS, **options}
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.fraud.run(**taken)
    assert isinstance(raised.value, error)


def test_ids_are_any_column_and_lengths_of_time_are_timedeltas_too() -> None:
    table = {**rows(), "payer": [hash_of(id) for id in rows()["payer"]], "payee": [hash_of(id) for id in rows()["payee"]]}
    ids = sorted({*map(int, table["payer"])})[:6]
    frame = pd.DataFrame({"id": ids})
    lists: list[Any] = [
        ids, tuple(ids), set(ids), [np.int64(id) for id in ids], [float(id) for id in ids], [str(id) for id in ids],
        [ids[0], *map(str, ids[1:])], np.array(ids), frame["id"], frame["id"].unique(), frame["id"].to_numpy(), frame.id.astype(float),
        frame.id.astype("Int64"), frame.id.astype(str), pd.Index(ids), pl.Series(ids), pl.Series(ids).unique(), pa.array(ids),
        pa.chunked_array([ids]), pa.table({"id": ids}), frame, pl.DataFrame({"id": ids}),
    ]
    chosen: dict[str, Any] = {"mapping": MAPPING, "arrays": "none", "slide": datetime.timedelta(days=14)}
    expected = rp.fraud.run(table, known_bad={"id": ids}, window="14d", **{**chosen, "slide": "14d"}).scores.to_arrow()
    for known in lists:
        found = rp.fraud.run(table, known_bad=known, window=datetime.timedelta(days=14), **chosen)
        assert found.scores.to_arrow().equals(expected), known
        assert found.manifest["windows"][-1]["known_bad"] > 0
    known = pd.Series(ids)
    rp.fraud.run(table, confirmed=known, cleared=pd.Series([7]), trusted=pd.Index([8]), window="336h", **chosen)


def test_ids_in_an_index_are_not_passed_over() -> None:
    alerts = pd.Series([4, 4, 4, 5, 5], name="account")
    frame = pd.DataFrame({"account": alerts, "n": 1})
    counts = frame.groupby("account").size()
    named = frame.set_index("account")["n"]
    for name in ("known_bad", "trusted", "confirmed", "cleared", "entity_table"):
        for column in (alerts.value_counts(), counts, named, pd.Series([1, 2], index=["ann", "ivo"])):
            with pytest.raises(rp.InputError, match=rf"{name}: a Series .* \.index, or its \.tolist"):
                rp.fraud.run(rows(), mapping=MAPPING, **WINDOWS, **{name: column})
        for table in (frame.groupby("account").sum(), counts.to_frame()):
            with pytest.raises(rp.InputError, match=rf"{name}: .*index 'account' .*reset_index"):
                rp.fraud.run(rows(), mapping=MAPPING, **WINDOWS, **{name: table})
    with pytest.raises(rp.InputError, match="confirmed: a Series"):
        rp.fraud.evaluate(rows(), mapping=MAPPING, confirmed=counts, **WINDOWS)
    # The rows of a table with the column are taken, whatever the index, and so is a column of some rows.
    people = pd.DataFrame({"id": ["ann", "ivo", "kai"], "fraud": [False, True, True]})
    expected = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], **WINDOWS).scores.to_arrow()
    for known in (people[["id"]][1:], people.loc[people["fraud"], "id"]):
        assert rp.fraud.run(rows(), mapping=MAPPING, known_bad=known, **WINDOWS).scores.to_arrow().equals(expected)


def test_a_column_of_categories_stays_one() -> None:
    ids = sorted({*rows()["payer"], *rows()["payee"]})
    codes = [str(at % 3) for at in range(len(ids))]
    numbers = pd.DataFrame({"id": ids, "group": codes})
    tables: list[tuple[Any, bool]] = [
        (numbers, False),
        (numbers.assign(group=[at % 3 for at in range(len(ids))]), False),
        (numbers.assign(group=numbers["group"].astype("category")), True),
        (numbers.assign(group=pd.Categorical([at % 3 for at in range(len(ids))])), True),
        (pl.DataFrame({"id": ids, "group": codes}, schema_overrides={"group": pl.Categorical}), True),
        (pa.table({"id": ids, "group": pa.array(codes).dictionary_encode()}), True),
    ]
    for table, is_category in tables:
        found = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], entity_table=table, **WINDOWS)
        columns = [name for name in found.scores.columns if name.startswith("table_group")]
        assert ("table_group_share" in columns) == is_category and ("table_group" in columns) != is_category


def test_lists_and_tables_have_nulls_for_masked_entries() -> None:
    masked = np.ma.array(["ivo", "kai"], mask=[0, 1])
    with pytest.raises(rp.InputError, match="known_bad: entry 1 .* is missing"):
        rp.fraud.run(rows(), mapping=MAPPING, known_bad=masked, **WINDOWS)
    amounts = np.ma.array(rows()["amount"], mask=[at == 5 for at in range(len(rows()["amount"]))])
    with pytest.raises(rp.InputError, match="row 5 .*amount"):
        rp.fraud.run({**rows(), "amount": amounts}, mapping=MAPPING, **WINDOWS)
    days = np.ma.array(rows()["date"], mask=amounts.mask, dtype="datetime64[ns]")
    with pytest.raises(rp.InputError, match="row 5 .*date"):
        rp.fraud.run({**rows(), "date": days}, mapping=MAPPING, **WINDOWS)


def test_lists_are_arrays_and_indexes_of_pandas() -> None:
    expected = rp.fraud.run(rows(), mapping=MAPPING, known_bad=["ivo", "kai"], **WINDOWS).known_bad["id"].tolist()
    for known in (pd.Categorical(["ivo", "kai"]), pd.array(["ivo", "kai"], dtype="string"), pd.Index(["ivo", "kai"]), pd.Series(["ivo", "kai"]).array):
        for known_bad in (known, {"id": known}):
            assert rp.fraud.run(rows(), mapping=MAPPING, known_bad=known_bad, **WINDOWS).known_bad["id"].tolist() == expected


def test_days_and_times_are_those_of_python() -> None:
    day = datetime.date(2024, 3, 10)
    expected = rp.fraud.window(rows(), mapping=MAPPING, until="2024-03-25", since="2024-03-10", window="14d").edge_arrays()
    for since, until in [
        (day, datetime.date(2024, 3, 25)),
        (pd.Timestamp(day), np.datetime64("2024-03-25")),
        (datetime.datetime(2024, 3, 10, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1))), "2024-03-25"),
    ]:
        found = rp.fraud.window(rows(), mapping=MAPPING, until=until, since=since, window="14d").edge_arrays()
        for mine, its in zip(found, expected, strict=True):
            assert mine.tolist() == its.tolist()
    for wrong in (20240310, pd.NaT, 3.5):
        with pytest.raises(rp.OptionError, match="since: expected a day or a time"):
            rp.fraud.run(rows(), mapping=MAPPING, since=wrong, **WINDOWS)


def test_numbers_of_windows_and_ids_of_numpy(run: rp.fraud.Run) -> None:
    for wrong in ("last", 0.5, True):
        with pytest.raises(rp.OptionError, match="window: expected the number of a window"):
            run.table("clusters", wrong)  # type: ignore[arg-type]
        with pytest.raises(rp.OptionError, match="window: expected the number of a window"):
            run.arrays(wrong)  # type: ignore[arg-type]
    assert run.table("clusters", np.int64(-1)).to_arrow().equals(run.table("clusters", -1).to_arrow())
    with pytest.raises(rp.InputError, match="no window .* has an entity with the id `7`"):
        run.find(np.int64(7))


ADVICE: list[tuple[dict[str, Any], str]] = [
    ({"min_size": 0}, "min_size: expected a whole number, 1 or above, not 0"),
    ({"transactions": change(amount=[1.0, -2.0, 1.0, 3.0])}, 'on_error="skip" leaves such rows out'),
    ({"transactions": change(date=["2024-03-09", "2024-03-02", "2024-03-03", "2024-03-04"])}, 'late="7d" .*skip_late_rows=True'),
    ({"since": "2025-01-01"}, "outside since= and before="),
    ({"mapping": {**MAPPING, "ammount": "amount"}}, "mapping: in .ammount.: unknown field"),
    ({"mapping": {**MAPPING, "source": "payer"}}, r"mapping: in .source.: .*expected a dict with .* \{.column.: .payer., .kind."),
    ({"mapping": {"amount": "amount"}}, "^mapping: missing field .time.$"),
]


@pytest.mark.parametrize("options, message", ADVICE, ids=lambda value: str(value)[:40])
def test_messages_advise_what_python_has(options: dict[str, Any], message: str) -> None:
    with pytest.raises(rp.InputError, match=message):
        rp.fraud.run(**{"transactions": rows(), "mapping": MAPPING, **WINDOWS, **options})


def test_notes_and_folders_advise_what_python_has(tmp_path: Path) -> None:
    options: dict[str, Any] = {"mapping": MAPPING, "known_bad": ["ivo", "kai"], "since": "2024-03-05", **WINDOWS}
    notes = rp.fraud.run(rows(), output=tmp_path / "run", **options).notes
    assert any("outside since= and before=" in note for note in notes)
    assert not any("--" in note for note in [*notes, *rp.fraud.open(tmp_path / "run").notes])
    with pytest.raises(rp.RippletError, match=r"\(resume=True\)"):
        rp.fraud.run(rows(), output=tmp_path / "run", **options)


def hash_of(id: str) -> int:
    """Returns a name as a number."""
    return int.from_bytes(id.encode(), "little") % 1_000_003


def test_bad_rows_are_skipped_on_demand() -> None:
    table = rows()
    table["amount"][5] = None
    run = rp.fraud.run(table, mapping=MAPPING, on_error="skip", **WINDOWS)
    assert run.manifest["counts"]["rows"] == 329 and any("1 row" in note for note in run.notes)


def test_unknown_tables_and_columns_are_named(run: rp.fraud.Run, tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="did you mean score"):
        run.clusters["scor"]
    with pytest.raises(rp.UnknownColumnError):
        run.clusters["?"]
    with pytest.raises(ValueError, match="the tables are clusters"):
        run.table("cluster")
    for window in (5, -6):
        with pytest.raises(ValueError, match="there are 5 windows"):
            run.table("clusters", window)
        with pytest.raises(ValueError, match="there are 5 windows"):
            run.arrays(window)
    with pytest.raises(ValueError, match="no run in it"):
        rp.fraud.open(tmp_path)
    with pytest.raises(TypeError):
        rp.fraud.open(7)  # type: ignore[arg-type]


# Graphs of windows.

@pytest.fixture(scope="module")
def mapping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mapping") / "m.toml"
    path.write_text(TOML)
    return path


WINDOW: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"until": "2024-03-18"}, ["--until", "2024-03-18"]),
    ({"until": "2024-03-19T00:00:00"}, ["--until", "2024-03-19T00:00:00"]),
    ({"growing": True, "until": "2024-03-08"}, ["--growing", "--until", "2024-03-08"]),
    ({"full_slides": True, "since": "2024-03-03", "before": "2024-03-28"},
     ["--full-slides", "--since", "2024-03-03", "--before", "2024-03-28"]),
]


@pytest.mark.parametrize("options, arguments", WINDOW, ids=str)
def test_the_graph_of_a_window_is_the_commands(
    options: dict[str, Any], arguments: list[str], command: Any, mapping: Path, tmp_path: Path
) -> None:
    graphs = [
        rp.fraud.window(rows(), mapping=MAPPING, threads=2, **WINDOWS, **options),
        rp.fraud.window([PAYMENTS], mapping=mapping, progress=False, **WINDOWS, **options),
    ]
    for name in ("g.csv", "g.rg", "g.parquet"):
        command("fraud", "window", PAYMENTS, "-m", mapping, "-w", "14d", "-s", "4d", *arguments, "-o", tmp_path / name)
        for graph in graphs:
            graph.write(tmp_path / f"mine-{name}")
            assert (tmp_path / f"mine-{name}").read_bytes() == (tmp_path / name).read_bytes()
    assert graphs[0].weighted and not graphs[0].directed and "account:ivo" in graphs[0]
    assert len(rp.communities(graphs[0])) > 1


def test_a_window_has_weights_of_the_mapping_and_a_summary(command: Any, tmp_path: Path) -> None:
    weight = {"of": "amount"}
    (tmp_path / "m.toml").write_text(f'{TOML}[weight]\nof = "amount"\n')
    command("fraud", "window", PAYMENTS, "-m", tmp_path / "m.toml", "-w", "14d", "-s", "4d", "-o", tmp_path / "g.rg")
    table = rows()
    graph = rp.fraud.window(table, mapping={**MAPPING, "weight": weight}, **WINDOWS)
    expected = rp.graph(tmp_path / "g.rg", weight=True)
    assert graph.ids.tolist() == expected.ids.tolist()
    for mine, its in zip(graph.edge_arrays(), expected.edge_arrays(), strict=True):
        assert mine.tolist() == its.tolist()
    days = pd.Series(table["date"])
    inside = int((days >= days.max().floor("D") - pd.Timedelta(days=13)).sum())
    assert (graph.summary or "").startswith(f"{inside} transactions from ")
    table["amount"][5] = None
    skipped = rp.fraud.window(table, mapping=MAPPING, on_error="skip", **WINDOWS)
    assert "; 1 row was left out" in (skipped.summary or "")


def test_a_window_without_pairs_is_a_graph_without_vertices() -> None:
    table = change(payer=["a", "b", "c", "d"], payee=["a", "b", "c", "d"])
    days = {"window": "1d", "until": "2024-03-01"}
    table["date"] = ["2024-03-01", "2024-03-02", "2024-03-02", "2024-03-02"]
    graph = rp.fraud.window(table, mapping=MAPPING, **days)
    assert (graph.vertices, graph.edges) == (0, 0)
    said = "1 transaction from 2024-03-01 to 2024-03-01; "
    assert (graph.summary or "").startswith(said) and "of an entity with itself" in (graph.summary or "")


BAD_WINDOW: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"until": "2030-01-01"}, ValueError, "no window that ends then: the last days of the 5 windows are 2024-03-14 to 2024-03-30"),
    ({"until": "soon"}, ValueError, "until: "),
    ({"until": 20240318}, TypeError, "until: expected a day or a time"),
    ({"before": "2023-01-01"}, ValueError, "no window that ends then: there are no transactions"),
    ({"transactions": change(amount=[1.0, -2.0, 1.0, 3.0])}, ValueError, "row 1 .*below 0"),
    ({"transactions": None}, TypeError, "transactions: a table or paths"),
    ({"transactions": "nowhere.csv"}, OSError, "nowhere.csv"),
    ({"mapping": {"tme": "date"}}, ValueError, "unknown field `tme`"),
    ({"mapping": {**MAPPING, "weight": {"of": "amont"}}}, ValueError, "amont"),
    ({"known_bad": ["ivo"]}, TypeError, "window.. has no option known_bad"),
    ({"threads": 0}, ValueError, "threads"),
]


@pytest.mark.parametrize("options, error, message", BAD_WINDOW, ids=lambda value: str(value)[:40])
def test_bad_input_of_a_window_is_an_exception(options: dict[str, Any], error: type[Exception], message: str) -> None:
    taken = {"transactions": rows(), "mapping": MAPPING, **WINDOWS, **options}
    with pytest.raises(rp.RippletError, match=message) as raised:
        rp.fraud.window(**taken)
    assert isinstance(raised.value, error)


# Searches.

FIND: list[tuple[Any, dict[str, Any], list[str]]] = [
    ("ivo", {}, ["ivo"]),
    ("ivo", {"kind": "account"}, ["ivo", "--kind", "account"]),
    ("nobody", {}, ["nobody"]),
    ("A", {"part": True}, ["A", "--part"]),
    ("a", {"part": True, "most": 3}, ["a", "--part", "--most", "3"]),
]


@pytest.mark.parametrize("id, options, arguments", FIND, ids=str)
def test_what_is_found_is_the_commands(
    id: str, options: dict[str, Any], arguments: list[str], command: Any, tmp_path: Path
) -> None:
    run = rp.fraud.run(rows(), mapping=MAPPING, known_bad=KNOWN, **WINDOWS)
    command("fraud", "find", *arguments[:1], run.folder, *arguments[1:], "-o", tmp_path / "x.parquet")
    command("fraud", "find", *arguments[:1], run.folder, *arguments[1:], "-o", tmp_path / "x.csv")
    pq = pytest.importorskip("pyarrow.parquet")
    for source in (run, rp.fraud.open(run.folder)):
        found = source.find(id, **options)
        assert found.to_arrow().equals(pq.read_table(tmp_path / "x.parquet"))
    with open(tmp_path / "x.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert found.columns == list(lines[0]) and len(found) == len(lines) > 0
    for name in ("window", "id", "place", "cluster"):
        assert ["" if value is None else str(value) for value in found[name]] == [line[name] for line in lines]
    assert [str(time) for time in found.to_pandas()["from"]] == [line["from"].replace("T", " ").replace("Z", "+00:00") for line in lines]
    assert len(set(found["id"])) + found.others == len(run.find(id, **{**options, "most": 10**6}).to_pandas()["id"].unique())
    assert found.others > 0 or "most" not in options


def test_notes_of_a_search_are_the_commands(run: rp.fraud.Run) -> None:
    path = os.environ.get("RIPPLET_COMMAND", "")
    if not Path(path).is_file():
        pytest.skip("RIPPLET_COMMAND does not name the command")
    found = run.find("", part=True, most=2)
    arguments = [path, "fraud", "find", "", str(run.folder), "--part", "--most", "2"]
    said = subprocess.run(arguments, capture_output=True, text=True, check=True).stderr
    assert len(found.notes) == 1 and found.others == int(found.notes[0].split()[0])
    notes = said.replace("--most ", "most=").replace("--model FILE", 'model="FILE"').splitlines()
    assert notes == [f"note: {note}" for note in found.notes]
    again = pickle.loads(pickle.dumps(found))
    assert again.to_arrow().equals(found.to_arrow()) and (again.others, again.notes) == (found.others, found.notes)
    with pytest.raises(AttributeError):
        found.others = 0


def test_integers_are_ids_as_the_data_has_them() -> None:
    table = change(payer=[7, 8, 7, 9], payee=[1, 2, 1, 1])
    run = rp.fraud.run(table, mapping=MAPPING, **WINDOWS)
    assert set(run.find(7)["id"]) == {"7"} and run.find(7).to_arrow().equals(run.find("7").to_arrow())


BAD_FIND: list[tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    (("Ivo",), {}, ValueError, "no window of .* has an entity with the id `Ivo`: ids must match exactly; part=True finds all"),
    (("ivo7",), {"part": True}, ValueError, "no window of .* has an entity whose id contains `ivo7`: see that the folder"),
    (("ivo",), {"kind": "user"}, ValueError, "no window of .* has an entity of kind user: the kinds of the run are account"),
    (("ivo",), {"most": 0}, ValueError, "most: expected a whole number, 1 or above"),
    (("ivo",), {"part": "yes"}, TypeError, "part: expected True or False"),
    (("ivo",), {"kind": 7}, TypeError, "kind: expected a string"),
    (("ivo",), {"knd": "user"}, TypeError, "did you mean kind"),
    ((None,), {}, TypeError, "id: expected a string or an integer, not NoneType"),
    ((), {}, TypeError, "id"),
]


@pytest.mark.parametrize("id, options, error, message", BAD_FIND, ids=lambda value: str(value)[:40])
def test_a_bad_search_is_an_exception(
    id: tuple[Any, ...], options: dict[str, Any], error: type[Exception], message: str, run: rp.fraud.Run
) -> None:
    with pytest.raises(rp.RippletError, match=message) as raised:
        run.find(*id, **options)
    assert isinstance(raised.value, error)


def test_a_search_of_a_folder_that_is_gone_or_damaged_is_an_exception(tmp_path: Path) -> None:
    run = rp.fraud.run(rows(), mapping=MAPPING, output=tmp_path / "run", **WINDOWS)
    entities = min((tmp_path / "run" / "windows").glob("*/entities.parquet"))
    entities.write_bytes(b"damaged")
    with pytest.raises(rp.InputError, match="entities.parquet"):
        run.find("ivo")
    entities.unlink()
    with pytest.raises(rp.InputError, match="an older version of ripplet"):
        run.find("ivo")
    (tmp_path / "run").rename(tmp_path / "moved")
    with pytest.raises(rp.InputError, match="has no run in it"):
        run.find("ivo")


# Ctrl-C.

def test_a_run_is_cancelled_and_leaves_no_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    stages = []

    def stop(stage: str, *_: object) -> None:
        stages.append(stage)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rp.fraud.run(TRANSACTIONS, mapping=ROOT / "examples/fraud/mapping.toml", window="30d", slide="5d", progress=stop)
    assert stages and not list(tmp_path.iterdir())
