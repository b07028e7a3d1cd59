"""Methods from outside ripplet that rank accounts, on the graph of a set and with the same known bad.

| method | |
|---|---|
| `known neighbours` | number of partners that are known bad (scipy) |
| `share of known neighbours` | the same over all partners |
| `pagerank by strength` | personalized PageRank from the known bad, damping 0.85, over the strength (igraph) |
| `lpa`, `louvain`, `leiden`, `leiden 10`, `leiden 100` | share of known bad in the community: label propagation, Louvain, and Leiden with modularity, at resolutions of 1, 10 and 100 (igraph) |
| `sgc` | features smoothed over two hops, then logistic regression (scipy, scikit-learn) |
| `boosting` | gradient boosting on the features of the account alone (scikit-learn) |
| `balanced boosting` | the same with both classes of equal weight |
| `boosting with graph`, `balanced boosting with graph` | with means over partners and partners of partners, the shape of the graph around it, and the methods above |

Edges are undirected and weigh the number of transactions. Features of an account are those of the set's own table, and sums of its
transactions. Learning methods take all entities that are not known as good. Entities have five folds: those of a fold
are scored by a model of the other four, and what a feature takes from the known bad it takes from those of other folds.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import igraph
import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, diags, identity
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sets import Set

FOLDS = 5


@dataclass
class Graph:
    """The undirected graph of a set, its edges weighted by the number of their transactions."""

    adjacency: csr_matrix
    own: np.ndarray
    """A row of features for each entity, of itself alone; NaN if missing."""

    @classmethod
    def of(cls, rows: pd.DataFrame, size: int, features: pd.DataFrame | None = None) -> "Graph":
        u, v = (rows.loc[rows["u"] != rows["v"], side].to_numpy() for side in "uv")
        one_way = csr_matrix((np.ones(len(u)), (u, v)), shape=(size, size))
        own = of_transactions(rows, size)
        if features is not None:
            own = np.hstack([own, features.to_numpy(dtype=float)])
        return cls((one_way + one_way.T).tocsr(), own)

    @cached_property
    def strength(self) -> np.ndarray:
        return np.asarray(self.adjacency.sum(axis=1)).ravel()

    @cached_property
    def partners(self) -> np.ndarray:
        return np.diff(self.adjacency.indptr)

    @cached_property
    def edges(self) -> igraph.Graph:
        pairs = self.adjacency.tocoo()
        once = pairs.row < pairs.col
        graph = igraph.Graph(len(self.strength), np.stack([pairs.row[once], pairs.col[once]], axis=1))
        graph.es["weight"] = pairs.data[once]
        return graph

    @cached_property
    def partitions(self) -> "Partitions":
        return Partitions(self.edges)

    @cached_property
    def around(self) -> np.ndarray:
        """Features by the graph, without labels: partners, core, triangles, PageRank, communities, and means of `own`."""
        graph = self.edges
        shape = [
            self.partners,
            self.strength,
            graph.coreness(),
            graph.transitivity_local_undirected(mode="zero"),
            graph.pagerank(weights="weight"),
            *(np.bincount(labels)[labels] for labels in map(self.partitions.__getitem__, PARTITIONS)),
        ]
        mean = diags(1 / self.strength.clip(1)) @ self.adjacency
        first = mean @ filled(self.own)
        return np.hstack([np.stack(shape, axis=1), first, mean @ first])


def label_propagation(graph: igraph.Graph) -> list[int]:
    """igraph's fastest variant; its class of graphs takes no variant, the base does."""
    return igraph.GraphBase.community_label_propagation(graph, weights="weight", variant="fast")


def leiden(graph: igraph.Graph, resolution: float) -> list[int]:
    found = graph.community_leiden(objective_function="modularity", weights="weight", resolution=resolution)
    return found.membership


PARTITIONS: dict[str, Callable[[igraph.Graph], list[int]]] = {
    "lpa": label_propagation,
    "louvain": lambda graph: graph.community_multilevel(weights="weight").membership,
    "leiden": lambda graph: leiden(graph, 1),
    "leiden 10": lambda graph: leiden(graph, 10),
    "leiden 100": lambda graph: leiden(graph, 100),
}


class Partitions(dict):
    """The community of each entity by each partition; one is computed when it is first needed."""

    def __init__(self, edges: igraph.Graph):
        self.edges = edges

    def __missing__(self, name: str) -> np.ndarray:
        self[name] = np.array(PARTITIONS[name](self.edges))
        return self[name]


def of_transactions(rows: pd.DataFrame, size: int) -> np.ndarray:
    """Of each entity as payer and as payee: number, sum, mean, spread, largest and smallest amount, largest over median; and
    its days: active ones, from first to last, the most transactions on one.
    """
    columns = []
    for side in "uv":
        amounts = rows.groupby(side)["amount"]
        table = amounts.agg(["size", "sum", "mean", "std", "max", "min"])
        table["jump"] = table["max"] / amounts.median().clip(lower=0.01)
        columns.append(table.reindex(range(size)))
        columns[-1]["size"] = columns[-1]["size"].fillna(0)
    ends = pd.concat([rows["u"], rows["v"]], ignore_index=True)
    days = pd.concat([rows["time"].dt.floor("D")] * 2, ignore_index=True)
    daily = pd.DataFrame({"entity": ends, "day": days}).value_counts().rename("count").reset_index()
    by_entity = daily.groupby("entity")
    span = (by_entity["day"].max() - by_entity["day"].min()).dt.days
    timing = pd.DataFrame({"active": by_entity.size(), "span": span, "busiest": by_entity["count"].max()})
    return np.hstack([*columns, timing.reindex(range(size))]).astype(float)


def filled(features: np.ndarray) -> np.ndarray:
    return np.nan_to_num(features, nan=0.0)


def known_neighbours(graph: Graph, known: np.ndarray) -> np.ndarray:
    return (graph.adjacency > 0) @ known.astype(float)


def share_of_known_neighbours(graph: Graph, known: np.ndarray) -> np.ndarray:
    return known_neighbours(graph, known) / graph.partners.clip(1)


def pagerank_by_strength(graph: Graph, known: np.ndarray) -> np.ndarray:
    walked = graph.edges.personalized_pagerank(directed=False, damping=0.85, reset=known.astype(float), weights="weight")
    return np.array(walked) / graph.strength.clip(1)


def share_in(name: str) -> Callable[[Graph, np.ndarray], np.ndarray]:
    """The share of known bad in the community of each entity, by the partition of this name."""

    def share(graph: Graph, known: np.ndarray) -> np.ndarray:
        labels = graph.partitions[name]
        return (np.bincount(labels, known) / np.bincount(labels))[labels]

    return share


SIGNALS: dict[str, Callable[[Graph, np.ndarray], np.ndarray]] = {
    "known neighbours": known_neighbours,
    "share of known neighbours": share_of_known_neighbours,
    "pagerank by strength": pagerank_by_strength,
    **{name: share_in(name) for name in PARTITIONS},
}
"""Methods without learning: a number for each entity, from the graph and the known bad."""


@dataclass
class Task:
    """What a learning method is given: the graph, the known bad, the entities to rank, and a seed."""

    graph: Graph
    known: np.ndarray
    ranked: np.ndarray
    seed: int

    @cached_property
    def folds(self) -> np.ndarray:
        return np.random.default_rng(self.seed).integers(0, FOLDS, len(self.known))

    def judged(self, features: np.ndarray, model: Callable) -> np.ndarray:
        """Scores of the entities to rank, each by a model that was fitted without its fold."""
        scores = np.full(len(self.known), np.nan)
        for fold in range(FOLDS):
            fitted = (self.known | self.ranked) & (self.folds != fold)
            asked = self.ranked & (self.folds == fold)
            # A column without two values says nothing, and boosting refuses one.
            said = [len(np.unique(column[np.isfinite(column)])) > 1 for column in features[fitted].T]
            fit = model().fit(features[fitted][:, said], self.known[fitted])
            scores[asked] = fit.predict_proba(features[asked][:, said])[:, 1]
        return scores

    def signals_by_fold(self) -> np.ndarray:
        """Each signal, of each entity, from the known bad of other folds than its own."""
        values = np.empty((len(self.known), len(SIGNALS) + 1))
        for fold in range(FOLDS):
            others, mine = self.known & (self.folds != fold), self.folds == fold
            columns = [signal(self.graph, others) for signal in SIGNALS.values()]
            second = self.graph.adjacency @ share_of_known_neighbours(self.graph, others)
            columns.append(second / self.graph.strength.clip(1))
            values[mine] = np.stack(columns, axis=1)[mine]
        return values


def sgc(task: Task) -> np.ndarray:
    """Wu et al., *Simplifying Graph Convolutional Networks* (ICML 2019): S² X, then logistic regression."""
    size = len(task.known)
    looped = task.graph.adjacency + identity(size, format="csr")
    root = diags(1 / np.sqrt(np.asarray(looped.sum(axis=1)).ravel()))
    smooth = root @ looped @ root
    own = filled(task.graph.own)
    # Sums and numbers are skewed; a linear model takes their logarithms.
    scaled = StandardScaler().fit_transform(np.sign(own) * np.log1p(np.abs(own)))
    return task.judged(smooth @ (smooth @ scaled), linear)


def linear():
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=2000, class_weight="balanced"))


def boosting():
    return HistGradientBoostingClassifier(max_iter=100, max_depth=3, early_stopping=False, random_state=0)


class Balanced:
    """Boosting with the rows of the known bad repeated until they are as many as the others, and a ridge of 10.

    Weights of classes would be the same, but scikit-learn takes several times as long with them.
    """

    def fit(self, features: np.ndarray, known: np.ndarray) -> HistGradientBoostingClassifier:
        bad, others = np.flatnonzero(known), np.flatnonzero(~known)
        rows = np.concatenate([others, np.repeat(bad, max(1, round(len(others) / len(bad))))])
        return boosting().set_params(l2_regularization=10).fit(features[rows], known[rows])


def with_graph(task: Task) -> np.ndarray:
    return np.hstack([task.graph.own, task.graph.around, task.signals_by_fold()])


LEARNT: dict[str, Callable[[Task], np.ndarray]] = {
    "sgc": sgc,
    "boosting": lambda task: task.judged(task.graph.own, boosting),
    "balanced boosting": lambda task: task.judged(task.graph.own, Balanced),
    "boosting with graph": lambda task: task.judged(with_graph(task), boosting),
    "balanced boosting with graph": lambda task: task.judged(with_graph(task), Balanced),
}


def names() -> list[str]:
    return [*SIGNALS, *LEARNT]


def scores_of(given: Set, known: np.ndarray, ranked: np.ndarray, seed: int) -> Iterator[tuple[str, Callable[[], np.ndarray]]]:
    """Each method with a call that computes its scores from the rows on, on a graph of its own."""

    def call(name: str) -> np.ndarray:
        igraph.set_random_number_generator(random.Random(seed))
        graph = Graph.of(given.rows, len(given.ids), given.features)
        if name in SIGNALS:
            return SIGNALS[name](graph, known)
        return LEARNT[name](Task(graph, known, ranked, seed))

    for name in names():
        yield name, lambda name=name: call(name)
