"""Runs that keep their state in a folder, and go on from there."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from conftest import PGP

import ripplet as rp

LONG: dict[str, Any] = {"program": "slpa", "iterations": 500, "threads": 1, "seed": 5}
"""A run that never settles."""


class Stopped(Exception):
    """Raised by a report to end a run."""


def interrupted(folder: Path, graph: rp.Graph, **options: Any) -> None:
    """Runs until a checkpoint is there, and then ends the run."""

    def stop(*_: object) -> None:
        if any(folder.glob("round-*.checkpoint")):
            raise Stopped

    with pytest.raises(Stopped):
        rp.communities(graph, **options, checkpoint=folder, checkpoint_every=1, progress=stop)


def counts(found: rp.Communities) -> list[tuple[int, int, int]]:
    return [(each.changed, each.visited, each.scanned) for each in found.rounds]


def test_a_run_that_was_interrupted_goes_on(tmp_path: Path) -> None:
    graph, folder = rp.graph(PGP), tmp_path / "kept"
    whole = rp.communities(graph, **LONG)
    assert whole.resumed is None
    interrupted(folder, graph, **LONG)
    with pytest.raises(rp.InputError, match="of another run: seed: 5 there, 6 here"):
        rp.communities(graph, **{**LONG, "seed": 6}, checkpoint=folder, resume=True)
    with pytest.raises(rp.InputError, match="has a checkpoint of a run, after round .*resume=True"):
        rp.communities(graph, **LONG, checkpoint=folder)
    found = rp.communities(graph, **{**LONG, "threads": 2}, checkpoint=str(folder), resume=True)
    assert found == whole and counts(found) == counts(whole)
    resumed = found.resumed
    assert resumed is not None and 0 < resumed.rounds <= 500 and not resumed.damaged
    assert Path(resumed.path).parent == folder
    assert pickle.loads(pickle.dumps(found)).resumed == resumed
    assert not list(folder.iterdir())


def test_the_command_goes_on_with_a_run_of_python(command: Any, tmp_path: Path) -> None:
    folder, expected, written = tmp_path / "kept", tmp_path / "expected.csv", tmp_path / "written.csv"
    interrupted(folder, rp.graph(PGP), **LONG)
    options = ["communities", PGP, "--program", "slpa", "--iterations", 500, "--seed", 5]
    command(*options, "-o", expected)
    command(*options, "-o", written, "--checkpoint", folder, "--resume")
    assert written.read_bytes() == expected.read_bytes()


def test_refinement_goes_on(tmp_path: Path) -> None:
    # Its state is kept between the first and the second iteration, and the report must come before the second ends.
    (graph, _), folder = rp.generate.planted(30_000, 300_000, mixing=0.4), tmp_path / "kept"
    options: dict[str, Any] = {"refine": "modularity", "resolution": 1.0, "threads": 1}
    interrupted(folder, graph, **options)
    found = rp.communities(graph, **options, checkpoint=folder, resume=True)
    assert found == rp.communities(graph, **options) and found.resumed is not None


def test_what_keeps_no_checkpoint_is_refused(tmp_path: Path) -> None:
    graph, folder = rp.graph([(0, 1), (1, 2)]), tmp_path / "kept"
    refused: list[tuple[dict[str, Any], str]] = [
        ({"resume": True}, "about checkpoints"),
        ({"checkpoint_every": 5}, "about checkpoints"),
        ({"checkpoint": folder, "checkpoint_every": "5 weeks"}, r"checkpoint_every: expected rounds \(10\) or a time"),
        ({"checkpoint": folder, "checkpoint_every": 0}, "above 0"),
        ({"checkpoint": folder, "counter": "auto"}, "name the counter"),
    ]
    for options, message in refused:
        with pytest.raises(rp.InputError, match=message):
            rp.communities(graph, **options)
    with pytest.raises(rp.OptionError, match="rounds or a time"):
        rp.communities(graph, checkpoint=folder, checkpoint_every=1.5)  # type: ignore[arg-type]
    assert not folder.exists()
    folder.write_text("a file")
    with pytest.raises(rp.FileError):
        rp.communities(graph, checkpoint=folder)
    assert folder.read_text() == "a file"


def test_a_folder_that_the_run_made_goes_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    found = rp.communities([(0, 1), (1, 2)], checkpoint=folder, checkpoint_every=1, resume=True)
    assert found.resumed is None and not folder.exists()
