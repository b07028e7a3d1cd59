"""The command ``ripplet``, as the console script that ``pip install`` makes.

It is the code of the binary, in the native module. The package ``ripplet`` is not imported, nor is numpy, which
would take longer to start than a small graph takes to run.
"""

from __future__ import annotations

import sys
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, NoReturn


def _native() -> Any:
    """Loads the native module alone."""
    package = find_spec("ripplet")
    folders = [] if package is None else list(package.submodule_search_locations or [])
    files = [Path(folder) / f"_native{suffix}" for folder in folders for suffix in EXTENSION_SUFFIXES]
    for file in files:
        if file.is_file():
            loader = ExtensionFileLoader("ripplet._native", str(file))
            spec = spec_from_file_location("ripplet._native", file, loader=loader)
            assert spec is not None
            module = module_from_spec(spec)
            loader.exec_module(module)
            return module
    raise ImportError("the native module of ripplet is not installed; `pip install .` in a clone builds it")


def main() -> NoReturn:
    """Runs the command with the arguments of this process, and ends it with the command's exit code."""
    _native().command(sys.argv)
    raise AssertionError("the command ends the process")


if __name__ == "__main__":
    main()
