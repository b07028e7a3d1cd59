"""Addresses of object storage are paths, read from a server of S3 on this machine.

`RIPPLET_S3_SERVER` names its command, `moto_server`. Without it, the tests that need it are skipped; with `RIPPLET_REQUIRE_S3`, they fail.
"""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import PAYMENTS

import ripplet as rp

SIGNED = {
    "Host": "s3.amazonaws.com",
    "Authorization": "AWS4-HMAC-SHA256 Credential=a/20200101/us-east-1/s3/aws4_request, Signature=b",
    # Otherwise it is that of a form, which the server takes apart.
    "Content-Type": "application/octet-stream",
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    command = os.environ.get("RIPPLET_S3_SERVER")
    if command is None:
        assert "RIPPLET_REQUIRE_S3" not in os.environ, "RIPPLET_S3_SERVER is not set"
        pytest.skip("RIPPLET_S3_SERVER names no server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([command, "-H", "127.0.0.1", "-p", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        for path, data in {"data": b"", "data/payments.csv": PAYMENTS.read_bytes()}.items():
            request = urllib.request.Request(f"http://127.0.0.1:{port}/{path}", data, SIGNED, method="PUT")
            urllib.request.urlopen(request).close()
        yield f"http://127.0.0.1:{port}"
    finally:
        server.kill()
        server.wait()


@pytest.fixture
def settings(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("settings")
def test_an_address_is_a_path() -> None:
    for address in ["s3://data/payments.csv", "s3://data/pay*.csv"]:
        remote, local = rp.graph(address, weight=True), rp.graph(PAYMENTS, weight=True)
        assert (remote.vertices, remote.edges) == (local.vertices, local.edges)
        assert rp.communities(remote).labels.tolist() == rp.communities(local).labels.tolist()


@pytest.mark.usefixtures("settings")
def test_communities_are_written(endpoint: str, tmp_path: Path) -> None:
    graph = rp.graph(PAYMENTS, weight=True)
    found = rp.communities(graph)
    found.write(tmp_path / "c.csv")
    for name, part in [("c.csv", "c.csv"), ("parts/", "parts/part-00000.csv")]:
        found.write(f"s3://data/{name}", format="csv")
        request = urllib.request.Request(f"{endpoint}/data/{part}", headers=SIGNED)
        with urllib.request.urlopen(request) as answer:
            assert answer.read() == (tmp_path / "c.csv").read_bytes()
    with pytest.raises(OSError, match="objects of this prefix exist already"):
        found.write("s3://data/parts/")
    graph.write("s3://data/g.rg")
    assert rp.graph("s3://data/g.rg").edges == graph.edges
    with pytest.raises(OSError, match="outputs are on a disk, not behind s3://"):
        graph.write("s3://data/g.rgz")


@pytest.mark.usefixtures("settings")
def test_a_run_that_was_interrupted_goes_on(endpoint: str) -> None:
    graph = rp.graph(PAYMENTS)
    run: dict[str, Any] = {"program": "slpa", "iterations": 500, "threads": 1}
    kept: dict[str, Any] = {"checkpoint": "s3://data/kept/"}

    def objects() -> str:
        with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/data?list-type=2&prefix=kept", headers=SIGNED)) as answer:
            return str(answer.read())

    class Stopped(Exception):
        pass

    def stop(*_: object) -> None:
        if ".checkpoint" in objects():
            raise Stopped

    with pytest.raises(Stopped):
        rp.communities(graph, **run, **kept, checkpoint_every=1, progress=stop)
    found = rp.communities(graph, **run, **kept, resume=True)
    assert found.resumed is not None and str(found.resumed.path).startswith("s3://data/kept/round-")
    assert found == rp.communities(graph, **run)
    assert "<Key>" not in objects()
    with pytest.raises(OSError, match="s3://no-such-bucket/kept: there is no such"):
        rp.communities(graph, checkpoint="s3://no-such-bucket/kept")


@pytest.mark.usefixtures("settings")
def test_what_fails_is_a_sentence() -> None:
    with pytest.raises(OSError, match="s3://data/no.csv: there is no such object or bucket: check the name"):
        rp.graph("s3://data/no.csv")


def test_addresses_that_are_refused() -> None:
    with pytest.raises(rp.InputError, match="no storage has the scheme s4://"):
        rp.graph("s4://data/a.csv")
    with pytest.raises(rp.InputError, match="an address with a password") as raised:
        rp.graph("https://ann:secret@example.org/a.csv")
    assert "secret" not in str(raised.value)
    with pytest.raises(OSError, match="a web server takes no outputs"):
        rp.communities([(1, 2)]).write("https://example.org/c.csv")
    assert not os.path.exists("s3:")
