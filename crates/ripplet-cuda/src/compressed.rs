//! Compressed lists on a device: benchmarks of decoding beside reading plain lists.
//!
//! `kernels/compressed/lists.cuh` decodes what [`ripplet_graph::compressed`] encodes, in a lane or
//! a warp, into registers. The kernels of this module do the least possible with the result, so
//! that decoding dominates: they sum the labels of each vertex's neighbours.

use crate::lists::Compressed;
use bytemuck::{Pod, Zeroable};
use ripplet_gpu::text;
use ripplet_gpu::{Address, Arena, Device, DeviceError, Launch, Source};
use ripplet_graph::Neighbors;
use ripplet_graph::compressed::{CompressedAdjacency, SEGMENT};
use ripplet_hooks::cpp;
use std::ops::Range;

/// Threads per block, as in `sums.cuh`.
const THREADS: u32 = 256;

/// Argument of the kernels: `Sums` in `sums.cuh`.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
struct Sums {
    lists: Compressed,
    offsets: Address,
    neighbors: Address,
    labels: Address,
    sums: Address,
    decoded: Address,
    pieces: Address,
    piece_count: u32,
    long_from: u32,
}

/// Which of the lists to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lists {
    /// The plain lists.
    Plain,
    /// The compressed lists.
    Compressed,
}

/// A shard's lists of one direction, plain and compressed, on a device.
pub struct DeviceLists<'a, D: Device> {
    device: &'a D,
    module: D::Module,
    memory: D::Memory,
    vertices: u32,
    sums: Range<u64>,
    decoded: Range<u64>,
    argument: Sums,
}

/// Returns the source of the kernels.
#[must_use]
pub fn source() -> Source {
    let sizes = text::sizes_are([("Sums", size_of::<Sums>())]);
    let text = text::joined([
        ("scalar.cuh", cpp::SCALAR),
        ("platform.cuh", ripplet_gpu::PLATFORM),
        ("lists.cuh", include_str!("../kernels/compressed/lists.cuh")),
        ("sums.cuh", include_str!("../kernels/compressed/sums.cuh")),
        ("sizes", &sizes),
    ]);
    Source { name: "compressed lists".into(), text }
}

/// Returns the segments, as vertex and index, of the lists that have several.
fn pieces(lists: Neighbors<'_>) -> Vec<[u32; 2]> {
    let degrees = lists.offsets().windows(2).map(|pair| pair[1] - pair[0]);
    let several = (0..).zip(degrees).filter(|(_, degree)| *degree > SEGMENT as u32);
    several
        .flat_map(|(v, degree)| (0..degree.div_ceil(SEGMENT as u32)).map(move |at| [v, at]))
        .collect()
}

impl<'a, D: Device> DeviceLists<'a, D> {
    /// Copies to the device: the lists of a graph's only shard, plain and compressed, and a label
    /// of each vertex.
    ///
    /// # Errors
    /// If the device refuses memory or fails. The other functions have the same errors.
    ///
    /// # Panics
    /// If the lists have different numbers of vertices, or there are more or fewer labels.
    pub fn new(
        device: &'a D,
        plain: Neighbors<'_>,
        compressed: &CompressedAdjacency,
        labels: &[u32],
    ) -> Result<Self, DeviceError> {
        let (offsets, vertices) = (plain.offsets(), compressed.vertices());
        assert_eq!(offsets.len(), vertices.len() + 1, "the same vertices");
        assert_eq!(labels.len(), vertices.len(), "a label of each vertex");
        let pieces = pieces(plain);
        let parts: [&[u8]; 6] = [
            bytemuck::cast_slice(compressed.begins()),
            bytemuck::cast_slice(compressed.words()),
            bytemuck::cast_slice(offsets),
            bytemuck::cast_slice(plain.neighbors()),
            bytemuck::cast_slice(labels),
            bytemuck::cast_slice(&pieces),
        ];
        let mut places = Arena::default();
        let at = parts.map(|bytes| places.take(1, bytes.len() as u64));
        let sums = places.take(8, vertices.len() as u64);
        let decoded = places.take(4, plain.neighbors().len() as u64);
        let memory = device.reserve(places.bytes)?;
        for (place, bytes) in at.iter().zip(parts) {
            device.write(&memory, place.start, bytes)?;
        }
        let base = device.address(&memory);
        let [begins, words, offsets, neighbors, labels, its_pieces] =
            at.map(|place| base.plus(place.start));
        let lists = Compressed::of(compressed, begins, words);
        let argument = Sums {
            lists,
            offsets,
            neighbors,
            labels,
            sums: base.plus(sums.start),
            decoded: base.plus(decoded.start),
            pieces: its_pieces,
            piece_count: pieces.len() as u32,
            ..Sums::default()
        };
        let (module, vertices) = (device.load(&source())?, vertices.len() as u32);
        Ok(DeviceLists { device, module, memory, vertices, sums, decoded, argument })
    }

    /// Returns the sum of each vertex's neighbours' labels, modulo 2⁶⁴. Lists of `long_from`
    /// neighbours or more are read by a whole warp, others by a lane.
    ///
    /// # Errors
    /// As for [`DeviceLists::new`].
    pub fn sums(&self, lists: Lists, long_from: u32) -> Result<Vec<u64>, DeviceError> {
        self.launch(lists, long_from, true)?;
        let mut sums = vec![0; self.vertices as usize];
        self.device.read(&self.memory, self.sums.start, bytemuck::cast_slice_mut(&mut sums))?;
        Ok(sums)
    }

    /// Returns the seconds that the sums take on the device. Without labels, neighbours themselves
    /// are summed, so that only lists are read.
    ///
    /// # Errors
    /// As for [`DeviceLists::new`].
    pub fn seconds(
        &self,
        lists: Lists,
        long_from: u32,
        with_labels: bool,
    ) -> Result<f64, DeviceError> {
        self.device.timed(&mut || self.launch(lists, long_from, with_labels))
    }

    /// Returns all neighbours, list after list, decoded on the device. Lists of `long_from`
    /// neighbours or more are decoded by a whole warp, others by a lane.
    ///
    /// # Errors
    /// As for [`DeviceLists::new`].
    pub fn decoded(&self, long_from: u32) -> Result<Vec<u32>, DeviceError> {
        self.launch_decoding(long_from)?;
        let mut neighbors = vec![0; (self.decoded.end - self.decoded.start) as usize / 4];
        self.device.read(
            &self.memory,
            self.decoded.start,
            bytemuck::cast_slice_mut(&mut neighbors),
        )?;
        Ok(neighbors)
    }

    /// Returns the seconds that decoding to memory takes on the device.
    ///
    /// # Errors
    /// As for [`DeviceLists::new`].
    pub fn seconds_to_decode(&self, long_from: u32) -> Result<f64, DeviceError> {
        self.device.timed(&mut || self.launch_decoding(long_from))
    }

    fn launch(&self, lists: Lists, long_from: u32, with_labels: bool) -> Result<(), DeviceError> {
        self.launch_kernel(
            match lists {
                Lists::Plain => "ripplet_sum_plain",
                Lists::Compressed => "ripplet_sum_compressed",
            },
            Sums {
                long_from,
                labels: if with_labels { self.argument.labels } else { Address(0) },
                ..self.argument
            },
        )
    }

    fn launch_decoding(&self, long_from: u32) -> Result<(), DeviceError> {
        self.launch_kernel("ripplet_decode", Sums { long_from, ..self.argument })
    }

    fn launch_kernel(&self, kernel: &'static str, argument: Sums) -> Result<(), DeviceError> {
        let mut launch =
            Launch { kernel, blocks: 1, threads: THREADS, shared: 0, cooperative: false };
        let at_once = self.device.resident_blocks(&self.module, &launch)?;
        launch.blocks = self.vertices.div_ceil(THREADS).clamp(1, at_once.max(1));
        // SAFETY: the argument is a `Sums` as the kernels have it: they do not compile if its size
        // differs. Its addresses are of memory that is kept as long as `self`.
        unsafe { self.device.launch(&self.module, &launch, bytemuck::bytes_of(&argument)) }
    }
}
