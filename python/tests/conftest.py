"""What the tests share: graphs, and the command."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
PGP = ROOT / "examples" / "graphs" / "pgp.graph"
PAYMENTS = ROOT / "examples" / "graphs" / "payments.csv"


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
