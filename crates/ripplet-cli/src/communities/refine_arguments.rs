//! The flags of refinement, and the job that they choose.

use super::program::RefineJob;
use crate::failure::Failure;
use clap::{Args, ValueEnum};
use ripplet::lp::refine::{LARGEST_RESOLUTION, LEAST_RESOLUTION, Objective, Resolution};
use std::path::PathBuf;

/// Moves and contraction in place of label propagation.
#[derive(Args)]
#[command(next_help_heading = "Refinement")]
pub struct RefineArguments {
    /// Find communities of a high score by moves and contraction, in place of label propagation.
    ///
    /// It takes several times as long, and reaches the quality of the Leiden algorithm. Communities are connected; the result is the same on any number of threads.
    /// It reads an undirected graph, on the CPU (see docs/refine.md).
    #[arg(
        long,
        value_enum,
        value_name = "SCORE",
        conflicts_with_all = [
            "program", "schedule", "phases", "counter", "pick_less", "preset", "guard", "gamma", "sweep",
            "order", "memory", "threshold", "seeds", "seeds_columns", "attenuation", "loose_seeds",
            "skip_unknown_seeds", "program_file", "columns_out", "check_program", "iterations",
            "max_iterations", "tolerance", "checkpoint", "keep_disconnected", "merge",
        ]
    )]
    pub refine: Option<ScoreName>,
    /// The resolution of --refine: larger values make smaller communities; for modularity a number, or
    /// `auto`, an estimate from the communities; for cpm a number, the least density of a community
    /// [default for modularity: auto].
    #[arg(long, value_name = "G", value_parser = resolution, allow_negative_numbers = true)]
    pub resolution: Option<Resolution>,
    /// Also write the parts that each community is made of, from the finest to the community, as columns of
    /// a table: .csv, .tsv, .jsonl (each also .gz or .zst), .parquet or .arrow.
    ///
    /// Column part_1 is the finest; each part is connected, and within one part of the next column. Parts and
    /// communities have numbers from 0 in the order of their size, those of `--names number`.
    #[arg(long, value_name = "FILE", requires = "refine", conflicts_with = "min_size")]
    pub levels: Option<PathBuf>,
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

/// Reads a resolution.
fn resolution(text: &str) -> Result<Resolution, String> {
    if text == "auto" {
        return Ok(Resolution::Auto);
    }
    let range = LEAST_RESOLUTION..=LARGEST_RESOLUTION;
    match text.parse() {
        Ok(value) if range.contains(&value) => Ok(Resolution::Fixed(value)),
        _ => Err("expected auto, or a number from 1e-9 to 1e9".into()),
    }
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
        let objective = match (score, self.resolution) {
            (ScoreName::Modularity, resolution) => {
                Objective::Modularity(resolution.unwrap_or(Resolution::Auto))
            }
            (ScoreName::Cpm, Some(Resolution::Fixed(resolution))) => Objective::Cpm(resolution),
            (ScoreName::Cpm, _) => {
                return Err(Failure::refused(
                    "cpm has no resolution that suits every graph: it is the least density of a community",
                    "give --resolution a number, such as 0.05",
                ));
            }
        };
        Ok(Some(RefineJob { score, objective, levels: self.levels.clone() }))
    }
}
