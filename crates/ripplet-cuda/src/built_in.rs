//! Kernels of usual runs, to be compiled before there is a run.

use crate::lp::{Compiled, GraphKind, Kernels, Resident, source_for};
use crate::{lcc, refine, swarm};
use ripplet_analytics::closeness::Closeness;
use ripplet_analytics::{Lengths, PathAnalysis};
use ripplet_gpu::Source;
use ripplet_lp::programs::{Cdlp, Lpa};
use ripplet_lp::{ProgramInfo, RunError, Schedule, Settings};

/// Returns the sources of the kernels of usual runs on one device that holds the graph:
///
/// | run | of graphs |
/// |---|---|
/// | `lpa` by `phased` and `async`, and `cdlp`, which count labels exactly | stored plain in one shard: with and without directions, weights and hubs |
/// | merging at the end, and refinement | of every kind |
/// | clustering coefficients | in one shard: with and without directions |
/// | closeness, distances and betweenness by hops | of every kind |
///
/// Another run compiles its kernels when it needs them.
///
/// # Errors
/// [`RunError::NoDeviceSource`] if a program is built without the text of its hooks.
pub fn built_in() -> Result<Vec<Source>, RunError> {
    let mut sources = Vec::new();
    let (lpa, cdlp) = (ProgramInfo::of(&Lpa::default()), ProgramInfo::of(&Cdlp));
    let programs =
        [(&lpa, Schedule::phased()), (&lpa, Schedule::asynchronous()), (&cdlp, Schedule::cdlp())];
    for (program, schedule) in programs {
        let settings = Settings { schedule, ..Settings::default() };
        for (is_directed, is_weighted, has_large) in all_of_three() {
            let graph = GraphKind { is_directed, is_weighted, ..GraphKind::default() };
            let (kernels, resident) = (Kernels::Work, Resident::Whole);
            let compiled = Compiled { kernels, resident, has_large };
            sources.push(source_for(graph, program, &settings, compiled)?);
        }
    }
    sources.push(refine::merging_source());
    for (has_imbalances, is_limited) in [(false, false), (true, false), (false, true), (true, true)]
    {
        sources.push(refine::source(refine::Kind { has_imbalances, is_limited }));
    }
    sources.extend(lcc::usual_sources());
    let (normalized, lengths) = (false, Lengths::Hops);
    let closeness = |measure| PathAnalysis::Closeness { measure, normalized, lengths };
    let analyses = [
        closeness(Closeness::Reciprocal),
        closeness(Closeness::Harmonic),
        PathAnalysis::Reach { lengths },
        PathAnalysis::Distances { lengths },
        PathAnalysis::Betweenness { normalized, lengths },
        PathAnalysis::EdgeBetweenness { normalized, lengths },
    ];
    sources.extend(analyses.map(|analysis| swarm::source(analysis, false, false)));
    // Only these read other lists backwards.
    sources.extend(analyses[4..].iter().map(|&analysis| swarm::source(analysis, true, false)));
    Ok(sources)
}

/// Returns all triples of false and true.
fn all_of_three() -> impl Iterator<Item = (bool, bool, bool)> {
    (0..8).map(|number| (number & 4 != 0, number & 2 != 0, number & 1 != 0))
}
