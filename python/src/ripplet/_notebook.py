"""What results show in a notebook."""

from __future__ import annotations

from html import escape

HEIGHT = 40
"""Pixels of the highest bar."""


def bars(heights: list[int], titles: list[str]) -> str:
    """Returns bars as HTML, each with a title that is shown under the pointer."""
    most = max(heights, default=1) or 1
    drawn = "".join(
        f"<span title='{escape(title, quote=True)}' style='display:inline-block;width:9px;margin-right:2px;background:#4a7ebb;"
        f"height:{max(1, round(HEIGHT * height / most))}px'></span>"
        for height, title in zip(heights, titles, strict=True)
    )
    return f"<div style='margin:4px 0'>{drawn}</div>"


def line_of(call: tuple[str, list[str]]) -> str:
    """Returns the line that repeats a run as HTML, with the variables in it."""
    line, variables = call
    names = ", ".join(f"<code>{escape(name)}</code>" for name in ["g", *variables])
    return f"<code>{escape(line)}</code>, with {names} of this run"
