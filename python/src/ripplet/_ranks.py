"""Processes that a launcher of MPI started: the end of what they share."""

from __future__ import annotations

import atexit
import functools
import os
import sys

from . import _native as native


@functools.cache
def end_with_the_interpreter() -> None:
    """Makes the end of the interpreter wait for the other processes, and end MPI if ripplet started it."""
    atexit.register(end)


def end() -> None:
    if not native.end_ranks():
        # A process is lost or failed: what MPI does at the end of this one would wait for it.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(1)
