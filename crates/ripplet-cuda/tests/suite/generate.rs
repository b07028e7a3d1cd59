//! Markets that are drawn on a device: the bits of the CPU, whose suite compares them from both ends.

use crate::machines::{gpu, is_thorough, on_gpu};
use ripplet_analytics::Observer;
use ripplet_cuda::device::Device;
use ripplet_cuda::generate::{DeviceMarket, DrawError};
use ripplet_cuda::shim::ShimDevice;
use ripplet_cuda::{CudaDevice, DeviceExecutor};
use ripplet_graph::Shard;
use ripplet_graph::generate::{GenerateError, Market, Transactions};
use ripplet_lp::RunError;
use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// Arcs that a tile has, as in `state.cuh`.
const TILE: usize = 2048;

/// A market on a GPU, or on the shim with threads in an order that `order` draws.
enum Drawn<'a> {
    Gpu(DeviceMarket<'a, CudaDevice>),
    Shim(DeviceMarket<'a, ShimDevice>),
}

impl Drawn<'_> {
    fn shard(&mut self, range: Range<u32>) -> Shard {
        self.shard_watched(range, &()).unwrap()
    }

    fn shard_watched(
        &mut self,
        range: Range<u32>,
        observer: &dyn Observer,
    ) -> Result<Shard, DrawError> {
        match self {
            Drawn::Gpu(market) => market.shard(range, observer),
            Drawn::Shim(market) => market.shard(range, observer),
        }
    }

    fn make_room(&mut self, ranges: &[Range<u32>]) {
        let made = match self {
            Drawn::Gpu(market) => market.make_room(ranges),
            Drawn::Shim(market) => market.make_room(ranges),
        };
        made.unwrap();
    }
}

/// Does `work` with a market on a device.
fn on_device(market: &Market, order: u64, work: impl FnOnce(Drawn<'_>)) {
    if on_gpu() {
        let executor = gpu(Default::default());
        work(Drawn::Gpu(DeviceMarket::new(executor, market).unwrap()));
    } else {
        let executor = DeviceExecutor::new(ShimDevice::with_order(order));
        work(Drawn::Shim(DeviceMarket::new(&executor, market).unwrap()));
    }
}

/// Draws these ranges, one after the other, and compares each with the CPU's.
fn check(of: &Transactions, order: u64, ranges: &[Range<u32>]) {
    let market = of.market().unwrap();
    on_device(&market, order, |mut drawn| {
        for range in ranges {
            let expected = market.shard(range.clone()).unwrap();
            assert!(drawn.shard(range.clone()) == expected, "{of:?}, {range:?}, {order}");
        }
    });
}

/// The shares of the paper's sizes that a device draws whole.
fn scale(small: f64) -> f64 {
    if is_thorough() { 200.0 * small } else { small }
}

/// All vertices; buyers or items alone; both; one, the first and the last; and none.
fn ranges(of: &Transactions) -> Vec<Range<u32>> {
    let market = of.market().unwrap();
    let (all, buyers) = (market.vertices(), market.buyers());
    vec![
        0..all,
        0..buyers,
        buyers..all,
        buyers - 37..buyers + 41,
        13..buyers / 2 + 1,
        0..1,
        buyers..buyers + 1,
        all - 1..all,
        5..5,
        all..all,
    ]
}

#[test]
fn shards_are_those_of_the_cpu_for_any_days_and_rings() {
    for (number, (days, ring_share)) in
        [(1, 0.01), (10, 0.0), (10, 0.5), (37, 0.2), (100, 0.01)].into_iter().enumerate()
    {
        let order = number as u64 % 3;
        let of = Transactions { ring_share, seed: order, ..Transactions::new(days, scale(2e-6)) };
        let weighted = number % 2 == 0;
        check(&Transactions { weighted, ..of.clone() }, order, &ranges(&of));
        let of = Transactions { weighted: !weighted, seed: 9, ..of };
        check(&of, order + 1, &ranges(&of)[..2]);
    }
}

#[test]
fn shards_follow_one_another() {
    let of = Transactions::new(20, scale(3e-6));
    let market = of.market().unwrap();
    for arcs in [1000, 12_345] {
        let ranges = market.shard_ranges((scale(1.0) as u64) * arcs).unwrap();
        let mut next = 0;
        on_device(&market, arcs, |mut drawn| {
            drawn.make_room(&ranges);
            for range in &ranges {
                assert_eq!(std::mem::replace(&mut next, range.end), range.start);
                assert!(drawn.shard(range.clone()) == market.shard(range.clone()).unwrap());
            }
        });
        assert_eq!(next, market.vertices());
    }
}

/// Lists of many tiles, whose parts are merged pass by pass, with many arcs of one edge.
#[test]
fn hubs_are_merged() {
    let of = Transactions { item_exponent: 1.8, ..Transactions::new(60, 1e-4) };
    let market = of.market().unwrap();
    let (all, buyers) = (market.vertices(), market.buyers());
    let expected = market.shard(buyers..all).unwrap();
    let (offsets, weights) = (expected.out().offsets(), expected.out().weights().unwrap());
    let drawn = |two: &[u32]| -> u64 {
        weights[two[0] as usize..two[1] as usize].iter().map(|&weight| u64::from(weight)).sum()
    };
    let lists = buyers..;
    let (longest, hub) = offsets.windows(2).map(drawn).zip(lists).max().unwrap();
    assert!(longest > 9 * TILE as u64, "{longest} arcs in the longest list");
    assert!(weights.iter().any(|&weight| weight > 2));
    let near = |least: u32| hub.saturating_sub(40).max(least)..(hub + 40).min(all);
    let ranges = if is_thorough() { [0..all, hub..hub + 1] } else { [near(buyers), hub..hub + 1] };
    for order in 0..2 {
        check(&of, order, &ranges);
    }
}

/// Lists from anywhere of the paper's own sizes, and more: numbers beyond 32 bits.
#[test]
fn large_markets() {
    for (days, scale) in [(10, 1.0), (100, 1.0), (100, 4.2)] {
        let of = Transactions::new(days, scale);
        let market = of.market().unwrap();
        let (all, buyers) = (market.vertices(), market.buyers());
        let firsts = [0, 70_001, buyers - 10, buyers, all - 20];
        check(&of, 1, &firsts.map(|first| first..first + 20));
    }
}

#[test]
fn a_graph_is_that_of_the_cpu() {
    let market = Transactions::new(5, 1e-6).market().unwrap();
    on_device(&market, 1, |drawn| {
        let graph = match drawn {
            Drawn::Gpu(mut drawn) => drawn.graph(&()),
            Drawn::Shim(mut drawn) => drawn.graph(&()),
        };
        assert!(graph.unwrap() == market.graph().unwrap());
    });
}

#[test]
fn it_takes_what_is_planned_and_no_more() {
    let of = Transactions { ring_share: 0.3, ..Transactions::new(8, 2e-6) };
    let market = of.market().unwrap();
    let all = 0..market.vertices();
    let roomy = DeviceExecutor::new(ShimDevice::new());
    let plan = DeviceMarket::new(&roomy, &market).unwrap().plan(&all).unwrap();
    let needed = plan.total_device();
    let with = |bytes| DeviceExecutor::new(ShimDevice::new().with_memory(bytes));
    let enough = with(needed);
    let mut drawn = DeviceMarket::new(&enough, &market).unwrap();
    // Small ones first: what they took is given back before more is asked for.
    for range in [3..4, 0..market.buyers(), all.clone()] {
        assert!(drawn.shard(range.clone(), &()).unwrap() == market.shard(range).unwrap());
    }
    assert_eq!(enough.device().free_memory(), Ok(0));
    drop(drawn);
    assert_eq!(enough.device().free_memory(), Ok(needed));

    let (short, limited) = (with(needed - 1), roomy.with_memory(Some(1000)));
    for (executor, room, limited) in [(&short, needed - 1, false), (&limited, 1000, true)] {
        let mut drawn = DeviceMarket::new(executor, &market).unwrap();
        let refused = DrawError::Device(RunError::DeviceMemory {
            device: "shim".to_owned(),
            needed,
            graph: plan.graph_device,
            room,
            limited,
        });
        assert_eq!(drawn.make_room(&[0..1, all.clone(), 5..9]), Err(refused.clone()));
        assert_eq!(drawn.shard(all.clone(), &()), Err(refused));
    }
}

/// Twelve bytes an arc, where rings are as usual.
#[test]
fn it_takes_twelve_bytes_an_arc() {
    let executor = DeviceExecutor::new(ShimDevice::new());
    for days in [10, 100] {
        let market = Transactions::new(days, 0.01).market().unwrap();
        let drawn = DeviceMarket::new(&executor, &market).unwrap();
        for range in market.shard_ranges(1 << 25).unwrap() {
            let arcs = market.most_arcs(&range).unwrap() as f64;
            let bytes = drawn.plan(&range).unwrap().total_device() as f64;
            let own = bytes - 12.0 * arcs - 4.0 * range.len() as f64;
            assert!(own < 0.06 * bytes + 3e6, "{days} days: {own} of {bytes} bytes");
        }
    }
}

#[test]
fn what_is_no_range_is_refused_as_by_the_cpu() {
    let market = Transactions::new(10, 1e-6).market().unwrap();
    let executor = DeviceExecutor::new(ShimDevice::new());
    let mut drawn = DeviceMarket::new(&executor, &market).unwrap();
    let all = market.vertices();
    for range in [0..all + 1, all + 1..all + 1, Range { start: 9, end: 3 }] {
        let expected = market.shard(range.clone()).unwrap_err();
        let refused = drawn.shard(range.clone(), &());
        assert_eq!(refused, Err(DrawError::Market(expected.clone())), "{range:?}");
        assert_eq!(drawn.plan(&range), Err(DrawError::Market(expected)));
    }
    let market = Transactions::new(100, 1.0).market().unwrap();
    let mut drawn = DeviceMarket::new(&executor, &market).unwrap();
    let refused = drawn.shard(0..market.vertices(), &());
    assert!(matches!(refused, Err(DrawError::Market(GenerateError::Parameter { .. }))));
    // The largest shards of a market, half of whose buyers are in rings, have too many arcs before each is there once.
    let of = Transactions { ring_share: 0.5, ..Transactions::new(10, 4.0) };
    let market = of.market().unwrap();
    let mut drawn = DeviceMarket::new(&executor, &market).unwrap();
    let refused = drawn.make_room(&market.shard_ranges(u64::MAX).unwrap()[..1]);
    let Err(DrawError::Device(RunError::Device(sentence))) = refused else {
        panic!("{refused:?}");
    };
    assert!(sentence.contains("4294967295 arcs at a time"), "{sentence}");
}

/// Cancels when it was asked so often.
struct Impatient {
    patience: usize,
    asked: AtomicUsize,
}

impl Observer for Impatient {
    fn is_cancelled(&self) -> bool {
        self.asked.fetch_add(1, Relaxed) >= self.patience
    }
}

#[test]
fn a_shard_can_be_ended_and_drawn_again() {
    let market = Transactions::new(10, 1e-6).market().unwrap();
    let all = 0..market.vertices();
    let expected = market.shard(all.clone()).unwrap();
    let watch = |patience| Impatient { patience, asked: AtomicUsize::new(0) };
    on_device(&market, 0, |mut drawn| {
        let counting = watch(usize::MAX);
        assert!(drawn.shard_watched(all.clone(), &counting).unwrap() == expected);
        let asked = counting.asked.load(Relaxed);
        assert!(asked > 12, "{asked}");
        for patience in [0, asked / 2, asked - 1] {
            let ended = drawn.shard_watched(all.clone(), &watch(patience));
            assert_eq!(ended, Err(DrawError::Device(RunError::Cancelled)));
            assert!(drawn.shard(all.clone()) == expected);
        }
    });
}

#[test]
fn a_device_that_is_lost_is_an_error() {
    let market = Transactions::new(10, 1e-6).market().unwrap();
    for launches in [0, 4, 9, 14] {
        let executor = DeviceExecutor::new(ShimDevice::new().lost_after(launches));
        let mut drawn = DeviceMarket::new(&executor, &market).unwrap();
        let lost = drawn.shard(0..market.vertices(), &());
        assert!(matches!(lost, Err(DrawError::Device(RunError::Device(_)))), "{launches}");
    }
}

#[test]
fn steps_are_measured() {
    let market = Transactions::new(10, 1e-6).market().unwrap();
    let executor = DeviceExecutor::new(ShimDevice::new());
    let mut drawn = DeviceMarket::new(&executor, &market).unwrap();
    let (shard, profile) = drawn.profile(0..market.vertices()).unwrap();
    assert!(shard == market.shard(0..market.vertices()).unwrap());
    for step in ["count_stubs", "place_stubs", "sort_tiles", "list_kept", "weigh"] {
        let name = format!("ripplet_{step}");
        assert!(profile.steps.iter().any(|(kernel, _)| *kernel == name), "{:?}", profile.steps);
    }
    assert!(profile.transfer > 0.0);
}
