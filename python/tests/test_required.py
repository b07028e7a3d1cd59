"""With ``RIPPLET_REQUIRE_PYTHON``, a test that lacks a package fails, and is not skipped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

WITHIN = """
import pytest
def test_it():
    pytest.importorskip("no_such_package")
def test_other():
    pytest.skip("there is a GPU")
"""
BEFORE = "import pytest\npytest.importorskip('no_such_package')\ndef test_it(): pass\n"
WITHOUT_COMMAND = "def test_it(command): pass\n"


@pytest.mark.parametrize("text, failed", [(WITHIN, "1 failed, 1 skipped"), (BEFORE, "1 error"), (WITHOUT_COMMAND, "1 error")])
def test_a_package_that_is_missing_is_a_failure_if_it_is_required(text: str, failed: str, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path / "conftest.py")
    (tmp_path / "test_it.py").write_text(text)
    names = ("RIPPLET_REQUIRE_PYTHON", "RIPPLET_COMMAND")
    plain = {name: value for name, value in os.environ.items() if name not in names}

    def run(**variables: str) -> str:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(tmp_path)]
        done = subprocess.run(command, cwd=tmp_path, env={**plain, **variables}, capture_output=True, text=True)
        return done.stdout

    skipped = run()
    assert "skipped" in skipped and "failed" not in skipped and "error" not in skipped, skipped
    required = run(RIPPLET_REQUIRE_PYTHON="1")
    assert failed in required and "RIPPLET_REQUIRE_PYTHON is set" in required, required
