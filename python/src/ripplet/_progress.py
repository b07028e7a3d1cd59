"""Progress of runs."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeAlias

from .errors import OptionError

Report: TypeAlias = Callable[[str, float | None, int, int | None], object]
"""Called with the stage, the completed fraction or ``None``, the rounds so far, and the vertices that changed in the last
one or ``None``."""

Progress: TypeAlias = bool | Literal["auto"] | Report


@contextlib.contextmanager
def reporter(progress: Progress) -> Iterator[Report | None]:
    """Yields what a run reports its progress to, if anything.

    ``"auto"`` is a bar of tqdm in a notebook or a terminal, if tqdm is installed; ``True`` a bar in any case.
    """
    if callable(progress):
        yield progress
        return
    if progress not in (True, False, "auto"):
        raise OptionError(f"progress: expected True, False, 'auto' or a callable, not {progress!r}")
    if progress is False or (progress == "auto" and not _is_watched()):
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress is True:
            raise OptionError("progress=True needs tqdm: pip install tqdm, or pass a callable") from None
        yield None
        return
    bar: Any = tqdm(total=100, leave=False, bar_format="{desc}{bar}| {elapsed}", delay=0.5)

    def report(stage: str, done: float | None, rounds: int, changed: int | None) -> None:
        after = f", round {rounds}" if rounds else ""
        of = f", {changed:,} changed" if changed is not None else ""
        bar.set_description_str(f"{stage}{after}{of}")
        bar.n = round(100 * done) if done is not None else 0
        bar.refresh()

    try:
        yield report
    finally:
        bar.close()


def _is_watched() -> bool:
    """Returns whether the output is a terminal or a notebook."""
    shell = sys.modules.get("IPython")
    if shell is not None and type(shell.get_ipython()).__name__ == "ZMQInteractiveShell":
        return True
    return sys.stderr is not None and sys.stderr.isatty()
