"""The console script `ripplet` of the package is the command: the same output, messages and exit codes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from conftest import PAYMENTS, PGP, ROOT

SCRIPT = [sys.executable, "-c", "from ripplet_command import main; main()"]


@pytest.fixture(scope="module")
def binary() -> list[str]:
    path = os.environ.get("RIPPLET_COMMAND", "")
    if not Path(path).is_file():
        pytest.skip("RIPPLET_COMMAND does not name the command")
    return [path]


def outcome(command: list[str], arguments: list[object], **options: Any) -> tuple[int, bytes, bytes]:
    done = subprocess.run([*command, *map(str, arguments)], capture_output=True, timeout=60, **options)
    return done.returncode, done.stdout, done.stderr


def test_the_script_is_the_one_that_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"ripplet": "ripplet_command:main"}


RUNS: list[tuple[int, list[object]]] = [
    (0, ["communities", PAYMENTS, "-o", "-", "--weighted", "-q"]),
    (0, ["communities", PGP, "-o", "-", "--program", "slpa", "--iterations", 3, "-q"]),
    (0, ["communities", "--help"]),
    (0, ["--version"]),
    (2, []),
    (2, ["comunities", PGP]),
    (2, ["communities", PGP, "-o", "-", "--resolution", "nan"]),
    (2, ["communities", "nowhere.csv", "-o", "-"]),
    # The limit of memory is the allocator's, which the module has as well.
    (2, ["communities", PGP, "-o", "-", "--host-memory", "1MiB"]),
]


@pytest.mark.parametrize("code, arguments", RUNS, ids=lambda part: " ".join(map(str, part)) if isinstance(part, list) else "")
def test_output_and_exit_codes_are_the_binarys(code: int, arguments: list[object], binary: list[str]) -> None:
    expected = outcome(binary, arguments)
    assert expected[0] == code
    assert outcome(SCRIPT, arguments) == expected


def test_an_argument_that_is_no_text_is_passed_on(binary: list[str], tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/\xff.csv"
    Path(os.fsdecode(name)).write_bytes(PAYMENTS.read_bytes())
    arguments = ["communities", os.fsdecode(name), "-o", "-", "-q"]
    expected = outcome(binary, list(arguments))
    assert expected[0] == 0 and outcome(SCRIPT, list(arguments)) == expected


def test_a_closed_output_is_an_error(binary: list[str]) -> None:
    def run(command: list[str]) -> tuple[int, bytes, bytes]:
        line = ["sh", "-c", '"$@" >&-', "sh", *command]
        return outcome(line, ["communities", PAYMENTS, "-o", "-", "-q"])

    expected = run(binary)
    assert expected[0] != 0 and run(SCRIPT) == expected


def test_a_pipe_that_nobody_reads_ends_it(binary: list[str]) -> None:
    def run(command: list[str]) -> tuple[int, bytes]:
        read, write = os.pipe()
        os.close(read)
        line = [*command, "communities", str(PGP), "-o", "-", "-q"]
        done = subprocess.run(line, stdout=write, stderr=subprocess.PIPE, timeout=60)
        os.close(write)
        return done.returncode, done.stderr

    assert run(SCRIPT) == run(binary) == (141, b"")


def test_ctrl_c_ends_it(tmp_path: Path) -> None:
    slow = ["communities", str(PGP), "-o", str(tmp_path / "out.csv"), "--program", "slpa", "--iterations", "100000", "-v"]
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); " + SCRIPT[-1]
    running = subprocess.Popen([sys.executable, "-c", begin, *slow], stderr=subprocess.PIPE)
    assert running.stderr is not None
    # Its first message comes when the graph is read.
    first = running.stderr.readline()
    assert first, running.wait()
    time.sleep(0.1)
    running.send_signal(signal.SIGINT)
    _, rest = running.communicate(timeout=30)
    assert running.returncode == 130 and rest.endswith(b"interrupted; nothing was written\n"), rest
    assert not list(tmp_path.iterdir())


def test_the_module_runs_as_well() -> None:
    assert outcome([sys.executable, "-m", "ripplet"], ["--version"])[:2] == outcome(SCRIPT, ["--version"])[:2]
