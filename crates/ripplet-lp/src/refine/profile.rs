//! The profile of a graph over resolutions: which partition is the best one found at which resolution.
//!
//! ```text
//! find a partition at both ends of the range
//! while there are runs left:
//!     of two neighbours on the envelope of all partitions, take the resolution γ where both have the
//!         same score: the widest pair by inner weight that is not yet examined
//!     refine at γ, beginning with the finer one:
//!         a partition that is better somewhere gets its place on the envelope
//!         otherwise nothing was found between the two
//! compare each partition of the envelope with its neighbour, and with a run of another seed
//! ```
//!
//! Where two neighbours have the same score, a third that is better than both somewhere is better
//! than both by the most: so one run examines all resolutions between them. Which partition is the best
//! found at each resolution is computed in integers, see [`envelope`](super::envelope).
//!
//! Labels are the same bytes for any number of threads and either kind of lists, as those of
//! [`refine`](super::refine).
//!
//! References: Eisner, Severance, *Mathematical techniques for efficient record segmentation in large
//! shared databases*, Journal of the ACM 23, 1976, for the choice of γ. Traag, Krings, Van Dooren,
//! *Significant scales in community structure*, Scientific Reports 3, 2013, for profiles.

use super::envelope::{Fraction, Line, crossing, keep_best};
use super::host::sums;
use super::input::{Input, OnInput, on_input};
use super::level::Level;
use super::options::{
    LARGEST_RESOLUTION, LEAST_RESOLUTION, Objective, RefineError, RefineOptions, Resolution,
};
use super::partition::Partition;
use super::ratio::{Ratio, ln};
use super::run::{plan, refine_graph};
use super::score::Sums;
use super::{RefineRound, Refined};
use crate::quality::{Agreement, QualityError, Summary, agreement};
use crate::team::with_whole_pool;
use crate::{Label, Round, RoundObserver, RunError, StopReason};
use ripplet_graph::{Direction, GraphView, Observer, OutOfMemory, Plan, memory};
use std::ops::RangeInclusive;

/// The default of [`ProfileOptions::runs`].
pub const DEFAULT_RUNS: u32 = 50;
/// Resolutions nearer to an examined one, by their ratio less 1, are not examined.
pub const LEAST_WIDTH: f64 = 0.01;

/// The rule that ends a profile's search.
const ALL_EXAMINED: &str = "all resolutions examined";
/// The rule that the number of runs ends it.
const RUNS: &str = "number of runs";

/// The choices of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct ProfileOptions {
    /// The choices of each run: its score, but not its resolution, which the profile replaces.
    ///
    /// Labels to begin with are those of the runs at both ends.
    pub refine: RefineOptions,
    /// The resolutions. By default those of [`default_range`].
    pub range: Option<RangeInclusive<f64>>,
    /// The most runs, at least 2, without those of another seed.
    pub runs: u32,
}

impl ProfileOptions {
    /// Returns the default choices for a score.
    pub fn new(objective: Objective) -> ProfileOptions {
        let refine = RefineOptions::new(at(objective, 1.0));
        ProfileOptions { refine, range: None, runs: DEFAULT_RUNS }
    }
}

/// The best partitions found over a range of resolutions.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// The partitions, from the coarsest, at the least resolutions, to the finest.
    pub partitions: Vec<Profiled>,
    /// The number of runs, without those of another seed.
    pub runs: u32,
    /// Whether the number of runs ended the search.
    pub is_cut: bool,
    /// The iterations of all runs, also of those of another seed.
    pub iterations: u32,
    /// The move rounds of all runs; iterations and levels are counted anew in each.
    pub rounds: Vec<RefineRound>,
    /// Arcs read by all steps of all runs.
    pub scanned: u64,
}

/// A partition of a profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiled {
    /// The community of each vertex, named by its smallest vertex.
    pub labels: Vec<Label>,
    /// The resolutions between which it is the best one found.
    pub from: f64,
    /// See `from`.
    pub to: f64,
    /// The number of communities.
    pub communities: u32,
    /// The part of all weight that is inside communities, from 0 to 1; 0 without weight.
    pub inner: f64,
    /// The modularity at resolution 1.
    pub modularity: f64,
    /// The agreement with the next partition; `None` for the last.
    pub next: Option<Agreement>,
    /// The agreement with a partition found from single vertices with another seed, in the middle of
    /// `from` and `to`.
    pub seeds: Agreement,
    /// Whether it divides no connected component, or joins no two vertices with an edge between them.
    pub is_trivial: bool,
}

impl Profiled {
    /// Returns the width of its resolutions: the natural logarithm of `to / from`.
    pub fn width(&self) -> f64 {
        ln(self.to / self.from)
    }

    /// Returns the resolution in the middle of those between which it is the best one found.
    pub fn middle(&self) -> f64 {
        (self.from * self.to).sqrt()
    }
}

impl Profile {
    /// Returns the index of the partition that is the best over the widest resolutions, by their
    /// ratio. Trivial ones count only if there are no others; the coarser of equals wins.
    pub fn widest(&self) -> usize {
        let rank = |profiled: &Profiled| (!profiled.is_trivial, profiled.to / profiled.from);
        let better = |a: &Profiled, b: &Profiled| rank(a) > rank(b);
        (1..self.partitions.len()).fold(0, |best, next| {
            match better(&self.partitions[next], &self.partitions[best]) {
                true => next,
                false => best,
            }
        })
    }
}

impl Profile {
    /// Returns the partition of [`Profile::widest`] as the result of a refinement, with the counts of all runs.
    ///
    /// # Errors
    /// If memory for a copy of its labels is refused.
    pub fn chosen(&self) -> Result<Refined, OutOfMemory> {
        let chosen = &self.partitions[self.widest()];
        Ok(Refined {
            resolution: chosen.middle(),
            labels: memory::copied(&chosen.labels)?,
            iterations: self.iterations,
            rounds: self.rounds.clone(),
            scanned: self.scanned,
            reason: StopReason::Rule(if self.is_cut { RUNS } else { ALL_EXAMINED }),
            split: 0,
        })
    }
}

/// Returns the memory that [`profile`] needs beside the graph on `threads` threads.
pub fn profile_plan<'g>(
    graph: impl Into<GraphView<'g>>,
    options: &ProfileOptions,
    threads: usize,
) -> Plan {
    let graph = graph.into();
    let labels = 4 * u64::from(graph.vertices());
    let begin = u64::from(options.refine.initial.is_none()) * labels;
    plan(graph, &options.refine, threads)
        .with("labels to begin each run with", begin)
        .with("partitions", u64::from(options.runs.max(2)).saturating_mul(labels))
}

/// Finds the best partitions over a range of resolutions, on rayon's current pool.
///
/// # Errors
/// See [`RefineError`].
///
/// # Examples
/// Two pairs of triangles:
///
/// ```
/// use ripplet_graph::{EdgeTable, GraphBuilder, VertexIds};
/// use ripplet_lp::refine::{Objective, ProfileOptions, profile};
///
/// let triangles = [0u32, 3, 6, 9].map(|v| [(v, v + 1), (v + 1, v + 2), (v + 2, v)]).concat();
/// let bridges = [(2, 3), (1, 4), (8, 9), (7, 10), (5, 6)];
/// let (sources, targets) = triangles.into_iter().chain(bridges).unzip();
/// let ids = VertexIds::Consecutive { first: 0, count: 12 };
/// let graph = GraphBuilder::new().build(EdgeTable::new(ids, sources, targets)?)?;
///
/// let options = ProfileOptions::new(Objective::Cpm(1.0));
/// let found = profile(&graph, &options, &mut ())?;
/// let counts = found.partitions.iter().map(|found| found.communities);
/// assert_eq!(counts.collect::<Vec<_>>(), [2, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn profile<'g>(
    graph: impl Into<GraphView<'g>>,
    options: &ProfileOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Profile, RefineError> {
    profile_in(graph.into(), options, observer)
}

fn profile_in(
    graph: GraphView<'_>,
    options: &ProfileOptions,
    observer: &mut dyn RoundObserver,
) -> Result<Profile, RefineError> {
    let found = Search::of(graph, options, observer).and_then(Search::perform);
    let threads = rayon::current_num_threads();
    found.map_err(|error| error.planned(|| profile_plan(graph, options, threads)))
}

/// Returns the resolutions between which a score has its partitions of interest.
///
/// - Modularity: from 0.1 to 10, or to 10 times the resolution that [`Resolution::Auto`] estimates.
/// - The constant Potts model: from the mean weight of a pair of vertices to that of an edge.
///
/// # Errors
/// See [`RefineError`].
pub fn default_range<'g>(
    graph: impl Into<GraphView<'g>>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<RangeInclusive<f64>, RefineError> {
    default_range_in(graph.into(), options, observer)
}

fn default_range_in(
    graph: GraphView<'_>,
    options: &RefineOptions,
    observer: &mut dyn RoundObserver,
) -> Result<RangeInclusive<f64>, RefineError> {
    let clamped = |low: f64, high: f64| {
        let high = high.clamp(10.0 * LEAST_RESOLUTION, LARGEST_RESOLUTION);
        low.clamp(LEAST_RESOLUTION, high / 10.0)..=high
    };
    match options.objective {
        Objective::Modularity(_) => {
            let auto = RefineOptions::new(Objective::Modularity(Resolution::Auto));
            let RefineOptions { objective, iterations, .. } = auto;
            let auto = RefineOptions { objective, iterations, resume: None, ..options.clone() };
            let estimated = refine_graph(graph, &auto, observer)?.resolution;
            Ok(clamped(0.1, 10.0 * estimated.max(1.0)))
        }
        Objective::Cpm(_) => {
            let weight = measured(graph, options.objective, None)?.total as f64;
            // An arc counts at both ends, and stands for one of the two ordered pairs of its vertices.
            let ends = if graph.direction() == Direction::Directed { 2.0 } else { 1.0 };
            let weight = weight / ends * graph.weight_scale().weight(1);
            let (vertices, arcs) = (f64::from(graph.vertices()), graph.arcs() as f64);
            match weight > 0.0 {
                true => Ok(clamped(weight / (vertices * (vertices - 1.0).max(1.0)), weight / arcs)),
                false => Ok(0.1..=1.0),
            }
        }
    }
}

/// Returns an objective at another resolution.
fn at(objective: Objective, resolution: f64) -> Objective {
    match objective {
        Objective::Modularity(_) => Objective::Modularity(Resolution::Fixed(resolution)),
        Objective::Cpm(_) => Objective::Cpm(resolution),
    }
}

/// A partition that was found.
struct Found {
    labels: Vec<Label>,
    figures: Measured,
}

/// A search in progress.
struct Search<'a> {
    graph: GraphView<'a>,
    options: &'a ProfileOptions,
    observer: &'a mut dyn RoundObserver,
    /// The ends of the range, in stored weights.
    range: [Fraction; 2],
    /// The ends of the range.
    ends: [f64; 2],
    /// The value of a stored unit of a resolution.
    unit: f64,
    /// The envelope.
    found: Vec<Found>,
    /// The resolutions of the runs.
    examined: Vec<f64>,
    iterations: u32,
    rounds: Vec<RefineRound>,
    scanned: u64,
}

impl<'a> Search<'a> {
    fn of(
        graph: GraphView<'a>,
        options: &'a ProfileOptions,
        observer: &'a mut dyn RoundObserver,
    ) -> Result<Search<'a>, RefineError> {
        observer.on_stage("finding the range of resolutions");
        let range = match &options.range {
            Some(range) => range.clone(),
            None => {
                let observer = &mut WithoutStages { observer: &mut *observer, before: 0 };
                default_range(graph, &options.refine, observer)?
            }
        };
        let ends = [*range.start(), *range.end()];
        let (allowed, [from, to]) = (LEAST_RESOLUTION..=LARGEST_RESOLUTION, ends);
        if !(ends.iter().all(|end| allowed.contains(end)) && from < to) {
            return Err(RefineError::Range { from, to });
        }
        let [low, high] = ends.map(|end| measured(graph, at(options.refine.objective, end), None));
        let (low, high) = (low?, high?);
        Ok(Search {
            graph,
            options,
            observer,
            range: [low.ratio.into(), high.ratio.into()],
            ends,
            unit: low.unit,
            found: Vec::new(),
            examined: Vec::new(),
            iterations: 0,
            rounds: Vec::new(),
            scanned: 0,
        })
    }

    fn perform(mut self) -> Result<Profile, RefineError> {
        self.observer.on_stage("runs over the resolutions");
        let initial = self.options.refine.initial.clone();
        for end in self.ends {
            self.run(end, initial.clone())?;
        }
        let runs = self.options.runs.max(2) as usize;
        let mut next = self.next();
        while let Some((resolution, finer)) = next
            && self.examined.len() < runs
        {
            let labels = memory::copied(&self.found[finer].labels)?;
            self.run(resolution, Some(labels))?;
            next = self.next();
        }
        let (runs, is_cut) = (self.examined.len() as u32, next.is_some());
        let partitions = self.described()?;
        let Search { iterations, rounds, scanned, .. } = self;
        Ok(Profile { partitions, runs, is_cut, iterations, rounds, scanned })
    }

    /// Refines at a resolution, and keeps what was found if it is the best one somewhere.
    fn run(&mut self, resolution: f64, initial: Option<Vec<Label>>) -> Result<(), RefineError> {
        let options = self.options_at(resolution, initial);
        let labels = self.refined(&options)?;
        let figures = measured(self.graph, options.objective, Some(&labels))?;
        self.found.push(Found { labels, figures });
        keep_best(&mut self.found, |found| found.figures.line, self.range);
        self.examined.push(resolution);
        let runs = f64::from(self.options.runs.max(2));
        self.observer.on_progress(self.examined.len() as f64 / runs);
        Ok(())
    }

    /// Refines, and adds to the counts.
    fn refined(&mut self, options: &RefineOptions) -> Result<Vec<Label>, RefineError> {
        let observer = &mut WithoutStages { observer: self.observer, before: self.rounds.len() };
        let refined = refine_graph(self.graph, options, observer)?;
        self.iterations += refined.iterations;
        self.scanned += refined.scanned;
        memory::reserve(&mut self.rounds, refined.rounds.len())?;
        self.rounds.extend(refined.rounds);
        Ok(refined.labels)
    }

    fn options_at(&self, resolution: f64, initial: Option<Vec<Label>>) -> RefineOptions {
        let RefineOptions { objective, .. } = self.options.refine;
        let objective = at(objective, resolution);
        RefineOptions { objective, initial, resume: None, ..self.options.refine.clone() }
    }

    /// Returns the resolution to examine next, and the finer of the two partitions that have the same
    /// score there.
    fn next(&self) -> Option<(f64, usize)> {
        let pairs = self.found.windows(2).enumerate().filter_map(|(coarser, pair)| {
            let [coarse, fine] = [&pair[0], &pair[1]].map(|found| found.figures.line);
            let resolution = crossing(coarse, fine)?.value() * self.unit;
            let is_near = |&examined: &f64| {
                let ratio = resolution.max(examined) / resolution.min(examined);
                ratio < 1.0 + LEAST_WIDTH
            };
            let between = coarse.inner - fine.inner;
            (!self.examined.iter().any(is_near)).then_some((between, resolution, coarser + 1))
        });
        // The first of equals.
        let widest = pairs.reduce(|best, next| if next.0 > best.0 { next } else { best });
        widest.map(|(_, resolution, finer)| (resolution, finer))
    }

    /// Returns the partitions of the envelope with their figures.
    fn described(&mut self) -> Result<Vec<Profiled>, RefineError> {
        self.observer.on_stage("runs with another seed");
        let found = std::mem::take(&mut self.found);
        let lines = |pair: &[Found]| [&pair[0], &pair[1]].map(|found| found.figures.line);
        let crossings = found.windows(2).map(lines).filter_map(|[a, b]| crossing(a, b));
        let mut bounds = vec![self.ends[0]];
        bounds.extend(crossings.map(|at| at.value() * self.unit));
        bounds.push(self.ends[1]);
        let count = found.len();
        let mut partitions: Vec<Profiled> = Vec::with_capacity(count);
        for (index, Found { labels, figures }) in found.into_iter().enumerate() {
            let (from, to) = (bounds[index], bounds[index + 1]);
            // Fixed vertices have their community from the labels to begin with.
            let RefineOptions { initial, fixed, .. } = &self.options.refine;
            let initial = if fixed.is_empty() { None } else { initial.clone() };
            let mut other = self.options_at((from * to).sqrt(), initial);
            other.seed = other.seed.wrapping_add(1);
            let other = self.refined(&other)?;
            let seeds = agreement(&labels, &other).map_err(refused)?;
            if let Some(before) = partitions.last_mut() {
                before.next = Some(agreement(&before.labels, &labels).map_err(refused)?);
            }
            let Summary { communities, modularity } =
                Summary::of(self.graph, &labels).map_err(refused)?;
            let Measured { sums, total, loops, .. } = figures;
            partitions.push(Profiled {
                labels,
                from,
                to,
                communities: communities as u32,
                inner: if total == 0 { 0.0 } else { sums.inner as f64 / total as f64 },
                modularity,
                next: None,
                seeds,
                is_trivial: sums.inner == total || sums.inner == loops,
            });
            self.observer.on_progress((index + 1) as f64 / count as f64);
        }
        Ok(partitions)
    }
}

/// Figures of a partition, or of the input alone.
struct Measured {
    line: Line,
    sums: Sums,
    total: u64,
    loops: u64,
    ratio: Ratio,
    unit: f64,
}

/// Measures a partition.
fn measured(
    graph: GraphView<'_>,
    objective: Objective,
    labels: Option<&[Label]>,
) -> Result<Measured, RefineError> {
    on_input(graph, objective, Measure { labels })
}

struct Measure<'a> {
    labels: Option<&'a [Label]>,
}

impl OnInput for Measure<'_> {
    type Found = Measured;

    fn perform<L: Level>(self, input: Input, level: &L) -> Result<Measured, RefineError> {
        let Input { objective, total, loops, .. } = input;
        let sums = match self.labels {
            None => Sums::default(),
            Some(labels) => with_whole_pool(|team| {
                let partition = Partition::new(team, memory::copied(labels)?, level)?;
                let Sums { inner, squares } = sums(team, level, &partition);
                Ok::<_, RefineError>(Sums { inner: loops + inner, squares })
            })?,
        };
        // At γ = 1, where both factors are those of the line.
        let factors = objective.at(Ratio::ONE).factors(total);
        let inner = factors.score(Sums { squares: 0, ..sums }) as u128;
        let squares = factors.score(Sums { inner: 0, ..sums }).unsigned_abs();
        let line = Line { inner, squares };
        Ok(Measured { line, sums, total, loops, ratio: objective.ratio, unit: objective.unit })
    }
}

fn refused(error: QualityError) -> RefineError {
    match error {
        QualityError::Ranks(error) => RunError::Ranks(error).into(),
        QualityError::OutOfMemory { bytes } => RunError::Array(OutOfMemory { bytes }).into(),
        QualityError::Weights { total } => RefineError::Weights { total },
        QualityError::Resolution { resolution } => RefineError::Resolution { resolution },
        QualityError::Length { labels, vertices } => {
            RefineError::Length { labels, vertices: vertices as u32 }
        }
    }
}

/// An observer without the stages of single runs; rounds are counted over all runs.
struct WithoutStages<'a> {
    observer: &'a mut dyn RoundObserver,
    /// The rounds of earlier runs.
    before: usize,
}

impl Observer for WithoutStages<'_> {
    fn is_cancelled(&self) -> bool {
        self.observer.is_cancelled()
    }
}

impl RoundObserver for WithoutStages<'_> {
    fn on_round(&mut self, index: usize, round: &Round) {
        self.observer.on_round(self.before + index, round);
    }
}
