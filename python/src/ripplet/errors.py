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
    "RippletError",
    "RunError",
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


class FileError(RippletError, OSError):
    """A file cannot be read or written."""


class OutOfMemoryError(RippletError, MemoryError):
    """The system refused memory."""


class DeviceError(RippletError, RuntimeError):
    """A device is not there, or does not work."""


class RunError(RippletError, RuntimeError):
    """A run failed."""
