"""The package is typed, and the stubs of its native part are those of the module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("mypy")

ALLOWED = """
# pyo3 writes it, and the stub's names are public as they are.
ripplet._native.__all__
# The stable ABI of Python 3.11 has the buffer protocol without the method, which is of Python 3.12.
ripplet._native.Array.__buffer__
"""


def mypy(folder: Path, module: str, *arguments: str) -> None:
    """Runs a module of mypy in a folder."""
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_passes_mypy_strict(tmp_path: Path) -> None:
    mypy(ROOT, "mypy", "--config-file", "pyproject.toml", "--cache-dir", str(tmp_path))


def test_the_stubs_are_those_of_the_native_module(tmp_path: Path) -> None:
    (tmp_path / "allowed.txt").write_text(ALLOWED)
    mypy(tmp_path, "mypy.stubtest", "ripplet._native", "--mypy-config-file", str(ROOT / "pyproject.toml"), "--allowlist", "allowed.txt")
