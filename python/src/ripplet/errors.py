"""Errors of ripplet.

Each is a :class:`RippletError` and the built-in exception that fits, so that code which knows nothing of ripplet
handles it as well. Ctrl-C raises ``KeyboardInterrupt`` itself: as a subclass of ``RippletError`` it would be caught by
``except Exception``.
"""

__all__ = [
    "DeviceError",
    "FileError",
    "InputError",
    "OptionError",
    "OutOfMemoryError",
    "ProgramError",
    "RippletError",
    "RunError",
    "UnknownColumnError",
    "UnknownVertexError",
]


class RippletError(Exception):
    """An error of ripplet; all others are subclasses."""


class InputError(RippletError, ValueError):
    """Input is no graph, or an option does not take a value."""


class OptionError(RippletError, TypeError):
    """An option does not exist, or its value has a wrong type."""


class UnknownVertexError(RippletError, KeyError):
    """The graph has no vertex with this id."""

    def __str__(self) -> str:
        # A KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""


class UnknownColumnError(RippletError, KeyError):
    """A table has no column of this name."""

    def __str__(self) -> str:
        # A KeyError would show the message in quotes.
        return str(self.args[0]) if self.args else ""


class FileError(RippletError, OSError):
    """A file cannot be read or written."""


class OutOfMemoryError(RippletError, MemoryError):
    """The system refused memory."""


class DeviceError(RippletError, RuntimeError):
    """A device is not there, or does not work."""


class RunError(RippletError, RuntimeError):
    """A run failed."""


class ProgramError(RippletError, SyntaxError):
    """A program of the user's own does not check.

    Attributes
    ----------
    errors : list of str
        All errors, with their places: ``file:line:column: message``.
    """

    def __init__(
        self,
        message: str,
        place: tuple[str, int, int, str, int, int] | None = None,
        errors: list[str] | None = None,
    ) -> None:
        SyntaxError.__init__(self, message, *(() if place is None else (place,)))
        self.errors = errors or [message]

    def __str__(self) -> str:
        return "\n".join(self.errors)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        place = (self.filename, self.lineno, self.offset, self.text, self.end_lineno, self.end_offset)
        return (type(self), (self.msg, place if self.filename else None, self.errors))
