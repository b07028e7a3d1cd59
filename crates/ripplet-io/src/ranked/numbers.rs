//! Numbers of ids that no rank has all of: a sort by samples.
//!
//! ```text
//! rank 0   ann cid eva   ─▶ ann      ─▶ ann │ bob           numbers 0 1
//! rank 1   bob cid dan      cid eva     cid │ dan │ eva     numbers 2 3 4
//!          own, ascending   sent by     merged by the rank  and back to who has the id
//!                           splitters   that gets the range
//! ```
//!
//! Splitters are quantiles of samples of all ids: each rank numbers about as many. A rank sends each of its ids once, and
//! gets a number of 4 bytes back.
//!
//! Memory: the ids of a rank's share three times, as they are, sent and received, and those that it numbers; 8 bytes for
//! each, 16 for a name. A rank whose graph has the ids has them all twice for a moment.

use super::together::Together;
use super::{Places, TablePartError};
use crate::fault::Fault;
use crate::intern::{Sign, ids_of_sorted, signed};
use crate::names::InternError;
use crate::table_parts::BEYOND_64_BITS;
use rayon::prelude::*;
use ripplet_graph::memory::{self, OutOfMemory};
use ripplet_graph::{ExternalId, MAX_VERTICES, Names, VertexId, VertexIds};
use ripplet_ranks::{CommError, Received};
use std::path::Path;

/// Samples of ids for each rank.
const SAMPLES: u64 = 256;
/// Bytes of a name that are compared with a splitter, after those with which all begin.
const SPLITTER: usize = 64;
/// Bytes of a name that may be those with which all begin.
const COMPARED: usize = 1 << 12;

/// The kind of all ranks' ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum IdKind {
    Integers(Sign),
    Names,
}

impl IdKind {
    /// Returns the kind of the ids of all ranks, of which this one has `own`.
    pub(super) fn of_all(
        own: &VertexIds,
        places: &Places<'_>,
        together: &mut Together<'_>,
    ) -> Result<IdKind, TablePartError> {
        const NONE: u8 = 0;
        const INTEGERS: u8 = 1;
        const NAMES: u8 = 2;
        let (kind, is_signed) = match own {
            ids if ids.is_empty() => (NONE, false),
            VertexIds::Names(_) => (NAMES, false),
            ids => (INTEGERS, matches!(ids, VertexIds::Signed(_))),
        };
        let is_above = kind == INTEGERS
            && ExternalId::from(i64::MAX).precedes(own.get(own.len() as VertexId - 1));
        let all = together
            .comm
            .all_gather("kind of ids", &[[kind, u8::from(is_signed), u8::from(is_above)]])?;
        let first = all.all().map(|[kind, ..]| kind).find(|&kind| kind != NONE);
        let some_are_signed = all.all().any(|[_, is_signed, _]| is_signed == 1);
        let some_are_above = all.all().any(|[.., is_above]| is_above == 1);
        let found = match (first.unwrap_or(INTEGERS), kind) {
            (INTEGERS, NAMES) => Err(((places.mixed)("names", "integers"), places.file)),
            (NAMES, INTEGERS) => Err(((places.mixed)("integers", "names"), places.file)),
            (NAMES, _) => Ok(IdKind::Names),
            // The two may be of different files.
            _ if some_are_signed && some_are_above => Err((BEYOND_64_BITS.to_owned(), places.all)),
            _ if some_are_signed => Ok(IdKind::Integers(Sign::Signed)),
            _ => Ok(IdKind::Integers(Sign::Unsigned)),
        };
        together.agree(found.map_err(|(sentence, file)| Fault::whole(sentence).of(file)))
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
        let of_own = together.agree(collected(&received).map_err(refused))?;
        check_count(&received, count as usize)?;
        Ok(Numbers { vertices: vertices as u32, of_own, numbered })
    }

    /// Replaces the numbers of the rank's own ids by those of all.
    pub(super) fn renumber(&self, columns: &mut [Vec<VertexId>]) {
        let number = |vertex: &mut VertexId| {
            *vertex = self.of_own[*vertex as usize];
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
                if is_wanted {
                    check_count(&received, count)?;
                }
                is_wanted.then(|| ids_of_sorted(collected(&received)?, sign)).transpose()
            }
            (Numbered::Names(names), _) => {
                let (offsets, bytes) = names.parts();
                let lengths = together.agree(lengths_of(offsets).map_err(refused))?;
                let lengths = to_those(&wanted, &lengths, together)?;
                let bytes = to_those(&wanted, bytes, together)?;
                match is_wanted.then(|| joined_names(&lengths, &bytes)).transpose() {
                    Ok(Some(names)) => {
                        let names = names.filter(|names| names.len() == count);
                        let foreign = CommError::Foreign { peer: 0, bytes: count };
                        Ok(Some(VertexIds::Names(names.ok_or(foreign)?)))
                    }
                    Ok(None) => Ok(None),
                    Err(error) => Err(error),
                }
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
        // Each is among them.
        let place = |id: &u64| ids.partition_point(|other| other < id) as u32;
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
    let common = common_prefix(names, together)?;
    // All names begin alike: what follows decides.
    let rest = |name: usize| &names.get(name).as_bytes()[common..];
    let mut samples = Vec::new();
    for name in (0..names.len()).step_by(step) {
        let name = &rest(name)[..rest(name).len().min(SPLITTER)];
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
            match rest(middle) < splitter.as_slice() {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        low
    };
    let ends = splitters.iter().map(first);
    let bounds: Vec<usize> = [0].into_iter().chain(ends).chain([names.len()]).collect();
    let lengths = together.agree(lengths_of(offsets).map_err(refused))?;
    let lengths = together.send("lengths of ids", &lengths, &bounds)?;
    let bounds: Vec<usize> = bounds.iter().map(|&at| offsets[at] as usize).collect();
    let bytes = together.send("ids", bytes, &bounds)?;
    let merged = merged_names(&lengths, &bytes)?;
    together.agree(merged.map_err(refused))
}

/// Returns the number of bytes with which all names of all ranks begin alike, as far as they are compared.
fn common_prefix(names: &Names, together: &mut Together<'_>) -> Result<usize, CommError> {
    let ends = [0, names.len().saturating_sub(1)].map(|name| {
        let name = if names.is_empty() { &[] } else { names.get(name).as_bytes() };
        &name[..name.len().min(COMPARED)]
    });
    let mut message = vec![u8::from(!names.is_empty())];
    message.extend((ends[0].len() as u32).to_le_bytes());
    message.extend(ends.concat());
    let all = together.comm.all_gather("first names", &message)?;
    let mut common: Option<&[u8]> = None;
    for message in all.iter() {
        let Some((&[1, a, b, c, d], rest)) = message.split_first_chunk() else { continue };
        let first = u32::from_le_bytes([a, b, c, d]) as usize;
        let (first, last) = rest.split_at_checked(first).unwrap_or_default();
        for name in [first, last] {
            let before = common.unwrap_or(name);
            let alike = before.iter().zip(name).take_while(|(a, b)| a == b).count();
            common = Some(&before[..alike]);
        }
    }
    Ok(common.map_or(0, <[u8]>::len))
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
        match memory::copied(bytes).and_then(|copied| names_of(lengths, copied)) {
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

/// Returns the lengths of names with these offsets.
fn lengths_of(offsets: &[u64]) -> Result<Vec<u32>, OutOfMemory> {
    memory::collected(offsets.windows(2).map(|ends| (ends[1] - ends[0]) as u32))
}

/// Returns names from their lengths; `None` if the bytes are not names of these.
fn names_of(lengths: &[u32], bytes: Vec<u8>) -> Result<Option<Names>, OutOfMemory> {
    let mut offsets = memory::with_room::<u64>(lengths.len() + 1)?;
    let mut end = 0;
    offsets.push(end);
    offsets.extend(lengths.iter().map(|&length| {
        end += u64::from(length);
        end
    }));
    Ok(Names::from_parts(offsets.into(), bytes.into()))
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

/// Refuses messages that together have another number of values than expected.
fn check_count<T: bytemuck::Pod>(received: &Received<T>, expected: usize) -> Result<(), CommError> {
    let found = received.iter().map(<[T]>::len).sum::<usize>();
    let peer = received.iter().position(|values| !values.is_empty()).unwrap_or(0);
    match found == expected {
        true => Ok(()),
        false => Err(CommError::Foreign { peer, bytes: found * size_of::<T>() }),
    }
}

/// Returns the values of all ranks in one array.
fn collected<T: bytemuck::Pod>(received: &Received<T>) -> Result<Vec<T>, OutOfMemory> {
    let mut all = memory::with_room(received.iter().map(<[T]>::len).sum())?;
    received.iter().for_each(|values| all.extend_from_slice(values));
    Ok(all)
}

/// Returns the names of all ranks; `None` if the bytes are not names of these lengths.
fn joined_names(
    lengths: &Received<u32>,
    bytes: &Received<u8>,
) -> Result<Option<Names>, OutOfMemory> {
    names_of(&collected(lengths)?, collected(bytes)?)
}
