//! Decodes the lists of a BV graph in order.

use super::bits::{BadBits, Bits};
use super::properties::Properties;
use crate::Place;
use crate::fault::Fault;
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Returns the sources and the targets of all arcs.
///
/// # Errors
/// If the bits are not those of a graph with these properties, or memory allocation fails.
pub(super) fn arcs(
    bytes: &[u8],
    properties: &Properties,
) -> Result<(Vec<VertexId>, Vec<VertexId>), Fault> {
    let vertices = properties.vertices;
    // An outdegree has at least one bit.
    if u64::from(vertices) > bytes.len() as u64 * 8 {
        let sentence = format!(
            "{} bytes cannot have the lists of {vertices} vertices: is it cut off, or are the properties another \
             graph's?",
            bytes.len()
        );
        return Err(Fault::whole(sentence));
    }
    let mut lists = Lists {
        properties,
        bits: Bits::new(bytes),
        begins: memory::with_room(vertices as usize + 1)?,
        sources: Vec::new(),
        targets: Vec::new(),
        parts: Parts::default(),
    };
    for vertex in 0..vertices {
        lists.begins.push(lists.targets.len());
        let byte = lists.bits.byte();
        lists.read(vertex).map_err(|damage| damage.at(vertex, byte))?;
    }
    lists.check_end()?;
    Ok((lists.sources, lists.targets))
}

struct Lists<'a> {
    properties: &'a Properties,
    bits: Bits<'a>,
    /// Offset of each list among all targets.
    begins: Vec<usize>,
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    parts: Parts,
}

/// Parts of a list; each ascends.
#[derive(Default)]
struct Parts {
    copied: Vec<VertexId>,
    in_intervals: Vec<VertexId>,
    residuals: Vec<VertexId>,
}

/// Error of a list.
enum Damage {
    Bits(BadBits),
    List(String),
    Memory(OutOfMemory),
}

impl From<BadBits> for Damage {
    fn from(bits: BadBits) -> Damage {
        Damage::Bits(bits)
    }
}

impl From<OutOfMemory> for Damage {
    fn from(error: OutOfMemory) -> Damage {
        Damage::Memory(error)
    }
}

impl From<String> for Damage {
    fn from(sentence: String) -> Damage {
        Damage::List(sentence)
    }
}

impl Damage {
    fn at(self, vertex: VertexId, byte: u64) -> Fault {
        let sentence = match self {
            Damage::Memory(error) => return error.into(),
            Damage::Bits(BadBits::End) => "the file ends in it: is it cut off?".into(),
            Damage::Bits(BadBits::TooLong) => "it has a number of more than 63 bits".into(),
            Damage::List(sentence) => sentence,
        };
        let sentence = format!(
            "the list of vertex {vertex} is not what the properties promise: {sentence}; the file is damaged, or they \
             are another graph's"
        );
        Fault::at(Place::Byte(byte), sentence)
    }
}

impl Lists<'_> {
    /// Reads the list of a vertex.
    fn read(&mut self, vertex: VertexId) -> Result<(), Damage> {
        let degree = self.bits.read(self.properties.outdegrees)?;
        let (vertices, arcs) = (self.properties.vertices, self.properties.arcs);
        if degree > u64::from(vertices) {
            return Err(format!("its outdegree is {degree}, of {vertices} vertices").into());
        }
        if degree > arcs.saturating_sub(self.targets.len() as u64) {
            return Err(format!("with it there are more than {arcs} arcs").into());
        }
        if degree == 0 {
            return Ok(());
        }
        self.parts.clear();
        let mut left = self.copy(vertex, degree)?;
        left = self.read_intervals(vertex, left)?;
        self.read_residuals(vertex, left)?;
        memory::reserve(&mut self.targets, degree as usize)?;
        memory::reserve(&mut self.sources, degree as usize)?;
        self.parts.merge(&mut self.targets)?;
        self.sources.resize(self.targets.len(), vertex);
        Ok(())
    }

    /// Copies from the referenced list, if any; returns the number of neighbours that is left.
    fn copy(&mut self, vertex: VertexId, degree: u64) -> Result<u64, Damage> {
        let Properties { window, references, block_counts, blocks, .. } = *self.properties;
        let reference = if window == 0 { 0 } else { self.bits.read(references)? };
        if reference == 0 {
            return Ok(degree);
        }
        if reference > window || reference > u64::from(vertex) {
            let least = window.min(vertex.into());
            return Err(format!("it refers {reference} vertices back, {least} at most").into());
        }
        let from = vertex as usize - reference as usize;
        let mut rest = self.begins[from]..self.begins[from + 1];
        let count = self.bits.read(block_counts)?;
        let mut copying = true;
        for block in 0..count {
            let length = self.bits.read(blocks)? + u64::from(block > 0);
            if length > rest.len() as u64 {
                return Err(format!("it copies more than vertex {from} has").into());
            }
            let end = rest.start + length as usize;
            if copying {
                memory::extend(&mut self.parts.copied, &self.targets[rest.start..end])?;
            }
            rest.start = end;
            copying = !copying;
        }
        if copying {
            memory::extend(&mut self.parts.copied, &self.targets[rest])?;
        }
        let copied = self.parts.copied.len() as u64;
        degree.checked_sub(copied).ok_or_else(|| {
            format!("it copies {copied} neighbours, but its outdegree is {degree}").into()
        })
    }

    /// Reads the intervals of at most the given number of neighbours; returns the number that is left.
    fn read_intervals(&mut self, vertex: VertexId, mut left: u64) -> Result<u64, Damage> {
        let Properties { least_interval, intervals, .. } = *self.properties;
        if left == 0 || least_interval == 0 {
            return Ok(left);
        }
        let count = self.bits.read(intervals)?;
        let mut end = None;
        for _ in 0..count {
            let gap = self.bits.read(intervals)?;
            let begin = self.after(vertex, end, gap)?;
            let length = self.bits.read(intervals)?.saturating_add(least_interval);
            left = left.checked_sub(length).ok_or_else(|| {
                format!("an interval of {length} is more than its outdegree leaves")
            })?;
            let last = self.vertex(i128::from(begin) + i128::from(length) - 1)?;
            memory::reserve(&mut self.parts.in_intervals, length as usize)?;
            self.parts.in_intervals.extend(begin..=last);
            // Intervals are separated by a gap of at least one.
            end = Some(last + 1);
        }
        Ok(left)
    }

    /// Reads the given number of residuals.
    fn read_residuals(&mut self, vertex: VertexId, left: u64) -> Result<(), Damage> {
        let mut before = None;
        for _ in 0..left {
            let gap = self.bits.read(self.properties.residuals)?;
            let residual = self.after(vertex, before, gap)?;
            memory::push(&mut self.parts.residuals, residual)?;
            before = Some(residual);
        }
        Ok(())
    }

    /// Returns the vertex at a distance after the previous one; the first is relative to the list's own vertex, in either
    /// direction: 0, −1, 1, −2, ….
    fn after(
        &self,
        vertex: VertexId,
        before: Option<VertexId>,
        gap: u64,
    ) -> Result<VertexId, Damage> {
        self.vertex(match before {
            Some(before) => i128::from(before) + 1 + i128::from(gap),
            None if gap.is_multiple_of(2) => i128::from(vertex) + i128::from(gap / 2),
            None => i128::from(vertex) - i128::from(gap / 2) - 1,
        })
    }

    fn vertex(&self, number: i128) -> Result<VertexId, Damage> {
        let vertices = self.properties.vertices;
        let vertex = u32::try_from(number).ok().filter(|vertex| *vertex < vertices);
        vertex.ok_or_else(|| {
            format!("it has a neighbour {number}: expected 0 to {}", vertices - 1).into()
        })
    }

    /// Checks the number of arcs, and that no bits remain but padding.
    fn check_end(&self) -> Result<(), Fault> {
        let (found, arcs) = (self.targets.len() as u64, self.properties.arcs);
        if found != arcs {
            let sentence = format!(
                "the lists have {found} arcs, but the properties say {arcs}: are they another graph's?"
            );
            return Err(Fault::whole(sentence));
        }
        if self.bits.left() >= PADDING {
            let sentence = format!(
                "the last list ends here, but the file goes on: is nodes={} another graph's?",
                self.properties.vertices
            );
            return Err(Fault::at(Place::Byte(self.bits.byte()), sentence));
        }
        Ok(())
    }
}

/// Upper bound of the padding bits: some writers fill words of 64 bits, and add one more.
const PADDING: u64 = 2 * 64 + 8;

impl Parts {
    fn clear(&mut self) {
        self.copied.clear();
        self.in_intervals.clear();
        self.residuals.clear();
    }

    /// Merges all parts into a list, whose capacity suffices.
    fn merge(&self, list: &mut Vec<VertexId>) -> Result<(), String> {
        let mut parts = [&self.copied, &self.in_intervals, &self.residuals].map(|p| p.as_slice());
        let mut last = None;
        loop {
            let heads = parts.each_ref().map(|part| part.first().copied());
            let Some(next) = heads.into_iter().flatten().min() else { return Ok(()) };
            if last == Some(next) {
                return Err(format!("it has the neighbour {next} twice"));
            }
            last = Some(next);
            let part = heads.iter().position(|head| *head == Some(next)).unwrap_or_default();
            parts[part] = &parts[part][1..];
            list.push(next);
        }
    }
}
