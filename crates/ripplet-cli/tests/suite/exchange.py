"""What NetworkX and igraph make of ripplet's files, and files of theirs for ripplet.

exchange.py read FOLDER    prints what each library finds in FOLDER/x.FORMAT, as JSON
exchange.py write FOLDER   writes the same graphs from both libraries
"""

import json
import sys
from pathlib import Path

import igraph
import networkx

command, folder = sys.argv[1], Path(sys.argv[2])


def of_networkx(graph, name=None):
    def called(vertex):
        return str(graph.nodes[vertex][name] if name else vertex)

    def ends(source, target):
        pair = [called(source), called(target)]
        return pair if graph.is_directed() else sorted(pair)

    return {
        "directed": graph.is_directed(),
        "vertices": sorted(
            [called(v), str(data.get("community")), str(data.get("degree"))] for v, data in graph.nodes(data=True)
        ),
        "edges": sorted([*ends(s, t), float(data.get("weight", 1))] for s, t, data in graph.edges(data=True)),
    }


def of_igraph(graph, name):
    def integer(value):
        return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)

    def attribute(vertex, key):
        return integer(vertex[key]) if key in vertex.attributes() else "None"

    def ends(edge):
        pair = [integer(graph.vs[end][name]) for end in edge.tuple]
        return pair if graph.is_directed() else sorted(pair)

    weighted = "weight" in graph.es.attributes()
    return {
        "directed": graph.is_directed(),
        "vertices": sorted(
            [integer(v[name]), attribute(v, "community"), attribute(v, "degree")] for v in graph.vs
        ),
        "edges": sorted([*ends(e), float(e["weight"]) if weighted else 1.0] for e in graph.es),
    }


def read():
    at = {path.suffix[1:]: str(path) for path in folder.glob("x.*")}
    found = {}
    if "graphml" in at:
        found["networkx graphml"] = of_networkx(networkx.read_graphml(at["graphml"]))
        graph = igraph.Graph.Read_GraphML(at["graphml"])
        # Its id keeps `&amp;` as a number; the name is exact.
        found["igraph graphml"] = of_igraph(graph, "name" if "name" in graph.vs.attributes() else "id")
    if "gexf" in at:
        found["networkx gexf"] = of_networkx(networkx.read_gexf(at["gexf"]))
    if "gml" in at:
        found["networkx gml"] = of_networkx(networkx.read_gml(at["gml"]))
        found["igraph gml"] = of_igraph(igraph.Graph.Read_GML(at["gml"]), "label")
    if "net" in at:
        found["networkx pajek"] = of_networkx(networkx.read_pajek(at["net"]))
        found["igraph pajek"] = of_igraph(igraph.Graph.Read_Pajek(at["net"]), "name")
    if "json" in at:
        data = json.loads(Path(at["json"]).read_text())
        found["networkx json"] = of_networkx(networkx.node_link_graph(data, edges="edges"))
    print(json.dumps(found))


def write():
    for directed in [False, True]:
        graph = networkx.DiGraph() if directed else networkx.Graph()
        graph.add_nodes_from(["Ann & \"Bob\"" if not directed else "Ann", "Zoë", "lonely", "c d"])
        first = next(iter(graph))
        graph.add_edge(first, "Zoë", weight=0.5)
        graph.add_edge("c d", "Zoë", weight=2.0)
        to = folder / ("directed" if directed else "undirected")
        to.mkdir()
        networkx.write_graphml(graph, to / "networkx.graphml")
        networkx.write_gexf(graph, to / "networkx.gexf")
        networkx.write_gml(graph, to / "networkx.gml")
        # Pajek's quotes hold no quotes.
        if directed:
            networkx.write_pajek(graph, to / "networkx.net")
        (to / "networkx.json").write_text(json.dumps(networkx.node_link_data(graph, edges="edges")))
        (to / "d3.json").write_text(json.dumps(networkx.node_link_data(graph, edges="links")))
        other = igraph.Graph(directed=directed)
        other.add_vertices(list(graph))
        other.add_edges(list(graph.edges()))
        other.es["weight"] = [data["weight"] for *_, data in graph.edges(data=True)]
        other.write_graphml(str(to / "igraph.graphml"))
        if directed:
            other.write_pajek(str(to / "igraph.net"))
            # igraph's GML has labels where the vertices have.
            other.vs["label"] = other.vs["name"]
            other.write_gml(str(to / "igraph.gml"))


{"read": read, "write": write}[command]()
