"""The notebooks run, and their outputs are the stored ones; no Jupyter is needed.

``RIPPLET_WRITE_NOTEBOOKS=1 pytest python/tests/test_notebooks.py`` stores the outputs of a run. A cell with the tag
``varies`` prints times, which are not compared.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT

pytest.importorskip("pandas")

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
WRITES = bool(os.environ.get("RIPPLET_WRITE_NOTEBOOKS"))
LARGEST = 150_000
"""Bytes of a notebook, which a clone and a reader's browser load."""


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def run(source: str, name: str, variables: dict[str, Any]) -> list[dict[str, Any]]:
    """Runs a cell; returns its outputs as Jupyter stores them: what it prints, and the value of its last line."""
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    value = None
    printed = io.StringIO()
    # Python finds the source of a class by this name.
    linecache.cache[name] = (len(source), None, lines(source), name)
    with contextlib.redirect_stdout(printed):
        if isinstance(last, ast.Expr):
            exec(compile(ast.Module(tree.body[:-1], []), name, "exec"), variables)
            value = eval(compile(ast.Expression(last.value), name, "eval"), variables)
        else:
            exec(compile(tree, name, "exec"), variables)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        outputs.append({"data": shown(value), "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def shown(value: Any) -> dict[str, Any]:
    """Returns a value in the formats that it has: a picture, a table, a text."""
    data: dict[str, Any] = {"text/plain": lines(repr(value))}
    picture = getattr(value, "_repr_svg_", lambda: None)()
    if picture is not None:
        return {"image/svg+xml": lines(picture), **data}
    if type(value).__name__ == "DataFrame":
        return {"text/html": lines(value.to_html(border=0)), **data}
    return data


def compared(outputs: list[dict[str, Any]]) -> list[Any]:
    """Returns the texts of outputs, without spaces, and the pictures. The layout of tables is the version's of pandas."""
    parts: list[Any] = []
    for output in outputs:
        data = output.get("data", {"text/plain": output.get("text", [])})
        parts += [["".join(data["text/plain"]).split(), data.get("image/svg+xml")]]
    return parts


def test_there_are_five_notebooks() -> None:
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "networkx" in path.name:
        networkx = pytest.importorskip("networkx")
        monkeypatch.setattr(networkx.config, "backend_priority", networkx.config.backend_priority)
    monkeypatch.chdir(path.parent)
    notebook = json.loads(path.read_text())
    variables: dict[str, Any] = {"__name__": "__main__"}
    count = 0
    for number, cell in enumerate(notebook["cells"]):
        if cell["cell_type"] != "code":
            continue
        count += 1
        outputs = run("".join(cell["source"]), f"<{path.stem}, cell {number}>", variables)
        if WRITES:
            for output in outputs:
                if "execution_count" in output:
                    output["execution_count"] = count
            cell["outputs"], cell["execution_count"] = outputs, count
        elif "varies" not in cell["metadata"].get("tags", []):
            assert compared(outputs) == compared(cell["outputs"]), "".join(cell["source"])
    if WRITES:
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    assert count > 4 and path.stat().st_size < LARGEST
    assert sorted(os.listdir(path.parent)) == sorted([*(other.name for other in NOTEBOOKS), "README.md"])
