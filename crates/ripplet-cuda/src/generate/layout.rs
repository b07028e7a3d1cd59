//! What drawing a shard keeps on a device, and where.

use super::DrawError;
use crate::device::Address;
use crate::places::Places;
use crate::text;
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::generate::{CrowdTables, Market, MarketTables, Permutation, RingTable};
use ripplet_lp::{Plan, RunError};
use std::ops::Range;

/// Threads of a block, and arcs or vertices that it looks at, as in `state.cuh`.
pub const BLOCK: u32 = 256;
pub const TILE: u64 = 2048;
/// Bytes that `sort_tile` has a key in, for each arc of a tile.
const KEY: u64 = 8;
/// Words of shared memory that `block_sum_before` and `Firsts` take.
const SUM_WORDS: u64 = BLOCK as u64 / 32;
const FIRSTS_WORDS: u64 = 2 * TILE / 32;
/// Shared memory of blocks that sort, and of others.
pub const SHARED_OF_SORT: u32 = (KEY * TILE + 4 * FIRSTS_WORDS) as u32;
pub const SHARED: u32 = (4 * (SUM_WORDS + FIRSTS_WORDS)) as u32;
/// Pairs that a ring has threads for, as there.
pub const PAIRS: u64 = (RingTable::MOST_BUYERS * RingTable::MOST_ITEMS) as u64;
/// No place among arcs is higher than this.
const MOST_DRAWN: u64 = u32::MAX as u64;

/// As `Divisor` in `state.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Divisor {
    by: u64,
    reciprocal: u64,
}

/// As `Day` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Day {
    gap: u64,
    offset: u64,
    first: u32,
    newcomers: u32,
}

/// As `Crowd` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Crowd {
    before: Address,
    guide: Address,
    days: Address,
    block: Divisor,
    bits: u32,
    step: u32,
    first: u32,
    padding: u32,
}

/// As `Permutation` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Pairing {
    count: u64,
    mask: u64,
    keys: [u64; Permutation::ROUNDS],
    inverses: [u64; Permutation::ROUNDS],
    shift: u32,
    padding: u32,
}

/// As `Stubs` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Stubs {
    before: u64,
    first: u64,
    side: u32,
    day: u32,
}

/// As `Ring` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Ring {
    key: u64,
    chance: u64,
    first_day: u32,
    end_day: u32,
    buyers: u32,
    items: u32,
    members: [u32; RingTable::MOST_MEMBERS],
}

/// As `Totals` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct Totals {
    pub arcs: u32,
    pub kept: u32,
    pub passes: u32,
    padding: u32,
}

/// As `State` there.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct State {
    crowds: [Crowd; 2],
    pairings: Address,
    stubs: Address,
    rings: Address,
    begins: Address,
    lists: Address,
    spare: Address,
    neighbors: Address,
    sums: Address,
    owners: Address,
    totals: Address,
    pub stub_count: u64,
    stub_ranges: u32,
    pub ring_count: u32,
    first: u32,
    pub vertices: u32,
    pub arcs: u32,
    pub tiles: u32,
    pub kept: u32,
    pub pass: u32,
}

/// Text that does not compile where the kernels' structs are not of the sizes that they have here.
pub fn checks() -> String {
    let sizes = [
        ("Divisor", size_of::<Divisor>()),
        ("Day", size_of::<Day>()),
        ("Crowd", size_of::<Crowd>()),
        ("Permutation", size_of::<Pairing>()),
        ("Stubs", size_of::<Stubs>()),
        ("Ring", size_of::<Ring>()),
        ("Totals", size_of::<Totals>()),
        ("State", size_of::<State>()),
    ];
    let constants = [
        ("BLOCK", u64::from(BLOCK)),
        ("TILE", TILE),
        ("TILE_WORDS", TILE / 32),
        ("ROUNDS", Permutation::ROUNDS as u64),
        ("MOST_BUYERS", u64::from(RingTable::MOST_BUYERS)),
        ("MOST_ITEMS", u64::from(RingTable::MOST_ITEMS)),
        ("PAIRS", PAIRS),
    ];
    text::sizes_are(sizes) + &text::constants_are(constants)
}

/// The tables of a market, as they are on a device.
pub struct Tables<'a> {
    of: MarketTables<'a>,
    pub days: [Vec<Day>; 2],
    pub pairings: Vec<Pairing>,
}

impl<'a> Tables<'a> {
    pub fn new(of: MarketTables<'a>) -> Tables<'a> {
        let days = |crowd: &CrowdTables<'_>| {
            let days = crowd.days.iter().map(|day| Day {
                gap: day.gap,
                offset: day.offset,
                first: day.newcomers.start,
                newcomers: day.newcomers.len() as u32,
            });
            days.collect()
        };
        let pairing = |from: &Permutation| {
            let Permutation { count, mask, shift, keys, inverses } = *from;
            Pairing { count, mask, keys, inverses, shift, padding: 0 }
        };
        Tables {
            days: [days(&of.crowds[0]), days(&of.crowds[1])],
            pairings: of.pairings.iter().map(pairing).collect(),
            of,
        }
    }

    pub fn is_weighted(&self) -> bool {
        self.of.is_weighted
    }

    fn crowd(&self, side: usize, places: &CrowdPlaces, base: Address) -> Crowd {
        let CrowdTables { first, block, bits, step, .. } = self.of.crowds[side];
        Crowd {
            before: base.plus(places.before.start),
            guide: base.plus(places.guide.start),
            days: base.plus(places.days.start),
            block: Divisor { by: block.by, reciprocal: block.reciprocal },
            bits,
            step,
            first,
            padding: 0,
        }
    }
}

/// Where a crowd's tables are.
#[derive(Clone, Debug, Default)]
struct CrowdPlaces {
    before: Range<u64>,
    guide: Range<u64>,
    days: Range<u64>,
}

/// Where the tables are: at the beginning, whatever the shard.
#[derive(Clone, Debug, Default)]
struct TablePlaces {
    crowds: [CrowdPlaces; 2],
    pairings: Range<u64>,
}

impl TablePlaces {
    fn new(places: &mut Places, tables: &Tables<'_>) -> TablePlaces {
        let mut crowd = |side: usize| {
            let of = &tables.of.crowds[side];
            CrowdPlaces {
                before: places.take(4, of.before.len() as u64),
                guide: places.take(2, of.guide.len() as u64),
                days: places.take(size_of::<Day>() as u64, of.days.len() as u64),
            }
        };
        let crowds = [crowd(0), crowd(1)];
        let pairings = places.take(size_of::<Pairing>() as u64, tables.pairings.len() as u64);
        TablePlaces { crowds, pairings }
    }
}

/// What is drawn for a shard.
pub struct Shape {
    pub vertices: Range<VertexId>,
    pub stubs: Vec<Stubs>,
    stub_count: u64,
    rings: u64,
    /// No more arcs are drawn, and no more are kept.
    pub most_drawn: u64,
    pub most_kept: u64,
}

impl Shape {
    /// What is drawn for these vertices.
    ///
    /// # Errors
    /// Where the market refuses the range, or it may have more arcs than have numbers.
    pub fn new(market: &Market, vertices: &Range<VertexId>) -> Result<Shape, DrawError> {
        let most_kept = market.most_arcs(vertices)?;
        let mut stub_count = 0;
        let stubs = market.stubs_of(vertices).into_iter().map(|of| {
            let (before, first) = (stub_count, of.stubs.start);
            stub_count += of.stubs.end - first;
            Stubs { before, first, side: of.side as u32, day: of.day as u32 }
        });
        let stubs = stubs.collect();
        let near = market.rings_near(vertices);
        let rings = near.iter().map(|near| near.len() as u64).sum();
        // A sale's buyer may be in the shard, and its item.
        let has = [vertices.start < market.buyers(), vertices.end > market.buyers()];
        let ends = has.map(u64::from).iter().sum::<u64>();
        let tables = near.into_par_iter().flatten().filter_map(|ring| market.ring_table(ring));
        let most_drawn = stub_count + tables.map(|ring| ends * ring.most_sales()).sum::<u64>();
        if most_drawn > MOST_DRAWN {
            return Err(DrawError::Device(RunError::Device(format!(
                "a GPU draws {MOST_DRAWN} arcs at a time, and the lists of the vertices from {} to {} may \
                 take {most_drawn} before each neighbour is there once; draw smaller shards",
                vertices.start, vertices.end
            ))));
        }
        Ok(Shape { vertices: vertices.clone(), stubs, stub_count, rings, most_drawn, most_kept })
    }
}

/// Where everything is, as offsets into one block of memory.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    tables: TablePlaces,
    pub stubs: Range<u64>,
    pub rings: Range<u64>,
    pub begins: Range<u64>,
    pub lists: Range<u64>,
    spare: Range<u64>,
    pub neighbors: Range<u64>,
    sums: Range<u64>,
    owners: Range<u64>,
    pub totals: Range<u64>,
    /// All bytes.
    pub bytes: u64,
    pub plan: Plan,
}

impl Layout {
    pub fn new(tables: &Tables<'_>, shape: &Shape) -> Layout {
        let mut places = Places::default();
        let mut to = Layout { tables: TablePlaces::new(&mut places, tables), ..Layout::default() };
        let vertices = shape.vertices.len() as u64;
        to.stubs = places.take(size_of::<Stubs>() as u64, shape.stubs.len() as u64);
        to.rings = places.take(size_of::<Ring>() as u64, shape.rings);
        to.totals = places.take(size_of::<Totals>() as u64, 1);
        let most_tiles = vertices.max(shape.most_drawn).div_ceil(TILE);
        to.sums = places.take(4, most_tiles);
        to.owners = places.take(4, shape.most_drawn.div_ceil(TILE) + 1);
        let own = places.bytes;
        to.begins = places.take(4, vertices + 1);
        to.lists = places.take(4, shape.most_drawn);
        to.neighbors = places.take(4, shape.most_kept);
        let shard = places.bytes - own;
        to.spare = places.take(4, shape.most_drawn);
        to.bytes = places.bytes;
        let host = 4 * (vertices + 1) + shape.most_kept * if tables.is_weighted() { 8 } else { 4 };
        to.plan = Plan { graph_device: shard, ..Plan::default() }
            .with("the shard", host)
            .with_device("tables, rings, tiles", own)
            .with_device("lists that are merged", to.bytes - own - shard);
        to
    }

    /// The tables, with their places.
    pub fn uploads<'t>(&self, tables: &'t Tables<'_>) -> [(Range<u64>, &'t [u8]); 7] {
        let place = |side: usize| self.tables.crowds[side].clone();
        let before = |side: usize| {
            (place(side).before, bytemuck::cast_slice::<u32, u8>(tables.of.crowds[side].before))
        };
        let guide = |side: usize| {
            (place(side).guide, bytemuck::cast_slice::<u16, u8>(tables.of.crowds[side].guide))
        };
        let days = |side: usize| (place(side).days, bytemuck::cast_slice(&tables.days[side]));
        let pairings = (self.tables.pairings.clone(), bytemuck::cast_slice(&tables.pairings));
        [before(0), guide(0), days(0), before(1), guide(1), days(1), pairings]
    }

    /// The addresses where the memory begins at `base`.
    pub fn state(&self, base: Address, tables: &Tables<'_>, shape: &Shape) -> State {
        let at = |range: &Range<u64>| base.plus(range.start);
        let crowd = |side: usize| tables.crowd(side, &self.tables.crowds[side], base);
        State {
            crowds: [crowd(0), crowd(1)],
            pairings: at(&self.tables.pairings),
            stubs: at(&self.stubs),
            rings: at(&self.rings),
            begins: at(&self.begins),
            lists: at(&self.lists),
            spare: at(&self.spare),
            neighbors: at(&self.neighbors),
            sums: at(&self.sums),
            owners: at(&self.owners),
            totals: at(&self.totals),
            stub_count: shape.stub_count,
            stub_ranges: shape.stubs.len() as u32,
            ring_count: shape.rings as u32,
            first: shape.vertices.start,
            vertices: shape.vertices.len() as u32,
            ..State::default()
        }
    }
}

/// The rings near some vertices, as they are on a device.
pub fn rings_of(market: &Market, vertices: &Range<VertexId>) -> impl Iterator<Item = Ring> {
    let near = market.rings_near(vertices).into_iter().flatten();
    near.filter_map(|number| market.ring_table(number)).map(|table| {
        let RingTable { members, buyers, items, ref days, key, chance } = table;
        let (first_day, end_day) = (days.start, days.end);
        Ring { key, chance, first_day, end_day, buyers, items, members }
    })
}
