//! Pajek's networks: numbered vertices with labels, arcs, and edges.
//!
//! ```text
//! *Vertices 3
//! 1 "Ann" 0.1 0.5 0.5
//! 2 "Bob"
//! 3 "Cy"
//! *Edges
//! 1 2 0.5
//! *Edgeslist
//! 1 2 3
//! ```
//!
//! Arcs are directed, edges are undirected; a file with both is rejected, but a section may be empty. The id of
//! a vertex is its label if every vertex has a unique non-empty label; else its number. Labels that are all
//! integers as they print are integers. `*Vertices n m` is a two-mode network of the first `m` vertices and the
//! others: vertices of both modes are read. A missing weight is 1, as the format defines. Further fields after a
//! label or a weight (positions, colours) are skipped. Lines that begin with `%` are comments.
//!
//! Matrices and time-dependent networks are rejected.
//!
//! Reference: Mrvar, Batagelj, *Pajek: Reference Manual*, 2022.

use super::network::{Found, NamingError, Ordered, Texts, called, found, no_integer};
use super::stream::LONGEST_PIECE;
use super::syntax::{Edge, Graphs, Syntax};
use crate::fault::Fault;
use crate::output::text::{push_integer, push_weight};
use crate::text::token::{self, show};
use crate::text::{LONGEST_OF_WORDS, Text};
use crate::{IdKind, ReadErrorKind, ReadOptions};
use ripplet_graph::{Direction, MAX_VERTICES, Names, VertexId, VertexIds, memory};
use std::io::Write as _;

/// Reads a network.
pub(super) fn read(text: &mut Text<'_>, options: &ReadOptions) -> Result<Found, Fault> {
    text.longest_line(LONGEST_OF_WORDS);
    let mut reader = Reader {
        options,
        part: Part::None,
        vertices: None,
        of_first: None,
        labels: Vec::new(),
        texts: Texts::default(),
        sources: Vec::new(),
        targets: Vec::new(),
        weights: Vec::new(),
        has_arcs: None,
        directed: None,
    };
    loop {
        let number = text.line() + 1;
        let Some(line) = text.peek_line()? else { break };
        let taken = reader.line(line.trim_ascii(), number);
        taken.map_err(|why| Fault::line(number, why))?;
        text.skip_line();
    }
    reader.finish()
}

/// Section of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    None,
    Vertices,
    /// One edge per line.
    Pairs,
    /// One vertex a line, followed by its targets.
    Lists,
}

/// State of reading a network.
struct Reader<'o> {
    options: &'o ReadOptions,
    part: Part,
    vertices: Option<u32>,
    /// Number of vertices of the first mode, for a two-mode network.
    of_first: Option<u32>,
    /// Vertices that have lines, from 0, with their line numbers.
    labels: Vec<(VertexId, u64)>,
    /// Labels of these vertices.
    texts: Texts,
    sources: Vec<VertexId>,
    targets: Vec<VertexId>,
    weights: Vec<f64>,
    /// Whether the section is one of arcs, or of edges.
    has_arcs: Option<bool>,
    /// Whether there are arcs, or edges: an empty section has neither.
    directed: Option<bool>,
}

impl Reader<'_> {
    fn line(&mut self, line: &[u8], number: u64) -> Result<(), ReadErrorKind> {
        match (line.first(), self.part) {
            (None | Some(b'%'), _) => Ok(()),
            (Some(b'*'), _) => self.begin(line),
            (_, Part::None) => {
                Err(format!("expected `*Vertices` and how many there are, found `{}`", show(line))
                    .into())
            }
            (_, Part::Vertices) => self.vertex(line, number),
            (_, Part::Pairs) => self.pair(line),
            (_, Part::Lists) => self.list(line),
        }
    }

    /// Begins a section.
    fn begin(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let mut words = words(line);
        let name = words.next().unwrap_or_default().to_ascii_lowercase();
        let (part, has_arcs) = match &*name {
            b"*vertices" => {
                self.part = Part::Vertices;
                return self.begin_vertices(words.next().unwrap_or_default(), words.next());
            }
            b"*network" if self.vertices.is_none() => return Ok(()),
            b"*arcs" => (Part::Pairs, true),
            b"*edges" => (Part::Pairs, false),
            b"*arcslist" => (Part::Lists, true),
            b"*edgeslist" => (Part::Lists, false),
            _ => {
                return Err(format!(
                    "`{}` is not read: expected *Vertices, *Arcs, *Edges, *Arcslist or *Edgeslist of one network",
                    show(&name)
                )
                .into());
            }
        };
        if self.vertices.is_none() {
            return Err("edges before `*Vertices`: expected that first".into());
        }
        (self.part, self.has_arcs) = (part, Some(has_arcs));
        Ok(())
    }

    /// Sets the number of vertices and, for a two-mode network, of those of the first mode.
    fn begin_vertices(
        &mut self,
        count: &[u8],
        of_first: Option<&[u8]>,
    ) -> Result<(), ReadErrorKind> {
        let known: Option<u32> = token::parse(count).filter(|&count| count <= MAX_VERTICES);
        let Some(known) = known else {
            return Err(format!(
                "`{}` is no number of vertices: expected `*Vertices n` with n up to {MAX_VERTICES}",
                show(count)
            )
            .into());
        };
        self.of_first = of_first.and_then(token::parse).filter(|&first| first > 0);
        if let Some(first) = self.of_first.take_if(|first| *first >= known)
            && first > known
        {
            return Err(format!(
                "the first mode has {first} of {known} vertices: expected `*Vertices n m` with m up to n"
            )
            .into());
        }
        match self.vertices.replace(known) {
            None => Ok(()),
            Some(_) => Err("a second `*Vertices`: expected a file of one network".into()),
        }
    }

    fn number(&self, word: &[u8]) -> Result<VertexId, ReadErrorKind> {
        let vertices = self.vertices.unwrap_or(0);
        let number: Option<u32> = token::parse(word);
        match number.filter(|number| (1..=vertices).contains(number)) {
            Some(number) => Ok(number - 1),
            None => Err(format!(
                "`{}` is no vertex: expected a number from 1 to {vertices}, as `*Vertices` says",
                show(word)
            )
            .into()),
        }
    }

    fn vertex(&mut self, line: &[u8], number: u64) -> Result<(), ReadErrorKind> {
        let (word, rest) = first_word(line);
        let vertex = self.number(word)?;
        let rest = rest.trim_ascii_start();
        let label = match rest.strip_prefix(b"\"") {
            None => first_word(rest).0,
            Some(quoted) => match memchr::memchr(b'"', quoted) {
                Some(end) => &quoted[..end],
                None => return Err("a label without an end: expected a closing `\"`".into()),
            },
        };
        if label.len() > LONGEST_PIECE {
            return Err("a label of more than 1 MiB: this is no file of a graph".into());
        }
        let label = std::str::from_utf8(label)
            .map_err(|_| format!("the label `{}` is not UTF-8: convert the file", show(label)))?;
        self.texts.push(label)?;
        Ok(memory::push(&mut self.labels, (vertex, number))?)
    }

    fn pair(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let mut words = words(line);
        let source = self.number(words.next().unwrap_or_default())?;
        let Some(target) = words.next() else {
            return Err("one vertex alone: expected two, and a weight or none".into());
        };
        let target = self.number(target)?;
        let weight = match words.next() {
            Some(word) if self.options.weighted => token::weight(word)?,
            _ => 1.0,
        };
        self.edge(source, target, weight)
    }

    fn list(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let mut words = words(line);
        let source = self.number(words.next().unwrap_or_default())?;
        for word in words {
            let target = self.number(word)?;
            self.edge(source, target, 1.0)?;
        }
        Ok(())
    }

    fn edge(
        &mut self,
        source: VertexId,
        target: VertexId,
        weight: f64,
    ) -> Result<(), ReadErrorKind> {
        let before = std::mem::replace(&mut self.directed, self.has_arcs);
        if before.is_some() && before != self.has_arcs {
            return Err(
                "a network of both arcs and edges: expected one kind, as arcs have a direction and edges have none"
                    .into(),
            );
        }
        memory::push(&mut self.sources, source)?;
        memory::push(&mut self.targets, target)?;
        if self.options.weighted {
            memory::push(&mut self.weights, weight)?;
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Found, Fault> {
        let Some(vertices) = self.vertices else {
            return Err(Fault::whole("the file has no vertices: expected `*Vertices n`"));
        };
        self.check_repeated()?;
        let ids = match self.names(vertices)? {
            None => self.numbers(vertices)?,
            Some((ids, order)) => {
                self.reorder(&order)?;
                ids
            }
        };
        let weights = self.options.weighted.then_some(self.weights);
        let found =
            found(ids, self.sources, self.targets, weights, self.directed.or(self.has_arcs))?;
        let note = |first: u32| {
            format!(
                "the network has two modes, {first} vertices of the first and {} of the second: vertices of both are \
                 read as one graph, and communities have vertices of both",
                vertices - first
            )
        };
        Ok(Found { notes: self.of_first.map(note).into_iter().collect(), ..found })
    }

    /// Renumbers the ends of the edges to the order of the labels.
    fn reorder(&mut self, order: &[u32]) -> Result<(), Fault> {
        let mut rank = memory::zeros::<VertexId>(order.len())?;
        (0..).zip(order).for_each(|(vertex, &place)| {
            rank[self.labels[place as usize].0 as usize] = vertex;
        });
        for column in [&mut self.sources, &mut self.targets] {
            column.iter_mut().for_each(|vertex| *vertex = rank[*vertex as usize]);
        }
        Ok(())
    }

    /// Rejects a vertex with two lines.
    fn check_repeated(&self) -> Result<(), Fault> {
        let mut sorted = memory::copied(&self.labels)?;
        sorted.sort_unstable();
        let repeated = sorted.windows(2).filter(|pair| pair[0].0 == pair[1].0);
        match repeated.map(|pair| pair[1]).min_by_key(|&(_, line)| line) {
            None => Ok(()),
            Some((vertex, line)) => {
                let sentence = format!("a second line of vertex {}: expected one", vertex + 1);
                Err(Fault::line(line, sentence))
            }
        }
    }

    /// Returns the labels as ids, and their line numbers in the order of the ids, if labels are the ids.
    fn names(&self, vertices: u32) -> Result<Option<Ordered<VertexIds>>, Fault> {
        let count = self.labels.len() as u32;
        let text = |place: u32| self.texts.get(place as usize);
        if count < vertices || count == 0 || (0..count).any(|place| text(place).is_empty()) {
            return Ok(None);
        }
        match called(count, &text, self.options.ids) {
            Ok(named) => Ok(named),
            Err(NamingError::Memory(refused)) => Err(refused.into()),
            Err(NamingError::NoInteger(place)) => {
                Err(Fault::line(self.labels[place as usize].1, no_integer(text(place))))
            }
        }
    }

    /// Returns the numbers of the vertices as ids.
    fn numbers(&self, vertices: u32) -> Result<VertexIds, Fault> {
        if self.options.ids == IdKind::Names && vertices == 0 {
            return Ok(VertexIds::Names(Names::new([""; 0])));
        }
        if self.options.ids == IdKind::Names {
            let sentence = "vertices without labels of their own have numbers: leave --ids out";
            return Err(Fault::whole(sentence));
        }
        Ok(VertexIds::Consecutive { first: 1, count: vertices })
    }
}

/// Returns the words of a line.
fn words(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())
}

/// Returns the first word and the rest.
fn first_word(line: &[u8]) -> (&[u8], &[u8]) {
    let end = line.iter().position(u8::is_ascii_whitespace).unwrap_or(line.len());
    line.split_at(end)
}

/// Writes a network; it has no attributes.
pub(super) struct Pajek<'a>(pub(super) Graphs<'a>);

impl Syntax for Pajek<'_> {
    fn head(&self, text: &mut Vec<u8>) {
        let _ = writeln!(text, "*Vertices {}", self.0.graph.vertices());
    }

    fn vertex(&self, text: &mut Vec<u8>, vertex: VertexId) {
        push_integer(text, vertex + 1);
        text.extend_from_slice(b" \"");
        self.0.id(vertex).push(text, |text, id| text.extend_from_slice(id.as_bytes()));
        text.extend_from_slice(b"\"\n");
    }

    fn between(&self, text: &mut Vec<u8>) {
        text.extend_from_slice(match self.0.graph.direction() {
            Direction::Directed => b"*Arcs\n",
            Direction::Undirected => b"*Edges\n",
        });
    }

    fn edge(&self, text: &mut Vec<u8>, edge: Edge) {
        push_integer(text, edge.source + 1);
        text.push(b' ');
        push_integer(text, edge.target + 1);
        if let Some(weight) = edge.weight {
            text.push(b' ');
            push_weight(text, weight);
        }
        text.push(b'\n');
    }

    fn end(&self, _text: &mut Vec<u8>) {}
}
