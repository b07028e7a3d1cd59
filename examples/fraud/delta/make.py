"""Writes the Delta table `table` and the same rows as `rows.csv`, with deltalake 1.6 and pyarrow.

Five versions add a day each, the last two with a further column; then a day is deleted, a checkpoint written, and two
days added. All rows are made up here.
"""
import csv
import datetime as dt
import shutil

import pyarrow as pa
from deltalake import DeltaTable, write_deltalake

UTC = dt.timezone.utc


def day(number):
    count = 12
    columns = {
        "from": [f"user{(row * 7 + number) % 5}" for row in range(count)],
        "to": [f"shop {(row * 3 + number) % 3}" for row in range(count)],
        "at": pa.array([dt.datetime(2024, 3, number, row, 5, tzinfo=UTC) for row in range(count)], pa.timestamp("us", "UTC")),
        "eur": pa.array([row + 0.25 for row in range(count)]),
        "region": ["a b/c" if number % 2 else None] * count,
        "dt": [dt.date(2024, 3, number)] * count,
    }
    if number >= 4:
        columns["device"] = [f"d{row % 4}" for row in range(count)]
    return pa.table(columns)


shutil.rmtree("table", ignore_errors=True)
for number in (1, 3, 2, 4, 5):
    write_deltalake("table", day(number), mode="append", partition_by=["dt", "region"], schema_mode="merge")
DeltaTable("table").delete("dt = '2024-03-02'")
DeltaTable("table").create_checkpoint()
for number in (7, 6):
    write_deltalake("table", day(number), mode="append", schema_mode="merge")

rows = sorted(DeltaTable("table").to_pyarrow_table().to_pylist(), key=lambda row: row["at"])
with open("rows.csv", "w", newline="") as out:
    names = ["from", "to", "at", "eur", "region", "device"]
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    for row in rows:
        row["at"] = row["at"].strftime("%Y-%m-%dT%H:%M:%SZ")
        writer.writerow([row[name] for name in names])
