"""The options of the command's ``communities`` and ``fraud`` are Python's, or are listed here with the reason."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from conftest import ROOT

import pytest

import ripplet as rp

ELSEWHERE: dict[str, tuple[Callable[..., Any], str]] = {
    "names": (rp.Communities.write, "names"),
    "to": (rp.Communities.write, "format"),
    "output": (rp.Communities.write, "path"),
    "memory": (rp.overlapping, "memory"),
    "threshold": (rp.overlapping, "threshold"),
    "sweep": (rp.sweep, "halvings"),
    "resolution_profile": (rp.resolution_profile, "resolution"),
    "profile_runs": (rp.resolution_profile, "profile_runs"),
    "seeds": (rp.seeded, "seeds"),
    "attenuation": (rp.seeded, "attenuation"),
    "loose_seeds": (rp.seeded, "loose_seeds"),
    "skip_unknown_seeds": (rp.seeded, "skip_unknown_seeds"),
    "from": (rp.graph, "format"),
    "directed": (rp.graph, "directed"),
    "undirected": (rp.graph, "directed"),
    "weighted": (rp.graph, "weight"),
    "ids": (rp.graph, "id_kind"),
    "columns": (rp.graph, "source"),
    "header": (rp.graph, "header"),
    "no_header": (rp.graph, "header"),
    "delimiter": (rp.graph, "delimiter"),
    "coarse_weights": (rp.graph, "coarse_weights"),
    "keep_loops": (rp.graph, "keep_loops"),
    "keep_duplicates": (rp.graph, "keep_duplicates"),
    "storage": (rp.graph, "storage"),
    "batch": (rp.swarm, "data"),
    "graph_column": (rp.swarm, "graph"),
    "on_error": (rp.swarm, "on_error"),
    "estimate": (rp.estimate, "function"),
}
"""Options that another function has, with its parameter."""

OTHERWISE: dict[str, str] = {
    "quiet": "progress=False",
    "verbose": "rounds, seconds and device of the result",
    "help": "help(rp.communities)",
    "stats": "rounds, seconds, device and quality() of the result",
    "top": "per_community() of the result",
    "columns_out": "columns of the result",
    "levels": "parts() of the result",
    "dendrogram": "dendrogram() of the result",
    "order": "order of the result of sweep()",
    "seeds_columns": "seeds are a dict, and not a file",
    "labels_columns": "labels are an array or a dict, and not a file",
}
"""Options that Python needs not, with what it has instead."""

LACKS: set[str] = set()
"""Options that Python lacks: docs/python.md lists them under Limits."""

OF_PYTHON = {"data", "progress"}


FRAUD: list[tuple[str, Callable[..., Any], dict[str, str], set[str]]] = [
    ("run", rp.fraud.run, {
        "follow": "the command's alone", "every": "of --follow",
        "ranks": "the command's alone", "rank_deadline": "of --ranks",
        "password_file": "the command's alone", "to_password_file": "the command's alone",
    }, {"transactions"}),
    ("evaluate", rp.fraud.evaluate, {
        "password_file": "the command's alone", "output": "draws of the result", "to": "draws of the result",
    }, {"transactions"}),
    ("window", rp.fraud.window, {"password_file": "the command's alone", "output": "write() of the graph"}, {"transactions"}),
    ("find", rp.fraud.Run.find, {"output": "the result", "to": "the result"}, {"self", "id"}),
]
"""Commands of fraud, their functions, the options that Python has not with the reason, and what is Python's alone."""

OF_ALL = {"quiet", "verbose", "help"}


def options_of_the_command(*names: str) -> set[str]:
    script = [sys.executable, "-c", "from ripplet_command import main; main()", *names, "--help"]
    text = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    found = re.findall(r"^ +(?:-\w, )?--([a-z-]+)", text, re.MULTILINE)
    assert len(found) > 5
    return {name.replace("-", "_") for name in found}


def test_each_option_of_the_command_is_in_python_or_listed() -> None:
    command = options_of_the_command("communities")
    assert len(command) > 50
    mine = set(inspect.signature(rp.communities).parameters)
    listed = [set(ELSEWHERE), set(OTHERWISE), LACKS]
    assert sum(map(len, listed)) == len(set().union(*listed)), "an option is in two lists"
    assert command - mine == set().union(*listed)
    assert mine - command == OF_PYTHON


@pytest.mark.parametrize("name, function, otherwise, of_python", FRAUD, ids=lambda value: value if isinstance(value, str) else "")
def test_each_option_of_fraud_is_in_python_or_listed(
    name: str, function: Callable[..., Any], otherwise: dict[str, str], of_python: set[str]
) -> None:
    command = options_of_the_command("fraud", name)
    mine = set(inspect.signature(function).parameters)
    assert command - mine == otherwise.keys() | OF_ALL
    assert mine - command == of_python | {"progress"}


def test_what_other_functions_have_is_there() -> None:
    for option, (function, parameter) in ELSEWHERE.items():
        assert parameter in inspect.signature(function).parameters, option


def test_the_page_lists_what_python_lacks() -> None:
    page = (ROOT / "docs" / "python.md").read_text()
    limits = page.partition("\n## Limits\n")[2]
    listed = re.findall(r"^- Of `ripplet communities`, Python lacks (.*?)\.$", limits, re.MULTILINE | re.DOTALL)
    assert {name.replace("-", "_") for name in re.findall("`--([a-z-]+)`", "".join(listed))} == LACKS
