//! Answers as bytes: what a rank sends for its graphs, and what the first rank makes one answer of.
//!
//! Of each list of an answer, in the order of its fields: the number of its values, and their bytes.

use super::{Answer, Column, Edges};
use bytemuck::{AnyBitPattern, NoUninit};
use ripplet_graph::{OutOfMemory, memory};

/// A list of an answer.
enum List<'a> {
    U32(&'a mut Vec<u32>),
    U64(&'a mut Vec<u64>),
    F64(&'a mut Vec<f64>),
    Bool(&'a mut Vec<bool>),
    /// Begins of the graphs' rows, and the end of the last graph's.
    Starts(&'a mut Vec<u64>),
}

/// Returns the lists of an answer.
fn lists(answer: &mut Answer) -> Vec<List<'_>> {
    let of_column = |column| match column {
        &mut Column::U32(ref mut values) => List::U32(values),
        Column::U64(values) => List::U64(values),
        Column::F64(values) => List::F64(values),
        Column::Bool(values) => List::Bool(values),
    };
    match answer {
        Answer::Communities(vertices) | Answer::Components(vertices) => vec![List::U32(vertices)],
        Answer::Vertices(columns) | Answer::Graphs(columns) | Answer::Pairs(columns) => {
            columns.iter_mut().map(of_column).collect()
        }
        Answer::Edges { edges: Edges { starts, sources, targets }, columns } => {
            let of_edges = [List::Starts(starts), List::U32(sources), List::U32(targets)];
            of_edges.into_iter().chain(columns.iter_mut().map(of_column)).collect()
        }
    }
}

/// Appends an answer to a message.
pub(super) fn write(answer: &mut Answer, message: &mut Vec<u8>) -> Result<(), OutOfMemory> {
    fn put<T: NoUninit>(values: &[T], message: &mut Vec<u8>) -> Result<(), OutOfMemory> {
        memory::reserve(message, 8 + size_of_val(values))?;
        message.extend((values.len() as u64).to_le_bytes());
        message.extend(bytemuck::cast_slice::<T, u8>(values));
        Ok(())
    }
    lists(answer).into_iter().try_for_each(|list| match list {
        List::U32(values) => put(values, message),
        List::U64(values) | List::Starts(values) => put(values, message),
        List::F64(values) => put(values, message),
        List::Bool(values) => put(values, message),
    })
}

/// Appends the values of a message to an answer of the graphs before; returns whether it was one for the same analysis.
pub(super) fn append(answer: &mut Answer, mut message: &[u8]) -> Result<bool, OutOfMemory> {
    for list in lists(answer) {
        let is_whole = match list {
            List::U32(all) => extend(all, &mut message, |value: u32| value)?,
            List::U64(all) => extend(all, &mut message, |value: u64| value)?,
            List::F64(all) => extend(all, &mut message, |value: f64| value)?,
            List::Bool(all) => extend(all, &mut message, |value: u8| value != 0)?,
            List::Starts(all) => {
                // The end of the graphs before is the begin of these.
                let before = all.pop().unwrap_or(0);
                extend(all, &mut message, |start: u64| before.saturating_add(start))?
            }
        };
        if !is_whole {
            return Ok(false);
        }
    }
    Ok(message.is_empty())
}

/// Appends the values of the next list of a message; returns whether it has one.
fn extend<T: AnyBitPattern, V>(
    all: &mut Vec<V>,
    message: &mut &[u8],
    value: impl Fn(T) -> V,
) -> Result<bool, OutOfMemory> {
    let split = || {
        let (count, rest) = message.split_first_chunk::<8>()?;
        let count = usize::try_from(u64::from_le_bytes(*count)).ok()?;
        rest.split_at_checked(count.checked_mul(size_of::<T>())?)
    };
    let Some((values, rest)) = split() else { return Ok(false) };
    *message = rest;
    memory::reserve(all, values.len() / size_of::<T>())?;
    let values = values.chunks_exact(size_of::<T>());
    all.extend(values.map(|bytes| value(bytemuck::pod_read_unaligned(bytes))));
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_joined_and_damaged_ones_are_refused() {
        let answers = |first: bool| {
            let values = if first { 0..2 } else { 2..5 };
            let ids: Vec<u32> = values.clone().collect();
            let columns = vec![
                Column::U32(ids.clone()),
                Column::U64(values.clone().map(u64::from).collect()),
                Column::F64(values.clone().map(|value| f64::from(value) / 3.0).collect()),
                Column::Bool(values.clone().map(|value| value % 2 == 0).collect()),
            ];
            let starts = if first { vec![0, 0, 2] } else { vec![0, 3] };
            let edges = Edges { starts, sources: ids.clone(), targets: ids.clone() };
            [
                Answer::Vertices(columns.clone()),
                Answer::Pairs(columns.clone()),
                Answer::Graphs(columns.clone()),
                Answer::Communities(ids.clone()),
                Answer::Components(ids),
                Answer::Edges { edges, columns },
            ]
        };
        for (mut all, mut rest) in answers(true).into_iter().zip(answers(false)) {
            let mut message = Vec::new();
            write(&mut rest, &mut message).unwrap();
            for end in 0..message.len() {
                assert!(!append(&mut all.clone(), &message[..end]).unwrap(), "{end}");
            }
            assert!(!append(&mut all.clone(), &[&message[..], &[0]].concat()).unwrap());
            assert!(!append(&mut all.clone(), &[255; 24]).unwrap());
            assert!(append(&mut all, &message).unwrap());
            let ids = [0, 1, 2, 3, 4];
            match &all {
                Answer::Communities(values) | Answer::Components(values) => {
                    assert_eq!(*values, ids)
                }
                Answer::Edges { edges, .. } => {
                    assert_eq!(edges.starts, [0, 0, 2, 5]);
                    assert_eq!((&edges.sources[..], &edges.targets[..]), (&ids[..], &ids[..]));
                }
                _ => {}
            }
            if let [a, b, c, d] = all.columns() {
                assert_eq!(
                    (a, b),
                    (&Column::U32(ids.into()), &Column::U64(ids.map(u64::from).into()))
                );
                assert_eq!(c, &Column::F64(ids.map(|value| f64::from(value) / 3.0).into()));
                assert_eq!(d, &Column::Bool(vec![true, false, true, false, true]));
            }
        }
    }
}
