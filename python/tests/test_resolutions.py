"""Sweeps, dendrograms and resolution profiles: the command's tables."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import PGP, random_edges

import ripplet as rp


def rows(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


def equals(column: Any, values: list[str]) -> None:
    """Asserts that a column has the values of the command's, which has none instead of NaN."""
    expected = np.array([float(value) if value else np.nan for value in values])
    np.testing.assert_array_equal(np.asarray(column, dtype=np.float64), expected)


def test_the_order_is_the_commands(command: Any, tmp_path: Path) -> None:
    order, out = tmp_path / "order.csv", tmp_path / "out.csv"
    command("communities", PGP, "--program", "llp", "--sweep", 3, "--order", order, "-o", out)
    found = rp.sweep(str(PGP), 3)
    equals(found.order, [row["place"] for row in rows(order)])
    assert not found.order.flags.writeable
    assert [layer.gamma for layer in found.layers] == [1.0, 0.5, 0.25, 0.125, 0.0]
    best = max(found.layers, key=lambda layer: layer.modularity)
    assert (best.gamma, best.communities) == (found.options["gamma"], len(found))
    assert best.modularity == pytest.approx(found.modularity)
    for layer in found.layers:
        one = rp.communities(found.graph, program="llp", gamma=layer.gamma)
        assert (layer.communities, layer.modularity) == (len(one), one.modularity)
    again = pickle.loads(pickle.dumps(found))
    assert again == found and again.layers == found.layers and np.array_equal(again.order, found.order)
    with pytest.raises(AttributeError):
        found.layers = []


def test_the_dendrogram_is_the_commands(command: Any, tmp_path: Path) -> None:
    table, out = tmp_path / "joins.csv", tmp_path / "out.csv"
    command("communities", PGP, "--refine", "modularity", "--resolution", "1", "--dendrogram", table, "-o", out)
    found = rp.communities(str(PGP), refine="modularity", resolution=1.0)
    joins, expected = found.dendrogram(), rows(table)
    assert len(joins) == len(found) - 1
    assert [*joins] == [*expected[0]][1:]
    for name in joins:
        equals(joins[name], [row[name] for row in expected])
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    linkage = joins[["left", "right", "distance", "size"]].to_numpy()
    assert hierarchy.is_valid_linkage(linkage)
    flat = hierarchy.fcluster(linkage, 2, "maxclust")
    assert len(flat) == len(found) and len(set(flat)) == 2


def test_what_has_no_dendrogram_says_so() -> None:
    graph = rp.graph(*random_edges(3)[:2])
    with pytest.raises(rp.InputError, match="overlap"):
        rp.overlapping(graph).dendrogram()
    with pytest.raises(rp.InputError, match="in no community"):
        rp.communities(graph, min_size=1000).dendrogram()
    with pytest.raises(rp.InputError, match="directed"):
        rp.communities(rp.graph([(0, 1), (1, 2)], directed=True)).dendrogram()
    assert len(rp.communities([(0, 1)]).dendrogram()) == 0


def test_the_resolution_profile_is_the_commands(command: Any, tmp_path: Path) -> None:
    graph = rp.graph(*random_edges(8, 120, 500)[:2])
    edges = tmp_path / "g.csv"
    graph.write(tmp_path / "g.rg")
    for score, flags, options in [
        ("modularity", [], {}),
        ("cpm", ["--resolution", "0.01..0.5", "--profile-runs", "6"], {"resolution": (0.01, 0.5), "profile_runs": 6}),
    ]:
        table, out, written = tmp_path / "profile.csv", tmp_path / "out.csv", tmp_path / "written.csv"
        command("communities", tmp_path / "g.rg", "--refine", score, "--seed", 2, "--resolution-profile", table, "-o", out, *flags)
        found = rp.resolution_profile(graph, refine=score, seed=2, **options)
        frame, expected = found.to_pandas(), rows(table)
        assert len(found) == len(expected) and [*frame] == [*expected[0]][1:]
        for name in frame:
            if name == "chosen":
                assert [str(value).lower() for value in frame[name]] == [row[name].lower() for row in expected]
            else:
                equals(frame[name], [row[name] for row in expected])
        found.chosen.write(written)
        assert written.read_bytes() == out.read_bytes()
        assert [len(communities) for communities in found] == frame["communities"].tolist()
        assert found[0].modularity == pytest.approx(frame["modularity"][0])
        assert repr(found).startswith(f"<ripplet.ResolutionProfile: {len(found)} partitions of")
    assert not edges.exists()


def test_a_profile_that_cannot_be_is_refused() -> None:
    edges = [(0, 1), (1, 2)]
    with pytest.raises(rp.InputError, match="refine"):
        rp.resolution_profile(edges, refine="surprise")  # type: ignore[arg-type]
    with pytest.raises(rp.InputError):
        rp.resolution_profile(edges, resolution=(2.0, 1.0))
    with pytest.raises(rp.InputError):
        rp.resolution_profile(edges, resolution=(float("nan"), 1.0))
    with pytest.raises(rp.OptionError, match="such as"):
        rp.resolution_profile(edges, resolution=5)  # type: ignore[arg-type]
    with pytest.raises(rp.InputError, match="runs"):
        rp.resolution_profile(edges, profile_runs=1)
    with pytest.raises(rp.OutOfMemoryError):
        rp.resolution_profile(edges, host_memory=1)
    assert len(rp.resolution_profile(rp.graph([], vertices=0)).chosen) == 0


def test_hubs_name_communities_as_the_command_does(command: Any, tmp_path: Path) -> None:
    expected, written = tmp_path / "expected.csv", tmp_path / "written.csv"
    for options, flags in [({}, []), ({"program": "slpa", "iterations": 9}, ["--program", "slpa", "--iterations", "9"])]:
        command("communities", PGP, "--names", "hub", "-o", expected, *flags)
        rp.communities(str(PGP), **options).write(written, names="hub")
        assert written.read_bytes() == expected.read_bytes()
    with pytest.raises(rp.InputError, match="clusters of seeds"):
        rp.seeded([(0, 1)], {0: "red"}).write(written, names="hub")


def test_plans_of_sweeps_and_profiles() -> None:
    graph = rp.graph(PGP)
    swept, one = rp.estimate(rp.sweep, graph, 3), rp.estimate(rp.communities, graph, program="llp")
    assert sum(size for _, size in swept.plan) > sum(size for _, size in one.plan)
    few, many = (rp.estimate(rp.resolution_profile, graph, profile_runs=runs) for runs in (10, 50))
    assert 40 * 4 * graph.vertices == sum(size for _, size in many.plan) - sum(size for _, size in few.plan)
