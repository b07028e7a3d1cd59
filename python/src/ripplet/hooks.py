"""Names of the language of hooks, for programs that are written in Python: see :func:`ripplet.program`.

Hooks are never run by Python: their text is translated. These names are for annotations, editors and type checkers.

``int`` in an annotation is ``u32`` (of a score ``u64``), ``float`` is ``f32``. docs/hooks.md explains every name.
"""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

__all__ = [
    "NO_LABEL",
    "Activation",
    "Candidate",
    "Label",
    "LabelTotal",
    "Neighbor",
    "Schedule",
    "Vertex",
    "VertexMut",
    "Vote",
    "column",
    "exp",
    "exp2",
    "f32",
    "i32",
    "i64",
    "ln",
    "log2",
    "powf",
    "products_ge",
    "u32",
    "u64",
]


class _Integer(int):
    MIN: ClassVar[int]
    MAX: ClassVar[int]
    BITS: ClassVar[int]


class u32(_Integer):
    """A whole number from 0 to 2³² − 1; called, a conversion to it."""


class i32(_Integer):
    """A whole number from −2³¹ to 2³¹ − 1; called, a conversion to it."""


class u64(_Integer):
    """A whole number from 0 to 2⁶⁴ − 1; called, a conversion to it."""


class i64(_Integer):
    """A whole number from −2⁶³ to 2⁶³ − 1; called, a conversion to it."""


class f32(float):
    """A number of single precision; called, a conversion to it."""

    MAX: ClassVar[float]
    MIN: ClassVar[float]
    MIN_POSITIVE: ClassVar[float]
    EPSILON: ClassVar[float]
    INFINITY: ClassVar[float]
    NEG_INFINITY: ClassVar[float]
    NAN: ClassVar[float]

    @classmethod
    def from_bits(cls, bits: int) -> f32:
        """Returns the number with these bits."""
        raise _translated()


Label: TypeAlias = int
"""A vertex that names a community."""

NO_LABEL = 2**32 - 1
"""The label of a vertex that has none."""


class _View:
    """A view; its columns are attributes."""

    id: int
    label: int

    def degree(self) -> int:
        """Returns the number of arcs that touch the vertex."""
        raise _translated()

    def round(self) -> int:
        """Returns the number of the round, from 0."""
        raise _translated()

    def random(self, stream: int) -> int:
        """Returns 32 random bits: the same for the same seed, round, vertex and stream."""
        raise _translated()

    def __getattr__(self, name: str) -> Any:
        raise _translated()


class Vertex(_View):
    """The vertex that is updated."""


class Neighbor(_View):
    """One of its neighbours; ``weight`` is that of the arc to it."""

    weight: int


class VertexMut(_View):
    """The vertex whose label was found; its columns can be set."""

    def carried(self) -> float:
        """Returns the largest ``carry`` of the neighbours that voted for the winner."""
        raise _translated()

    def frequency(self) -> int:
        """Returns the sum of the votes for the winner."""
        raise _translated()

    def total_votes(self) -> int:
        """Returns the sum of all votes that the vertex got."""
        raise _translated()

    def __setattr__(self, name: str, value: Any) -> None:
        raise _translated()


class Candidate:
    """A label that got votes."""

    label: int
    frequency: int
    total_votes: int
    grand_total: int

    def total(self) -> int:
        """Returns the label's total in the graph, as ``label_total`` says."""
        raise _translated()


class Vote:
    """A label that is voted for, and how much the vote counts."""

    NONE: ClassVar[Vote]
    label: int
    weight: int

    def __init__(self, label: int, weight: int) -> None:
        raise _translated()


class LabelTotal:
    """Which total is kept for each label."""

    NONE: ClassVar[LabelTotal]
    MEMBERS: ClassVar[LabelTotal]
    VOLUME: ClassVar[LabelTotal]


class Activation:
    """When a vertex becomes active again."""

    DISAGREEMENT: ClassVar[Activation]
    CHANGE: ClassVar[Activation]
    ALWAYS: ClassVar[Activation]


class Schedule:
    """Which vertices change at the same time."""

    @classmethod
    def phased(cls) -> Schedule:
        """In 32 phases a round."""
        raise _translated()

    @classmethod
    def sync(cls) -> Schedule:
        """All at once."""
        raise _translated()

    @classmethod
    def asynchronous(cls) -> Schedule:
        """Each sees the newest labels."""
        raise _translated()

    @classmethod
    def cdlp(cls) -> Schedule:
        """All at once, and the smallest label wins a tie."""
        raise _translated()


def column(*, default: float | None = None, len: int | str | None = None) -> Any:
    """Declares a value that each vertex has: ``strength: float = column(default=1.0)``.

    Parameters
    ----------
    default : int or float, optional
        The value where none is given; without it, the column must be given.
    len : int or str, optional
        How many values a vertex has: a number, or the name of a parameter; without it, one.
    """
    return None


def products_ge(a: int, b: int, c: int, d: int) -> bool:
    """Returns whether a · b ≥ c · d, exact."""
    raise _translated()


def exp(x: float) -> float:
    """Returns e to the power of x."""
    raise _translated()


def exp2(x: float) -> float:
    """Returns 2 to the power of x."""
    raise _translated()


def ln(x: float) -> float:
    """Returns the natural logarithm."""
    raise _translated()


def log2(x: float) -> float:
    """Returns the logarithm to base 2."""
    raise _translated()


def powf(x: float, y: float) -> float:
    """Returns x to the power of y."""
    raise _translated()


def _translated() -> TypeError:
    return TypeError("hooks are translated, not run by Python: use the class with ripplet.communities(g, program=…)")
