"""Small graphs that come with the package, with where they are from.

>>> import ripplet as rp
>>> rp.datasets.power()
<ripplet.Graph: 4,941 vertices, 6,594 edges, undirected>
>>> rp.datasets.about("power")["licence"]
'MIT'
"""

from __future__ import annotations

import difflib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ._graph import Graph, graph
from ._swarm import Swarm, swarm
from .errors import InputError

__all__ = ["about", "football", "hep_th", "molecules", "pgp", "power"]

_NETWORKIT = "https://github.com/networkit/networkit"

_ABOUT = {
    "pgp": {
        "file": "pgp.graph.gz",
        "description": "the giant component of the PGP web of trust: 10,680 keys, 24,316 signatures between them",
        "source": f"{_NETWORKIT}, input/PGPgiantcompo.graph",
        "licence": "MIT",
        "reference": "Boguñá, Pastor-Satorras, Díaz-Guilera, Arenas: Models of social networks based on social distance "
        "attachment. Physical Review E 70, 056122 (2004)",
    },
    "hep_th": {
        "file": "hep-th.graph.gz",
        "description": "co-authors of preprints on high-energy theory: 8,361 scientists, 15,751 pairs",
        "source": f"{_NETWORKIT}, input/hep-th.graph",
        "licence": "MIT",
        "reference": "Newman: The structure of scientific collaboration networks. PNAS 98, 404-409 (2001)",
    },
    "power": {
        "file": "power.graph.gz",
        "description": "the power grid of the western United States: 4,941 stations, 6,594 lines",
        "source": f"{_NETWORKIT}, input/power.graph",
        "licence": "MIT",
        "reference": "Watts, Strogatz: Collective dynamics of small-world networks. Nature 393, 440-442 (1998)",
    },
    "football": {
        "file": "football.txt.gz",
        "description": "613 games between 115 teams of American college football in 2000, and the conference of each team",
        "source": "https://github.com/altsoph/community_loglike, datasets/football",
        "licence": "BSD-3-Clause",
        "reference": "Girvan, Newman: Community structure in social and biological networks. PNAS 99, 7821-7826 (2002)",
    },
    "molecules": {
        "file": "molecules.csv",
        "description": "ten molecules: an edge is a bond between two atoms, hydrogen left out",
        "source": "drawn for ripplet",
        "licence": "MIT OR Apache-2.0",
        "reference": "",
    },
}


def about(name: str) -> dict[str, str]:
    """Returns what a data set is, and where it is from.

    Parameters
    ----------
    name : str
        The name of a function of this module: ``pgp``, ``hep_th``, ``power``, ``football``, ``molecules``.

    Returns
    -------
    dict
        ``file``, ``description``, ``source``, ``licence`` (an SPDX expression) and ``reference``.

    Raises
    ------
    InputError
        If there is no such data set; also a ``ValueError``.
    """
    found = _ABOUT.get(name)
    if found is None:
        near = difflib.get_close_matches(str(name), list(_ABOUT), n=3, cutoff=0.6)
        hint = f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(_ABOUT)}"
        raise InputError(f"there is no data set {name!r}: {hint}")
    return dict(found)


def _path(name: str) -> Path:
    return Path(__file__).parent / "data" / _ABOUT[name]["file"]


def pgp() -> Graph:
    """Returns the giant component of the PGP web of trust: 10,680 vertices, 24,316 edges, undirected.

    References
    ----------
    Boguñá, Pastor-Satorras, Díaz-Guilera and Arenas 2004; file of NetworKit, MIT.
    """
    return graph(_path("pgp"))


def hep_th() -> Graph:
    """Returns the co-authors of preprints on high-energy theory: 8,361 vertices, 15,751 edges, undirected.

    References
    ----------
    Newman 2001; file of NetworKit, MIT.
    """
    return graph(_path("hep_th"))


def power() -> Graph:
    """Returns the power grid of the western United States: 4,941 vertices, 6,594 edges, undirected.

    References
    ----------
    Watts and Strogatz 1998; file of NetworKit, MIT.
    """
    return graph(_path("power"))


def football() -> tuple[Graph, npt.NDArray[np.int64]]:
    """Returns games between teams of American college football in 2000, and the conference of each team.

    Returns
    -------
    Graph
        115 vertices, 613 edges, undirected.
    numpy.ndarray
        The conference of each vertex, in the order of ``ids``, shape ``(115,)``: the truth that communities are compared with.

    References
    ----------
    Girvan and Newman 2002; file of community_loglike, BSD 3-clause.
    """
    games = graph(_path("football"))
    rows = np.loadtxt(_path("football").with_name("football-conferences.txt"), dtype=np.int64)
    of = dict(zip(rows[:, 0].tolist(), rows[:, 1].tolist(), strict=True))
    return games, np.array([of[id] for id in games.ids.tolist()], dtype=np.int64)


def molecules() -> Swarm:
    """Returns ten molecules, a graph each: an edge is a bond between two atoms."""
    import csv

    with open(_path("molecules"), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return swarm({name: [row[name] for row in rows] for name in ("graph", "source", "target")})
