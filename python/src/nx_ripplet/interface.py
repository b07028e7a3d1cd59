"""The interface that NetworkX calls, loaded when the backend is first used."""

from __future__ import annotations

from typing import Any

from ripplet import _networkx
from ripplet._networkx import BackendGraph


class Backend:
    """ripplet's functions by their names in NetworkX, and conversions."""

    @staticmethod
    def convert_from_nx(graph: Any, *args: Any, edge_attrs: Any = None, **kwargs: Any) -> BackendGraph:
        """Returns the graph as ripplet has it, with one attribute of its edges at most.

        Raises
        ------
        NotImplementedError
            If the attribute has values that are no numbers, or there are several; NetworkX then runs its own function.
        """
        if isinstance(graph, BackendGraph):
            return graph
        attributes = dict(edge_attrs or {})
        if len(attributes) > 1 or any(default != 1 for default in attributes.values()):
            raise NotImplementedError("ripplet reads one attribute of the edges, of which 1 is the default")
        return BackendGraph(graph, next(iter(attributes), None))

    @staticmethod
    def convert_to_nx(obj: Any, *args: Any, **kwargs: Any) -> Any:
        """Returns a result as NetworkX has it, which results already are; of a converted graph, its original."""
        return obj.original if isinstance(obj, BackendGraph) else obj

    @staticmethod
    def can_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns whether ripplet runs a call exactly, or the reason why not.

        NetworkX calls this before it looks for a kept conversion, also for ``backend="ripplet"``.
        """
        _networkx.forget_view(args[0] if args else kwargs.get("G"))
        return _networkx.refusal(name, args, kwargs) or True

    @staticmethod
    def should_run(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Returns whether ripplet is faster, or the reason why not."""
        graph = args[0] if args else kwargs.get("G")
        if name == "leiden_communities" and not _networkx.leiden_of_networkx():
            return True
        if name in _networkx.CHEAP and not _networkx.conversions(graph):
            return "to convert the graph takes as long as NetworkX's own run"
        smallest = _networkx.smallest()
        if graph is not None and not isinstance(graph, BackendGraph) and len(graph) < smallest:
            return f"the graph has fewer than {smallest} nodes: to convert it takes as long as the run"
        return True

    def __getattr__(self, name: str) -> Any:
        try:
            return _networkx.FUNCTIONS[name]
        except KeyError:
            raise AttributeError(name) from None


backend = Backend()
