//! Evidence: numbers that each entity of a window has, from which its score is made.
//!
//! | file | evidence |
//! |---|---|
//! | [`definitions`](self::ALL) | names, meanings, formulas, references |
//! | `walks` | PageRank from the known bad, along all edges and along ties beyond chance |
//! | `directions` | PageRank from the known bad along payments, and against them |
//! | `neighbors` | known bad partners, and partners of partners |
//! | `communities` | known bad in the communities of three partitions |
//! | `activity` | bursts, hours, fan-in, fan-out, money that passes through |
//! | `sides` | each entity's transactions in the order of time |
//! | `amounts` | an entity's amounts against its own and its partners' usual amounts |
//! | `timing` | crowded transactions, growth, new partners |
//! | `cycles` | short cycles in the order of time |
//! | `features` | columns of the user's table of entities, and their means over partners |
//! | `folds` | folds of the known bad |
//!
//! # Known bad and folds
//! Evidence that depends on the known bad is a sum over them. So it is computed for each fold of the known bad
//! side by side, and a [`View`] says which folds it uses. The evidence of a known bad entity never uses its own
//! fold, so that its own label does not change it ([`Evidence::view_of`]).
//!
//! # Cost, memory, determinism
//! Two runs of layered label propagation and one of label propagation on kept ties, 36 passes over all arcs for
//! walks, two for partners, two over the transactions for activity, one for directions, and about twenty over
//! lists of them. Memory: [`plan`].
//! The values do not depend on the number of threads, and are finite.

mod activity;
mod amounts;
mod communities;
mod cycles;
mod definitions;
mod directions;
mod features;
mod folds;
mod neighbors;
mod sides;
mod timing;
mod walks;

pub use activity::Activity;
pub use amounts::{Amounts, OwnAmounts};
pub use communities::{KnownIn, NO_PART, PARTITIONS, Partition};
pub use cycles::Cycles;
pub use definitions::{ALL, Definition, KINDS, OF_KNOWN, is_of_ties};
pub use directions::Directions;
pub use features::Features;
pub use folds::{FOLDS, Folds, Parts, View};
pub use neighbors::Neighbors;
pub use sides::{List, Side, Sides};
pub use timing::Timing;
pub use walks::visits;

use crate::days::DayAdjacency;
use crate::detect::DetectError;
use crate::entity_table::{EntityTable, MISSING};
use crate::ties::{Ties, arcs};
use crate::{Entities, TimeRange};
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use ripplet_lp::{Executor, RoundObserver};

/// Values of an entity, in the order of [`ALL`].
pub type Values = [f32; KINDS];

/// Strength of the prior of shares: this number of others with the share of all.
const PRIOR: f32 = 2.0;

/// Evidence of a window that does not depend on the known bad.
#[derive(Debug)]
pub struct BlindEvidence {
    /// One column for each of [`ALL`] from [`OF_KNOWN`] on, and then those of the table of entities.
    columns: Vec<Vec<f32>>,
    /// Partitions by the categories of the table of entities.
    categories: Vec<Partition>,
    /// Definitions of all columns: [`ALL`], those of the table, and the shares in its categories.
    definitions: Vec<Definition>,
    partitions: [Partition; PARTITIONS],
    directions: Directions,
    /// Number of partners, summed weight in stored units.
    partners: Vec<u32>,
    weights: Vec<f32>,
}

/// Window from which evidence is computed.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Its graph.
    pub graph: &'a Graph,
    /// Its scored ties.
    pub ties: &'a Ties,
    /// Its days, in order, or equal parts of days; see [`Sliding`](crate::window::Sliding).
    pub days: &'a [&'a DayAdjacency],
    /// Range of its days, also of those before the first transaction.
    pub range: TimeRange,
    /// The user's table of entities, with the vertices seen so far.
    pub table: Option<&'a EntityTable>,
}

/// Returns the bytes that evidence needs beside the window, with `transactions` in it.
pub fn plan(graph: &Graph, transactions: u64, table: Option<&EntityTable>) -> u64 {
    let (vertices, arcs) = (u64::from(graph.vertices()), graph.arcs());
    let blind = 4 * (KINDS - OF_KNOWN) as u64 + 8 * PARTITIONS as u64 + 8;
    let known = 4 * FOLDS as u64 * 7;
    // Activity, what needs sides, kept ties and walks are computed one after another; directions stay.
    let most = (Sides::bytes(vertices, transactions) + Amounts::bytes(vertices))
        .max(112 * vertices)
        .max(8 * arcs + 16 * vertices)
        .max((8 * FOLDS as u64 + 4) * vertices);
    let features = table.map_or(0, |table| Features::bytes(table, vertices));
    (blind + known) * vertices + most + Directions::bytes(vertices, arcs) + features
}

impl BlindEvidence {
    /// Computes the evidence of a window that does not depend on the known bad.
    ///
    /// # Errors
    /// If memory allocation fails, or the observer cancels.
    pub fn of(
        executor: &dyn Executor,
        sources: Sources<'_>,
        seed: u64,
        observer: &mut dyn RoundObserver,
    ) -> Result<BlindEvidence, DetectError> {
        let Sources { graph, ties, days, range, table } = sources;
        observer.on_stage("communities for evidence");
        let partitions = communities::partitions(executor, graph, ties, seed, observer)?;
        observer.on_stage("evidence");
        let vertices = graph.vertices();
        let partners: Vec<u32> =
            memory::collected((0..vertices).map(|v| arcs(graph, v).count() as u32))?;
        let mut weights = memory::zeros::<f32>(vertices as usize)?;
        let each = weights.par_iter_mut().enumerate().with_min_len(1 << 10);
        each.for_each(|(v, weight)| {
            let all: u64 = arcs(graph, v as VertexId).map(|(_, weight)| u64::from(weight)).sum();
            *weight = all as f32;
        });
        let scale = graph.weight_scale();
        let mut around = memory::zeros::<f32>(vertices as usize)?;
        let each = around.par_iter_mut().enumerate().with_min_len(1 << 10);
        each.for_each(|(v, around)| {
            let ln = |(u, _): (VertexId, u32)| f64::from(partners[u as usize]).ln_1p();
            let sum: f64 = arcs(graph, v as VertexId).map(ln).sum();
            *around = (sum / f64::from(partners[v].max(1))) as f32;
        });
        let counts = memory::collected(partners.iter().map(|&partners| partners as f32))?;
        let strength =
            memory::collected(weights.iter().map(|&all| scale.weight(all as u64) as f32))?;
        let repetition = strength.iter().zip(&partners);
        let repetition =
            memory::collected(repetition.map(|(all, &partners)| all / partners.max(1) as f32))?;
        let surprise = memory::collected(ties.surprise().iter().map(|nats| nats.ln_1p()))?;
        let activity = Activity::of(days, range, vertices)?;
        let directions = Directions::of(graph, days)?;
        let sides = Sides::of(days, vertices)?;
        let Amounts { out, received } = Amounts::of(&sides)?;
        let timing = Timing::of(&sides)?;
        let Cycles { any, alike } = Cycles::of(&sides)?;
        drop(sides);
        let ln_1p = |counts: &[u32]| {
            memory::collected(counts.iter().map(|&count| f64::from(count).ln_1p() as f32))
        };
        let mut columns = vec![
            surprise,
            counts,
            strength,
            repetition,
            around,
            activity.balance,
            activity.burst,
            activity.busiest_day,
            activity.fan_in,
            activity.fan_out,
            activity.pass_through,
            activity.amount_level,
            out.run,
            received.run,
            out.drop,
            received.drop,
            out.shift,
            received.shift,
            out.spread,
            received.spread,
            activity.odd_hours,
            timing.count_run,
            timing.growth,
            timing.new_partners,
            ln_1p(&any)?,
            ln_1p(&alike)?,
        ];
        let mut definitions = memory::copied(&ALL)?;
        let mut categories = Vec::new();
        if let Some(table) = table {
            let features = Features::of(table, graph, |v| partners[v as usize] > 0)?;
            columns.extend(features.columns);
            categories = features.categories;
            definitions.extend(features.of_columns);
            definitions.extend(features.of_categories);
        }
        Ok(BlindEvidence {
            columns,
            categories,
            definitions,
            partitions,
            directions,
            partners,
            weights,
        })
    }
}

/// All evidence of a window with a set of known bad.
#[derive(Debug)]
pub struct Evidence<'a> {
    blind: &'a BlindEvidence,
    folds: Folds,
    walk: Vec<Parts>,
    walk_along_ties: Vec<Parts>,
    walk_forward: Vec<Parts>,
    walk_backward: Vec<Parts>,
    neighbors: Neighbors,
    known_in: [KnownIn; PARTITIONS],
    known_in_categories: Vec<KnownIn>,
    /// Number of entities with edges, of the kinds of the known bad.
    population: u32,
    /// Weight of a stored unit.
    unit: f32,
    /// Number of known bad of each view, without a fold and at last of all, and their share among all entities.
    bases: [Base; FOLDS + 1],
}

/// Returns a value, or 0 if it is not finite.
#[inline]
fn finite(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

/// Known bad of a view.
#[derive(Clone, Copy, Debug)]
struct Base {
    known: f32,
    share: f32,
}

impl<'a> Evidence<'a> {
    /// Computes the evidence that depends on the known bad; `bad` ascends.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(
        blind: &'a BlindEvidence,
        graph: &Graph,
        ties: &Ties,
        entities: &Entities,
        bad: &[VertexId],
    ) -> Result<Evidence<'a>, OutOfMemory> {
        let folds = Folds::of(graph, entities, bad);
        let mut kinds = [false; 256];
        for &(v, _) in folds.known() {
            kinds[usize::from(entities.kind_of(v).0)] = true;
        }
        let of_kind = |v: &VertexId| kinds[usize::from(entities.kind_of(*v).0)];
        let active = (0..graph.vertices()).filter(|&v| blind.partners[v as usize] > 0);
        let population = active.filter(of_kind).count() as u32;
        let base = |view: View| {
            let known = folds.count(view) as f32;
            Base { known, share: known / population.max(1) as f32 }
        };
        let bases = std::array::from_fn(|fold| match fold {
            FOLDS => base(View::All),
            fold => base(View::Without(fold)),
        });
        let (walk_forward, walk_backward) = blind.directions.visits(graph, &folds)?;
        Ok(Evidence {
            bases,
            walk: visits(graph, &folds)?,
            walk_along_ties: visits(ties.graph(), &folds)?,
            walk_forward,
            walk_backward,
            neighbors: Neighbors::of(graph, &folds)?,
            known_in: [0, 1, 2].map(|at| blind.partitions[at].known(&folds)),
            known_in_categories: blind.categories.iter().map(|of| of.known(&folds)).collect(),
            blind,
            folds,
            population,
            unit: graph.weight_scale().weight(1) as f32,
        })
    }

    /// Returns the folds of the known bad.
    pub fn folds(&self) -> &Folds {
        &self.folds
    }

    /// Returns the definitions of the columns, in the order of [`Evidence::value`].
    pub fn columns(&self) -> &[Definition] {
        &self.blind.definitions
    }

    /// Returns the number of entities with edges, of the kinds of the known bad.
    pub fn population(&self) -> u32 {
        self.population
    }

    /// Whether an entity has edges in the window.
    pub fn is_active(&self, vertex: VertexId) -> bool {
        self.blind.partners.get(vertex as usize).is_some_and(|&partners| partners > 0)
    }

    /// Returns the view of an entity's own evidence: without its own fold if it is known to be bad.
    pub fn view_of(&self, vertex: VertexId) -> View {
        self.folds.fold_of(vertex).map_or(View::All, View::Without)
    }

    /// Returns the values of an entity of the kinds of [`ALL`]; all are finite.
    pub fn values(&self, vertex: VertexId, view: View) -> Values {
        let mut values = [0.0; KINDS];
        for (kind, value) in values.iter_mut().enumerate() {
            *value = self.value(kind, vertex, view);
        }
        values
    }

    /// Returns the values of an entity in all columns, those of the table of entities at the end; all are finite.
    pub fn row(&self, vertex: VertexId, view: View) -> Vec<f32> {
        (0..self.columns().len()).map(|column| self.value(column, vertex, view)).collect()
    }

    /// Whether the values of a kind of evidence depend on the known bad, and so on the view.
    pub fn depends_on_known(&self, kind: usize) -> bool {
        kind < OF_KNOWN || kind >= OF_KNOWN + self.blind.columns.len()
    }

    /// Writes the values of entities of one kind of evidence, an index into [`Evidence::columns`]; they are finite.
    pub fn fill(
        &self,
        kind: usize,
        rows: impl Iterator<Item = (VertexId, View)>,
        values: &mut [f32],
    ) {
        let each = values.iter_mut().zip(rows);
        match kind.checked_sub(OF_KNOWN).and_then(|column| self.blind.columns.get(column)) {
            Some(column) => each.for_each(|(value, (v, _))| *value = finite(column[v as usize])),
            None => each.for_each(|(value, (v, view))| *value = self.value(kind, v, view)),
        }
    }

    /// Returns the value of an entity of one kind of evidence, an index into [`Evidence::columns`]; it is finite.
    #[inline]
    pub fn value(&self, kind: usize, vertex: VertexId, view: View) -> f32 {
        let value = match kind.checked_sub(OF_KNOWN) {
            Some(column) => match self.blind.columns.get(column) {
                Some(column) => column[vertex as usize],
                None => self.of_category(column - self.blind.columns.len(), vertex, view),
            },
            None => self.of_known(kind, vertex, view),
        };
        finite(value)
    }

    fn base(&self, view: View) -> Base {
        match view {
            View::All => self.bases[FOLDS],
            View::Without(fold) => self.bases[fold],
        }
    }

    /// Returns the share of known bad among the others of an entity's category, as a multiple of the share among
    /// all; 0 if a view has none, and [`MISSING`] if the entity has no category.
    fn of_category(&self, category: usize, vertex: VertexId, view: View) -> f32 {
        let Base { known, share: base } = self.base(view);
        let both = self.blind.categories.get(category).zip(self.known_in_categories.get(category));
        let Some((partition, known_in)) = both else { return 0.0 };
        if !partition.has(vertex) {
            return MISSING;
        }
        if known == 0.0 {
            return 0.0;
        }
        let (others, bad) = partition.around(vertex, known_in, view);
        (bad + PRIOR * base) / (others + PRIOR) / base
    }

    /// Returns the value of evidence that depends on the known bad; 0 if a view has none.
    #[inline]
    fn of_known(&self, kind: usize, vertex: VertexId, view: View) -> f32 {
        let Base { known, share: base } = self.base(view);
        if known == 0.0 || self.population == 0 {
            return 0.0;
        }
        let v = vertex as usize;
        let (partners, weight) = (self.blind.partners[v] as f32, self.blind.weights[v]);
        let lift = |bad: f32, all: f32| (bad + PRIOR * base) / (all + PRIOR) / base;
        match kind {
            0 => view.sum(&self.walk[v]) / known,
            1 => view.sum(&self.walk[v]) / known / weight.max(1.0),
            2 => view.sum(&self.walk_along_ties[v]) / known,
            3 => view.sum(&self.walk_forward[v]) / known,
            4 => view.sum(&self.walk_backward[v]) / known,
            5 => lift(view.sum(&self.neighbors.partners[v]), partners),
            6 => {
                let unit = self.unit;
                lift(view.sum(&self.neighbors.weight[v]) * unit, weight * unit)
            }
            7 => view.sum(&self.neighbors.second[v]) / partners.max(1.0) / base,
            _ => {
                let at = (kind - 8).min(PARTITIONS - 1);
                let known = &self.known_in[at];
                let (others, bad) = self.blind.partitions[at].around(vertex, known, view);
                lift(bad, others)
            }
        }
    }
}
