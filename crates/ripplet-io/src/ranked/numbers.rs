//! Numbers of ids that no rank has all of: a sort by samples.
//!
//! ```text
//! rank 0   ann cid eva   ─▶ ann      ─▶ ann │ bob           numbers 0 1
//! rank 1   bob cid dan      cid eva     cid │ dan │ eva     numbers 2 3 4
//!          own, ascending   dealt by    merged by the rank  and back to who has the id
//!                           splitters   that gets the range
//! ```
//!
//! Splitters are quantiles of samples of all ids: each rank numbers about as many. A rank sends each of its ids once, and
//! gets a number of 4 bytes back.

use super::TablePartError;
use super::together::Together;
use crate::fault::Fault;
use crate::intern::{Sign, ids_of_sorted, signed};
use crate::names::InternError;
use crate::table_parts::{BEYOND_64_BITS, mixed_ids};
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{ExternalId, MAX_VERTICES, Names, VertexId, VertexIds};
use ripplet_ranks::{CommError, Received};
use std::path::Path;

/// Samples of ids for each rank.
const SAMPLES: u64 = 256;
/// Bytes of a name that are compared with a splitter.
const SPLITTER: usize = 64;

/// The kind of all ranks' ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Integers(Sign),
    Names,
}

impl IdKind {
    /// Returns the kind of the ids of all ranks, of which this one has `own`, of a file and perhaps others.
    pub(super) fn of_all(
        own: &VertexIds,
        file: &Path,
        together: &mut Together<'_>,
    ) -> Result<IdKind, TablePartError> {
        const NONE: u8 = 0;
        const INTEGERS: u8 = 1;
        const NAMES: u8 = 2;
        let is_above = |largest: ExternalId<'_>| ExternalId::from(i64::MAX).precedes(largest);
        let above = |ids: &VertexIds| is_above(ids.get(ids.len() as VertexId - 1));
        let (kind, signed, above) = match own {
            ids if ids.is_empty() => (NONE, false, false),
            VertexIds::Names(_) => (NAMES, false, false),
            ids => (INTEGERS, matches!(ids, VertexIds::Signed(_)), above(ids)),
        };
        let own = [kind, u8::from(signed), u8::from(above)];
        let all = together.comm.all_gather("kind of ids", &own)?;
        let kinds: Vec<u8> = all.iter().filter_map(|words| words.first().copied()).collect();
        let has = |at: usize| all.iter().any(|words| words.get(at) == Some(&1));
        let first = kinds.iter().copied().find(|&kind| kind != NONE).unwrap_or(INTEGERS);
        let found = match (first, kind) {
            (INTEGERS, NAMES) => Err(mixed_ids("names", "integers")),
            (NAMES, INTEGERS) => Err(mixed_ids("integers", "names")),
            (NAMES, _) => Ok(IdKind::Names),
            _ if has(1) && has(2) => Err(BEYOND_64_BITS.to_owned()),
            _ if has(1) => Ok(IdKind::Integers(Sign::Signed)),
            _ => Ok(IdKind::Integers(Sign::Unsigned)),
        };
        together.agree(found.map_err(|sentence| Fault::whole(sentence).of(file)))
    }
}

/// The numbers of a rank's ids, and the ids of all ranks that it has numbered.
pub(super) struct Numbers {
    /// The number of ids of all ranks.
    pub(super) vertices: u32,
    /// The vertex of each of the rank's own ids.
    of_own: Vec<VertexId>,
    /// The ids that the rank has numbered, after those of the ranks before.
    numbered: Numbered,
}

/// Ids, ascending, without repetition.
enum Numbered {
    /// In the form in which they ascend as unsigned integers.
    Integers(Vec<u64>),
    Names(Names),
}

impl Numbers {
    /// Returns the numbers of a rank's ids, which ascend.
    pub(super) fn of(
        own: VertexIds,
        kind: IdKind,
        together: &mut Together<'_>,
        path: &Path,
    ) -> Result<Numbers, TablePartError> {
        let refused = |error: OutOfMemory| TablePartError::from(Fault::from(error).of(path));
        let count = own.len() as u64;
        let all = together.comm.all_reduce("ids", count, |a, b| a + b)?;
        let step = (all / (SAMPLES * together.size() as u64)).max(1) as usize;
        let (numbered, places) = match kind {
            IdKind::Integers(sign) => {
                let keys = together.agree(keys_of(&own, sign).map_err(refused))?;
                drop(own);
                number_integers(&keys, step, together, &refused)?
            }
            IdKind::Names => {
                let none = Names::new([]);
                let names = if let VertexIds::Names(names) = &own { names } else { &none };
                number_names(names, step, together, &refused)?
            }
        };
        let counts = together.comm.all_gather("numbered", &[numbered.len() as u64])?;
        let vertices: u64 = counts.all().sum();
        let before: u64 = counts.all().take(together.rank()).sum();
        if vertices > u64::from(MAX_VERTICES) {
            return Err(Fault::from(InternError::TooManyVertices).of(path).into());
        }
        let mut places = places;
        places.iter_mut().flatten().for_each(|place| *place += before as u32);
        let received = together.comm.all_to_all("numbers", &places)?;
        drop(places);
        let of_own = collected(&received, count as usize).map_err(refused);
        let of_own = together.agree(of_own)?;
        Ok(Numbers { vertices: vertices as u32, of_own, numbered })
    }

    /// Replaces the numbers of the rank's own ids by those of all.
    pub(super) fn renumber(&self, columns: &mut [Vec<VertexId>]) {
        let number = |vertex: &mut VertexId| {
            *vertex = self.of_own.get(*vertex as usize).copied().unwrap_or_default();
        };
        columns.iter_mut().for_each(|column| column.par_iter_mut().for_each(number));
    }

    /// Returns the ids of all vertices if this rank wants them, otherwise numbers from 0.
    pub(super) fn into_ids(
        self,
        is_wanted: bool,
        kind: IdKind,
        together: &mut Together<'_>,
        path: &Path,
    ) -> Result<VertexIds, TablePartError> {
        let refused = |error: OutOfMemory| TablePartError::from(Fault::from(error).of(path));
        let wanted = together.comm.all_gather("ids wanted", &[u8::from(is_wanted)])?;
        let count = self.vertices as usize;
        let ids = match (self.numbered, kind) {
            (Numbered::Integers(ids), IdKind::Integers(sign)) => {
                let received = to_those(&wanted, &ids, together)?;
                drop(ids);
                is_wanted.then(|| ids_of_sorted(collected(&received, count)?, sign)).transpose()
            }
            (Numbered::Names(names), _) => {
                let (offsets, bytes) = names.parts();
                let lengths = lengths_of(offsets, 0..names.len());
                let lengths = together.agree(lengths.map_err(refused))?;
                let lengths = to_those(&wanted, &lengths, together)?;
                let bytes = to_those(&wanted, bytes, together)?;
                is_wanted.then(|| joined_names(&lengths, &bytes).map(VertexIds::Names)).transpose()
            }
            // The kind is that of the numbered ids.
            (Numbered::Integers(_), IdKind::Names) => Ok(None),
        };
        let ids = together.agree(ids.map_err(refused))?;
        Ok(ids.unwrap_or(VertexIds::Consecutive { first: 0, count: count as u32 }))
    }
}

impl Numbered {
    fn len(&self) -> usize {
        match self {
            Numbered::Integers(ids) => ids.len(),
            Numbered::Names(names) => names.len(),
        }
    }
}

/// Returns integers in the form in which they ascend as unsigned ones.
fn keys_of(ids: &VertexIds, sign: Sign) -> Result<Vec<u64>, OutOfMemory> {
    let key = |vertex: usize| match ids.get(vertex as VertexId) {
        ExternalId::Unsigned(id) if sign == Sign::Signed => signed(id as i64),
        ExternalId::Unsigned(id) => id,
        ExternalId::Signed(id) => signed(id),
        ExternalId::Name(_) => 0,
    };
    memory::collected((0..ids.len()).map(key))
}

/// Numbers integers, of which this rank has `keys`. Returns those that it numbers, and for each rank the place among them of
/// each integer that it sent.
fn number_integers(
    keys: &[u64],
    step: usize,
    together: &mut Together<'_>,
    refused: &impl Fn(OutOfMemory) -> TablePartError,
) -> Result<(Numbered, Vec<Vec<u32>>), TablePartError> {
    let samples: Vec<u64> = keys.iter().copied().step_by(step).collect();
    let samples = together.comm.all_gather("samples of ids", &samples)?;
    let splitters = quantiles(samples.all().collect(), together.size());
    let ends = splitters.iter().map(|splitter| keys.partition_point(|key| key < splitter));
    let bounds: Vec<usize> = [0].into_iter().chain(ends).chain([keys.len()]).collect();
    let received = together.send("ids", keys, &bounds)?;
    let merge = || {
        let mut ids: Vec<u64> = memory::with_room(received.iter().map(<[u64]>::len).sum())?;
        received.iter().for_each(|some| ids.extend_from_slice(some));
        ids.par_sort_unstable();
        ids.dedup();
        ids.shrink_to_fit();
        let place = |id: &u64| ids.binary_search(id).unwrap_or_default() as u32;
        let places = received.iter().map(|some| {
            let mut places = memory::with_room(some.len())?;
            places.par_extend(some.par_iter().map(place));
            Ok(places)
        });
        let places = places.collect::<Result<Vec<_>, OutOfMemory>>()?;
        Ok((Numbered::Integers(ids), places))
    };
    together.agree(merge().map_err(refused))
}

/// Numbers names as [`number_integers`] does integers.
fn number_names(
    names: &Names,
    step: usize,
    together: &mut Together<'_>,
    refused: &impl Fn(OutOfMemory) -> TablePartError,
) -> Result<(Numbered, Vec<Vec<u32>>), TablePartError> {
    let (offsets, bytes) = names.parts();
    let mut samples = Vec::new();
    for name in (0..names.len()).step_by(step) {
        let name = &names.get(name).as_bytes();
        let name = &name[..name.len().min(SPLITTER)];
        samples.push(name.len() as u8);
        samples.extend_from_slice(name);
    }
    let samples = together.comm.all_gather("samples of ids", &samples)?;
    let mut all = Vec::new();
    for mut rest in samples.iter() {
        while let Some((name, others)) =
            rest.split_first().and_then(|(&length, rest)| rest.split_at_checked(length.into()))
        {
            all.push(name.to_vec());
            rest = others;
        }
    }
    let splitters = quantiles(all, together.size());
    let first = |splitter: &Vec<u8>| {
        let (mut low, mut high) = (0, names.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match names.get(middle).as_bytes() < splitter.as_slice() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    };
    let ends = splitters.iter().map(first);
    let bounds: Vec<usize> = [0].into_iter().chain(ends).chain([names.len()]).collect();
    let lengths = together.agree(lengths_of(offsets, 0..names.len()).map_err(refused))?;
    let lengths = together.send("lengths of ids", &lengths, &bounds)?;
    let bounds: Vec<usize> = bounds.iter().map(|&at| offsets[at] as usize).collect();
    let bytes = together.send("ids", bytes, &bounds)?;
    let merged = merged_names(&lengths, &bytes)?;
    together.agree(merged.map_err(refused))
}

/// Merges the names that ranks have sent, which ascend; returns them, and the place of each.
#[expect(
    clippy::type_complexity,
    reason = "a value and its error, each of which ends the caller otherwise"
)]
fn merged_names(
    lengths: &Received<u32>,
    bytes: &Received<u8>,
) -> Result<Result<(Numbered, Vec<Vec<u32>>), OutOfMemory>, CommError> {
    let mut parts = Vec::new();
    for (peer, (lengths, bytes)) in lengths.iter().zip(bytes.iter()).enumerate() {
        match names_of(lengths, bytes) {
            Ok(Some(names)) => parts.push(names),
            Ok(None) => return Err(CommError::Foreign { peer, bytes: bytes.len() }),
            Err(error) => return Ok(Err(error)),
        }
    }
    let merge = || {
        let count = parts.iter().map(Names::len).sum();
        let mut order: Vec<(u32, u32)> = memory::with_room(count)?;
        for (part, names) in (0..).zip(&parts) {
            order.extend((0..names.len() as u32).map(|name| (part, name)));
        }
        let name = |&(part, name): &(u32, u32)| parts[part as usize].get(name as usize);
        order.par_sort_unstable_by(|a, b| name(a).cmp(name(b)));
        let places = parts.iter().map(|names| memory::zeros::<u32>(names.len()));
        let mut places = places.collect::<Result<Vec<_>, _>>()?;
        let (mut ends, mut text) = (memory::with_room::<u64>(count + 1)?, Vec::new());
        ends.push(0);
        let mut last = None;
        for entry in &order {
            let own = name(entry);
            if last != Some(own) {
                memory::extend(&mut text, own.as_bytes())?;
                ends.push(text.len() as u64);
                last = Some(own);
            }
            places[entry.0 as usize][entry.1 as usize] = ends.len() as u32 - 2;
        }
        ends.shrink_to_fit();
        let names = Names::from_parts(ends.into(), text.into());
        Ok((Numbered::Names(names.unwrap_or_else(|| Names::new([]))), places))
    };
    Ok(merge())
}

/// Returns the values that divide all into `parts` of about as many each.
fn quantiles<T: Ord + Clone>(mut all: Vec<T>, parts: usize) -> Vec<T> {
    all.sort_unstable();
    (1..parts).filter_map(|part| all.get(part * all.len() / parts).cloned()).collect()
}

/// Returns the lengths of some names.
fn lengths_of(offsets: &[u64], names: std::ops::Range<usize>) -> Result<Vec<u32>, OutOfMemory> {
    let offsets = &offsets[names.start..=names.end];
    memory::collected(offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u32))
}

/// Returns names from their lengths; `None` if the bytes are not names of these.
fn names_of(lengths: &[u32], bytes: &[u8]) -> Result<Option<Names>, OutOfMemory> {
    let mut offsets = memory::with_room::<u64>(lengths.len() + 1)?;
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lengths.iter().map(|&length| {
        end += u64::from(length);
        end
    }));
    Ok(Names::from_parts(offsets.into(), memory::copied(bytes)?.into()))
}

/// Sends values to the ranks that want them.
fn to_those<T: bytemuck::Pod>(
    wanted: &Received<u8>,
    values: &[T],
    together: &mut Together<'_>,
) -> Result<Received<T>, CommError> {
    let to: Vec<&[T]> =
        wanted.iter().map(|wants| if wants == [1] { values } else { &[] }).collect();
    together.comm.all_to_all("all ids", &to)
}

/// Returns the values of all ranks in one array.
fn collected<T: bytemuck::Pod>(
    received: &Received<T>,
    count: usize,
) -> Result<Vec<T>, OutOfMemory> {
    let mut all = memory::with_room(count)?;
    received.iter().for_each(|values| all.extend_from_slice(values));
    Ok(all)
}

/// Returns the names of all ranks.
fn joined_names(lengths: &Received<u32>, bytes: &Received<u8>) -> Result<Names, OutOfMemory> {
    let all = collected(lengths, lengths.iter().map(<[u32]>::len).sum())?;
    let bytes = collected(bytes, bytes.iter().map(<[u8]>::len).sum())?;
    Ok(names_of(&all, &bytes)?.unwrap_or_else(|| Names::new([])))
}
