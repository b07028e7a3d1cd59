//! The chance of clusters, against sums done by hand and against random transactions.

use ripplet_fraud::chance::{Chance, NOISE};
use ripplet_fraud::days::{ColumnPairEdges, DayAdjacency};
use ripplet_fraud::detect::{Detection, Known, detect};
use ripplet_fraud::ledger::{DaysLedger, Ledger};
use ripplet_fraud::mapping::WeightRule;
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::scores::score;
use ripplet_fraud::weights::WeightFunction;
use ripplet_fraud::window::{Shape, Sliding};
use ripplet_fraud::{Entities, Findings, KindId, Span, Timestamp};
use ripplet_graph::Graph;
use ripplet_lp::cpu::CpuExecutor;

/// SplitMix64.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Draws one of `count` vertices, the first far more often than the last.
    fn somebody(&mut self, count: u32) -> u32 {
        let share = self.next();
        (f64::from(count) * share.powf(1.8)) as u32
    }
}

/// Synthetic transactions of one day.
struct SyntheticDay {
    entities: Entities,
    run: DayAdjacency,
    graph: Graph,
}

impl SyntheticDay {
    fn of(entities: Entities, transfers: &[(u32, u32)]) -> SyntheticDay {
        let transfer = |&(source, target): &(u32, u32)| Transfer {
            source,
            target,
            time: Timestamp(0),
            amount: 0,
        };
        let transfers: Vec<Transfer> = transfers.iter().map(transfer).collect();
        let mut run = DayAdjacency::of(transfers.clone(), transfers.len() as u64, false).unwrap();
        for transfer in transfers.iter().filter(|transfer| transfer.source != transfer.target) {
            let kinds = (entities.kind_of(transfer.source), entities.kind_of(transfer.target));
            *run.links.entry(kinds).or_default() += 1;
        }
        let weighing = WeightFunction::new(&WeightRule::default(), None).unwrap();
        let mut sliding = Sliding::new(Shape::new(Span::DAY, Span::DAY).unwrap(), weighing, 1.0);
        sliding.push(0, run.clone());
        let graph = sliding.slide(entities.len()).unwrap().0.graph.clone();
        SyntheticDay { entities, run, graph }
    }

    /// Random transactions; `others` are added, among the last six of a kind, which have no random ones.
    fn random(seed: u64, kinds: [u32; 2], transfers: u32, others: &[(u32, u32)]) -> SyntheticDay {
        let mut draws = Draws(seed);
        let entities = entities(kinds);
        let drawn = (0..transfers).map(|_| match kinds {
            [all, 0] => {
                let all = if others.is_empty() { all } else { all - 6 };
                (draws.somebody(all), draws.somebody(all))
            }
            [users, shops] => (draws.somebody(users), users + draws.somebody(shops)),
        });
        let mut drawn: Vec<(u32, u32)> = drawn.collect();
        drawn.extend(others);
        SyntheticDay::of(entities, &drawn)
    }

    fn findings(&self) -> Findings {
        let executor = CpuExecutor::new(Some(1)).unwrap();
        let known = Known { bad: &[], trusted: &[] };
        let found =
            detect(&executor, &self.graph, known, &Detection::default(), None, &mut ()).unwrap();
        let mut findings = score(&self.graph, &found, known, Timestamp(0)).unwrap();
        self.with_chance(|chance| chance.judge(&mut findings));
        findings
    }

    fn with_chance<T>(&self, act: impl FnOnce(Chance<'_>) -> T) -> T {
        let ledger = DaysLedger::new([&self.run], None);
        act(Chance::new(&self.graph, [&self.run], &self.entities, &ledger))
    }
}

fn entities([users, shops]: [u32; 2]) -> Entities {
    let mut entities = Entities::new();
    let [user, shop] = ["user", "shop"].map(|kind| entities.kind(kind).unwrap());
    assert_eq!((user, shop), (KindId(0), KindId(1)));
    (0..users).for_each(|id| assert!(entities.intern(user, &id.to_string()).is_ok()));
    (0..shops).for_each(|id| assert!(entities.intern(shop, &id.to_string()).is_ok()));
    entities
}

/// P(Poisson ≥ count), by adding up.
fn tail(count: u32, mean: f64) -> f64 {
    let mut term = (-mean).exp();
    let mut sum = 0.0;
    for k in 0..200 {
        sum += if k >= count { term } else { 0.0 };
        term *= mean / f64::from(k + 1);
    }
    sum
}

fn choose(n: u32, k: u32) -> f64 {
    (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product()
}

/// Two dealt five times, in a population of twelve others that transfer in a ring.
#[test]
fn the_chance_of_a_pair_and_of_a_part_is_that_of_the_formula() {
    let mut transfers: Vec<(u32, u32)> =
        (2..14).map(|v| (v, if v == 13 { 2 } else { v + 1 })).collect();
    transfers.extend([(0, 1), (0, 1), (1, 0), (0, 1), (0, 1), (0, 2)]);
    let day = SyntheticDay::of(entities([14, 0]), &transfers);
    let transactions = transfers.len() as f64;
    day.with_chance(|chance| {
        let expected = 6.0 * 5.0 / (2.0 * transactions);
        let (odds, why) = chance.of(&[0, 1]);
        let by_hand = 2.0 * choose(14, 2) * tail(5, expected);
        assert!((odds / by_hand.min(1.0) - 1.0).abs() < 1e-9, "{odds} and {by_hand}");
        assert_eq!((why.members, why.transactions), (vec![0, 1], 5));
        assert!((why.expected - expected).abs() < 1e-12);
        assert_eq!(chance.of(&[5, 9]).0, 1.0, "who never dealt");
    });
    // All pairs among five, three times: the whole group is unusual.
    let mut transfers: Vec<(u32, u32)> =
        (0..400).map(|i| (5 + i % 200, 5 + (i * 7 + 1) % 200)).collect();
    let ring: Vec<(u32, u32)> = (0..5).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    (0..3).for_each(|_| transfers.extend(&ring));
    transfers.extend([(0, 5), (0, 6)]);
    let day = SyntheticDay::of(entities([205, 0]), &transfers);
    day.with_chance(|chance| {
        let strengths = [14.0, 12.0, 12.0, 12.0, 12.0];
        let total = 2.0 * transfers.iter().filter(|(a, b)| a != b).count() as f64;
        let pairs = ring.iter().map(|&(a, b)| strengths[a as usize] * strengths[b as usize]);
        let expected = pairs.sum::<f64>() / total;
        let by_hand = 20.0 * choose(205, 5) * tail(30, expected);
        // One who hardly belongs there is peeled off.
        let (odds, why) = chance.of(&[0, 1, 2, 3, 4, 5]);
        assert!((odds / by_hand - 1.0).abs() < 1e-6, "{odds} and {by_hand}");
        assert_eq!((why.members, why.transactions), (vec![0, 1, 2, 3, 4], 30));
    });
}

/// A row that also names a device is two edges or three, and one transaction.
#[test]
fn a_row_of_several_edges_counts_once() {
    // Users 0 to 19, shops 20 to 26; then devices, which count as shops in these tests.
    let mut rows: Vec<(u32, u32, Option<u32>)> =
        (0..60).map(|i| (i % 20, 20 + i % 7, (i % 3 == 0).then_some(27 + i % 6))).collect();
    rows.extend([(0, 20, Some(27)); 5]);
    rows.extend([(0, 20, None); 2]);
    let main: Vec<(u32, u32)> = rows.iter().map(|row| (row.0, row.1)).collect();
    let with_device = |end: fn(&(u32, u32, Option<u32>)) -> u32| -> Vec<(u32, u32)> {
        rows.iter().filter_map(|row| Some((end(row), row.2?))).collect()
    };
    let (of_users, of_shops) = (with_device(|row| row.0), with_device(|row| row.1));
    let edges: Vec<(u32, u32)> = [&*main, &*of_users, &*of_shops].concat();
    let mut day = SyntheticDay::of(entities([20, 13]), &edges);
    let [user, shop] = [KindId(0), KindId(1)];
    day.run.columns = vec![
        ColumnPairEdges::of((user, shop), main.clone()),
        ColumnPairEdges::of((user, shop), of_users.clone()),
        ColumnPairEdges::of((shop, shop), of_shops.clone()),
    ];
    // By hand: of each pair of columns alone, the odds of two that transfer, and of all three.
    let odds = |column: &[(u32, u32)], group: &[u32], same_kind: bool| -> (f64, u64, f64) {
        let strength = |v: u32| column.iter().filter(|(a, b)| *a == v || *b == v).count() as f64;
        let total = column.len() as f64 * if same_kind { 2.0 } else { 1.0 };
        let within = column.iter().filter(|(a, b)| group.contains(a) && group.contains(b)).count();
        let mut expected = 0.0;
        for (at, &a) in group.iter().enumerate() {
            for &b in &group[at + 1..] {
                // Of two kinds, those of one do not transact with one another.
                let transfer = if same_kind { a >= 20 && b >= 20 } else { (a < 20) != (b < 20) };
                expected += if transfer { strength(a) * strength(b) / total } else { 0.0 };
            }
        }
        let size = group.len() as u32;
        let active = (0..33).filter(|v| edges.iter().any(|(a, b)| a == v || b == v)).count() as u32;
        let ways = f64::from(size * (size - 1)) * choose(active, size);
        (ways * tail(within as u32, expected), within as u64, expected)
    };
    let mut all = Vec::new();
    for (column, same) in [(&main, false), (&of_users, false), (&of_shops, true)] {
        for group in [&[0, 20][..], &[0, 27], &[20, 27], &[0, 20, 27]] {
            all.push(odds(column, group, same));
        }
    }
    let (place, least) = all.iter().enumerate().min_by(|a, b| a.1.0.total_cmp(&b.1.0)).unwrap();
    day.with_chance(|chance| {
        let (found, why) = chance.of(&[0, 20, 27]);
        let by_hand = (3.0 * least.0).min(1.0);
        assert!((found / by_hand - 1.0).abs() < 1e-9, "{found} and {by_hand}");
        assert_eq!(why.transactions, least.1);
        assert_eq!(why.pair, Some(place / 4), "four groups of each pair of columns");
        assert!((why.expected - least.2).abs() < 1e-12, "{why:?} {least:?}");
        let rows_of = rows.iter().filter(|row| row.0 == 0 && (row.1 == 20 || row.2 == Some(27)));
        assert!(why.transactions <= rows_of.count() as u64);
    });
    // From the payer to whom, by which columns.
    let ledger = DaysLedger::new([&day.run], None);
    let pairs = [(0, 20), (0, 27), (20, 27), (20, 0), (0, 1)].map(|(a, b)| ledger.pairs(a, b));
    assert_eq!(pairs, [vec![0], vec![1], vec![2], vec![], vec![]]);
}

/// As the stream numbers them: who pays whom, then what else is linked, by its ends.
#[test]
fn pairs_of_columns_have_names() {
    let mapping = "time = 't'\nsource = {column = 'buyer', kind = 'user'}\n\
                   target = {column = 'shop', kind = 'shop'}\n\
                   [[also]]\ncolumn = 'card'\nkind = 'card'\n\
                   [[also]]\ncolumn = 'device'\nkind = 'device'\nto = ['target', 'source']\n";
    let pairs = ripplet_fraud::Mapping::parse(mapping).unwrap().pairs();
    assert_eq!(pairs, ["buyer → shop", "buyer → card", "shop → device", "buyer → device"]);
}

/// Users and shops: what is expected counts among the two kinds alone.
#[test]
fn kinds_have_partners_of_their_own() {
    let transfers: Vec<(u32, u32)> = (0..60).map(|i| (i % 20, 20 + i % 7)).collect();
    let day = SyntheticDay::of(entities([20, 7]), &transfers);
    day.with_chance(|chance| {
        let (_, why) = chance.of(&[0, 20]);
        let strength =
            |of: u32| transfers.iter().filter(|(a, b)| *a == of || *b == of).count() as f64;
        assert!((why.expected - strength(0) * strength(20) / 60.0).abs() < 1e-12);
    });
}

/// Of windows in which there is nothing but chance, few have a cluster that is no noise; and more, the more is allowed.
#[test]
fn chance_alone_is_seldom_no_noise() {
    const WINDOWS: u64 = 160;
    for (kinds, transfers) in [([150, 0], 600), ([120, 40], 500)] {
        let least = |seed: u64| {
            let day = SyntheticDay::random(seed, kinds, transfers, &[]);
            // Of what detection finds, and of each pair whatever detection thinks of it.
            let findings = day.findings();
            let clusters = findings.clusters.iter().map(|cluster| cluster.chance);
            let of_clusters = clusters.fold(1.0, f64::min);
            let vertices: Vec<u32> = (0..day.entities.len()).collect();
            let of_all = day.with_chance(|chance| chance.of(&vertices).0);
            (of_clusters, of_all)
        };
        let all: Vec<(f64, f64)> = (0..WINDOWS).map(|seed| least(seed + 1)).collect();
        for allowed in [NOISE, 0.2, 0.5] {
            let share = |of: fn(&(f64, f64)) -> f64| {
                all.iter().filter(|window| of(window) <= allowed).count() as f64 / WINDOWS as f64
            };
            // Three standard errors.
            let most = allowed + 3.0 * (allowed * (1.0 - allowed) / WINDOWS as f64).sqrt();
            let (clusters, whole) = (share(|w| w.0), share(|w| w.1));
            println!("{kinds:?}, {allowed}: clusters {clusters}, all {whole}, at most {most}");
            assert!(clusters <= most && whole <= most, "{clusters} and {whole} of {allowed}");
        }
    }
}

/// And a ring that transfers in secret is none, whatever else there is.
#[test]
fn a_ring_is_no_noise() {
    let ring: Vec<(u32, u32)> = (150..156).flat_map(|a| (150..a).map(move |b| (a, b))).collect();
    let ring = ring.repeat(2);
    for seed in 0..20 {
        let day = SyntheticDay::random(seed + 99, [156, 0], 600, &ring);
        let findings = day.findings();
        let members = |id| findings.members.iter().filter(move |member| member.cluster == id);
        let found = findings
            .clusters
            .iter()
            .find(|cluster| members(cluster.id).filter(|member| member.vertex >= 150).count() >= 3);
        let found = found.expect("the ring");
        assert!(found.chance < NOISE, "{found:?}");
        assert!(
            found.why.transactions >= 8 && 2.0 * found.why.expected < found.why.transactions as f64,
            "{found:?}"
        );
    }
}

/// A large ring is far beyond what doubles hold.
#[test]
fn chances_far_below_all_numbers_are_0_and_not_noise() {
    let ring: Vec<(u32, u32)> = (0..60).flat_map(|a| (0..a).map(move |b| (a, b))).collect();
    let mut transfers = ring.repeat(4);
    transfers.extend((0..20_000).map(|i| (60 + i % 10_000, 60 + (i * 13 + 7) % 10_000)));
    let day = SyntheticDay::of(entities([10_060, 0]), &transfers);
    let members: Vec<u32> = (0..60).collect();
    assert_eq!(day.with_chance(|chance| chance.of(&members).0), 0.0);
}
