//! A market's graph, drawn on a device shard by shard: the bits of [`Market::shard`].
//!
//! # Algorithm
//! Every end of a transaction that is in the shard has a thread (`draw.cuh`), which computes whose it is and who
//! is at the other end, from the market's tables alone. First ends are counted by their vertex, which gives where
//! lists begin (`sums.cuh`); then they are computed once more, each put where the next one of its vertex goes. Lists
//! come in any order, and are sorted: 2048 arcs at a time by a bitonic network, whoever's they are, and what of one
//! list is in several of these tiles is merged (`sort.cuh`), so that nobody has more to do for a hub. Neighbours that
//! are then one behind the other are kept once, and how many they were is the weight (`keep.cuh`).
//!
//! # Memory
//! Of the device, 12 bytes for each arc of the shard (as [`Market::most_arcs`] counts them; where half of the buyers
//! are in rings, up to twice as much), 4 bytes a vertex, and a megabyte and a half of tables: [`DeviceMarket::plan`]. It is
//! kept from shard to shard. Of the host, the shard.
//!
//! # Determinism
//! Integers alone. The order in which ends are put into a list is the only thing that differs from run to run, and
//! sorting leaves nothing of it.
//!
//! ```no_run
//! use ripplet_cuda::generate::DeviceMarket;
//! use ripplet_cuda::{CudaDevice, DeviceExecutor};
//! use ripplet_graph::generate::Transactions;
//!
//! let market = Transactions::new(10, 0.01).market()?;
//! let executor = DeviceExecutor::new(CudaDevice::new(0)?);
//! let mut drawn = DeviceMarket::new(&executor, &market)?;
//! let ranges = market.shard_ranges(1 << 24)?;
//! drawn.make_room(&ranges)?;
//! for range in ranges {
//!     assert!(drawn.shard(range.clone(), &())? == market.shard(range)?);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod layout;
mod run;
mod source;

pub use run::Steps;
pub use source::source;

use crate::device::Device;
use crate::lp::{DeviceExecutor, failed};
use layout::{Layout, Ring, Shape, Tables};
use ripplet_analytics::Observer;
use ripplet_graph::generate::{GenerateError, Market};
use ripplet_graph::{Graph, MAX_SHARD_ARCS, Shard, VertexId, memory};
use ripplet_lp::{Plan, RunError};
use run::{Pace, Run};
use std::ops::Range;
use std::time::Instant;
use thiserror::Error;

/// A market whose shards are drawn on an executor's device, within its memory.
pub struct DeviceMarket<'a, D: Device> {
    executor: &'a DeviceExecutor<D>,
    market: &'a Market,
    tables: Tables<'a>,
    module: D::Module,
    room: Option<Room<D::Memory>>,
}

/// Memory that is kept from shard to shard, with the tables in it.
struct Room<M> {
    memory: M,
    bytes: u64,
}

/// Why a shard is not drawn.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum DrawError {
    /// The market refuses, as [`Market::shard`] does.
    #[error(transparent)]
    Market(#[from] GenerateError),
    /// The device refuses, or the observer cancels.
    #[error(transparent)]
    Device(#[from] RunError),
}

/// Where the time of a shard goes, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// What drawing takes on the device.
    pub steps: Steps,
    /// What bringing the lists back takes.
    pub transfer: f64,
}

impl<'a, D: Device> DeviceMarket<'a, D> {
    /// Compiles the kernels, or finds them compiled.
    ///
    /// # Errors
    /// Where the device fails.
    pub fn new(executor: &'a DeviceExecutor<D>, market: &'a Market) -> Result<Self, RunError> {
        let module = executor.device().load(&source()).map_err(failed)?;
        Ok(DeviceMarket {
            executor,
            market,
            tables: Tables::new(market.tables()),
            module,
            room: None,
        })
    }

    /// The memory that drawing a shard will need: of the device, the shard's own is the graph's.
    ///
    /// Cost: of each ring that is near, a look.
    ///
    /// # Errors
    /// Where the market refuses the range, or no device draws as much at a time.
    pub fn plan(&self, vertices: &Range<VertexId>) -> Result<Plan, DrawError> {
        Ok(self.layout(&Shape::new(self.market, vertices)?).plan)
    }

    fn layout(&self, shape: &Shape) -> Layout {
        Layout::new(&self.tables, shape)
    }

    /// Makes room for the largest of these shards, before the first is drawn.
    ///
    /// # Errors
    /// Where the market refuses a range; [`RunError::DeviceMemory`] where one does not fit; and where the device
    /// fails.
    pub fn make_room(&mut self, ranges: &[Range<VertexId>]) -> Result<(), DrawError> {
        let mut largest: Option<Layout> = None;
        for range in ranges {
            let layout = self.layout(&Shape::new(self.market, range)?);
            if largest.as_ref().is_none_or(|largest| largest.bytes < layout.bytes) {
                largest = Some(layout);
            }
        }
        if let Some(largest) = largest {
            self.room = Some(self.room_for(&largest)?);
        }
        Ok(())
    }

    /// The memory that is there where it does, or as much as it takes, with the tables in it.
    fn room_for(&mut self, layout: &Layout) -> Result<Room<D::Memory>, RunError> {
        let bytes = layout.bytes;
        // What does not do is given back before: both need not fit.
        if let Some(room) = self.room.take().filter(|room| room.bytes >= bytes) {
            return Ok(room);
        }
        self.executor.check_memory(&layout.plan)?;
        let device = self.executor.device();
        let memory = device.reserve(bytes).map_err(failed)?;
        for (place, bytes) in layout.uploads(&self.tables) {
            device.write(&memory, place.start, bytes).map_err(failed)?;
        }
        Ok(Room { memory, bytes })
    }

    /// The lists of a range of vertices: what [`Market::shard`] gives.
    ///
    /// # Errors
    /// Where the market refuses the range, it does not fit the device's memory or the host's, the device fails, or the
    /// observer cancels.
    pub fn shard(
        &mut self,
        vertices: Range<VertexId>,
        observer: &dyn Observer,
    ) -> Result<Shard, DrawError> {
        self.drawn(&vertices, observer, None)
    }

    /// The same, and where the time goes. Each kernel is waited for.
    ///
    /// # Errors
    /// As [`DeviceMarket::shard`].
    pub fn profile(&mut self, vertices: Range<VertexId>) -> Result<(Shard, Profile), DrawError> {
        let mut profile = Profile::default();
        let shard = self.drawn(&vertices, &(), Some(&mut profile))?;
        Ok((shard, profile))
    }

    fn drawn(
        &mut self,
        vertices: &Range<VertexId>,
        observer: &dyn Observer,
        profile: Option<&mut Profile>,
    ) -> Result<Shard, DrawError> {
        let shape = Shape::new(self.market, vertices)?;
        if vertices.is_empty() {
            return Ok(self.market.shard(vertices.clone())?);
        }
        let layout = self.layout(&shape);
        let room = self.room_for(&layout)?;
        let memory = &room.memory;
        let device = self.executor.device();
        let refused = |error: memory::OutOfMemory| GenerateError::OutOfMemory {
            rows: shape.most_kept,
            bytes: error.bytes,
        };
        let mut rings: Vec<Ring> = Vec::new();
        for ring in layout::rings_of(self.market, vertices) {
            memory::push(&mut rings, ring).map_err(refused)?;
        }
        let stubs = bytemuck::cast_slice(&shape.stubs);
        device.write(memory, layout.stubs.start, stubs).map_err(failed)?;
        device.write(memory, layout.rings.start, bytemuck::cast_slice(&rings)).map_err(failed)?;
        let (module, layout, shape) = (&self.module, &layout, &shape);
        let run = Run { device, module, memory, layout, shape, observer };
        let is_weighted = self.tables.is_weighted();
        let shard = match profile {
            None => run.bring(&run.draw(&self.tables, Pace::Usual)?, is_weighted)?,
            Some(Profile { steps, transfer }) => {
                let state = run.draw(&self.tables, Pace::Timed(steps))?;
                let start = Instant::now();
                let shard = run.bring(&state, is_weighted)?;
                *transfer = start.elapsed().as_secs_f64();
                shard
            }
        };
        self.room = Some(room);
        Ok(shard)
    }

    /// The graph, in the host's memory, of shards as large as can be: what [`Market::graph`] gives.
    ///
    /// # Errors
    /// As [`DeviceMarket::shard`].
    pub fn graph(&mut self, observer: &dyn Observer) -> Result<Graph, DrawError> {
        let market = self.market;
        self.make_room(&market.shard_ranges(MAX_SHARD_ARCS)?)?;
        market.graph_of(|range| self.shard(range, observer))
    }
}
