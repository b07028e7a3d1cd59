//! The programs with their parameters, initial labels and output rows.

use super::file::FileJob;
use crate::failure::Failure;
use crate::named_cover::LabelColumns;
use clap::ValueEnum;
use ripplet::io::UnknownSeeds;
use ripplet::lp::programs::{BadAttenuation, Seeding};
use ripplet::lp::refine::{MergeShare, Objective};
use ripplet::programs::{BuiltIn, ProgramName};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// A program and its parameters.
#[derive(Clone, Debug)]
pub enum Program {
    /// A built-in program without seeds.
    BuiltIn(BuiltIn),
    /// Layered label propagation, at many γ.
    Sweep(SweepJob),
    /// From seeds.
    Seeded(SeededJob),
    /// Moves and contraction.
    Refine(RefineJob),
    /// The user's own.
    File(Box<FileJob>),
}

/// Layered label propagation at γ = 1, 1/2, …
#[derive(Clone, Debug)]
pub struct SweepJob {
    pub halvings: u32,
    /// The output of the order of the vertices.
    pub order: Option<PathBuf>,
}

/// The scores by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ScoreName {
    /// Modularity: the weight inside communities, minus the weight expected there by chance
    Modularity,
    /// Constant Potts model: the weight inside communities, minus the resolution for each pair of members
    Cpm,
}

impl ScoreName {
    /// Returns the name, as the command line knows it.
    pub fn as_str(self) -> &'static str {
        match self {
            ScoreName::Modularity => "modularity",
            ScoreName::Cpm => "cpm",
        }
    }
}

/// Refinement of a score.
#[derive(Clone, Debug)]
pub struct RefineJob {
    /// The name of the score.
    pub score: ScoreName,
    pub objective: Objective,
    /// The output of the parts that communities are made of.
    pub levels: Option<PathBuf>,
    /// The vertices that keep their community.
    pub fixed: Option<PathBuf>,
    /// The most vertices of a community.
    pub max_size: Option<NonZeroU32>,
    /// The output of the merges of communities.
    pub dendrogram: Option<PathBuf>,
    /// The partitions at many resolutions, in place of one.
    pub profile: Option<ProfileJob>,
}

/// The best partitions over a range of resolutions.
#[derive(Clone, Debug)]
pub struct ProfileJob {
    /// The output of the table.
    pub path: PathBuf,
    pub range: Option<RangeInclusive<f64>>,
    /// The most runs.
    pub runs: u32,
}

/// Label propagation from seeds.
#[derive(Clone, Debug)]
pub struct SeededJob {
    pub seeds: PathBuf,
    pub columns: Option<LabelColumns>,
    pub unknown: UnknownSeeds,
    pub seeding: Seeding,
    pub attenuation: f64,
}

impl Program {
    /// Returns its name in the registry, unless it is the user's own.
    pub fn registered(&self) -> Option<ProgramName> {
        match self {
            Program::BuiltIn(program) => Some(program.name()),
            Program::Sweep(_) => Some(ProgramName::Llp),
            Program::Seeded(_) => Some(ProgramName::Seeded),
            Program::File(_) | Program::Refine(_) => None,
        }
    }

    /// The name, as the command line knows it.
    pub fn name(&self) -> &str {
        match self {
            Program::File(file) => &file.name,
            Program::Refine(refine) => refine.score.as_str(),
            program => program.registered().map_or("", ProgramName::as_str),
        }
    }

    /// The table that it reads beside the graph.
    pub fn reads(&self) -> Option<&Path> {
        match self {
            Program::Seeded(seeded) => Some(&seeded.seeds),
            Program::Refine(refine) => refine.fixed.as_deref(),
            Program::File(file) => file.table.as_deref(),
            _ => None,
        }
    }

    /// The tables that it writes beside OUT.
    pub fn writes(&self) -> Vec<&Path> {
        let writes = match self {
            Program::Sweep(sweep) => [sweep.order.as_deref(), None, None],
            Program::Refine(refine) => {
                let profile = refine.profile.as_ref().map(|profile| &*profile.path);
                [refine.levels.as_deref(), refine.dendrogram.as_deref(), profile]
            }
            Program::File(file) => [file.columns_out.as_deref(), None, None],
            _ => [None, None, None],
        };
        writes.into_iter().flatten().collect()
    }

    /// Returns whether each vertex has exactly one community, without a name.
    pub fn is_partition(&self) -> bool {
        self.registered().is_none_or(ProgramName::is_partition)
    }

    /// Returns the share at which communities merge at the end by default, if they do.
    pub fn merge(&self) -> Option<MergeShare> {
        match self {
            Program::BuiltIn(program) => program.merge(),
            _ => None,
        }
    }

    /// Returns whether frequent labels are enough for it, so that a counter may keep but a few.
    pub fn follows_frequency(&self) -> bool {
        match self {
            Program::File(file) => file.follows_frequency,
            // It has no counter.
            Program::Refine(_) => true,
            program => program.registered().is_some_and(ProgramName::follows_frequency),
        }
    }

    /// Returns whether communities stay as the program returns them, also if they are disconnected.
    pub fn keeps_disconnected(&self) -> bool {
        self.registered().is_some_and(ProgramName::keeps_disconnected)
    }
}

impl From<BuiltIn> for Program {
    fn from(program: BuiltIn) -> Program {
        Program::BuiltIn(program)
    }
}

/// Returns the failure of an attenuation out of its range.
pub fn attenuation_refused(error: BadAttenuation) -> Failure {
    Failure::refused(error.to_string(), "give --attenuation such a number")
}
