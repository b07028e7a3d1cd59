use super::*;
use crate::storage::NeighborLists;
use crate::{
    Adjacency, Direction, Duplicates, EdgeTable, GraphBuilder, GraphBytes, GraphView, Neighbors,
    SelfLoops, VertexIds,
};
use proptest::prelude::*;

/// Plain lists and their first vertex.
#[derive(Clone, Debug)]
struct Plain {
    first: VertexId,
    lists: Vec<Vec<VertexId>>,
    weights: Option<Vec<u32>>,
}

impl Plain {
    fn of(first: VertexId, lists: Vec<Vec<VertexId>>) -> Plain {
        Plain { first, lists, weights: None }
    }

    fn adjacency(&self) -> Adjacency {
        let mut offsets = vec![0];
        offsets.extend(self.lists.iter().scan(0, |end, list| {
            *end += list.len() as u32;
            Some(*end)
        }));
        let weights = self.weights.clone().map(Into::into);
        Adjacency::new(offsets.into(), self.lists.concat().into(), weights)
    }

    fn compressed(&self) -> CompressedAdjacency {
        CompressedAdjacency::of(self.adjacency().view(), self.first).unwrap()
    }
}

/// A simulated warp of 32 lanes that decodes by the module's documentation alone.
struct Warp<'a> {
    words: &'a [u32],
    widths: [u8; 4],
}

impl Warp<'_> {
    fn bits(&self, at: u64, width: u64) -> u64 {
        let bit = |at: u64| u64::from(self.words[(at / 32) as usize] >> (at % 32) & 1);
        (0..width).map(|place| bit(at + place) << place).sum()
    }

    /// Returns the classes and values of `count` tokens, read 32 lanes at a time, and their end.
    fn values(&self, begin: u64, count: u64) -> (Vec<(u64, u64)>, u64) {
        let (mut values, mut at) = (Vec::new(), begin + 2 * count);
        for group in (0..count).step_by(32) {
            let lanes = (count - group).min(32);
            let low = self.bits(begin + group, lanes);
            let high = self.bits(begin + count + group, lanes);
            let planes = [!low & !high, low & !high, !low & high, low & high];
            let before = |lane: u64| -> u64 {
                let of_class = |(plane, width): (&u64, u8)| {
                    u64::from((plane & ((1 << lane) - 1)).count_ones()) * u64::from(width)
                };
                planes.iter().zip(self.widths).map(of_class).sum()
            };
            // In any order: lanes are independent.
            let mut of_group = vec![(0, 0); lanes as usize];
            for lane in (0..lanes).rev() {
                let class = (low >> lane & 1) + 2 * (high >> lane & 1);
                let width = u64::from(self.widths[class as usize]);
                of_group[lane as usize] = (class, self.bits(at + before(lane), width));
            }
            at += before(lanes);
            values.extend(of_group);
        }
        (values, at)
    }
}

/// Returns the list of a vertex and its weights, decoded by the documentation.
fn by_the_book(encoded: &CompressedAdjacency, local: u64) -> (Vec<u32>, Vec<u32>) {
    let (code, words) = (encoded.code(), encoded.words());
    let warp = Warp { words, widths: code.widths };
    let (block, lane) = (local / 32, local % 32);
    let lanes = (encoded.vertices().len() as u64 - 32 * block).min(32);
    let at = 32 * encoded.begins()[block as usize];
    let (d, e) = (warp.bits(at, 6), warp.bits(at + 6, 6));
    let degree = warp.bits(at + 12 + lane * d, d);
    let ends = at + 12 + lanes * d;
    let end = |lane: u64| warp.bits(ends + lane * e, e);
    let list = ends + lanes * e + if lane == 0 { 0 } else { end(lane - 1) };
    let segments = degree.div_ceil(256);
    let (mut neighbors, mut weights, mut last) = (Vec::new(), Vec::new(), list);
    for segment in 0..segments {
        let at = match segment {
            0 => list + (segments - 1) * e,
            _ => list + warp.bits(list + (segment - 1) * e, e),
        };
        let n = (degree - 256 * segment).min(256);
        let counted = if code.runs && n > 3 { u64::from(n.ilog2()) + 1 } else { 0 };
        let m = if counted > 0 { warp.bits(at, counted) } else { n };
        let (tokens, after) = warp.values(at + counted, m);
        let mut before = i64::from(encoded.vertices().start) + local as i64;
        for (place, (class, value)) in tokens.into_iter().enumerate() {
            let value = value as i64;
            let steps = match (place, class) {
                (0, _) if value % 2 == 0 => vec![value / 2],
                (0, _) => vec![-(value + 1) / 2],
                (_, 3) if code.runs => vec![1; value as usize + 3],
                _ => vec![value + i64::from(!code.repeats)],
            };
            for step in steps {
                before = (before + step).rem_euclid(1 << 32);
                neighbors.push(before as u32);
            }
        }
        last = after;
        if let Some(widths) = code.weight_widths {
            let (of_segment, after) = Warp { words, widths }.values(after, n);
            weights.extend(of_segment.into_iter().map(|(_, weight)| weight as u32));
            last = after;
        }
    }
    assert_eq!(last, ends + lanes * e + end(lane), "the end of list {local}");
    (neighbors, weights)
}

/// Encodes on 1 and 3 threads, and decodes with all decoders.
fn round_trip(plain: &Plain) -> CompressedAdjacency {
    let adjacency = plain.adjacency();
    let on = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| plain.compressed())
    };
    let compressed = on(1);
    assert!(compressed == on(3), "3 threads differ from 1");
    same_as(&compressed, adjacency.view());
    for (local, list) in plain.lists.iter().enumerate() {
        let (neighbors, weights) = by_the_book(&compressed, local as u64);
        assert_eq!(&neighbors, list);
        assert_eq!(weights, adjacency.view().weights_of(local).unwrap_or_default());
    }
    assert!(compressed.to_plain().unwrap() == adjacency, "decoded at once");
    let most = plain.lists.iter().flatten().max().map_or(0, |most| most + 1);
    assert_eq!(compressed.check(most), Ok(()));
    compressed
}

fn visited(lists: impl NeighborLists, local: usize) -> Vec<(u32, u64)> {
    let mut arcs = Vec::new();
    lists.for_each_arc(local, |u, weight| arcs.push((u, weight)));
    arcs
}

fn same_as(compressed: &CompressedAdjacency, plain: Neighbors<'_>) {
    let view = compressed.view();
    assert_eq!(NeighborLists::vertices(view), NeighborLists::vertices(plain));
    assert_eq!(NeighborLists::arcs(view), NeighborLists::arcs(plain));
    for local in 0..view.vertices() {
        assert_eq!(view.degree(local), plain.degree(local), "the degree of {local}");
        assert!(view.of(local).eq(plain.of(local).iter().copied()), "list {local}");
        assert_eq!(view.each_of(local).len(), plain.each_of(local).len());
        // `for_each` has an implementation separate from `next`; it may start anywhere.
        for begun in [0, 1, 2, 1500] {
            let (mut list, mut rest) = (view.of(local), Vec::new());
            list.by_ref().take(begun).for_each(drop);
            list.for_each(|u| rest.push(u));
            assert_eq!(rest, plain.of(local)[begun.min(plain.of(local).len())..]);
        }
        let weights = view.each_weight_of(local).map(|weights| weights.collect::<Vec<_>>());
        assert_eq!(weights.as_deref(), plain.weights_of(local), "weights of {local}");
        let weight = |at: usize| weights.as_ref().map_or(1, |weights| u64::from(weights[at]));
        let arcs = plain.of(local).iter().enumerate().map(|(at, &u)| (u, weight(at)));
        assert_eq!(visited(view, local), arcs.collect::<Vec<_>>());
        assert_eq!(visited(view, local), visited(plain, local));
        let strength = (0..plain.of(local).len()).map(weight).sum::<u64>();
        assert_eq!([view.strength_of(local), plain.strength_of(local)], [strength; 2]);
    }
}

#[test]
fn the_example_of_the_documentation() {
    let mut lists = vec![vec![]; 17];
    lists[16] = vec![12, 18, 19, 20, 21, 30, 31];
    let plain = Plain::of(0, lists);
    let encoded = round_trip(&plain);
    let code = Code { widths: [0, 3, 4, 0], runs: true, repeats: false, weight_widths: None };
    assert_eq!(encoded.code(), code);
    // 3 bits per degree and 5 per end: both of the last vertex are those of its list.
    let (head, ends) = (12, 12 + 17 * 3);
    let expected = [
        (0, 6, 3),
        (6, 6, 5),
        (head + 16 * 3, 3, 7),
        (ends + 16 * 5, 5, 23),
        // The number of tokens, lower and higher bits of classes (the first token's is the lowest
        // bit), values.
        (ends + 17 * 5, 3, 5),
        (ends + 17 * 5 + 3, 5, 0b00111),
        (ends + 17 * 5 + 8, 5, 0b01100),
        (ends + 17 * 5 + 13, 3, 7),
        (ends + 17 * 5 + 16, 3, 5),
        (ends + 17 * 5 + 19, 4, 8),
    ];
    for (at, width, value) in expected {
        assert_eq!(bits::take(encoded.words(), at, width), value, "bit {at}");
    }
    assert_eq!((encoded.begins(), encoded.words().len()), (&[0, 6][..], 7));
}

#[test]
fn lists_of_every_kind() {
    let far = u32::MAX - 1;
    for lists in [
        vec![],
        vec![vec![]],
        vec![vec![]; 100],
        vec![vec![0]],
        vec![vec![far]],
        vec![vec![0, far]],
        vec![vec![0, 0, 0, far, far]],
        vec![vec![], vec![1, 1, 1, 1, 1], vec![2]],
        vec![(0..256).collect(), (0..257).collect(), (5..3000).collect(), vec![]],
        vec![(0..5000).map(|v| v * 800_000).collect()],
        vec![vec![7; 2500], (0..2049).map(|v| v / 2).collect()],
        (0..70).map(|v| if v % 33 == 32 { (0..4000).collect() } else { vec![v] }).collect(),
    ] {
        for first in [0, 40, far - 100] {
            let plain = Plain::of(first, lists.clone());
            round_trip(&plain);
            let weights = (0..plain.lists.concat().len() as u32).map(|at| at.wrapping_mul(at));
            let weights = Some(weights.collect());
            round_trip(&Plain { weights, ..plain });
        }
    }
}

#[test]
fn runs_cost_next_to_nothing_and_are_left_out_where_they_do_not_pay() {
    let runs = Plain::of(0, (0..640).map(|v| (v..v + 100).collect()).collect());
    let encoded = round_trip(&runs);
    assert!(encoded.code().runs);
    assert!(encoded.bytes() * 8 < 64_000, "a bit an arc: {} bytes", encoded.bytes());
    let none = Plain::of(0, (0..640).map(|v| (0..50).map(|u| u * 9 + v).collect()).collect());
    assert!(!round_trip(&none).code().runs);
}

#[test]
fn a_graph_is_described_alike_in_either_storage() {
    for direction in [Direction::Undirected, Direction::Directed] {
        // Loops at both ends of lists, twice at one vertex, and alone.
        let ids = VertexIds::Consecutive { first: 0, count: 6 };
        let rows = [(0, 0), (0, 5), (5, 5), (5, 1), (2, 2), (2, 2), (3, 3), (1, 3), (3, 3)];
        let (sources, targets) = rows.into_iter().unzip();
        let table = EdgeTable::new(ids, sources, targets).unwrap();
        let table = table.with_weights(vec![1.0; 9]).unwrap();
        let graph = GraphBuilder::new()
            .direction(direction)
            .self_loops(SelfLoops::Keep)
            .duplicates(Duplicates::Keep)
            .shard_arcs(4)
            .build(table)
            .unwrap();
        let compressed = CompressedGraph::copied(&graph).unwrap();
        assert!(compressed.shards().len() > 1);
        assert_eq!(compressed.to_plain().unwrap(), graph);
        assert_eq!(compressed.plain_bytes(), graph.bytes());
        assert_eq!(CompressedGraph::of(graph.clone()).unwrap(), compressed);
        for view in [GraphView::from(&graph), GraphView::from(&compressed)] {
            assert_eq!((view.self_loops(), view.edges()), (6, 9), "{view:?}");
            let GraphBytes { ids, offsets, neighbors, weights } = view.bytes_by_part();
            assert_eq!(ids + offsets + neighbors + weights, view.bytes(), "{view:?}");
        }
    }
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let encoded = Plain::of(0, (0..100).map(|v| vec![v, v + 1]).collect()).compressed();
    let (begins, words) = (encoded.begins().to_vec(), encoded.words().to_vec());
    let parts = |count: u32, code: Code, begins: &[u64], words: &[u32]| {
        CompressedAdjacency::from_parts(
            0..count,
            200,
            code,
            begins.to_vec().into(),
            words.to_vec().into(),
        )
    };
    let code = encoded.code();
    assert_eq!(parts(100, code, &begins, &words), Ok(encoded.clone()));
    let wide = Code { widths: [0, 1, 2, 33], ..code };
    assert_eq!(parts(100, wide, &begins, &words), Err(InvalidCompressed::Code));
    let wide = Code { weight_widths: Some([40; 4]), ..code };
    assert_eq!(parts(100, wide, &begins, &words), Err(InvalidCompressed::Code));
    for (count, begins, words) in [
        (97, &begins[..], &words[..words.len() - 1]),
        (32, &begins[..], &words[..]),
        (100, &begins[..4], &words[..]),
        (100, &[], &words[..]),
        (100, &[0, 0, 0, 0, u64::MAX], &words[..]),
        (100, &[1, 1, 2, 3, begins[4]], &words[..]),
        (100, &[0, begins[2], begins[1], begins[3], begins[4]], &words[..]),
        (100, &begins[..], &[]),
    ] {
        assert_eq!(parts(count, code, begins, words), Err(InvalidCompressed::Begins), "{count}");
    }
    let fewer = CompressedAdjacency { arcs: 199, ..encoded.clone() };
    assert_eq!(fewer.check(101), Err(InvalidCompressed::Arcs { found: 200, expected: 199 }));
    assert_eq!(encoded.check(100), Err(InvalidCompressed::Neighbor { vertex: 99 }));
}

/// Lists with runs, repeated neighbours, loops, close and distant ones.
fn any_plain() -> impl Strategy<Value = Plain> {
    let piece = prop_oneof![
        (any::<u32>(), 1u32..9).prop_map(|(begin, count)| (begin, count, 1)),
        (0u32..200, 1u32..9).prop_map(|(begin, count)| (begin, count, 1)),
        (0u32..200, 1u32..4).prop_map(|(begin, count)| (begin, count, 0)),
        (0u32..99, 1u32..1200).prop_map(|(begin, count)| (begin, count, 3)),
    ];
    let pieces = prop::collection::vec(piece, 0..6);
    let list = pieces.prop_map(|pieces| {
        let neighbors = pieces.into_iter().flat_map(|(begin, count, step)| {
            (0..count).map(move |at| begin.saturating_add(at * step).min(u32::MAX - 2))
        });
        let mut list: Vec<u32> = neighbors.collect();
        list.sort_unstable();
        list
    });
    let lists = prop::collection::vec(list, 0..70);
    (lists, 0u32..1000, any::<bool>(), any::<bool>(), 0u32..33).prop_map(
        |(mut lists, first, distinct, weighted, bits)| {
            if distinct {
                lists.iter_mut().for_each(Vec::dedup);
            }
            let arcs = lists.iter().map(Vec::len).sum::<usize>() as u32;
            let weight = |at: u32| (u64::from(at.wrapping_mul(0x9e37_79b9)) >> (32 - bits)) as u32;
            Plain { first, lists, weights: weighted.then(|| (0..arcs).map(weight).collect()) }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_encoded_is_decoded(plain in any_plain()) {
        round_trip(&plain);
    }

    /// Decoding never panics, terminates, and yields as many neighbours as the degree; lists that
    /// pass the check are valid.
    #[test]
    fn damage_is_found_or_harmless(
        plain in any_plain(),
        damage in prop::collection::vec((any::<prop::sample::Index>(), 0u32..32), 1..4),
        widths in prop::option::of(any::<[u8; 4]>()),
    ) {
        let encoded = plain.compressed();
        let mut words = encoded.words().to_vec();
        for (word, bit) in damage {
            *word.get_mut(&mut words) ^= 1 << bit;
        }
        let mut code = encoded.code();
        if let Some(widths) = widths {
            code.widths = widths.map(|width| width % 33);
        }
        let (vertices, arcs) = (encoded.vertices(), encoded.arcs());
        let damaged = CompressedAdjacency::from_parts(
            vertices, arcs, code, encoded.begins().to_vec().into(), words.into(),
        ).unwrap();
        let view = damaged.view();
        // A damaged degree may be absurd: only read the first neighbours.
        for local in 0..view.vertices() {
            let list = view.of(local);
            prop_assert_eq!(list.len(), view.degree(local) as usize);
            prop_assert_eq!(list.take(5000).count(), 5000.min(view.degree(local) as usize));
            let weights = view.weights_of(local).into_iter().flatten();
            let _ = weights.take(5000).fold(0, |sum: u32, weight| sum.wrapping_add(weight));
        }
        if damaged.check(u32::MAX - 1).is_ok() {
            let decoded = damaged.to_plain().unwrap();
            let decoded = decoded.view();
            for local in 0..view.vertices() {
                prop_assert!(decoded.of(local).is_sorted());
                prop_assert!(decoded.of(local).iter().all(|&u| u < u32::MAX - 1));
            }
        }
    }

    #[test]
    fn any_words_at_all_are_read_without_harm(
        words in prop::collection::vec(any::<u32>(), 1..60),
        widths in any::<[u8; 4]>(),
        flags in any::<[bool; 3]>(),
        vertices in 1u32..33,
    ) {
        let widths = widths.map(|width| width % 33);
        let [runs, repeats, weighted] = flags;
        let code = Code { widths, runs, repeats, weight_widths: weighted.then_some(widths) };
        let begins = vec![0, words.len() as u64 - 1];
        let any = CompressedAdjacency::from_parts(
            0..vertices, 9, code, begins.into(), words.into(),
        ).unwrap();
        let view = any.view();
        for local in 0..vertices as usize {
            let _ = view.of(local).take(3000).count();
            let _ = view.weights_of(local).map(|weights| weights.take(3000).count());
        }
        let _ = any.check(1000);
    }
}
