//! Opening of a part of an `.rg`, for processes that share a graph: each reads the lists of its own vertices.
//!
//! The file is mapped as a whole, and of its pages the process reads the head, the checksums of the blocks, some fifty
//! offsets to find the parts, and its own offsets, neighbours and weights. The blocks that these lie in are verified
//! against their checksums, and the lists are checked as [`open`](super::open) does. All parts together cover every
//! block: if each process opens its own of the same file, a damaged byte is an error on one of them.

use super::{HEADER_BYTES, Header, Opener};
use crate::map::map_parts;
use crate::sections::{BLOCK, verify_sums, verify_within};
use crate::{Place, ReadError};
use ripplet_graph::{Graph, Neighbors, Shard, VertexId};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Vertices of a word of a bitmap. Bounds of parts are multiples of it, so that a word belongs to one part.
const BITMAP_WORD: u32 = 64;

/// A part of the graph of an `.rg`.
#[derive(Clone, Debug)]
pub struct Part {
    /// The graph. Of its lists, only those of the part's vertices are verified and may be read.
    ///
    /// Without ids, its vertices are numbered from 0.
    pub graph: Graph,
    /// The first vertex of each part, and last the number of vertices.
    pub bounds: Vec<VertexId>,
    /// The size of the file, and the checksum of its checksums: equal files have equal ones.
    pub content: (u64, u32),
}

/// Opens part number `part` of `parts` of a graph, memory-mapped. Parts are ranges of consecutive vertices, with about
/// as many arcs and vertices each.
///
/// `with_ids` is whether the graph has the external ids, which are then verified, too; part 0 must have them.
///
/// # Errors
/// If the file cannot be read, is not an `.rg` of this version, or is damaged where it is read.
pub fn open_part(
    path: &Path,
    part: usize,
    parts: usize,
    with_ids: bool,
) -> Result<Part, ReadError> {
    let map = Arc::new(map_parts(path)?);
    if cfg!(target_endian = "big") {
        return Err(ReadError::content(path, Place::File, super::BIG_ENDIAN));
    }
    let owner: Arc<dyn AsRef<[u8]> + Send + Sync> = map.clone();
    let bytes = (*owner).as_ref();
    // An object is copied as far as it is read.
    let fill = |ranges: &[Range<usize>]| {
        let filled = map.fill(ranges.iter().cloned());
        filled.map_err(|error| ReadError::io(path, Place::File, error))
    };
    fill(std::slice::from_ref(&(0..HEADER_BYTES as usize)))?;
    let header = Header::read(bytes, path)?;
    let data_end = header.data_end as usize;
    fill(std::slice::from_ref(&(data_end..bytes.len())))?;
    let checksum = verify_sums(bytes, data_end, path)?;
    let within = |ranges: &[Range<usize>]| {
        // Checksums are those of whole blocks.
        let read = ranges.iter().filter(|range| !range.is_empty());
        let block = |range: &Range<usize>| {
            let end = range.end.next_multiple_of(BLOCK).min(data_end);
            range.start - range.start % BLOCK..end
        };
        fill(&read.map(block).collect::<Vec<_>>())?;
        verify_within(bytes, data_end, path, ranges)
    };
    let head = 0..header.table_end() as usize;
    within(std::slice::from_ref(&head))?;
    let mut opener = Opener { path, owner: &owner, header, next: 0, end: header.table_end() };
    if with_ids {
        let sections = opener.clone().id_sections()?;
        within(&sections)?;
    }
    let ids = if with_ids { opener.ids()? } else { opener.numbers()? };
    let shards = opener.shards()?;
    let bounds =
        bounds_of(&shards, header.vertices, parts, &|offset| fill(&[place_of(bytes, offset)]))?;
    let own = match (bounds.get(part), bounds.get(part + 1)) {
        (Some(&begin), Some(&end)) => begin..end,
        _ => 0..0,
    };
    let lists = || shards.iter().flat_map(|shard| lists_of(shard, &own));
    let offsets = lists().map(|(lists, locals)| {
        place_of(bytes, lists.offsets().get(locals.start..locals.end + 1).unwrap_or_default())
    });
    within(&offsets.collect::<Vec<_>>())?;
    let arcs = lists().flat_map(|(lists, locals)| {
        let offset = |local: usize| lists.offsets().get(local).map_or(0, |&at| at as usize);
        let range = offset(locals.start)..offset(locals.end);
        let neighbors = lists.neighbors().get(range.clone()).unwrap_or_default();
        let weights = lists.weights().and_then(|weights| weights.get(range)).unwrap_or_default();
        [place_of(bytes, neighbors), place_of(bytes, weights)]
    });
    within(&arcs.collect::<Vec<_>>())?;
    let graph = opener.whole(ids, shards, |ids, direction, scale, shards| {
        Graph::from_part(ids, direction, scale, shards, own)
    })?;
    Ok(Part { graph, bounds, content: (bytes.len() as u64, checksum) })
}

/// Returns the lists of a shard that have vertices of the range, with these by their place in the shard.
pub(super) fn lists_of<'a>(
    shard: &'a Shard,
    own: &Range<VertexId>,
) -> impl Iterator<Item = (Neighbors<'a>, Range<usize>)> {
    let vertices = shard.vertices();
    let begin = own.start.clamp(vertices.start, vertices.end);
    let end = own.end.clamp(begin, vertices.end);
    let locals = (begin - vertices.start) as usize..(end - vertices.start) as usize;
    shard.lists().filter(move |_| begin < end).map(move |lists| (lists, locals.clone()))
}

/// Returns the place of values that lie in the bytes of a file.
fn place_of<T>(bytes: &[u8], values: &[T]) -> Range<usize> {
    let begin = (values.as_ptr() as usize).saturating_sub(bytes.as_ptr() as usize);
    begin..begin + size_of_val(values)
}

/// Returns the bounds of parts of about equal work, which is an arc or a vertex. It looks up some offsets, which may be
/// damaged: the bounds ascend in any case. `fill` is called with each before.
fn bounds_of(
    shards: &[Shard],
    vertices: u32,
    parts: usize,
    fill: &dyn Fn(&[u32]) -> Result<(), ReadError>,
) -> Result<Vec<VertexId>, ReadError> {
    let arcs =
        |shard: &Shard| -> u64 { shard.lists().map(|lists| lists.neighbors().len() as u64).sum() };
    // The arcs before each shard.
    let before: Vec<u64> = shards
        .iter()
        .scan(0, |sum, shard| Some(std::mem::replace(sum, *sum + arcs(shard))))
        .collect();
    let work_before = |v: VertexId| -> Result<u64, ReadError> {
        let index = shards.partition_point(|shard| shard.vertices().end <= v);
        let (Some(shard), Some(before)) = (shards.get(index), before.get(index)) else {
            return Ok(shards.iter().map(arcs).sum::<u64>() + u64::from(v));
        };
        let local = v.saturating_sub(shard.vertices().start) as usize;
        let mut own = 0;
        for lists in shard.lists() {
            let offset = lists.offsets().get(local..=local).unwrap_or_default();
            fill(offset)?;
            own += offset.first().map_or(0, |&offset| u64::from(offset));
        }
        Ok(before + own + u64::from(v))
    };
    let all = work_before(vertices)?;
    let mut bounds = vec![0];
    for part in 1..parts {
        let wanted = (u128::from(all) * part as u128 / parts as u128) as u64;
        let (mut low, mut high) = (0, vertices.div_ceil(BITMAP_WORD));
        while low < high {
            let middle = low + (high - low) / 2;
            match work_before((middle * BITMAP_WORD).min(vertices))? < wanted {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        let bound = u64::from(low) * u64::from(BITMAP_WORD);
        let bound = bound.min(vertices.into()) as VertexId;
        bounds.push(bound.max(bounds.last().copied().unwrap_or(0)));
    }
    bounds.push(vertices);
    Ok(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rg::{open, write};
    use ripplet_graph::{Direction, EdgeTable, GraphBuilder, GraphView, VertexIds};

    /// A graph with a hub, weights and names, of several shards.
    fn graph(direction: Direction) -> Graph {
        let count = 3000;
        let names = (0..count).map(|v| format!("n{v:05}")).collect::<Vec<_>>();
        let ids = VertexIds::Names(ripplet_graph::Names::new(names.iter().map(String::as_str)));
        // More than two blocks of a mebibyte.
        let rows = 200_000u32;
        let mixed = |row: u32| {
            let word = u64::from(row + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            ((word ^ word >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 33) as u32
        };
        let sources: Vec<u32> = (0..rows).map(|row| mixed(row) % count).collect();
        let target = |row: u32| if row.is_multiple_of(7) { 0 } else { mixed(row + rows) % count };
        let targets: Vec<u32> = (0..rows).map(target).collect();
        let weights = (0..rows).map(|row| f64::from(row % 9 + 1)).collect();
        let edges = EdgeTable::new(ids, sources, targets).unwrap().with_weights(weights).unwrap();
        GraphBuilder::new().direction(direction).shard_arcs(90_000).build(edges).unwrap()
    }

    #[test]
    fn parts_are_the_graph() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.rg");
        for direction in [Direction::Undirected, Direction::Directed] {
            let whole = graph(direction);
            assert!(whole.shards().len() > 1);
            write(&whole, &path).unwrap();
            for parts in [1, 2, 3, 7, 60] {
                let mut identity = GraphView::from(&whole).identity_without_lists();
                let most = whole.shards().iter().flat_map(Shard::lists);
                let most: usize = most.map(|lists| lists.neighbors().len()).sum();
                for number in 0..parts {
                    let part = open_part(&path, number, parts, number == 0).unwrap();
                    assert_eq!(part.bounds.len(), parts + 1);
                    assert!(part.bounds.is_sorted() && part.bounds.ends_with(&[3000]));
                    let inner = &part.bounds[..parts];
                    assert!(inner.iter().all(|&bound| bound.is_multiple_of(64) || bound == 3000));
                    let own = part.bounds[number]..part.bounds[number + 1];
                    let view = GraphView::from(&part.graph);
                    identity = identity.wrapping_add(view.identity_of_lists(own.clone()));
                    if parts == 7 {
                        let work: u64 = own.clone().map(|v| view.degree(v) + 1).sum();
                        // A part has its share, or the hub.
                        let share = (most + 3000) as u64 / 7;
                        assert!(work < 2 * share || own.contains(&0), "{work} of {share}");
                    }
                    match number {
                        0 => assert_eq!(part.graph.ids(), whole.ids()),
                        _ => assert_eq!(
                            *part.graph.ids(),
                            VertexIds::Consecutive { first: 0, count: 3000 }
                        ),
                    }
                }
                assert_eq!(identity, GraphView::from(&whole).identity(), "{parts} parts");
            }
        }
    }

    #[test]
    fn a_damaged_byte_is_found_by_a_part() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.rg");
        write(&graph(Direction::Directed), &path).unwrap();
        let good = std::fs::read(&path).unwrap();
        assert!(good.len() > 2 << 20);
        let fails = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            let found = (0..3).map(|number| open_part(&path, number, 3, number == 0));
            found.filter(Result::is_err).count() > 0
        };
        assert!(!fails(&good));
        // A part reads nothing of the others' lists.
        let mut bad = good.clone();
        let last = good.len() - 5000;
        bad[last] ^= 1;
        std::fs::write(&path, &bad).unwrap();
        assert!(open_part(&path, 0, 3, true).is_ok() && open_part(&path, 2, 3, false).is_err());
        for at in (0..good.len()).step_by(good.len() / 31) {
            let mut bad = good.clone();
            bad[at] ^= 0x41;
            assert!(fails(&bad), "byte {at}");
        }
        for length in [0, 10, 64, good.len() / 2, good.len() - 1] {
            assert!(fails(&good[..length]), "{length} bytes");
        }
    }

    #[test]
    fn a_crafted_part_is_no_graph() {
        // The checksums fit, and a neighbour is no vertex.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("g.rg");
        write(&graph(Direction::Undirected), &path).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let whole = open(&path).unwrap();
        let last = whole.shards().last().unwrap().out().neighbors();
        let needle: &[u8] = bytemuck::cast_slice(&last[last.len() - 64..]);
        let at = bytes.windows(needle.len()).position(|window| window == needle).unwrap();
        drop(whole);
        bytes[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
        let data_end = Header::read(&bytes, &path).unwrap().data_end as usize;
        let (data, tail) = bytes.split_at_mut(data_end);
        let end = tail.len() - 4;
        for (block, sum) in data.chunks(crate::sections::BLOCK).zip(tail[..end].chunks_mut(4)) {
            sum.copy_from_slice(&crc32fast::hash(block).to_le_bytes());
        }
        let sum = crc32fast::hash(&tail[..end]).to_le_bytes();
        tail[end..].copy_from_slice(&sum);
        std::fs::write(&path, &bytes).unwrap();
        assert!(open_part(&path, 0, 2, true).is_ok());
        let error = open_part(&path, 1, 2, false).unwrap_err().to_string();
        assert!(error.contains("not a vertex"), "{error}");
    }
}
