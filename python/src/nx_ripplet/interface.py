"""The interface that NetworkX calls, loaded when the backend is first used."""

from __future__ import annotations

from typing import Any

from ripplet import _networkx
from ripplet._networkx import BackendGraph


class Backend:
    """ripplet's functions by their names in NetworkX, and conversions."""

    @staticmethod
    def convert_from_nx(graph: Any, *args: Any, edge_attrs: Any = None, **kwargs: Any) -> BackendGraph:
        """Returns the graph as ripplet has it."""
        if isinstance(graph, BackendGraph):
            return graph
        return BackendGraph(graph, list(edge_attrs or ()))

    @staticmethod
    def convert_to_nx(obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns a result as NetworkX has it: results already are."""
        return obj

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns whether ripplet runs a call exactly, or the reason why not."""
        return _networkx.refusal(name, args, kwargs) or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns whether ripplet is faster, or the reason why not."""
        graph = args[0] if args else kwargs.get("G")
        if graph is not None and not isinstance(graph, BackendGraph) and len(graph) < _networkx.SMALL:
            return f"the graph has fewer than {_networkx.SMALL} nodes: to convert it takes as long as the run"
        return True

    def __getattr__(self, name: str) -> Any:
        try:
            return _networkx.FUNCTIONS[name]
        except KeyError:
            raise AttributeError(name) from None


backend = Backend()
