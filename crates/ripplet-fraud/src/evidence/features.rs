//! Features of the user's table of entities as columns of evidence.
//!
//! | feature | columns |
//! |---|---|
//! | number x | x; its mean over partners; the mean of that over partners of partners (the smoothing of SGC) |
//! | category | the share of the table's rows in it; the share of known bad among the others in it, by folds |
//!
//! An entity without a value has [`MISSING`](crate::entity_table::MISSING), below all numbers; so has one whose
//! partners have none. Means are not weighted, and go over partners with a value.
//!
//! Memory: 12 bytes per vertex for each number, 12 for each category. Determinism: sums follow a vertex's list.
//!
//! References: Wu et al., *Simplifying graph convolutional networks*, ICML 2019. Micci-Barreca, *A preprocessing scheme
//! for high-cardinality categorical attributes*, SIGKDD Explorations 3, 2001.

use super::communities::{NO_PART, Partition};
use super::definitions::Definition;
use crate::entity_table::{EntityTable, Feature, FeatureValues, MISSING};
use crate::ties::arcs;
use rayon::prelude::*;
use ripplet_graph::{Graph, OutOfMemory, VertexId, memory};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Vertices in one parallel task.
const VERTICES_PER_TASK: usize = 1 << 10;

/// Features of the entities of a window.
#[derive(Debug, Default)]
pub struct Features {
    /// Columns that do not depend on the known bad.
    pub columns: Vec<Vec<f32>>,
    /// Their definitions.
    pub of_columns: Vec<Definition>,
    /// Partitions by category; entities without one are in no part.
    pub categories: Vec<Partition>,
    /// Definitions of the share of known bad in each.
    pub of_categories: Vec<Definition>,
}

impl Features {
    /// Returns the bytes that [`Features::of`] needs for a table, and keeps.
    pub fn bytes(table: &EntityTable, vertices: u64) -> u64 {
        12 * vertices * table.features().len() as u64 + 8 * vertices
    }

    /// Returns the number of columns of a table's features.
    pub fn count(table: &EntityTable) -> usize {
        let of = |feature: &Feature| match feature.values {
            FeatureValues::Numbers(_) => 3,
            FeatureValues::Categories { .. } => 2,
        };
        table.features().iter().map(of).sum()
    }

    /// Computes the columns of the vertices of a graph. A vertex has edges if `is_active`.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(
        table: &EntityTable,
        graph: &Graph,
        is_active: impl Fn(VertexId) -> bool,
    ) -> Result<Features, OutOfMemory> {
        let mut features = Features::default();
        let vertices = graph.vertices();
        let here = |row: usize| table.vertices()[row].filter(|&v| v < vertices);
        for feature in table.features() {
            let (name, keys) = (&feature.name, feature.columns());
            match &feature.values {
                FeatureValues::Numbers(values) => {
                    let mut own = memory::filled(MISSING, vertices as usize)?;
                    for (row, &value) in values.iter().enumerate() {
                        if let Some(v) = here(row) {
                            own[v as usize] = value;
                        }
                    }
                    let near = means(graph, &own)?;
                    let second = means(graph, &near)?;
                    features.columns.extend([own, near, second]);
                    features.of_columns.extend(of_number(name, keys));
                }
                FeatureValues::Categories { codes, counts } => {
                    let mut share = memory::filled(MISSING, vertices as usize)?;
                    let mut labels = memory::filled(NO_PART, vertices as usize)?;
                    // A category is named by its first entity with edges.
                    let mut first = memory::filled(None, counts.len())?;
                    for (row, &code) in codes.iter().enumerate() {
                        let (Some(v), Some(&count)) = (here(row), counts.get(code as usize)) else {
                            continue;
                        };
                        share[v as usize] =
                            (f64::from(count) / f64::from(table.rows().max(1))) as f32;
                        labels[v as usize] = match is_active(v) {
                            true => *first[code as usize].get_or_insert(v),
                            false => v,
                        };
                    }
                    features.columns.push(share);
                    let mut definitions = of_category(name, keys);
                    features.of_columns.extend(definitions.next());
                    features.categories.push(Partition::of(labels)?);
                    features.of_categories.extend(definitions);
                }
            }
        }
        Ok(features)
    }
}

/// Returns the mean of the values of each vertex's partners that have one.
fn means(graph: &Graph, values: &[f32]) -> Result<Vec<f32>, OutOfMemory> {
    let mut means = memory::zeros::<f32>(values.len())?;
    let each = means.par_iter_mut().enumerate().with_min_len(VERTICES_PER_TASK);
    each.for_each(|(v, mean)| {
        let (mut sum, mut count) = (0.0_f64, 0_u32);
        for (u, _) in arcs(graph, v as VertexId) {
            let value = values[u as usize];
            if value != MISSING {
                sum += f64::from(value);
                count += 1;
            }
        }
        *mean = if count > 0 { (sum / f64::from(count)) as f32 } else { MISSING };
    });
    Ok(means)
}

fn of_number(name: &str, keys: Vec<String>) -> impl Iterator<Item = Definition> {
    let sgc = "Wu et al., Simplifying graph convolutional networks, ICML 2019";
    let of = [
        (format!("`{name}` of the table of entities."), "x", ""),
        (
            format!("`{name}` of the table, of its partners."),
            "mean of x over partners with a value",
            sgc,
        ),
        (
            format!("`{name}` of the table, of its partners’ partners."),
            "mean over partners of their means of x",
            sgc,
        ),
    ];
    let both = keys.into_iter().zip(of);
    both.map(|(key, (meaning, formula, reference))| define(key, meaning, formula, reference, false))
}

/// Returns the definitions of how frequent a category is, and of the share of known bad in it.
fn of_category(name: &str, keys: Vec<String>) -> impl Iterator<Item = Definition> {
    let of = [
        (
            format!("How frequent its `{name}` is in the table of entities."),
            "rows with it / rows",
            "",
            false,
        ),
        (
            format!(
                "Share of known bad among the others with its `{name}`, as a multiple of the share among all."
            ),
            "(known bad others + 2 b) / (others + 2) / b",
            "Micci-Barreca, A preprocessing scheme for high-cardinality categorical attributes, 2001",
            true,
        ),
    ];
    let both = keys.into_iter().zip(of);
    both.map(|(key, (meaning, formula, reference, needs_known))| {
        define(key, meaning, formula, reference, needs_known)
    })
}

fn define(
    key: String,
    meaning: String,
    formula: &'static str,
    reference: &'static str,
    needs_known: bool,
) -> Definition {
    let method = kept(format!("evidence: {}", key.replace('_', " ")));
    let (key, meaning) = (kept(key), kept(meaning));
    Definition { key, method, meaning, formula, reference, needs_known, prior: 0.0 }
}

/// Texts that definitions of columns refer to, each once: they last as long as the process, as those of the fixed
/// definitions do.
static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

fn kept(text: String) -> &'static str {
    let mut texts = TEXTS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = texts.get(&*text) {
        return known;
    }
    let text: &'static str = Box::leak(text.into_boxed_str());
    texts.insert(text);
    text
}
