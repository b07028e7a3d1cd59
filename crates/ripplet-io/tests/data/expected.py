"""What each graph of these folders holds, found by a parser that shares nothing with ripplet's.

    python3 expected.py > expected.tsv

A line: file, format, `refused` or vertices, rows, a fingerprint of the rows in their order
(the sum of (row + 1) * (3 * source + target) over ranks), `general` or `both` directions, and the
sum of the weights, `-` where there are none, `bad` where one is negative or NaN, or has two values.
"""
import glob
import re

FORMATS = {"csv": "csv", "mtx": "mtx", "matrixmarket": "mtx", "graph": "metis", "e": "ldbc"}


def table(path, form, lines):
    rows = [re.split(r"[ \t,;]+", l.strip()) for l in lines if l.strip() and l.strip()[0] not in "#%"]
    ids = {x for row in rows for x in row[:2]}
    if form == "ldbc":
        ids = set(open(path[:-1] + "v").read().split())
    integers = all(re.fullmatch(r"-?\d+", x) for x in ids)
    rank = {x: i for i, x in enumerate(sorted(ids, key=int if integers else str.encode))}
    edges = [(rank[row[0]], rank[row[1]]) for row in rows]
    weights = [float(row[2]) for row in rows] if all(len(row) > 2 for row in rows) else None
    return len(ids), edges, "general", weights


def matrix(lines):
    banner = lines[0].lower().split()
    if not banner[0].startswith("%%matrixmarket"):
        banner = ["", "matrix", "coordinate", "real", "general"]
    rows = [l.split() for l in lines if l.strip() and not l.startswith("%")]
    size = rows.pop(0)
    if banner[2] != "coordinate" or len(size) != 3 or size[0] != size[1] or not size[0].isdigit():
        return None
    assert len(rows) == int(size[2])
    edges = [(int(row[0]) - 1, int(row[1]) - 1) for row in rows]
    weights = None if banner[3] == "pattern" else [float(row[2]) for row in rows]
    if banner[4] == "skew-symmetric":
        weights = [-1.0]
    return int(size[0]), edges, "general" if banner[4] == "general" else "both", weights


def metis(lines):
    lines = [l for l in lines if not l.startswith("%")]
    header = lines[0].split()
    n, m = int(header[0]), int(header[1])
    form = (header[2] if len(header) > 2 else "0").zfill(3)
    skip = int(header[3]) if len(header) > 3 else int(form[1])
    step = 2 if form[2] == "1" else 1
    arcs = []
    for vertex in range(n):
        numbers = lines[vertex + 1].split()[skip:]
        weights = numbers[1::2] if step == 2 else [1] * len(numbers)
        arcs += [(vertex, int(x) - 1, float(w)) for x, w in zip(numbers[::step], weights)]
    both = len(arcs) == 2 * m
    if both:
        ends = {(min(s, t), max(s, t), w) for s, t, w in arcs}
        agree = len(ends) == len({edge[:2] for edge in ends})
        arcs = [arc for arc in arcs if arc[0] <= arc[1]]
    assert len(arcs) == m
    edges = [arc[:2] for arc in arcs]
    weights = None if step == 1 else [a[2] for a in arcs] if not both or agree else [-1.0]
    return n, edges, "both" if both else "general", weights


for path in sorted(glob.glob("*/*")):
    extension = path.rsplit(".", 1)[-1]
    if extension == "v":
        continue
    form = FORMATS.get(extension, "edgelist")
    lines = open(path, encoding="utf8").read().split("\n")
    read = {"mtx": lambda: matrix(lines), "metis": lambda: metis(lines)}
    found = read.get(form, lambda: table(path, form, lines))()
    if found is None:
        print(path, form, "refused", sep="\t")
        continue
    vertices, edges, direction, weights = found
    fingerprint = sum((i + 1) * (3 * s + t) for i, (s, t) in enumerate(edges)) % 2**64
    total = "-" if weights is None else "bad" if not all(0 <= w < 1e308 for w in weights) else repr(sum(weights))
    print(path, form, vertices, len(edges), fingerprint, direction, total, sep="\t")
