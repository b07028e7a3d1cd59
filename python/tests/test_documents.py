"""The Python code of the pages runs."""

from __future__ import annotations

import doctest
import linecache
import os
import re
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("pandas")


@pytest.mark.parametrize("page", ["docs/python.md"])
def test_the_code_of_a_page_runs(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / page).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) > 2
    for number, block in enumerate(blocks):
        # Python finds the source of a class by this name, as in a notebook.
        name = f"<{page}, block {number}>"
        linecache.cache[name] = (len(block), None, block.splitlines(keepends=True), name)
        exec(compile(block, name, "exec"), {"__name__": "__main__"})
    assert not os.listdir(tmp_path) == ["examples"]


def test_the_first_screen_of_the_readme_has_the_same_result_in_the_shell_and_in_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    screen = "\n".join((ROOT / "README.md").read_text().splitlines()[:45])
    assert "\ncargo install " in screen and "\npip install ." in screen
    (shell,) = re.findall(r"^```console\n(.*?)^```", screen, re.MULTILINE | re.DOTALL)
    (session,) = re.findall(r"^```pycon\n(.*?)^```", screen, re.MULTILINE | re.DOTALL)
    test = doctest.DocTestParser().get_doctest(session, {}, "README.md", "README.md", 0)
    done = doctest.DocTestRunner().run(test)
    assert (done.failed, done.attempted) == (0, 4)
    # A test of the command runs the block of the shell; both end with the members of one community.
    assert shell.splitlines()[-1] == session.splitlines()[-1]
    (found,) = re.findall(r"^\d+ communities, .*", shell, re.MULTILINE)
    (mine,) = re.findall(r"^\d+ communities, .*", session, re.MULTILINE)
    assert len(mine.split(", ")) == 4 and all(figure in found for figure in mine.split(", "))


def test_the_examples_of_docstrings_are_right() -> None:
    import ripplet
    from ripplet import _communities, _estimate, _graph, _program, _swarm

    tried = 0
    for module in (ripplet, _estimate, _graph, _communities, _program, _swarm, ripplet.datasets, ripplet.fraud):
        failed, count = doctest.testmod(module)
        assert failed == 0
        tried += count
    assert tried > 5
