//! A resolution profile: partitions at many resolutions, and the table of their figures.

use super::program::{ProfileJob, RefineJob};
use super::refine::write_rows;
use super::work::{Extra, Work};
use crate::failure::Failure;
use crate::stats::ProfileFigures;
use ripplet::communities::{CommunitySearch, ProfileRange, columns_of_profile};
use ripplet::lp::refine::Profiled;
use ripplet::swarm::Column;
use std::path::Path;

impl<'a> Work<'a> {
    /// Finds communities at many resolutions, and writes their figures and the chosen communities.
    pub(super) fn profile(
        &self,
        search: CommunitySearch<'a>,
        job: &RefineJob,
        of: &ProfileJob,
    ) -> Result<(), Failure> {
        let range = ProfileRange { range: of.range.clone(), runs: of.runs };
        if self.job.estimate.is_some() {
            return self.estimate(|_| search.estimate_resolution_profile(&range));
        }
        let found = self.follow(|follow| search.resolution_profile_with(&range, follow))?;
        self.console.stage(format!("writing {}", of.path.display()));
        write_table(&of.path, &found.partitions, found.chosen_at)?;
        if found.is_cut {
            let (runs, more) = (found.runs, 2 * u64::from(found.runs));
            self.console.remark(&format!(
                "the profile ended after {runs} runs: between its rows there may be others; \
                 --profile-runs {more} looks for them"
            ));
        }
        let profile = Some(ProfileFigures {
            runs: found.runs,
            partitions: found.partitions.len(),
            chosen: found.chosen_at,
            is_cut: found.is_cut,
        });
        self.write_tables(job, &found.chosen)?;
        self.finish(&found.chosen, Extra { profile, ..Extra::default() })
    }
}

/// Writes a row for each partition.
fn write_table(path: &Path, partitions: &[Profiled], chosen: usize) -> Result<(), Failure> {
    let mut columns = columns_of_profile(partitions)?;
    let is_chosen = (0..partitions.len()).map(|index| index == chosen).collect();
    columns.insert(1, ("chosen", Column::Bool(is_chosen)));
    write_rows(path, "partition", 0, &columns)
}
