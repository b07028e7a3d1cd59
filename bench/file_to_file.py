"""Seconds of the whole command, from the files on the disk to the file of communities.

    ripplet generate planted --vertices 1000000 --edges 10000000 --mixing 0.3 -o planted.csv
    python3 bench/file_to_file.py target/release/ripplet planted.csv planted.parquet planted.rg > file-to-file.jsonl

A line is one process from its start to its end, files in the page cache. `cores_of_others` is what the
rest of the machine computed meanwhile; runs with more than --quiet are made again.
"""

import argparse
import datetime
import json
import os
import platform
import subprocess
import tempfile
import time


def busy_seconds():
    """The CPU seconds of all processes so far."""
    with open("/proc/stat") as stat:
        ticks = [int(word) for word in stat.readline().split()[1:]]
    idle = ticks[3] + ticks[4]
    return (sum(ticks[:8]) - idle) / os.sysconf("SC_CLK_TCK")


def measure(command):
    """Runs a command; returns its wall and CPU seconds, and the cores that others kept busy."""
    busy, wall, own = busy_seconds(), time.perf_counter(), os.times()
    subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
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
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--quiet", type=float, default=0.3)
    parser.add_argument("--patience", type=float, default=1800, help="seconds to wait for a quiet machine")
    arguments = parser.parse_args()
    version = subprocess.run([arguments.binary, "--version"], capture_output=True, text=True, check=True)
    machine = {"kind": "machine", "when": datetime.datetime.now(datetime.timezone.utc).isoformat("T", "seconds"),
               "cores": os.cpu_count(), "system": f"{platform.system()} {platform.release()}",
               "version": version.stdout.strip()}
    print(json.dumps(machine), flush=True)
    end = time.monotonic() + arguments.patience
    with tempfile.TemporaryDirectory() as folder:
        for file in arguments.files * arguments.repeat:
            options = ["-o", f"{folder}/out.csv", "--stats", f"{folder}/stats.json", "--device", "cpu"]
            while True:
                wait_until_quiet(arguments.quiet, end)
                wall, cpu, others = measure([arguments.binary, "communities", file, *options])
                if others <= arguments.quiet or time.monotonic() > end:
                    break
            with open(f"{folder}/stats.json") as stats:
                seconds = json.load(stats)["seconds"]
            print(json.dumps({"kind": "file-to-file", "file": os.path.basename(file), "bytes": os.path.getsize(file),
                              "written": os.path.getsize(f"{folder}/out.csv"), "wall": wall, "cpu": cpu,
                              "cores_of_others": round(others, 2), "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
