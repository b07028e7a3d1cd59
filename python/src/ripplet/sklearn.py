"""Estimators of scikit-learn: communities as a clustering, and label propagation as a classifier.

scikit-learn is imported with this module alone: ``import ripplet.sklearn``, or ``rp.sklearn`` at its first use.

>>> import ripplet as rp
>>> from sklearn.datasets import make_blobs
>>> X, y = make_blobs(300, centers=3, random_state=0, cluster_std=0.5)
>>> labels = rp.sklearn.Communities(refine="modularity", n_neighbors=30).fit_predict(X)
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ._communities import communities, seeded
from ._graph import Graph, graph, objects
from ._tables import is_missing
from .errors import InputError, OptionError

try:
    from scipy import sparse
    from sklearn.base import BaseEstimator, ClassifierMixin, ClusterMixin
    from sklearn.neighbors import NearestNeighbors
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # pragma: no cover
    raise ImportError("ripplet.sklearn needs scikit-learn 1.6 or newer: pip install 'scikit-learn>=1.6'") from error

__all__ = ["Communities", "LabelPropagation"]

Affinity = Literal["nearest_neighbors", "precomputed"]


def neighbours(estimator: Any, X: npt.NDArray[Any]) -> NearestNeighbors:
    """Returns the index of the nearest neighbours of samples."""
    count = min(estimator.n_neighbors, max(1, len(X) - 1))
    return NearestNeighbors(n_neighbors=count).fit(X)


def affinity_graph(estimator: Any, X: Any) -> Graph:
    """Returns the graph of samples: of neighbours in either direction without weights, or of a matrix with its entries."""
    if not isinstance(estimator.n_neighbors, (int, np.integer)) or estimator.n_neighbors < 1:
        raise InputError(f"n_neighbors: expected a whole number, 1 or above, not {estimator.n_neighbors!r}")
    if estimator.affinity == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise InputError(f"affinity='precomputed' needs a square matrix, not one of the shape {X.shape}")
        matrix = sparse.csr_array(X)
        if (matrix != matrix.T).nnz:
            raise InputError("affinity='precomputed' needs a symmetric matrix, and this one is not: pass (X + X.T) / 2")
        return graph(matrix, weight=True, threads=estimator.threads)
    if estimator.affinity != "nearest_neighbors":
        raise InputError(f"affinity: expected 'nearest_neighbors' or 'precomputed', not {estimator.affinity!r}")
    if len(X) == 1:
        return graph(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), vertices=1)
    edges = neighbours(estimator, X).kneighbors_graph().tocoo()
    ends = np.asarray(edges.row, dtype=np.int64), np.asarray(edges.col, dtype=np.int64)
    return graph(*ends, vertices=len(X), threads=estimator.threads)


def known_labels(y: Any) -> tuple[Any, npt.NDArray[np.bool_] | None]:
    """Returns labels of one type, and which samples have one, if that is not what -1 in an array of numbers says.

    A list with a text and a -1 would be an array of texts, so that objects are read one by one. Samples without a label have any
    label of the others.
    """
    listed = isinstance(y, (list, tuple))
    array = objects(y) if listed else np.asanyarray(y) if hasattr(y, "dtype") else y
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        return y, None
    if array.dtype.kind == "U":
        texts_of_it = array == "-1"
        if texts_of_it.any():
            raise InputError(
                f"y: row {int(texts_of_it.argmax())} (the first is 0) is the text '-1', which numpy also makes of the number in a list"
                " with texts: pass the list itself, or numpy.array(y, dtype=object)"
            )
    values = array.tolist()
    has_texts = any(issubclass(kind, (str, type(None))) for kind in set(map(type, values)))
    if array.dtype.kind != "O" or listed and not has_texts:
        return y, None
    known = np.array([not (is_missing(value) or is_minus_one(value)) for value in values], dtype=bool)
    if not known.any():
        raise InputError("y: all labels are -1 or missing, so there is none to spread")
    first = int(known.argmax())
    texts = isinstance(values[first], str)
    for row in np.flatnonzero(known).tolist():
        if isinstance(values[row], str) != texts:
            raise InputError(
                f"y: row {row} (the first is 0) is {values[row]!r}, and row {first} is {values[first]!r}: labels are all texts or all"
                " numbers, beside -1 and None for samples without one"
            )
    return np.array([value if has else values[first] for value, has in zip(values, known.tolist(), strict=True)]), known


def is_minus_one(value: Any) -> bool:
    """Returns whether a label is the number -1."""
    return isinstance(value, (int, float, np.integer, np.floating)) and value == -1


class OfAffinity(BaseEstimator):  # type: ignore[misc]
    """An estimator of samples, or of a matrix of weights if ``affinity="precomputed"``."""

    affinity: Affinity

    @property
    def _takes_matrix(self) -> bool:
        return self.affinity == "precomputed"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self._takes_matrix
        tags.input_tags.sparse = self._takes_matrix
        return tags

    def _validated(self, X: Any, *y: Any) -> Any:
        """Returns the checked samples or matrix, and the checked labels if there are some."""
        return validate_data(self, X, *y, accept_sparse=["csr", "csc", "coo"] if self._takes_matrix else False)


class Communities(ClusterMixin, OfAffinity):  # type: ignore[misc]
    """Clusters samples as communities of their neighbours' graph, or of a graph that is given as a matrix.

    Parameters
    ----------
    affinity : {"nearest_neighbors", "precomputed"}
        Whether samples are joined to their nearest neighbours, or ``X`` is a symmetric matrix of weights, dense or sparse, where
        0 is no edge.
    n_neighbors : int, default 10
        Neighbours of each sample.
    program : {"lpa", "llp", "cdlp"}, optional
        The program of label propagation; ``lpa`` by default.
    refine : {"modularity", "cpm"}, optional
        Refines communities by this score in place of a program, as Leiden does.
    resolution : float, optional
        Resolution of ``refine``.
    seed : int, default 0
        Draws orders and ties.
    device : str, default "auto"
        Device of the run.
    threads : int, optional
        Threads; by default one per core.

    Attributes
    ----------
    labels_ : numpy.ndarray
        The community of each sample, shape ``(samples,)``: from 0, the largest first.
    n_features_in_ : int
        Number of features.
    communities_ : ripplet.Communities
        The communities.

    References
    ----------
    Raghavan, Albert and Kumara 2007; Traag, Waltman and van Eck 2019.
    """

    def __init__(
        self,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 10,
        program: str | None = None,
        refine: str | None = None,
        resolution: float | None = None,
        seed: int = 0,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.program = program
        self.refine = refine
        self.resolution = resolution
        self.seed = seed
        self.device = device
        self.threads = threads

    def fit(self, X: Any, y: Any = None) -> Communities:
        """Finds communities.

        Parameters
        ----------
        X : array of shape (samples, features), or (samples, samples)
            Features, or a matrix of weights if ``affinity="precomputed"``.
        y
            Ignored.
        """
        X = self._validated(X)
        if self.program not in (None, "lpa", "llp", "cdlp"):
            raise InputError(f"program: expected 'lpa', 'llp' or 'cdlp', not {self.program!r}")
        of = affinity_graph(self, X)
        choices: dict[str, Any] = {"refine": self.refine, "resolution": self.resolution, "program": self.program}
        choices = {name: value for name, value in choices.items() if value is not None}
        self.communities_ = communities(
            of, seed=self.seed, device=self.device, threads=self.threads, progress=False, **choices
        )
        self.labels_ = np.array(self.communities_.numbers)
        return self


class LabelPropagation(ClassifierMixin, OfAffinity):  # type: ignore[misc]
    """Classifies samples from a few labelled ones: labels spread over the graph of nearest neighbours.

    Unlike scikit-learn's, labels are not soft: a sample has one label at a time, that with the most votes of its neighbours, and
    labelled samples keep theirs. The cost is linear in the edges, and the result does not depend on the number of threads.

    Parameters
    ----------
    affinity, n_neighbors, device, threads
        As of :class:`Communities`.
    attenuation : float, optional
        The share of its strength that a label keeps at a hop; the default is that of :func:`ripplet.seeded`.
    seed : int, default 0
        Draws orders and ties.

    Attributes
    ----------
    classes_ : numpy.ndarray
        The labels, without -1, shape ``(classes,)``.
    transduction_ : numpy.ndarray
        The label of each sample, shape ``(samples,)``; -1 if no label reaches it, so that texts are then an array of objects.
    label_distributions_ : numpy.ndarray
        Shape ``(samples, classes)``: 1 at the label of a sample; rows of samples that no label reaches are 0.
    n_features_in_ : int
        Number of features.

    References
    ----------
    Zhu and Ghahramani 2002; Raghavan, Albert and Kumara 2007.
    """

    def __init__(
        self,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 7,
        attenuation: float | None = None,
        seed: int = 0,
        device: str = "auto",
        threads: int | None = None,
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.attenuation = attenuation
        self.seed = seed
        self.device = device
        self.threads = threads

    def fit(self, X: Any, y: Any) -> LabelPropagation:
        """Spreads labels.

        Parameters
        ----------
        X : array of shape (samples, features), or (samples, samples)
            Features, or a matrix of weights if ``affinity="precomputed"``.
        y : array of shape (samples,)
            The label of each sample. The number -1 is unknown; in a list, in an array of objects and in a Series, also beside
            texts, and there ``None`` and other missing values are unknown, too.

        Raises
        ------
        InputError
            If no label is known, texts and numbers are labels, or an array of texts has the text ``-1``.
        """
        y, known = known_labels(y)
        X, y = self._validated(X, y)
        check_classification_targets(y)
        of = affinity_graph(self, X)
        if known is None:
            known = np.ones(len(y), dtype=bool) if y.dtype.kind in "OUS" else y != -1
        self.classes_, codes = np.unique(y[known], return_inverse=True)
        if not len(self.classes_):
            raise InputError("y: all labels are -1, so there is none to spread")
        seeds = dict(zip(np.flatnonzero(known).tolist(), codes.tolist(), strict=True))
        choices: dict[str, Any] = {} if self.attenuation is None else {"attenuation": self.attenuation}
        found = seeded(of, seeds, seed=self.seed, device=self.device, threads=self.threads, progress=False, **choices)
        names, numbers = found.names.astype(np.int64), found.numbers
        reached = numbers >= 0
        of_sample = np.full(len(y), -1, dtype=np.int64)
        of_sample[reached] = names[numbers[reached]]
        self.label_distributions_ = np.zeros((len(y), len(self.classes_)))
        self.label_distributions_[np.flatnonzero(reached), of_sample[reached]] = 1.0
        self.transduction_ = self.classes_[np.maximum(of_sample, 0)]
        if not reached.all():
            if self.transduction_.dtype.kind == "U":
                self.transduction_ = self.transduction_.astype(object)
            self.transduction_ = np.where(reached, self.transduction_, -1)
        if not self._takes_matrix:
            self.neighbors_ = neighbours(self, X)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Returns the share of each class among the nearest samples of the fit, shape ``(samples, classes)``."""
        check_is_fitted(self)
        if self._takes_matrix:
            raise OptionError("a matrix has no further samples: transduction_ has the labels of its own")
        X = validate_data(self, X, reset=False)
        nearest = self.neighbors_.kneighbors(X, return_distance=False)
        votes: npt.NDArray[np.float64] = self.label_distributions_[nearest].sum(axis=1)
        total = votes.sum(axis=1, keepdims=True)
        even = np.full_like(votes, 1 / len(self.classes_))
        return np.where(total > 0, votes / np.maximum(total, 1), even)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Returns the label of most of the nearest samples of the fit, shape ``(samples,)``."""
        shares = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[shares.argmax(axis=1)]
        return labels
