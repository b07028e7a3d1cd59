//! Columns of the tables beside communities: dendrograms, and resolution profiles.

use crate::swarm::Column;
use ripplet_graph::{OutOfMemory, memory};
use ripplet_lp::refine::{Merge, Profiled};

/// A column, and its name.
pub type NamedColumn = (&'static str, Column);

/// Returns the columns of a [dendrogram](ripplet_lp::refine::dendrogram), with a row for each merge: the clusters that join,
/// their distance, the communities and the vertices in both, the resolution, and the part of all weight inside clusters.
/// The first four are a linkage of scipy.
///
/// # Errors
/// If memory is refused.
///
/// # Examples
/// ```
/// use ripplet::communities::columns_of_dendrogram;
/// use ripplet::lp::refine::{Objective, Resolution, dendrogram};
/// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
/// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
///
/// let found = ripplet::communities(&graph).run()?;
/// let objective = Objective::Modularity(Resolution::Fixed(1.0));
/// let merges = dendrogram(&graph, objective, found.labels(), &mut ())?;
/// let columns = columns_of_dendrogram(&merges)?;
/// let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
/// assert_eq!(names, ["left", "right", "distance", "size", "vertices", "resolution", "inner"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn columns_of_dendrogram(merges: &[Merge]) -> Result<Vec<NamedColumn>, OutOfMemory> {
    let integers = |of: fn(&Merge) -> u32| column(merges, of).map(Column::U32);
    let floats = |of: fn(&Merge) -> f64| column(merges, of).map(Column::F64);
    Ok(vec![
        ("left", integers(|merge| merge.left)?),
        ("right", integers(|merge| merge.right)?),
        ("distance", floats(Merge::distance)?),
        ("size", integers(|merge| merge.communities)?),
        ("vertices", integers(|merge| merge.vertices)?),
        ("resolution", floats(|merge| merge.resolution)?),
        ("inner", floats(|merge| merge.inner)?),
    ])
}

/// Returns the columns of a [resolution profile](super::ProfiledCommunities), with a row for each partition: its number of
/// communities, the resolutions between which it is the best one found, and its measures. The agreement of the last one
/// with the next is NaN.
///
/// # Errors
/// If memory is refused.
///
/// # Examples
/// ```
/// use ripplet::communities::{ProfileRange, columns_of_profile};
/// # let ids = ripplet::graph::VertexIds::Consecutive { first: 1, count: 6 };
/// # let edges = ripplet::graph::EdgeTable::new(ids, vec![0, 1, 2, 3, 4, 5, 2], vec![1, 2, 0, 4, 5, 3, 3])?;
/// # let graph = ripplet::graph::GraphBuilder::new().build(edges)?;
///
/// let profiled = ripplet::communities(&graph).resolution_profile(&ProfileRange::default())?;
/// for (name, column) in columns_of_profile(&profiled.partitions)? {
///     println!("{name} of the chosen one: {}", column.number(profiled.chosen_at));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn columns_of_profile(partitions: &[Profiled]) -> Result<Vec<NamedColumn>, OutOfMemory> {
    let floats = |of: fn(&Profiled) -> f64| column(partitions, of).map(Column::F64);
    Ok(vec![
        ("communities", Column::U32(column(partitions, |profiled| profiled.communities)?)),
        ("resolution_from", floats(|profiled| profiled.from)?),
        ("resolution_to", floats(|profiled| profiled.to)?),
        ("width", floats(Profiled::width)?),
        ("inner", floats(|profiled| profiled.inner)?),
        ("modularity", floats(|profiled| profiled.modularity)?),
        ("nmi_next", floats(|profiled| profiled.next.map_or(f64::NAN, |next| next.nmi))?),
        ("ari_next", floats(|profiled| profiled.next.map_or(f64::NAN, |next| next.ari))?),
        ("nmi_seeds", floats(|profiled| profiled.seeds.nmi)?),
        ("ari_seeds", floats(|profiled| profiled.seeds.ari)?),
    ])
}

/// Returns a value of each row.
fn column<R, T>(rows: &[R], of: fn(&R) -> T) -> Result<Vec<T>, OutOfMemory> {
    memory::collected(rows.iter().map(of))
}
