//! Windows that slide are those that are built of their transactions, array by array.

use proptest::prelude::*;
use ripplet_fraud::days::DayAdjacency;
use ripplet_fraud::mapping::WeightRule;
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::weights::WeightFunction;
use ripplet_fraud::window::{Changed, Shape, Sliding, WindowError};
use ripplet_fraud::{Span, Timestamp, Window};
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use std::collections::{BTreeMap, BTreeSet};

/// A transaction: its day, both ends, its amount.
type Row = (i64, u32, u32, u64);

fn weighing(of: &str) -> WeightFunction {
    WeightFunction::new(&WeightRule { of: Some(of.into()), resolution: None }, Some(0)).unwrap()
}

fn days(days: i64) -> Span {
    Span::of_days(days).unwrap()
}

/// All of them at one instant: windows do not look at it.
fn transfer(source: u32, target: u32, amount: u64) -> Transfer {
    Transfer { source, target, time: Timestamp(0), amount }
}

/// The run of a day.
fn run(rows: &[Row], day: i64) -> DayAdjacency {
    let of_day = rows.iter().filter(|row| row.0 == day);
    let transfers: Vec<Transfer> =
        of_day.map(|&(_, source, target, amount)| transfer(source, target, amount)).collect();
    let transactions = transfers.len() as u64;
    DayAdjacency::of(transfers, transactions, true).unwrap()
}

/// Lists with weights.
fn lists(graph: &Graph) -> Vec<Vec<(u32, u32)>> {
    let shard = &graph.shards()[0];
    let list = |v: usize| {
        let weights = shard.out().weights_of(v).unwrap();
        shard.out().of(v).iter().copied().zip(weights.iter().copied()).collect()
    };
    (0..graph.vertices() as usize).map(list).collect()
}

/// Expected lists, by a map of the pairs in a window: `weight` is given each day's sums of a pair, with the
/// days' ages.
fn expected(
    rows: &[Row],
    (begin, end): (i64, i64),
    vertices: u32,
    weight: impl Fn(&[(i64, u32, u64)]) -> u32,
) -> Vec<Vec<(u32, u32)>> {
    let mut pairs: BTreeMap<(u32, u32), BTreeMap<i64, (u32, u64)>> = BTreeMap::new();
    for &(day, a, b, amount) in rows.iter().filter(|row| (begin..end).contains(&row.0)) {
        for pair in [(a, b), (b, a)] {
            if a != b {
                let sums = pairs.entry(pair).or_default().entry(end - 1 - day).or_default();
                *sums = (sums.0 + 1, sums.1 + amount);
            }
        }
    }
    let mut lists = vec![Vec::new(); vertices as usize];
    for ((a, b), sums) in pairs {
        let sums: Vec<_> = sums.into_iter().map(|(age, (count, sum))| (age, count, sum)).collect();
        lists[a as usize].push((b, weight(&sums)));
    }
    lists
}

/// Calls `check` for each window of the rows: with it, its days, and the lists that changed.
fn slide(
    rows: &[Row],
    mut sliding: Sliding,
    (length, mut vertices): (i64, u32),
    mut check: impl FnMut(&Window, (i64, i64), &Changed),
) {
    let (Some(first), Some(last)) =
        (rows.iter().map(|row| row.0).min(), rows.iter().map(|row| row.0).max())
    else {
        return;
    };
    for day in first..=last {
        vertices += 1;
        if sliding.push(day, run(rows, day)) {
            let (window, changed) = sliding.slide(vertices).unwrap();
            check(window, (day + 1 - length, day + 1), &changed);
        }
    }
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    prop::collection::vec((0i64..14, 0u32..12, 0u32..12, 0u64..1000), 0..160)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_slide_is_a_rebuild(rows in rows(), length in 1i64..8, slide_by in 1i64..4, growing: bool) {
        prop_assume!(slide_by <= length);
        let shape = Shape::new(days(length), days(slide_by)).unwrap();
        let shape = if growing { shape.growing() } else { shape };
        for (of, weight) in [
            ("count", (|sums| sums.iter().map(|s| s.1).sum()) as fn(&[(i64, u32, u64)]) -> u32),
            ("amount", |sums| sums.iter().map(|s| s.2 as u32).sum()),
            ("amount + 2.0 * count", |sums| {
                let count: u32 = sums.iter().map(|s| s.1).sum();
                let amount: u64 = sums.iter().map(|s| s.2).sum();
                256 * (amount as u32 + 2 * count)
            }),
            // Every power is exact, and so are the sums.
            ("amount * exp2(0.0 - age)", |sums| {
                sums.iter().map(|&(age, _, sum)| ((sum << 8) as f64 / f64::from(1u32 << age)).round() as u32).sum()
            }),
        ] {
            let mut windows = Vec::new();
            let merged = Sliding::new(shape, weighing(of), 1.0);
            slide(&rows, merged, (length, 12), |window, range, _| {
                let lists_expected = expected(&rows, range, window.graph.vertices(), weight);
                assert_eq!(lists(&window.graph), lists_expected, "{of} {range:?}");
                let taken = rows.iter().filter(|row| (range.0..range.1).contains(&row.0)).count();
                assert_eq!(window.transactions, taken as u64);
                windows.push(window.clone());
            });
            let mut rebuilt = Vec::new();
            let scratch = Sliding::new(shape, weighing(of), 1.0).from_scratch();
            slide(&rows, scratch, (length, 12), |window, _, _| rebuilt.push(window.clone()));
            prop_assert_eq!(&windows, &rebuilt);
        }
    }

    #[test]
    fn a_window_is_what_the_builder_makes(rows in rows(), length in 1i64..8) {
        let shape = Shape::new(days(length), days(1)).unwrap();
        slide(&rows, Sliding::new(shape, weighing("count"), 1.0), (length, 12), |window, range, _| {
            let within = || rows.iter().filter(|row| (range.0..range.1).contains(&row.0) && row.1 != row.2);
            let count = window.graph.vertices();
            let ids = VertexIds::Consecutive { first: 0, count };
            let ends = |end: fn(&Row) -> u32| within().map(end).collect::<Vec<_>>();
            let (sources, targets) = (ends(|row| row.1), ends(|row| row.2));
            if sources.is_empty() {
                assert_eq!(window.graph.arcs(), 0);
                return;
            }
            let ones = vec![1.0; sources.len()];
            let edges = EdgeTable::new(ids, sources, targets).unwrap().with_weights(ones).unwrap();
            assert_eq!(window.graph, GraphBuilder::new().build(edges).unwrap());
        });
    }

    #[test]
    fn changed_lists_are_told(rows in rows(), length in 1i64..6) {
        let shape = Shape::new(days(length), days(1)).unwrap();
        let mut last: Vec<Vec<(u32, u32)>> = Vec::new();
        slide(&rows, Sliding::new(shape, weighing("count"), 1.0), (length, 12), |window, _, changed| {
            let now = lists(&window.graph);
            let of = |v: u32| last.get(v as usize).cloned().unwrap_or_default();
            let differ: BTreeSet<u32> = (0..window.graph.vertices()).filter(|&v| now[v as usize] != of(v)).collect();
            let changed = match changed {
                Changed::Some(changed) => changed.clone(),
                Changed::All => (0..window.graph.vertices()).filter(|v| !now[*v as usize].is_empty()).collect(),
            };
            assert_eq!(changed.iter().copied().collect::<BTreeSet<_>>(), differ);
            assert!(changed.is_sorted());
            last = now;
        });
    }
}

#[test]
fn one_thread_makes_the_same_arrays() {
    let rows: Vec<Row> = (0..20_000u64)
        .map(|i| {
            let mix = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let end = |shift: u32| ((mix >> shift) % 700) as u32 * ((mix >> shift) % 3) as u32 / 2;
            ((i / 1000) as i64, end(20), end(40), mix >> 54)
        })
        .collect();
    let made = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let shape = Shape::new(days(7), days(1)).unwrap();
            let mut windows = Vec::new();
            let sliding = Sliding::new(shape, weighing("ln(1.0 + amount) * exp2(0.0 - age)"), 0.01);
            slide(&rows, sliding, (7, 1400), |window, _, _| windows.push(window.clone()));
            windows
        })
    };
    assert_eq!(made(1), made(3));
}

#[test]
fn units_are_days_or_less() {
    let unit = |length: &str, slide: &str| {
        Shape::new(length.parse().unwrap(), slide.parse().unwrap()).unwrap().unit().to_string()
    };
    assert_eq!(unit("30d", "1d"), "1d");
    assert_eq!(unit("60d", "30d"), "1d");
    assert_eq!(unit("2w", "36h"), "12h");
    assert_eq!(unit("12h", "90m"), "90m");
    assert_eq!(unit("5h", "1h"), "1h");
}

#[test]
fn what_cannot_be_is_refused() {
    assert!(Shape::new(days(1), days(2)).is_err());
    assert!(Shape::new(days(30), Span::of_micros(7).unwrap()).is_err());
    let shape = Shape::new(days(1), days(1)).unwrap();
    let mut sliding = Sliding::new(shape, weighing("amount"), 1.0);
    let large = |amount| transfer(0, 1, amount);
    sliding.push(0, DayAdjacency::of(vec![large(1 << 31), large(1 << 31)], 2, true).unwrap());
    let refused = sliding.slide(2).unwrap_err();
    assert!(matches!(refused, WindowError::Weight { source_vertex: 0, target_vertex: 1, .. }));
    assert!(DayAdjacency::of(vec![large(1 << 60)], 1, true).is_err());
    let mut sliding = Sliding::new(shape, weighing("count"), 1.0).within(100);
    sliding.push(
        0,
        DayAdjacency::of((0..50).map(|i| transfer(i, i + 1, 0)).collect(), 50, true).unwrap(),
    );
    assert!(matches!(sliding.slide(51), Err(WindowError::Memory { .. })));
}
