"""What the tests share: graphs, the command, and a failure instead of a skip if ``RIPPLET_REQUIRE_PYTHON`` is set."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PGP = ROOT / "examples" / "graphs" / "pgp.graph"
PAYMENTS = ROOT / "examples" / "graphs" / "payments.csv"


REQUIRED = "RIPPLET_REQUIRE_PYTHON"


def required(report: Any) -> Any:
    """Returns a report that is a failure if the test was skipped for something that must be installed."""
    reason = report.longrepr[-1] if report.skipped and isinstance(report.longrepr, tuple) else ""
    if REQUIRED in os.environ and ("could not import" in reason or "RIPPLET_COMMAND" in reason):
        report.outcome, report.longrepr = "failed", f"{REQUIRED} is set, but the test is skipped: {reason}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    return required((yield))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    return required((yield))


@pytest.fixture(scope="session")
def command() -> Callable[..., None]:
    """Runs the command with arguments; skips the test if it is not built."""
    path = os.environ.get("RIPPLET_COMMAND", "")
    if not Path(path).is_file():
        pytest.skip("RIPPLET_COMMAND does not name the command")

    def run(*arguments: object) -> None:
        done = subprocess.run([path, *map(str, arguments)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    return run


def random_edges(seed: int, vertices: int = 60, edges: int = 200) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Returns ends and weights of random edges, some of them repeated or loops."""
    draw = np.random.default_rng(seed)
    u = draw.integers(0, vertices, edges)
    v = (u + draw.integers(0, 8, edges)) % vertices
    return u, v, draw.integers(1, 9, edges).astype(np.float64)
