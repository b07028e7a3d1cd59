"""NetworkX's own tests with ripplet as the backend: a plugin of pytest, which counts calls of the backed functions.

    NETWORKX_TEST_BACKEND=ripplet NETWORKX_FALLBACK_TO_NX=True python -m pytest -p networkx_suite --pyargs networkx

A failure is in ``EXPECTED`` with its reason, or fails the run; so does a backed function that no test calls, and an
entry of ``EXPECTED`` that passes. With ``RIPPLET_NETWORKX=short``, only the modules that test the backed functions run.
"""

from __future__ import annotations

import functools
import os
from collections import Counter
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import pytest

SINCE_3_7 = {
    "test_leiden.py::test_expected_stable_across_code_changes_cpm": "the very communities of NetworkX's draws; ripplet draws none",
}
EXPECTED: dict[str, str] = SINCE_3_7 if version("networkx") >= "3.7" else {}
"""Tests that fail, by the end of their names, with the reason."""

MODULES = (
    "algorithms/centrality/tests/test_betweenness_centrality.py",
    "algorithms/centrality/tests/test_closeness_centrality.py",
    "algorithms/centrality/tests/test_harmonic_centrality.py",
    "algorithms/community/tests/test_label_propagation.py",
    "algorithms/community/tests/test_leiden.py",
    "algorithms/community/tests/test_quality.py",
    "algorithms/components/tests/test_connected.py",
    "algorithms/components/tests/test_weakly_connected.py",
    "algorithms/link_analysis/tests/test_pagerank.py",
    "algorithms/shortest_paths/tests/test_generic.py",
    "algorithms/shortest_paths/tests/test_unweighted.py",
    "algorithms/shortest_paths/tests/test_weighted.py",
    "algorithms/tests/test_cluster.py",
    "algorithms/tests/test_core.py",
    "algorithms/tests/test_distance_measures.py",
    "algorithms/tests/test_efficiency.py",
    "algorithms/tests/test_wiener.py",
)
"""Modules that test the backed functions."""

CALLS: Counter[str] = Counter()


def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        CALLS[name] += 1
        return result

    return call


def pytest_configure(config: pytest.Config) -> None:
    import networkx as nx

    from ripplet import _networkx

    assert "ripplet" in nx.utils.backends.backends, "the backend is not installed"
    for name, function in _networkx.FUNCTIONS.items():
        _networkx.FUNCTIONS[name] = counted(name, function)


def pytest_ignore_collect(collection_path: Any) -> bool | None:
    if os.environ.get("RIPPLET_NETWORKX") == "short" and collection_path.suffix == ".py":
        return not collection_path.as_posix().endswith(MODULES) or None
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    known = set()
    for item in items:
        for name, reason in EXPECTED.items():
            if item.nodeid.endswith(name):
                known.add(name)
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))
    missing = set(EXPECTED) - known
    if missing and os.environ.get("RIPPLET_NETWORKX") != "short":
        raise pytest.UsageError(f"no tests of these names: {sorted(missing)}")


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    from ripplet import _networkx

    if exitstatus == 0 and set(_networkx.FUNCTIONS) - set(CALLS):
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from ripplet import _networkx

    terminalreporter.section("calls of ripplet")
    for name in _networkx.FUNCTIONS:
        terminalreporter.line(f"{CALLS[name]:8} {name}{'' if CALLS[name] else ': no test called it'}")
