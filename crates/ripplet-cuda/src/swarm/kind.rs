//! Properties of a run that kernels are compiled for.

use super::abi::{BINS, EIGHT, GROUP};
use super::graphs::Graphs;
use ripplet_analytics::Lengths;
use ripplet_analytics::PathAnalysis;
use ripplet_analytics::closeness::Closeness;
use ripplet_graph::batch::FlatLists;
use std::ops::Range;

/// Analysis of each graph: `QUESTION` in `state.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Far = 0,
    Near = 1,
    Span = 2,
    Pairs = 3,
    PathCounts = 4,
    Edges = 5,
}

impl Quantity {
    pub fn counts_paths(self) -> bool {
        matches!(self, Quantity::PathCounts | Quantity::Edges)
    }
}

/// Properties of a run that kernels are compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub quantity: Quantity,
    /// Whether the backward pass reads other lists than the search.
    pub two_sided: bool,
    /// Whether arcs have weights.
    pub weighs: bool,
}

impl Kind {
    pub fn new(question: PathAnalysis, is_directed: bool, is_weighted: bool) -> Kind {
        let (quantity, lengths) = match question {
            PathAnalysis::Closeness { measure: Closeness::Harmonic, lengths, .. } => {
                (Quantity::Near, lengths)
            }
            PathAnalysis::Closeness { lengths, .. } => (Quantity::Far, lengths),
            PathAnalysis::Reach { lengths } | PathAnalysis::Summary { lengths } => {
                (Quantity::Span, lengths)
            }
            PathAnalysis::Distances { lengths } => (Quantity::Pairs, lengths),
            PathAnalysis::Betweenness { lengths, .. } => (Quantity::PathCounts, lengths),
            PathAnalysis::EdgeBetweenness { lengths, .. } => (Quantity::Edges, lengths),
        };
        let weighs = is_weighted && lengths == Lengths::Weights;
        Kind { quantity, two_sided: is_directed && quantity.counts_paths(), weighs }
    }

    /// Returns the properties of a run on these graphs.
    pub fn of(question: PathAnalysis, graphs: Graphs<'_>) -> Kind {
        Kind::new(question, graphs.is_directed(), graphs.is_weighted())
    }

    pub fn name(self) -> &'static str {
        match self.quantity {
            Quantity::Far => "closeness",
            Quantity::Near => "harmonic closeness",
            Quantity::Span => "distances",
            Quantity::Pairs => "distances of pairs",
            Quantity::PathCounts => "betweenness",
            Quantity::Edges => "betweenness of edges",
        }
    }

    /// Returns the lists of the neighbours behind each vertex, and those of the neighbours ahead if
    /// they differ.
    ///
    /// A search from a source follows arcs forwards: a vertex reads its incoming neighbours. For
    /// summaries, it follows arcs backwards, so that each vertex collects its own distances to
    /// others.
    pub fn sides<'a>(self, graphs: Graphs<'a>) -> (FlatLists<'a>, Option<FlatLists<'a>>) {
        match (self.quantity, graphs.incoming) {
            (Quantity::Span, _) | (_, None) => (graphs.out, None),
            (_, Some(incoming)) => (incoming, self.two_sided.then_some(graphs.out)),
        }
    }

    fn unit(self) -> u32 {
        if self.quantity.counts_paths() || self.weighs { EIGHT } else { GROUP }
    }

    /// Returns the units of a graph to process.
    pub fn units(self, graphs: Graphs<'_>, graph: usize) -> Range<u32> {
        let all = graphs.vertices_of(graph).div_ceil(self.unit());
        let groups = graphs.groups(all.div_ceil(self.units_of_group()));
        let first = |group: u32| group.saturating_mul(self.units_of_group()).min(all);
        first(groups.start)..first(groups.end)
    }

    pub fn units_of_group(self) -> u32 {
        GROUP / self.unit()
    }

    /// Whether units have floating-point sums, which must be added in order.
    pub fn has_partials(self) -> bool {
        matches!(self.quantity, Quantity::Near | Quantity::PathCounts | Quantity::Edges)
    }

    /// Returns the number of values of a graph, of which a unit has partial sums: vertices, or
    /// arcs.
    pub fn width(self, graphs: Graphs<'_>, graph: usize) -> u64 {
        match self.quantity {
            Quantity::Edges => graphs.out.arc_starts[graph + 1] - graphs.out.arc_starts[graph],
            _ => u64::from(graphs.vertices_of(graph)),
        }
    }

    /// Returns the number of values of all graphs: vertices, arcs, or pairs.
    pub fn values(self, graphs: Graphs<'_>) -> u64 {
        match self.quantity {
            Quantity::Span => 0,
            Quantity::Edges => graphs.out.neighbors.len() as u64,
            Quantity::Pairs => {
                let pairs = |graph| pairs_of(graphs, graph);
                (0..graphs.len()).map(pairs).fold(0, u64::saturating_add)
            }
            _ => graphs.vertices(),
        }
    }

    /// Returns the bytes of a search's state of a graph with `vertices` vertices. `wide` is set if
    /// it may be larger than shared memory.
    pub fn bytes_of_state(self, vertices: u32, wide: bool) -> u64 {
        let (sum, step) = if wide { (8, 4) } else { (4, 2) };
        let sum = if self.weighs { 8 } else { sum };
        let eight = u64::from(EIGHT);
        let search = match (self.quantity.counts_paths(), self.weighs) {
            (false, false) => 3 * 8,
            (false, true) => eight * (8 + 8) + 2,
            (true, weighs) => eight * (8 + 8 + step + if weighs { 8 } else { 0 }) + 2,
        };
        let found = match self.quantity {
            Quantity::Far => sum + 4,
            Quantity::Span => sum + sum + 4,
            Quantity::Near | Quantity::PathCounts => 8,
            Quantity::Pairs | Quantity::Edges => 0,
        };
        (search + found) * u64::from(vertices)
    }

    /// Returns the bytes of a graph's lists, if they are in shared memory as well.
    pub fn bytes_of_lists(self, vertices: u32, arcs: u64) -> u64 {
        let sides = if self.two_sided { 2 } else { 1 };
        let of_arc = if self.weighs { 2 + 4 } else { 2 };
        (sides * 4 * (u64::from(vertices) + 1)).saturating_add(arcs.saturating_mul(of_arc))
    }

    /// Returns the bytes of the order of a graph's vertices, which blocks have as well.
    pub fn bytes_of_order(self, vertices: u32) -> u64 {
        let sides = if self.two_sided { 2 } else { 1 };
        u64::from(2 * 4 * BINS) + sides * 2 * u64::from(vertices)
    }
}

/// Returns the number of distances of a graph to compute.
pub fn pairs_of(graphs: Graphs<'_>, graph: usize) -> u64 {
    let vertices = graphs.vertices_of(graph);
    let groups = graphs.groups(vertices.div_ceil(GROUP));
    let first = |group: u32| u64::from(group.saturating_mul(GROUP).min(vertices));
    (first(groups.end) - first(groups.start)) * u64::from(vertices)
}
