"""Seconds of the whole command, from the files on the disk to the file of communities.

    ripplet generate planted --vertices 1000000 --edges 10000000 --mixing 0.3 -o planted.csv
    python3 bench/file_to_file.py target/release/ripplet planted.csv planted.parquet planted.rg > file-to-file.jsonl

A line is one process from its start to its end, files in the page cache. `cores_of_others` is what the
rest of the machine computed meanwhile; runs with more than --quiet are made again. With --peers FILE, a table
(.csv) with a header and ids 0, 1, …, processes of Python do the same with NetworKit (its reader of edge
lists, PLP) and with pandas and igraph (label propagation), in turns with ripplet.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import platform
import subprocess
import sys
import tempfile
import time


NETWORKIT = """
import sys, networkit as nk
nk.setNumberOfThreads(2)
reader = nk.graphio.EdgeListReader(",", 0, commentPrefix=open(sys.argv[1]).read(1), continuous=True)
plp = nk.community.PLP(reader.read(sys.argv[1])).run()
nk.community.writeCommunities(plp.getPartition(), sys.argv[2])
"""
IGRAPH = """
import sys, igraph, pandas as pd
frame = pd.read_csv(sys.argv[1])
g = igraph.Graph.DataFrame(frame, directed=False, use_vids=True)
membership = g.community_label_propagation().membership
pd.DataFrame({"id": range(len(membership)), "community": membership}).to_csv(sys.argv[2], index=False)
"""
PEERS = {"networkit": NETWORKIT, "pandas, igraph": IGRAPH}


def busy_seconds():
    """The CPU seconds of all processes so far."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def measure(command):
    """Runs a command; returns its wall and CPU seconds, and the cores that others kept busy."""
    busy, wall, own = busy_seconds(), time.perf_counter(), os.times()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wall = time.perf_counter() - wall
    after = os.times()
    cpu = after.children_user + after.children_system - own.children_user - own.children_system
    return wall, cpu, max(0.0, busy_seconds() - busy - cpu) / wall


def wait_until_quiet(most, end):
    """Waits until other processes keep at most `most` cores busy for a second, or until `end`."""
    while time.monotonic() < end:
        busy = busy_seconds()
        time.sleep(1)
        if busy_seconds() - busy <= most:
            return


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--peers", metavar="FILE", help="a table that NetworKit and igraph read, too")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quiet", type=float, default=0.3)
    parser.add_argument("--patience", type=float, default=1800, help="seconds to wait for a quiet machine")
    arguments = parser.parse_args()
    version = subprocess.run([arguments.binary, "--version"], capture_output=True, text=True, check=True)
    machine = {"kind": "machine", "when": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
               "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}",
               "version": version.stdout.strip()}
    if arguments.peers:
        machine |= {name: importlib.metadata.version(name) for name in ("networkit", "igraph", "pandas")}
    print(json.dumps(machine), flush=True)
    end = time.monotonic() + arguments.patience
    with tempfile.TemporaryDirectory() as folder:
        out, stats = f"{folder}/out.csv", f"{folder}/stats.json"
        options = ["-o", out, "--stats", stats, "--device", "cpu"]
        runs = [(file, "ripplet", [arguments.binary, "communities", file, *options]) for file in arguments.files]
        if arguments.peers:
            runs += [(arguments.peers, name, [sys.executable, "-c", script, arguments.peers, out]) for name, script in PEERS.items()]
        for file, program, command in runs * arguments.repeat:
            while True:
                wait_until_quiet(arguments.quiet, end)
                wall, cpu, others = measure(command)
                if others <= arguments.quiet or time.monotonic() > end:
                    break
            line = {"kind": "file-to-file", "program": program, "file": os.path.basename(file), "bytes": os.path.getsize(file),
                    "written": os.path.getsize(out), "wall": wall, "cpu": cpu, "cores_of_others": round(others, 2)}
            if program == "ripplet":
                with open(stats) as file:
                    line["seconds"] = json.load(file)["seconds"]
            print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
