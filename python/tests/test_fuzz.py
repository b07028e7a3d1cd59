"""Random tables, graphs and options at every entry: a result or a documented exception, and never a crash.

``RIPPLET_FUZZ_CASES`` is the number of cases of each test; with it, the cases are other ones each time.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ripplet as rp

hypothesis = pytest.importorskip("hypothesis")
nx = pytest.importorskip("networkx")
pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
sparse = pytest.importorskip("scipy.sparse")
interface = pytest.importorskip("nx_ripplet.interface")
with contextlib.suppress(ImportError, AttributeError):
    # Hypothesis would read the code of all libraries for constants, ten seconds long, if they are on PYTHONPATH.
    from hypothesis.internal.conjecture import providers

    assert providers.is_local_module_file
    providers.is_local_module_file = lambda path: False
given, st = hypothesis.given, hypothesis.strategies

CASES = int(os.environ.get("RIPPLET_FUZZ_CASES", "0"))
fuzzed = hypothesis.settings(
    max_examples=CASES or 40,
    derandomize=not CASES,
    database=None,
    deadline=None,
    suppress_health_check=list(hypothesis.HealthCheck),
)

INTEGERS = st.one_of(st.integers(0, 9), st.integers(-3, 2**70), st.sampled_from([2**31, 2**32, 2**63, 2**64 - 1, -(2**63)]))
NUMBERS = st.one_of(INTEGERS, st.floats(), st.sampled_from([0.0, -0.0, 1e-320, 1e308, 0.1]))
WORDS = st.one_of(st.sampled_from(["a", "b", "c", "", "é"]), st.text(max_size=4))
ANYTHING = st.one_of(NUMBERS, WORDS, st.none(), st.booleans(), st.binary(max_size=3), st.tuples(NUMBERS), st.just(object()))
DTYPES = ["int8", "uint16", "int64", "uint64", "float16", "float64", "complex128", "bool", "U3", "S3", "datetime64[s]", "object"]


@st.composite
def columns(draw: Any, count: int) -> list[list[Any]]:
    """Draws columns: two of ids and others of numbers, most of them such as users have."""
    rows = draw(st.integers(0, 12)) if draw(st.booleans()) else 10
    ids = draw(st.sampled_from([st.integers(0, 9), st.integers(0, 9), WORDS, WORDS, INTEGERS, NUMBERS, ANYTHING]))
    numbers = draw(st.sampled_from([st.integers(0, 5), st.floats(0.5, 9), st.floats(0.5, 9), INTEGERS, NUMBERS, ANYTHING]))
    drawn = [draw(st.lists(kind, min_size=rows, max_size=rows)) for kind in [ids, ids, numbers, ids][:count]]
    wrong = draw(st.integers(0, 40)) - 20
    if 0 < wrong < count:
        drawn[wrong] = draw(st.lists(ANYTHING, max_size=12))
    return drawn


def as_array(values: list[Any], dtype: str) -> Any:
    return np.array(values, dtype=object).astype(dtype)


@st.composite
def tables(draw: Any, names: tuple[str, ...] = ("source", "target", "weight")) -> Any:
    """Draws a table in one of the forms that users have."""
    drawn = dict(zip(names, draw(columns(len(names))), strict=True))
    if draw(st.integers(0, 19)) == 11:
        del drawn[draw(st.sampled_from(names))]
    form = draw(st.sampled_from([dict, pd.DataFrame, pl.DataFrame, pa.table, "categories", "arrays", "nested"]))
    try:
        if form == "categories":
            return pd.DataFrame(drawn).astype("category")
        if form == "arrays":
            return {name: as_array(values, draw(st.sampled_from(DTYPES))) for name, values in drawn.items()}
        return form(drawn) if callable(form) else {name: [[value] for value in values] for name, values in drawn.items()}
    except Exception:  # no table of that package
        return drawn


@st.composite
def edges(draw: Any) -> Any:
    """Draws edges that are no table: lists, arrays, matrices, graphs of NetworkX."""
    form = draw(st.sampled_from(["pairs", "lists", "arrays", "matrix", "index", "networkx", "anything"]))
    u, v, w = draw(columns(3))
    if form == "pairs":
        return list(zip(u, v, strict=False)) if draw(st.booleans()) else list(zip(u, v, w, strict=False))
    if form == "lists":
        return (u, v, w)[: draw(st.integers(0, 3))]
    if form == "networkx":
        return draw(graphs())
    if form == "anything":
        return draw(ANYTHING)
    try:
        dtype = draw(st.sampled_from(DTYPES))
        if form == "arrays":
            return as_array(u, dtype), as_array(v, dtype)
        shape = draw(st.tuples(st.integers(0, 4), st.integers(0, 4)))
        dense = np.resize(as_array(w, dtype), shape if form == "matrix" else (2, shape[1]))
        return draw(st.sampled_from([sparse.csr_array, sparse.coo_array, sparse.csc_matrix]))(dense) if form == "matrix" else dense
    except Exception:  # no array of this type
        return (u, v)


@st.composite
def graphs(draw: Any) -> Any:
    """Draws a graph of NetworkX."""
    graph = draw(st.sampled_from([nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]))()
    nodes = st.one_of(st.integers(0, 8), st.sampled_from(["a", (1, 2), 1.5, True, frozenset()]))
    graph.add_nodes_from(draw(st.lists(nodes, max_size=3)))
    weights = draw(st.sampled_from([st.integers(0, 5), st.floats(0, 2), NUMBERS, ANYTHING]))
    for a, b in draw(st.lists(st.tuples(nodes, nodes), max_size=20)):
        data = {"weight": draw(weights)} if draw(st.booleans()) else {}
        graph.add_edge(a, b, **data)
    return graph


# What fits some options; others, and sometimes these, get anything.
FITTING: dict[str, Any] = {
    "counter": st.sampled_from(["exact", "mg:8", "bm"]),
    "definition": st.sampled_from(["fagiolo", "ldbc"]),
    "edges": st.booleans(),
    "max_size": st.integers(1, 9),
    "merge": st.sampled_from(["off", 0.5]),
    "preset": st.sampled_from(["nu-mg8", "nu-bm"]),
    "program": st.sampled_from(["lpa", "llp", "cdlp", "slpa"]),
    "refine": st.sampled_from(["modularity", "cpm"]),
    "resolution": st.sampled_from(["auto", 0.5, 0.0]),
    "rows": st.sampled_from(["pairs", "vertices", "graphs"]),
    "schedule": st.sampled_from(["sync", "phased"]),
    "slide": st.sampled_from(["1d", "3d"]),
    "source": st.just("source"),
    "storage": st.sampled_from(["plain", "compressed"]),
    "target": st.just("target"),
    "threads": st.integers(1, 3),
    "until": st.sampled_from(["2024-01-30", "2024-02-10"]),
    "weight": st.just("weight"),
    "window": st.sampled_from(["1d", "30d"]),
}


@st.composite
def options(draw: Any, function: Callable[..., Any], without: tuple[str, ...] = ()) -> dict[str, Any]:
    """Draws keyword arguments of a function, most of them such as it takes."""
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in ("progress", "device", *without)
    ]
    chosen = draw(st.lists(st.sampled_from([*names, *sorted(set(names) & set(FITTING))]), max_size=2)) if names else []
    usual = st.one_of(st.integers(0, 4), st.floats(0, 2), st.booleans())
    # As many threads as are asked for are started, up to 4096: too many for a test.
    fits = {name: name == "threads" or draw(st.integers(0, 4)) != 3 for name in chosen}
    drawn = {name: draw(FITTING.get(name, usual) if fits[name] else ANYTHING) for name in chosen}
    return drawn if draw(st.integers(0, 19)) != 11 else {**drawn, "no_such_option": 1}


def attempt(call: Callable[[], Any]) -> Any:
    """Returns a result, or ``None`` after a documented exception."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call()
    except rp.RippletError as error:
        assert str(error) and "panic" not in str(error), error
        return None


DATA = st.one_of(tables(), tables(), edges())


@fuzzed
@given(DATA, st.data())
def test_graphs(data: Any, drawing: Any) -> None:
    chosen = drawing.draw(options(rp.graph))
    graph = attempt(lambda: rp.graph(data, **chosen))
    if graph is not None:
        assert len(graph.ids) == graph.vertices
        assert repr(graph)


ANALYSES = [rp.closeness, rp.harmonic, rp.betweenness, rp.pagerank, rp.lcc, rp.triangles, rp.components, rp.kcore, rp.apsp]


@fuzzed
@given(st.sampled_from(ANALYSES), DATA, st.data())
def test_analyses(analysis: Any, data: Any, drawing: Any) -> None:
    chosen = drawing.draw(options(analysis))
    found = attempt(lambda: analysis(data, progress=False, **chosen))
    if isinstance(found, rp.Values):
        assert "<code>ripplet." in found._repr_html_()
        attempt(found.to_arrow)


@fuzzed
@given(st.sampled_from([rp.communities, rp.overlapping, rp.cdlp, rp.sweep, rp.seeded]), DATA, st.data())
def test_communities(search: Any, data: Any, drawing: Any) -> None:
    chosen = drawing.draw(options(search))
    others = drawing.draw(st.lists(ANYTHING, max_size=3))
    arguments = [drawing.draw(st.one_of(st.dictionaries(st.integers(0, 9), WORDS), st.just(others)))] if search is rp.seeded else []
    if search is not rp.sweep:
        chosen["device"] = "cpu"
    found = attempt(lambda: search(data, *arguments, progress=False, **chosen))
    if not isinstance(found, rp.Communities):
        return
    assert repr(found)
    assert "<code>ripplet." in found._repr_html_()
    assert sum(found.sizes) >= len(found)
    attempt(found.quality)
    for other in others:
        attempt(lambda other=other: found[other])
        attempt(lambda other=other: found.compare(other))
        if type(other) is not int or 0 <= other < len(found):
            attempt(lambda other=other: found.members(other))


SWARMED = ["closeness", "harmonic", "betweenness", "pagerank", "lcc", "components", "kcore", "apsp", "communities"]


@fuzzed
@given(tables(("source", "target", "weight", "graph")), st.sampled_from(SWARMED), st.data())
def test_swarms(table: Any, analysis: str, drawing: Any) -> None:
    swarm = attempt(lambda: rp.swarm(table, graph="graph"))
    if swarm is not None:
        chosen = drawing.draw(options(getattr(swarm, analysis)))
        attempt(lambda: getattr(swarm, analysis)(progress=False, **chosen))


MAPPING = {
    "time": "when",
    "amount": "amount",
    "source": {"column": "source", "kind": "account"},
    "target": {"column": "target", "kind": "account"},
}


@hypothesis.settings(fuzzed, max_examples=CASES or 10)
@given(tables(("source", "target", "amount")), st.lists(st.integers(0, 90), min_size=12, max_size=12), st.data())
def test_fraud(table: Any, days: list[int], drawing: Any) -> None:
    if isinstance(table, dict) and drawing.draw(st.integers(0, 5)):
        rows = max(map(len, table.values()), default=0)
        when = np.datetime64("2024-01-01") + np.sort(np.resize(days, rows)).astype("timedelta64[D]")
        table = {**table, "when": list(map(str, when))}
    mapping = MAPPING if drawing.draw(st.integers(0, 5)) else {**MAPPING, "time": drawing.draw(ANYTHING)}
    windows = {"window": "30d", "slide": "5d"}
    chosen = {**windows, **drawing.draw(options(rp.fraud.run, ("output", "mapping", "postgres", "duckdb")))}
    run = attempt(lambda: rp.fraud.run(table, mapping=mapping, progress=False, **chosen))
    if run is not None:
        sought, chosen = drawing.draw(ANYTHING), drawing.draw(options(rp.fraud.Run.find))
        attempt(lambda: run.find(sought, progress=False, **chosen))
    chosen = {**windows, **drawing.draw(options(rp.fraud.window, ("mapping", "postgres", "duckdb")))}
    graph = attempt(lambda: rp.fraud.window(table, mapping=mapping, progress=False, **chosen))
    assert graph is None or (graph.degrees > 0).all()


@fuzzed
@given(st.text(max_size=40), st.data())
def test_programs_and_generators(text: str, drawing: Any) -> None:
    attempt(lambda: rp.program(text))
    chosen = drawing.draw(options(rp.generate.planted, ("max_degree",)))
    attempt(lambda: rp.generate.planted(20, 60, **chosen))


@fuzzed
@given(graphs(), st.data())
def test_networkx(graph: Any, data: Any) -> None:
    backend = interface.backend
    from ripplet import _networkx

    name = data.draw(st.sampled_from(sorted(_networkx.FUNCTIONS)))
    chosen: dict[str, Any] = {}
    for argument in list(_networkx.SIGNATURES[name].parameters.values())[1:]:
        required = argument.default is argument.empty
        if argument.name == "seed":
            chosen["seed"] = random.Random(1)
        elif required or data.draw(st.integers(0, 3)) == 0:
            chosen[argument.name] = data.draw(st.one_of(ANYTHING, st.just("weight"), st.lists(st.lists(st.integers(0, 8)))))
    if backend.can_run(name, (graph,), chosen) is not True:
        return
    weight = chosen.get(_networkx.WEIGHTS.get(name, ""), "weight")
    try:
        result = getattr(backend, name)(backend.convert_from_nx(graph, edge_attrs={weight: 1}), **chosen)
        list(result) if hasattr(result, "__next__") else None
    except Exception as error:  # NetworkX's classes differ by function; a panic would be no Exception or say so
        assert "panic" not in str(error)
