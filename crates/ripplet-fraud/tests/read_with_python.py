#!/usr/bin/env python3
"""Reads a window's tables and arrays with NumPy, pandas and pyarrow, and compares them with one another.

    RIPPLET_OUTPUTS=DIR cargo test -p ripplet-fraud --test suite files_for_others
    python3 read_with_python.py DIR
"""

import platform
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

folder = sys.argv[1]
print("python", platform.python_version(), "numpy", np.__version__, "pandas", pd.__version__, "pyarrow", pa.__version__)


def same(values, text):
    """Whether a column of the CSV, read as text, says what the Parquet's says."""
    if not (values.isna() == text.isna()).all():
        return False
    values, text = values.dropna(), text.dropna()
    if str(values.dtype).startswith("datetime"):
        return (values == pd.to_datetime(text, utc=True)).all()
    if values.dtype.kind in "iuf":
        # A 32-bit number is its shortest decimal in text.
        return (values == text.astype(values.dtype)).all()
    if values.dtype.kind == "b":
        return (values == (text == "true")).all()
    # Decimals are objects, whose text has all digits.
    return (values.astype(str) == text).all()


for name in ["clusters", "members", "ended", "edges", "transactions", "nodes", "arcs"]:
    parquet = pq.read_table(f"{folder}/{name}.parquet")
    assert parquet.equals(pa.ipc.open_file(f"{folder}/{name}.arrow").read_all()), name
    text = pd.read_csv(f"{folder}/{name}.csv", dtype=str, keep_default_na=False, na_values=[""])
    frame = parquet.to_pandas()
    assert list(frame) == list(text), name
    for column in frame:
        values = frame[column]
        if str(parquet.schema.field(column).type).startswith("uint") and values.isna().any():
            values = values.astype("Float64")
            text[column] = text[column].astype("Float64")
            assert values.equals(text[column]), (name, column)
        else:
            assert same(values, text[column]), (name, column)
    print(name, parquet.num_rows, "rows:", ", ".join(f"{f.name} {f.type}" for f in parquet.schema))

data = np.load(f"{folder}/gnn.npz")
print("gnn.npz:", ", ".join(f"{name} {data[name].dtype.str} {data[name].shape}" for name in data.files))
nodes, arcs = (pq.read_table(f"{folder}/{name}.parquet").to_pandas() for name in ("nodes", "arcs"))
assert (data["edge_index"] == arcs[["source", "target"]].to_numpy().T).all()
assert (data["edge_weight"] == arcs["weight"]).all()
for name in ["vertex", "y", "known_mask", "train_mask", "val_mask", "test_mask", "member_mask", "score"]:
    assert (data[name] == nodes[name]).all(), name
for name in ["share_to_known_bad", "seed_distance", "cluster"]:
    assert (data[name] == nodes[name]).all(), name
ends = data["id_ends"]
ids = [data["id_bytes"][a:b].tobytes().decode() for a, b in zip(np.r_[0, ends[:-1]], ends)]
assert ids == nodes["id"].tolist()
assert (data["kinds"][data["kind"]] == nodes["kind"]).all()
assert (np.bincount(data["edge_index"][0], minlength=len(nodes)) == np.diff(data["arcs_at"])).all()
masks = {name: int(data[name].sum()) for name in ["known_mask", "train_mask", "val_mask", "test_mask", "member_mask"]}
print("all agree;", masks)
