"""Estimators of scikit-learn: its own checks, and the values."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import ripplet as rp

pytest.importorskip("sklearn")
sparse = pytest.importorskip("scipy.sparse")

from sklearn.datasets import make_blobs  # noqa: E402
from sklearn.utils.estimator_checks import estimator_checks_generator  # noqa: E402

import ripplet.sklearn as rs  # noqa: E402


@pytest.mark.parametrize("estimator", [rs.Communities(threads=1), rs.LabelPropagation(threads=1)], ids=lambda e: type(e).__name__)
def test_the_checks_of_scikit_learn_pass(estimator: Any) -> None:
    # There are no declared exceptions.
    checked = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for clone, check in estimator_checks_generator(estimator):
            try:
                check(clone)
                checked += 1
            except BaseException as error:
                if type(error).__name__ != "SkipTest":
                    raise
    assert checked > 40


def blobs() -> tuple[Any, Any]:
    X, y = make_blobs(240, centers=3, random_state=4, cluster_std=0.6)
    return X, y


def test_communities_are_those_of_the_graph() -> None:
    X, y = blobs()
    found = rs.Communities(refine="modularity", resolution=0.1, n_neighbors=12, device="cpu").fit(X)
    assert found.communities_.compare(y)["ari"] > 0.99 and found.labels_.max() == 2
    graph = found.communities_.graph
    matrix = sparse.coo_array(([1.0] * 4, ([0, 1, 2, 3], [1, 0, 3, 2])), shape=(4, 4))
    for form in (matrix, matrix.tocsr(), matrix.toarray()):
        by_matrix = rs.Communities(affinity="precomputed").fit_predict(form)
        assert by_matrix.tolist() == [0, 0, 1, 1]
    again = rp.communities(graph, refine="modularity", resolution=0.1, device="cpu")
    assert again.numbers.tolist() == found.labels_.tolist()
    assert pickle.loads(pickle.dumps(found)).labels_.tolist() == found.labels_.tolist()


def test_labels_spread_from_a_few_samples() -> None:
    X, y = blobs()
    some = np.full(len(y), -1)
    for label in range(3):
        some[np.flatnonzero(y == label)[:3]] = label + 5
    found = rs.LabelPropagation(n_neighbors=8).fit(X, some)
    assert found.classes_.tolist() == [5, 6, 7]
    assert (found.transduction_ == y + 5).mean() > 0.98
    kept = some != -1
    assert (found.transduction_[kept] == some[kept]).all()
    assert (found.label_distributions_.argmax(axis=1) + 5 == found.transduction_).all()
    assert (found.predict(X + 0.01) == y + 5).mean() > 0.98
    assert np.allclose(found.predict_proba(X[:5]).sum(axis=1), 1)
    one = [[0, 1, 0], [1, 0, 0], [0, 0, 0]]
    of_matrix = rs.LabelPropagation(affinity="precomputed").fit(np.array(one), [4, -1, -1])
    assert of_matrix.transduction_.tolist() == [4, 4, -1]
    assert of_matrix.label_distributions_.tolist() == [[1], [1], [0]]


def test_labels_that_are_texts_have_minus_one_and_none_for_unknown() -> None:
    X, y = blobs()
    names = np.array(["ann", "bob", "-1"])[y].tolist()
    some = [names[at] if at in {int(np.flatnonzero(y == label)[0]) for label in range(3)} else None for at in range(len(y))]
    expected = rs.LabelPropagation(n_neighbors=8).fit(X, [-1 if name is None else ["ann", "bob", "-1"].index(name) for name in some])
    marked: list[Any] = [some, tuple(some), [-1 if name is None else name for name in some], [np.int64(-1) if name is None else np.str_(name) for name in some]]
    marked += [np.array(some, dtype=object), np.array(marked[2], dtype=object), np.array([name or np.nan for name in some], dtype=object)]
    try:
        import pandas as pd
        marked += [pd.Series(some), pd.Series(some, dtype="string"), pd.Series(pd.Categorical(some))]
    except ImportError:
        pass
    for labels in marked:
        found = rs.LabelPropagation(n_neighbors=8).fit(X, labels)
        assert found.classes_.tolist() == ["-1", "ann", "bob"]
        assert found.transduction_.tolist() == [["ann", "bob", "-1"][label] for label in expected.transduction_.tolist()]
        assert set(found.predict(X).tolist()) == {"-1", "ann", "bob"}
    two = np.kron(np.eye(2), np.ones((2, 2)))
    unreached = rs.LabelPropagation(affinity="precomputed").fit(two, ["a", -1, -1, None])
    assert unreached.transduction_.tolist() == ["a", "a", -1, -1] and unreached.label_distributions_.tolist() == [[1], [1], [0], [0]]
    for labels in ([4, None, -1, None], np.array([4, -1, -1, -1], dtype=object), [4, -1, -1, -1]):
        assert rs.LabelPropagation(affinity="precomputed").fit(two, labels).transduction_.tolist() == [4, 4, -1, -1]


@pytest.mark.parametrize("labels, message", [
    (np.array(["a", "-1", "b", "-1"]), r"row 1 .* is the text '-1', which numpy also makes .* dtype=object"),
    (["a", 5, -1, None], r"row 1 .* is 5, and row 0 is 'a': labels are all texts or all numbers"),
    (np.array([1, "a", -1, None], dtype=object), r"row 1 .* is 'a', and row 0 is 1"),
    ([None, -1, -1, None], "all labels are -1 or missing"),
])
def test_labels_that_may_mean_two_things_are_refused(labels: Any, message: str) -> None:
    with pytest.raises(rp.InputError, match=message):
        rs.LabelPropagation(affinity="precomputed").fit(np.ones((4, 4)), labels)


@pytest.mark.parametrize("wrong, error", [
    (lambda X, y: rs.Communities(affinity="cosine").fit(X), ValueError),
    (lambda X, y: rs.Communities(n_neighbors=0).fit(X), ValueError),
    (lambda X, y: rs.Communities(affinity="precomputed").fit(X), ValueError),
    (lambda X, y: rs.Communities(program="lap").fit(X), ValueError),
    (lambda X, y: rs.Communities(affinity="precomputed").fit([[0, 1], [0, 0]]), ValueError),
    (lambda X, y: rs.Communities(affinity="precomputed").fit([[0, -1], [-1, 0]]), ValueError),
    (lambda X, y: rs.LabelPropagation().fit(X, [-1] * len(X)), ValueError),
    (lambda X, y: rs.LabelPropagation(affinity="precomputed").fit(np.eye(2), [0, 1]).predict(np.eye(2)), TypeError),
])
def test_bad_input_is_an_exception(wrong: Any, error: type[Exception]) -> None:
    with pytest.raises(rp.RippletError) as raised:
        wrong(*blobs())
    assert isinstance(raised.value, error)


def test_scikit_learn_is_imported_at_its_first_use() -> None:
    code = "import sys, ripplet; assert 'sklearn' not in sys.modules; ripplet.sklearn.Communities; assert 'sklearn' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_estimator_does_not_take_is_refused() -> None:
    with pytest.raises(rp.InputError, match=r"symmetric matrix, .* \(X \+ X.T\) / 2"):
        rp.sklearn.Communities(affinity="precomputed").fit(np.array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(rp.InputError, match="program: expected 'lpa', 'llp' or 'cdlp', not 'slpa'"):
        rp.sklearn.Communities(program="slpa").fit(np.eye(4))
