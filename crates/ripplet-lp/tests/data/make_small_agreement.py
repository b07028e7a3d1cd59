"""Writes small_agreement.tsv: what scikit-learn says about all pairs of partitions of up to five vertices.

    pip install scikit-learn==1.9.1
    python make_small_agreement.py > small_agreement.tsv

Pairs that differ in the names of vertices or communities alone stand once. A partition is a digit a vertex.
"""

from itertools import permutations

from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    completeness_score,
    homogeneity_score,
    normalized_mutual_info_score,
)


def partitions(size):
    """All partitions of `size` vertices, communities numbered in the order of their first vertices."""
    found = [[]]
    for _ in range(size):
        found = [p + [c] for p in found for c in range(max(p, default=-1) + 2)]
    return found


def numbered(labels):
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def canonical(a, b):
    orders = permutations(range(len(a)))
    return min((numbered([a[v] for v in o]), numbered([b[v] for v in o])) for o in orders)


print("a\tb\tnmi\tami\tari\thomogeneity\tcompleteness")
for size in range(1, 6):
    every = partitions(size)
    pairs = {canonical(a, b) for a in every for b in every}
    for a, b in sorted(pairs):
        measures = [
            normalized_mutual_info_score(b, a),
            adjusted_mutual_info_score(b, a),
            adjusted_rand_score(b, a),
            homogeneity_score(b, a),
            completeness_score(b, a),
        ]
        text = ["".join(map(str, labels)) for labels in (a, b)]
        print("\t".join(text + [f"{float(measure):.12g}" for measure in measures]))
