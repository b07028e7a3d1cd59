"""Raw JSON lines → the tables of ../README.md: medians, and how many times slower than the fastest."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from math import inf
from statistics import mean, median


def of(paths: Iterable[str], quiet: float = inf) -> str:
    """Markdown: tables of the runs and of ripplet's memory for each graph, of readers for each file,
    and one of clustering coefficients, of batches and of overlapping communities each.

    Lines whose run had more than `quiet` cores' worth of others beside it are left out, and counted.
    """
    runs, reads = defaultdict(lambda: defaultdict(list)), defaultdict(lambda: defaultdict(list))
    clusterings = defaultdict(lambda: defaultdict(list))
    swarms = defaultdict(lambda: defaultdict(list))
    covers = defaultdict(lambda: defaultdict(list))
    left_out = 0
    for line in lines_of(paths):
        if (line.get("cores_of_others") or 0) > quiet:
            left_out += 1
        elif line["kind"] == "run":
            graph = f"{line['graph']}: {line['vertices']:,} vertices, {line['edges']:,} edges"
            key = f"{line['peer']} {line['version']} {line['variant']}", line["threads"]
            runs[graph][key].append(line)
        elif line["kind"] == "clustering":
            graph = f"`{line['graph']}` | {line['edges']:,}"
            clusterings[graph][line["peer"], line["variant"], line["threads"]].append(line)
        elif line["kind"] == "swarm":
            batch = f"{line['set']}, {line['graphs']:,} graphs | {line['measure']} | {line['threads']}"
            swarms[batch][line["peer"]].append(line)
        elif line["kind"] == "overlapping":
            graph = line["graph"]
            sizes = " to ".join(map(str, graph["sizes"]))
            row = f"{graph['vertices']:,} | {sizes} | {graph['mixing']}"
            covers[row][graph["memberships"], line["peer"]].append(line)
        elif line["kind"] == "read":
            file_name = f"{line['file']}: {line['bytes'] / 1e6:.0f} MB"
            reads[file_name][f"{line['peer']} {line['version']}", line["threads"]].append(line)
    blocks = [f"Left out: {left_out} runs beside others.\n"] if left_out else []
    for graph, groups in runs.items():
        blocks += [table_of_runs(graph, groups), table_of_memory(graph, groups)]
    blocks += [table_of_reads(file_name, groups) for file_name, groups in reads.items()]
    if clusterings:
        blocks.append(table_of_clustering(clusterings))
    if swarms:
        blocks.append(table_of_swarms(swarms))
    if covers:
        blocks.append(tables_of_covers(covers))
    return "\n".join(block for block in blocks if block)


def lines_of(paths: Iterable[str]) -> Iterator[dict]:
    for path in paths:
        with open(path, encoding="utf-8") as file:
            yield from map(json.loads, file)


def table_of_swarms(batches: dict) -> str:
    """Medians over the rounds, in milliseconds, and how many times igraph's is ripplet's."""
    rows = [
        "| batch | measure | threads, processes | ripplet, ms | igraph, ms | × |",
        "|---|---|--:|--:|--:|--:|",
    ]
    for batch, peers in batches.items():
        ours, theirs = (values(peers[peer], "seconds") for peer in ("ripplet", "igraph"))
        if not ours or not theirs:
            continue
        times = median(theirs) / median(ours)
        rows.append(
            f"| {batch} | {1e3 * median(ours):.2f} [{1e3 * min(ours):.2f} … {1e3 * max(ours):.2f}] "
            f"| {1e3 * median(theirs):.1f} [{1e3 * min(theirs):.1f} … {1e3 * max(theirs):.1f}] "
            f"| {times:.1f} |"
        )
    return "\n".join(rows) + "\n"


def tables_of_covers(rows: dict) -> str:
    """A table for each definition of the NMI, with the means of cdlib and of ripplet, and one of times."""
    counts = sorted({memberships for cells in rows.values() for memberships, _ in cells})
    head = f"| vertices | sizes | mixing | {' | '.join(map(str, counts))} |"
    line = "|--:|---|--:|" + "--:|" * len(counts)
    blocks = []
    for field, title in (("nmi_lfk", "LFK"), ("nmi_max", "max")):
        table, lost = [head, line], 0
        for row, cells in rows.items():
            texts = []
            for count in counts:
                theirs, ours = (mean(values(cells[count, peer], field)) for peer in ("cdlib", "ripplet"))
                lost += ours < theirs
                texts.append(f"{theirs:.3f}, {ours:.3f}")
            table.append(f"| {row} | {' | '.join(texts)} |")
        note = f"Cells in which ripplet's mean is below cdlib's: {lost} of {len(rows) * len(counts)}."
        blocks.append(f"{title}: cdlib, ripplet\n\n" + "\n".join(table) + f"\n\n{note}\n")
    table = ["| vertices | sizes | mixing | cdlib, s | ripplet, s | × |", "|--:|---|--:|--:|--:|--:|"]
    for row, cells in rows.items():
        theirs, ours = (
            [line["seconds"] for count in counts for line in cells[count, peer]]
            for peer in ("cdlib", "ripplet")
        )
        times = median(theirs) / median(ours)
        table.append(f"| {row} | {spread(theirs)} | {spread(ours)} | {times:.0f} |")
    return "\n".join(blocks) + "\n" + "\n".join(table) + "\n"


def table_of_runs(graph: str, groups: dict) -> str:
    rows = [
        f"{graph}\n",
        "| peer | threads | runs | seconds, median [min … max] | × fastest | modularity | NMI "
        "| communities | others' cores |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    fastest = min(median(values(lines, "seconds")) for lines in groups.values())
    for (peer, threads), lines in by_median(groups):
        seconds = values(lines, "seconds")
        rows.append(
            f"| {peer} | {threads} | {len(lines)} | {spread(seconds)} "
            f"| {median(seconds) / fastest:.1f} | {middle(lines, 'modularity', 4)} "
            f"| {middle(lines, 'nmi', 3)} | {middle(lines, 'communities', 0)} "
            f"| {middle(lines, 'cores_of_others', 1)} |"
        )
    return "\n".join(rows) + "\n"


def table_of_memory(graph: str, groups: dict) -> str:
    """Bytes per vertex beside the graph, planned and measured, of the runs that have them."""
    rows = [
        f"{graph}\n",
        "| run | threads | graph, MB | planned beside it, bytes a vertex | measured, bytes a vertex |",
        "|---|--:|--:|--:|--:|",
    ]
    for (peer, threads), lines in groups.items():
        lines = [line for line in lines if "peak_rss_bytes" in line]
        if not lines:
            continue
        vertices, planned = lines[0]["vertices"], lines[0]["stats"]["bytes"]
        peak = max(line["peak_rss_bytes"] for line in lines)
        rows.append(
            f"| {peer} | {threads} | {planned['graph_host'] / 1e6:.0f} "
            f"| {planned['algorithm_host'] / vertices:.1f} "
            f"| {(peak - planned['graph_host']) / vertices:.1f} |"
        )
    return "\n".join(rows) + "\n" if len(rows) > 3 else ""


def table_of_reads(file_name: str, groups: dict) -> str:
    rows = [
        f"{file_name}\n",
        "| reader | returns | threads | runs | seconds, median [min … max] | MB/s, median | others' cores |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for (peer, threads), lines in by_median(groups):
        rows.append(
            f"| {peer} | {lines[0]['returns']} | {threads} | {len(lines)} "
            f"| {spread(values(lines, 'seconds'))} | {middle(lines, 'mb_per_second', 0)} "
            f"| {middle(lines, 'cores_of_others', 1)} |"
        )
    return "\n".join(rows) + "\n"


def table_of_clustering(graphs: dict) -> str:
    """A row for each graph: the time of each peer, and how many times ripplet's with as many threads.

    Of a library's variants the fastest on the graph stands for it, and is named. The last column is
    the aim's: the fastest library beside ripplet with all threads.
    """
    fastest = {graph: fastest_variants(groups) for graph, groups in graphs.items()}
    columns = list(dict.fromkeys(key for groups in fastest.values() for key in groups))
    most = max(threads for peer, threads in columns if peer == "ripplet")
    titles = [f"{peer}, {counted(threads, 'thread')}" for peer, threads in columns]
    last = f"the fastest library beside ripplet, {counted(most, 'thread')}"
    rows = [
        f"| graph | edges | runs | {' | '.join(titles)} | {last} |",
        "|---|" + "--:|" * (len(columns) + 3),
    ]
    for graph, groups in fastest.items():
        medians = {key: median(values(lines, "seconds")) for key, (_, lines) in groups.items()}
        cells = [clustering_cell(key, groups, medians) for key in columns]
        library = min(time for (peer, _), time in medians.items() if peer != "ripplet")
        runs = min(len(lines) for _, lines in groups.values())
        ratio = library / medians["ripplet", most]
        rows.append(f"| {graph} | {runs} | {' | '.join(cells)} | {ratio:.2f} × |")
    lines = [line for groups in graphs.values() for lines in groups.values() for line in lines]
    note = f"Largest difference of two values: {max(values(lines, 'difference')):.2g}."
    return "\n".join(rows) + f"\n\n{note} Others' cores: {middle(lines, 'cores_of_others', 1)}.\n"


def clustering_cell(key: tuple[str, int], groups: dict, medians: dict) -> str:
    if key not in groups:
        return ""
    variant, lines = groups[key]
    ratio = medians[key] / medians["ripplet", key[1]]
    beside = "" if key[0] == "ripplet" else f", {ratio:.2f} ×"
    return spread(values(lines, "seconds")) + beside + (f" ({variant})" if variant else "")


def fastest_variants(groups: dict) -> dict:
    """For each (peer, threads) the fastest variant's name, "" where there is only one, and its lines."""
    best, several = {}, defaultdict(set)
    for (peer, variant, threads), lines in by_median(groups):
        best.setdefault((peer, threads), (variant, lines))
        several[peer].add(variant)
    # In the order of the runs.
    order = dict.fromkeys((peer, threads) for peer, _, threads in groups)
    return {key: (best[key][0] if len(several[key[0]]) > 1 else "", best[key][1]) for key in order}


def counted(number: int, what: str) -> str:
    return f"{number} {what}" + "s" * (number != 1)


def by_median(groups: dict) -> list:
    return sorted(groups.items(), key=lambda group: median(values(group[1], "seconds")))


def values(lines: list[dict], field: str) -> list:
    return [line[field] for line in lines]


def middle(lines: list[dict], field: str, digits: int) -> str:
    numbers = [line[field] for line in lines if line.get(field) is not None]
    return f"{median(numbers):,.{digits}f}" if numbers else ""


def spread(seconds: list[float]) -> str:
    # Small graphs take microseconds: three digits that mean something, whatever the scale.
    low, mid, high = (f"{x:.3g}" for x in (min(seconds), median(seconds), max(seconds)))
    return f"{mid} [{low} … {high}]"
