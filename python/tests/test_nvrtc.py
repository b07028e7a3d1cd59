"""NVRTC, the compiler of a GPU's kernels, is found in NVIDIA's Python package; no GPU is needed for that."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT

LOOK = """
import ripplet
loaded = lambda: [line.split()[-1] for line in open("/proc/self/maps") if "/libnvrtc" in line]
assert not loaded(), "the import loads NVRTC"
ripplet.communities([(0, 1), (1, 2)], device="cpu")
assert not loaded(), "a run on the CPU loads NVRTC"
print(ripplet.devices()["nvrtc"])
print(*loaded())
"""


@pytest.fixture(scope="module")
def library() -> Path:
    """Returns the folder ``nvidia/cu13/lib`` of NVIDIA's package, which the tests' ``LD_LIBRARY_PATH`` has."""
    folders = [Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    for folder in folders:
        if folder.parts[-3:] == ("nvidia", "cu13", "lib") and (folder / "libnvrtc.so.13").is_file():
            return folder
    assert "RIPPLET_REQUIRE_NVRTC" not in os.environ, f"no package of NVIDIA in LD_LIBRARY_PATH: {folders}"
    pytest.skip("LD_LIBRARY_PATH has no folder nvidia/cu13/lib with libnvrtc.so.13")


def look(packages: list[Path], linker: Path | None = None) -> tuple[str, str]:
    """Returns the version of NVRTC and the libraries of a process with these folders of packages."""
    variables = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    variables["PYTHONPATH"] = os.pathsep.join([*sys.path, *map(str, packages)])
    if linker is not None:
        variables["LD_LIBRARY_PATH"] = str(linker)
    done = subprocess.run([sys.executable, "-c", LOOK], env=variables, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    version, libraries = done.stdout.splitlines()
    return version, libraries


def test_nvrtc_of_a_package_is_found_without_a_variable(library: Path, tmp_path: Path) -> None:
    without, _ = look([tmp_path])
    version, loaded = look([tmp_path, library.parents[2]])
    assert version.startswith("13.")
    # The linker finds one on a machine with the CUDA toolkit, which then wins.
    assert without != "None" or str(library / "libnvrtc.so.13") in loaded.split()


def test_a_folder_that_the_linker_searches_wins(library: Path, tmp_path: Path) -> None:
    (tmp_path / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    (tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13").write_bytes(b"no library")
    version, loaded = look([tmp_path], linker=library)
    assert version.startswith("13.") and str(library / "libnvrtc.so.13") in loaded.split()


def test_a_package_that_is_no_library_is_passed_over(library: Path, tmp_path: Path) -> None:
    (tmp_path / "nvidia" / "cu13" / "lib").mkdir(parents=True)
    (tmp_path / "nvidia" / "cu13" / "lib" / "libnvrtc.so.13").write_bytes(b"no library")
    assert look([tmp_path, library.parents[2]])[0].startswith("13.")


def test_the_extras_are_the_packages_that_the_page_names() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (ROOT / "docs" / "gpu.md").read_text()
    assert set(extras) == {"cuda", "cuda12", "ray"}
    for extra in ("cuda", "cuda12"):
        (requirement,) = extras[extra]
        assert f"'.[{extra}]'" in page and f"`pip install {requirement.partition('>')[0].partition('=')[0]}`" in page
    assert "'.[ray]'" in (ROOT / "docs" / "several-machines.md").read_text()
