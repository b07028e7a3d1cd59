"""Raw JSON lines → Markdown: means of the draws for each method and set, and medians of the pipelines."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterable
from statistics import mean, median, stdev

OURS = ("score", "score with table")


def of(paths: Iterable[str]) -> str:
    """PR-AUC, precision and seconds of each method on each set; then a table of pipelines for each set."""
    lines = [json.loads(line) for path in paths for line in open(path, encoding="utf-8")]
    fraud = [line for line in lines if line["kind"] == "fraud"]
    timed = [line for line in lines if line["kind"] == "fraud-speed"]
    blocks = []
    if fraud:
        blocks += [
            "PR-AUC, mean ± standard deviation of the draws\n\n" + table_of_methods(fraud, "pr_auc", spread, best=True),
            "Precision of the first 100\n\n" + table_of_methods(fraud, "precision", lambda v: f"{mean(v):.2f}", best=True),
            "Seconds, median\n\n" + table_of_methods(fraud, "seconds", lambda v: f"{median(v):.1f}"),
        ]
    blocks += tables_of_speed(timed)
    return "\n".join(blocks)


def table_of_methods(lines: list[dict], field: str, cell: Callable[[list[float]], str], best: bool = False) -> str:
    """A row for each method, a column for each set; with `best`, the highest mean of a column is bold."""
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    for line in lines:
        found[line["method"], line["set"]].append(line[field])
    methods, sets = (list(dict.fromkeys(line[key] for line in lines)) for key in ("method", "set"))
    sets.sort()
    methods.sort(key=lambda method: method not in OURS)
    rows = [f"| | {' | '.join(sets)} |", "|---|" + "--:|" * len(sets)]
    if field == "pr_auc":
        bases = (mean(line["base"] for line in lines if line["set"] == name) for name in sets)
        rows.append("| *random* | " + " | ".join(f"{base:.3f}" for base in bases) + " |")
    highest = {name: max(mean(v) for (_, of), v in found.items() if of == name) for name in sets}
    for method in methods:
        cells = []
        for name in sets:
            values = found.get((method, name))
            text = cell(values) if values else ""
            cells.append(f"**{text}**" if values and best and mean(values) == highest[name] else text)
        rows.append(f"| {method} | {' | '.join(cells)} |")
    if field == "pr_auc":
        rows.append(f"| *the better score less the best from outside* | {' | '.join(lead(found, name) for name in sets)} |")
    return "\n".join(rows) + "\n"


def lead(found: dict[tuple[str, str], list[float]], name: str) -> str:
    """The better mean of `score`, less the best mean of the others, and who that is if it is higher.

    A lead or a lag of more than two standard deviations of the difference over the draws has a `!`.
    """
    ours = [values for (method, of), values in found.items() if of == name and method in OURS]
    others = {method: values for (method, of), values in found.items() if of == name and method not in OURS}
    if not ours or not others:
        return ""
    best = max(others, key=lambda method: mean(others[method]))
    differences = [a - b for a, b in zip(max(ours, key=mean), others[best])]
    middle = mean(differences)
    clear = len(differences) > 1 and abs(middle) > 2 * stdev(differences)
    return f"{middle:+.3f}{'!' if clear else ''}" + (f" ({best})" if middle < 0 else "")


def spread(values: list[float]) -> str:
    return f"{mean(values):.3f}" + (f" ±{stdev(values):.3f}" if len(values) > 1 else "")


def tables_of_speed(lines: list[dict]) -> list[str]:
    """Medians of the rounds, and how many times longer than `ripplet, 2 threads` each pipeline takes."""
    groups: dict[str, dict[str, list[dict]]] = defaultdict(lambda: defaultdict(list))
    for line in lines:
        title = f"{line['set']}: {line['rows']:,} rows, {line['windows']} windows of {line['window']} days by {line['slide']}"
        groups[title][line["pipeline"]].append(line)
    blocks = []
    for title, pipelines in groups.items():
        rows = [
            f"{title}\n",
            "| pipeline | runs | seconds, median [min … max] | processor seconds | rows per second | × ripplet | others' cores |",
            "|---|--:|--:|--:|--:|--:|--:|",
        ]
        base = median(line["seconds"] for line in pipelines["ripplet, 2 threads"]) if "ripplet, 2 threads" in pipelines else None
        for name, runs in pipelines.items():
            seconds = [run["seconds"] for run in runs]
            middle = median(seconds)
            others = [run["cores_of_others"] for run in runs if run["cores_of_others"] is not None]
            rows.append(
                f"| {name} | {len(runs)} | {middle:.1f} [{min(seconds):.1f} … {max(seconds):.1f}] "
                f"| {median(run['processor_seconds'] for run in runs):.1f} | {runs[0]['rows'] / middle:,.0f} "
                f"| {f'{middle / base:.2f}' if base else ''} | {f'{median(others):.1f}' if others else ''} |"
            )
        blocks.append("\n".join(rows) + "\n")
    return blocks
