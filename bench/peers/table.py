"""Raw JSON lines → the tables of ../README.md: medians, and how many times slower than the fastest."""

import json
from collections import defaultdict
from collections.abc import Iterable
from statistics import median


def of(paths: Iterable[str]) -> str:
    """Markdown: a table of runs for each graph, and one of readers for each file."""
    runs, reads = defaultdict(lambda: defaultdict(list)), defaultdict(lambda: defaultdict(list))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in map(json.loads, file):
                if line["kind"] == "run":
                    graph = f"{line['graph']}: {line['vertices']:,} vertices, {line['edges']:,} edges"
                    key = f"{line['peer']} {line['version']} {line['variant']}", line["threads"]
                    runs[graph][key].append(line)
                elif line["kind"] == "read":
                    file_name = f"{line['file']}: {line['bytes'] / 1e6:.0f} MB"
                    key = f"{line['peer']} {line['version']}", line["threads"]
                    reads[file_name][key].append(line)
    blocks = [table_of_runs(graph, groups) for graph, groups in runs.items()]
    blocks += [table_of_reads(file_name, groups) for file_name, groups in reads.items()]
    return "\n".join(blocks)


def table_of_runs(graph: str, groups: dict) -> str:
    rows = [
        f"{graph}\n",
        "| peer | threads | runs | seconds, median [min … max] | × fastest | modularity | NMI | communities |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    fastest = min(median(values(lines, "seconds")) for lines in groups.values())
    for (peer, threads), lines in by_median(groups):
        seconds = values(lines, "seconds")
        rows.append(
            f"| {peer} | {threads} | {len(lines)} | {spread(seconds)} "
            f"| {median(seconds) / fastest:.1f} | {middle(lines, 'modularity', 4)} "
            f"| {middle(lines, 'nmi', 3)} | {middle(lines, 'communities', 0)} |"
        )
    return "\n".join(rows) + "\n"


def table_of_reads(file_name: str, groups: dict) -> str:
    rows = [
        f"{file_name}\n",
        "| reader | returns | threads | runs | seconds, median [min … max] | MB/s, median |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for (peer, threads), lines in by_median(groups):
        rows.append(
            f"| {peer} | {lines[0]['returns']} | {threads} | {len(lines)} "
            f"| {spread(values(lines, 'seconds'))} | {middle(lines, 'mb_per_second', 0)} |"
        )
    return "\n".join(rows) + "\n"


def by_median(groups: dict) -> list:
    return sorted(groups.items(), key=lambda group: median(values(group[1], "seconds")))


def values(lines: list[dict], field: str) -> list:
    return [line[field] for line in lines if line[field] is not None]


def middle(lines: list[dict], field: str, digits: int) -> str:
    numbers = values(lines, field)
    return f"{median(numbers):,.{digits}f}" if numbers else ""


def spread(seconds: list[float]) -> str:
    # Small graphs take microseconds: three digits that mean something, whatever the scale.
    low, mid, high = (f"{x:.3g}" for x in (min(seconds), median(seconds), max(seconds)))
    return f"{mid} [{low} … {high}]"
