//! The flags of refinement, and the job that they choose.

use super::program::{ProfileJob, RefineJob, ScoreName};
use crate::failure::Failure;
use clap::Args;
use clap::builder::TypedValueParser;
use ripplet::lp::refine::{
    DEFAULT_RUNS, LARGEST_RESOLUTION, LEAST_RESOLUTION, Objective, Resolution,
};
use std::num::NonZeroU32;
use std::ops::RangeInclusive;
use std::path::PathBuf;

/// Moves and contraction in place of label propagation.
#[derive(Args)]
#[command(next_help_heading = "Refinement")]
pub struct RefineArguments {
    /// Find communities of a high score by moves and contraction, in place of label propagation.
    ///
    /// It takes several times as long, and reaches the quality of the Leiden algorithm. Communities are connected; the result is the same on any number of threads.
    /// Of a directed graph, modularity is that of Leicht and Newman. It runs on the CPU or a GPU (see docs/refine.md).
    #[arg(
        long,
        value_enum,
        value_name = "SCORE",
        conflicts_with_all = [
            "program", "schedule", "phases", "counter", "pick_less", "preset", "guard", "gamma", "sweep",
            "order", "memory", "threshold", "seeds", "seeds_columns", "attenuation", "loose_seeds",
            "skip_unknown_seeds", "program_file", "columns_out", "check_program", "iterations",
            "max_iterations", "tolerance", "keep_disconnected", "merge",
        ]
    )]
    pub refine: Option<ScoreName>,
    /// The resolution of --refine: larger values make smaller communities; for modularity a number, or
    /// `auto`, an estimate from the communities; for cpm a number, the least density of a community; a
    /// range such as 0.1..10 for --resolution-profile [default for modularity: auto].
    #[arg(long, value_name = "G", value_parser = resolution, allow_negative_numbers = true)]
    pub resolution: Option<ResolutionChoice>,
    /// Find communities at many resolutions, and write a table of them: .csv, .tsv, .jsonl (each also .gz or
    /// .zst), .parquet or .arrow.
    ///
    /// Each row is the best partition found between two resolutions, from the coarsest to the finest, with
    /// figures of its stability. OUT has the partition of the row that is chosen: that of the widest
    /// resolutions, by their ratio. --resolution is then a range [default: found from the graph].
    #[arg(long, value_name = "FILE", requires = "refine")]
    pub resolution_profile: Option<PathBuf>,
    /// The most runs of --resolution-profile, without one more for each row [default: 50].
    #[arg(
        long, value_name = "N", requires = "resolution_profile",
        value_parser = clap::value_parser!(u32).range(2..)
    )]
    pub profile_runs: Option<u32>,
    /// Also write the parts that each community is made of, from the finest to the community, as columns of
    /// a table: .csv, .tsv, .jsonl (each also .gz or .zst), .parquet or .arrow.
    ///
    /// Column part_1 is the finest; each part is connected, and within one part of the next column. Parts and
    /// communities have numbers from 0 in the order of their size, those of `--names number`.
    #[arg(long, value_name = "FILE", requires = "refine", conflicts_with = "min_size")]
    pub levels: Option<PathBuf>,
    /// Vertices that keep their community: an id a line, or a table with a column of ids.
    ///
    /// Their community is that of --labels, or each vertex alone. Other vertices may join or leave them. Two of
    /// them are in one community exactly if they were at the start; such a community may be disconnected.
    #[arg(long, value_name = "FILE", requires = "refine", conflicts_with = "resolution_profile")]
    pub fixed: Option<PathBuf>,
    /// The most vertices of a community. Communities of --labels must not be larger.
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..).try_map(NonZeroU32::try_from),
        requires = "refine",
        conflicts_with_all = ["join_small", "resolution_profile"]
    )]
    pub max_size: Option<NonZeroU32>,
    /// Also write how communities join, pair by pair, until one is left, as a table that scipy reads as a
    /// linkage: .csv, .tsv, .jsonl (each also .gz or .zst), .parquet or .arrow.
    ///
    /// Communities have numbers from 0 in the order of their size, those of `--names number`, and each merge the
    /// next one.
    #[arg(long, value_name = "FILE", requires = "refine", conflicts_with = "min_size")]
    pub dendrogram: Option<PathBuf>,
}

/// The value of `--resolution`.
#[derive(Clone, Debug, PartialEq)]
pub enum ResolutionChoice {
    /// One.
    One(Resolution),
    /// All of a range.
    Range(RangeInclusive<f64>),
}

/// Reads a resolution, or a range of them.
fn resolution(text: &str) -> Result<ResolutionChoice, String> {
    let allowed = LEAST_RESOLUTION..=LARGEST_RESOLUTION;
    let number = |text: &str| text.parse().ok().filter(|value| allowed.contains(value));
    if let Some((low, high)) = text.split_once("..") {
        return match (number(low), number(high)) {
            (Some(low), Some(high)) if low < high => Ok(ResolutionChoice::Range(low..=high)),
            _ => {
                Err("expected a range as 0.1..10: two numbers from 1e-9 to 1e9, the smaller first"
                    .into())
            }
        };
    }
    let one = match text {
        "auto" => Some(Resolution::Auto),
        _ => number(text).map(Resolution::Fixed),
    };
    one.map(ResolutionChoice::One)
        .ok_or_else(|| "expected auto, or a number from 1e-9 to 1e9".into())
}

impl RefineArguments {
    /// Returns the score to increase, if refinement is asked for, or why the flags do not fit.
    pub fn resolve(&self) -> Result<Option<RefineJob>, Failure> {
        let Some(score) = self.refine else {
            return match self.resolution {
                None => Ok(None),
                Some(_) => Err(Failure::refused(
                    "label propagation has no resolution",
                    "use --refine modularity --resolution G; or, larger communities: --min-size N --join-small; \
                     smaller ones: --program llp --gamma G; no giant: --guard G (see docs/communities.md)",
                )),
            };
        };
        let profile = self.profile()?;
        let objective = match (score, &self.resolution) {
            // A profile replaces the resolution.
            (ScoreName::Cpm, _) if profile.is_some() => Objective::Cpm(1.0),
            (ScoreName::Modularity, Some(ResolutionChoice::One(resolution))) => {
                Objective::Modularity(*resolution)
            }
            (ScoreName::Modularity, _) => Objective::Modularity(Resolution::Auto),
            (ScoreName::Cpm, Some(ResolutionChoice::One(Resolution::Fixed(resolution)))) => {
                Objective::Cpm(*resolution)
            }
            (ScoreName::Cpm, _) => {
                return Err(Failure::refused(
                    "cpm has no resolution that suits every graph: it is the least density of a community",
                    "give --resolution a number, such as 0.05",
                ));
            }
        };
        Ok(Some(RefineJob {
            score,
            objective,
            levels: self.levels.clone(),
            fixed: self.fixed.clone(),
            max_size: self.max_size,
            dendrogram: self.dendrogram.clone(),
            profile,
        }))
    }

    /// Returns the profile to find, if one is asked for.
    fn profile(&self) -> Result<Option<ProfileJob>, Failure> {
        let range = match (&self.resolution_profile, &self.resolution) {
            (None, Some(ResolutionChoice::Range(_))) => {
                return Err(Failure::refused(
                    "--resolution is a range, and one run has one resolution",
                    "give one number, or add --resolution-profile FILE",
                ));
            }
            (Some(_), Some(ResolutionChoice::One(_))) => {
                return Err(Failure::refused(
                    "--resolution-profile is over a range of resolutions",
                    "give --resolution a range, such as 0.1..10, or leave it out",
                ));
            }
            (_, Some(ResolutionChoice::Range(range))) => Some(range.clone()),
            (_, None) => None,
            (None, _) => return Ok(None),
        };
        let runs = self.profile_runs.unwrap_or(DEFAULT_RUNS);
        Ok(self.resolution_profile.clone().map(|path| ProfileJob { path, range, runs }))
    }
}
