//! The search for communities that a job asks for.

use super::job::Job;
use super::program::{Program, SeededJob, attenuation_refused};
use crate::console::Console;
use crate::failure::Failure;
use crate::memory::{Limit, OF_A_LIST, within};
use crate::message::counted;
use crate::ranks::Ranks;
use ripplet::checkpoints::RunCheckpoints;
use ripplet::communities::CommunitySearch;
use ripplet::graph::{GraphView, VertexId, VertexIds};
use ripplet::io::{self, ReadOptions, Seeds};
use ripplet::lp::Settings;
use ripplet::lp::check::SAMPLE;
use ripplet::lp::engine::Parts;
use ripplet::lp::programs::{Seed, Seeded};
use ripplet::programs::BuiltIn;
use std::sync::Arc;

/// The vertices that a program begins with, as their files list them.
#[derive(Default)]
pub struct Begin {
    /// The label of each vertex.
    pub initial: Option<Vec<VertexId>>,
    /// The vertices that keep their community.
    pub fixed: Vec<VertexId>,
    /// The vertices whose cluster is known.
    pub seeds: Option<Seeds>,
}

impl Job<'_> {
    /// Reads what the program begins with, except for initial labels.
    pub fn read_begin(&self, ids: &VertexIds, console: &Console) -> Result<Begin, Failure> {
        let mut begin = Begin::default();
        match &self.program {
            Program::Refine(refine) => {
                let read = || refine.read_fixed(ids, console);
                let what = "reading the fixed vertices";
                begin.fixed = within(self.host_memory, what, OF_A_LIST, read)?;
            }
            Program::Seeded(seeded) => {
                let read = || seeded.read(ids, console);
                begin.seeds = Some(within(self.host_memory, "reading the seeds", OF_A_LIST, read)?);
            }
            _ => {}
        }
        Ok(begin)
    }

    /// Returns the search on a graph, as far as it is the same on any device; `begin` is what it begins with. The columns of
    /// a program from a file are read here.
    pub fn search<'g>(
        &self,
        graph: GraphView<'g>,
        begin: &mut Begin,
        console: &Console,
    ) -> Result<CommunitySearch<'g>, Failure> {
        let mut search = ripplet::communities(graph).device(self.device.device().clone());
        if let Some(threads) = self.threads.count() {
            search = search.threads(threads);
        }
        if let Some(size) = self.small {
            search = search.min_size(size);
        }
        let initial = begin.initial.take();
        let settings = Settings { initial, ..self.settings.clone() };
        search = match &self.program {
            &Program::BuiltIn(program) => search.built_in(program).settings(settings),
            Program::Sweep(_) => search.settings(settings),
            Program::File(file) => {
                let fill = || file.fill(settings, graph.ids(), console);
                let filled = within(self.host_memory, "reading the columns", OF_A_LIST, fill)?;
                search.own_boxed(file.program()).settings(filled)
            }
            Program::Seeded(seeded) => {
                let program = BuiltIn::Seeded { attenuation: seeded.attenuation };
                let planted = begin.seeds.as_ref().map(planted).unwrap_or_default();
                search.built_in(program).settings(settings).seeds(planted, seeded.seeding)
            }
            Program::Refine(refine) => {
                search = search.refine(refine.objective).seed(settings.seed);
                search = search.fixed(std::mem::take(&mut begin.fixed));
                if let Some(labels) = settings.initial {
                    search = search.initial_labels(labels);
                }
                if let Some(size) = refine.max_size {
                    search = search.max_size(size);
                }
                if refine.levels.is_some() {
                    search = search.levels();
                }
                if refine.dendrogram.is_some() {
                    search = search.dendrogram();
                }
                search
            }
        };
        if self.finds_counter {
            search = search.fitting_counter();
        }
        if self.checks_program {
            search = search.check_program(SAMPLE);
        }
        Ok(search)
    }

    /// Adds to a search the ranks that share it, its checkpoints, and a limit of memory.
    pub fn share<'g>(
        &self,
        mut search: CommunitySearch<'g>,
        (ranks, parts): (&Ranks, Option<&Parts>),
        store: Option<&Arc<RunCheckpoints>>,
        limit: Option<Limit>,
    ) -> CommunitySearch<'g> {
        if let Some(comm) = ranks.comm() {
            search = match parts {
                Some(parts) => search.ranks_with_parts(comm.clone(), parts.clone()),
                None => search.ranks(comm.clone()),
            };
            search = search.rank_labels(self.rank_labels).device(self.device.device().clone());
            if let Some(memory) = self.device.memory() {
                search = search.device_memory(memory);
            }
        }
        if self.keeps || self.checkpoint.is_some() {
            search = search.open_checkpoints(store.cloned());
        }
        match limit {
            Some(limit) => search.host_limit(limit.of_plan()),
            None => search,
        }
    }
}

/// Returns the seeds as the program has them: a cluster's label is the first of its vertices.
fn planted(seeds: &Seeds) -> Vec<Seed> {
    let mut first = vec![u32::MAX; seeds.clusters.len()];
    for row in &seeds.rows {
        let first = &mut first[row.cluster as usize];
        *first = row.vertex.min(*first);
    }
    let planted = seeds.rows.iter().map(|row| Seed {
        vertex: row.vertex,
        label: first[row.cluster as usize],
        strength: row.strength,
    });
    planted.collect()
}

impl SeededJob {
    /// Reads the seeds.
    pub fn read(&self, ids: &VertexIds, console: &Console) -> Result<Seeds, Failure> {
        Seeded::check_attenuation(self.attenuation).map_err(attenuation_refused)?;
        console.stage(format!("reading {}", self.seeds.display()));
        let label_columns = self.columns.as_ref().map(|columns| columns.0.clone());
        let options = ReadOptions { label_columns, ..ReadOptions::default() };
        let seeds = io::read_seeds(&self.seeds, &options, ids, self.unknown)?;
        console.say(&seeds.summary.to_string());
        if seeds.skipped > 0 {
            let all = seeds.skipped + seeds.rows.len() as u64;
            let skipped = seeds.skipped;
            let are = if skipped == 1 { "is no vertex" } else { "are no vertices" };
            let all = counted(all, "seed", "seeds");
            console.note(&format!("{skipped} of {all} {are} of the graph: skipped"));
        }
        if seeds.rows.is_empty() {
            let is = match seeds.skipped {
                0 => "has no seeds",
                _ => "names no vertex of the graph",
            };
            return Err(Failure::refused(
                format!("{} {is}", self.seeds.display()),
                "give seeds that are vertices",
            ));
        }
        Ok(seeds)
    }
}
