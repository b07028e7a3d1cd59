"""Communities in graphs by label propagation, from a laptop's CPU to GPUs.

>>> import ripplet as rp
>>> g = rp.graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)])
>>> c = rp.communities(g)
>>> [sorted(members) for members in c.sets()]
[[0, 1, 2], [3, 4, 5]]
"""

from typing import TYPE_CHECKING, Any

from . import cluster, datasets, errors, fraud, generate, hooks
from ._analyses import (
    Values,
    apsp,
    betweenness,
    closeness,
    components,
    devices,
    harmonic,
    kcore,
    lcc,
    pagerank,
    triangles,
)
from ._communities import Communities, Picture, Resumed, Round, cdlp, communities, overlapping, seeded
from ._estimate import Estimate, estimate
from ._graph import Graph, graph
from ._native import version as __version__
from ._program import Program, program
from ._resolutions import Layer, ResolutionProfile, SweptCommunities, resolution_profile, sweep
from ._swarm import Swarm, SwarmTable, swarm
from ._tables import Table
from .errors import (
    DeviceError,
    FileError,
    InputError,
    OptionError,
    OutOfMemoryError,
    ProgramError,
    RippletError,
    RunError,
    UnknownColumnError,
    UnknownVertexError,
)

if TYPE_CHECKING:
    from . import ray as ray
    from . import sklearn as sklearn


def __getattr__(name: str) -> Any:
    # Ray and scikit-learn take longer to import than all of this package, and need not be installed.
    if name in ("ray", "sklearn"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Communities",
    "DeviceError",
    "Estimate",
    "FileError",
    "Graph",
    "InputError",
    "Layer",
    "OptionError",
    "OutOfMemoryError",
    "Picture",
    "Program",
    "ProgramError",
    "RippletError",
    "ResolutionProfile",
    "Resumed",
    "Round",
    "RunError",
    "Swarm",
    "SwarmTable",
    "SweptCommunities",
    "Table",
    "UnknownColumnError",
    "UnknownVertexError",
    "Values",
    "__version__",
    "apsp",
    "betweenness",
    "cdlp",
    "closeness",
    "cluster",
    "communities",
    "components",
    "datasets",
    "devices",
    "errors",
    "estimate",
    "fraud",
    "generate",
    "graph",
    "harmonic",
    "hooks",
    "kcore",
    "lcc",
    "overlapping",
    "pagerank",
    "program",
    "resolution_profile",
    "seeded",
    "swarm",
    "sweep",
    "triangles",
]
