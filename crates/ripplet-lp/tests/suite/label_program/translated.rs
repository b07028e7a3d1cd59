//! The emitted C++ of every program of ripplet: it compiles, and each hook returns what the native
//! hook returned in a run.
//!
//! A program runs inside a wrapper that records the arguments and the result of every hook. The
//! arguments are a line of numbers: `L` for `load_neighbor` and `carry`, `S` for `label_score`,
//! `score_bound` and `pick_label`, `U` for `update_vertex`.

use super::attenuated::program::HopAttenuated;
use super::toolchain::{compile_cpp, workspace};
use ripplet_graph::{EdgeTable, Graph, GraphBuilder, VertexIds};
use ripplet_hooks::cpp;
use ripplet_lp::cpu::CpuExecutor;
use ripplet_lp::hooks::*;
use ripplet_lp::programs::{Cdlp, Gamma, Llp, Lpa, Seed, Seeded, Seeding, Slpa};
use ripplet_lp::{ColumnValues, Executor, Schedule, Settings, Stop};
use std::fmt::Write;
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// The most lines recorded of each kind.
const MOST: usize = 4000;

/// Arguments and results of one kind of hooks.
type Lines = Mutex<Vec<(String, String)>>;

/// A program that records the calls of its hooks.
struct Recorded<P> {
    program: P,
    loads: Lines,
    scores: Lines,
    updates: Lines,
}

trait Bits {
    fn bits(self) -> u64;
}

impl Bits for u64 {
    fn bits(self) -> u64 {
        self
    }
}

impl Bits for i64 {
    fn bits(self) -> u64 {
        self as u64
    }
}

fn keep(lines: &Lines, question: String, answer: String) {
    let mut lines = lines.lock().unwrap();
    if lines.len() < MOST {
        lines.push((question, answer));
    }
}

/// Returns a view's columns as the numbers of a line.
fn values(columns: &[ColumnSpec], read: impl Fn(usize, u32) -> u32) -> String {
    let mut text = String::new();
    for (slot, column) in columns.iter().enumerate() {
        (0..column.len).for_each(|index| write!(text, " {}", read(slot, index)).unwrap());
    }
    text
}

impl<P: Hints> Recorded<P> {
    fn vertex(&self, v: Vertex<'_>) -> String {
        let values = values(&self.program.columns(), |slot, index| v.column_u32(slot, index));
        format!("{} {} {}{values} {}", v.id, v.degree(), v.round(), v.label)
    }
}

impl<P: Hints> Program for Recorded<P>
where
    P::Score: Bits,
{
    type Score = P::Score;

    fn name(&self) -> &str {
        self.program.name()
    }

    fn activation(&self) -> Activation {
        self.program.activation()
    }

    fn label_total(&self) -> LabelTotal {
        self.program.label_total()
    }

    fn pick_label(&self, v: Vertex<'_>) -> Label {
        self.program.pick_label(v)
    }

    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        let vote = self.program.load_neighbor(v, u);
        let values = values(&self.program.columns(), |slot, index| u.column_u32(slot, index));
        let draw = u.random(v.id);
        let (id, degree, label, weight) = (u.id, u.degree(), u.label, u.weight);
        let vertex = self.vertex(v);
        keep(
            &self.loads,
            format!("L {vertex} {id} {degree} {draw}{values} {label} {weight}"),
            format!("L {} {} {}", vote.label, vote.weight, self.program.carry(v, u).to_bits()),
        );
        vote
    }

    fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> P::Score {
        let score = self.program.label_score(v, c);
        let (label, total, vertex) = (c.label, c.total(), self.vertex(v));
        let (picked, bound) = (self.program.pick_label(v), self.program.score_bound(c.frequency));
        keep(
            &self.scores,
            format!(
                "S {vertex} {label} {} {} {} {total}",
                c.frequency, c.total_votes, c.grand_total
            ),
            format!("S {picked} {} {}", score.bits(), bound.bits()),
        );
        score
    }

    fn carry(&self, v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        self.program.carry(v, u)
    }

    fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, score: P::Score) -> Label {
        let columns = self.program.columns();
        let before = values(&columns, |slot, index| v.column_u32(slot, index));
        let head = format!("{} {} {}{before} {}", v.id, v.degree(), v.round(), v.label);
        let (carried, frequency, total_votes) =
            (v.carried().to_bits(), v.frequency(), v.total_votes());
        let next = self.program.update_vertex(v, label, score);
        let after = values(&columns, |slot, index| v.column_u32(slot, index));
        keep(
            &self.updates,
            format!("U {head} {label} {} {carried} {frequency} {total_votes}", score.bits()),
            format!("U {next}{after}"),
        );
        next
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        self.program.columns()
    }
}

impl<P: Hints> Hints for Recorded<P>
where
    P::Score: Bits,
{
    fn carries(&self) -> bool {
        self.program.carries()
    }
}

fn word(parameter: Scalar) -> u64 {
    match parameter {
        Scalar::U32(number) => number.into(),
        Scalar::I32(number) => number as u64,
        Scalar::U64(number) => number,
        Scalar::I64(number) => number as u64,
        Scalar::F32(number) => number.to_bits().into(),
        Scalar::Bool(truth) => truth.into(),
    }
}

const VERTICES: u32 = 200;

/// Returns blocks of ten vertices with chords.
fn graph() -> Graph {
    let ids = VertexIds::Consecutive { first: 0, count: VERTICES };
    let pairs = |step: u32| {
        (0..VERTICES).map(move |v| (v, v / 10 * 10 + (v + step) % 10)).filter(|(v, u)| v != u)
    };
    let chords = (0..VERTICES).step_by(3).map(|v| (v, (v * 7 + 13) % VERTICES));
    let all = pairs(1).chain(pairs(3)).chain(chords.filter(|(v, u)| v != u));
    let (sources, targets) = all.unzip();
    GraphBuilder::new().build(EdgeTable::new(ids, sources, targets).unwrap()).unwrap()
}

fn replay<P: Hints>(program: P, settings: Settings)
where
    P::Score: Bits,
{
    let source = program.device_source().expect("the macro translates").text;
    let (parameters, columns) = (program.parameters(), program.columns());
    let empty = || Mutex::new(Vec::new());
    let recorded = Recorded { program, loads: empty(), scores: empty(), updates: empty() };
    CpuExecutor::new(None).unwrap().run(&graph(), &recorded, &settings, &mut ()).unwrap();

    let mut questions = format!("{}", parameters.len());
    parameters.iter().for_each(|&p| write!(questions, " {}", word(p)).unwrap());
    write!(questions, " {}", columns.len()).unwrap();
    columns.iter().for_each(|column| write!(questions, " {}", column.len).unwrap());
    let mut answers = String::new();
    for lines in [recorded.loads, recorded.scores, recorded.updates] {
        let lines = lines.into_inner().unwrap();
        assert!(lines.len() > 100, "only {} calls were recorded", lines.len());
        for (question, answer) in lines {
            write!(questions, "\n{question}").unwrap();
            writeln!(answers, "{answer}").unwrap();
        }
    }
    let directory = workspace(&format!("replay-{}", recorded.program.name()));
    let (main, input) = (directory.join("main.cpp"), directory.join("questions"));
    let parts = [
        cpp::SCALAR,
        include_str!("replay.cpp"),
        cpp::VIEWS,
        &source,
        include_str!("replay_main.cpp"),
    ];
    std::fs::write(&main, parts.concat()).unwrap();
    std::fs::write(&input, questions).unwrap();
    let mut run = Command::new(compile_cpp(&main));
    let input = Stdio::from(std::fs::File::open(input).unwrap());
    let found = String::from_utf8(run.stdin(input).output().unwrap().stdout).unwrap();
    for (line, (expected, found)) in answers.lines().zip(found.lines()).enumerate() {
        assert_eq!(expected, found, "{}, answer {line}", recorded.program.name());
    }
    assert_eq!(answers.lines().count(), found.lines().count());
}

fn settings() -> Settings {
    Settings { schedule: Schedule::sync(), stop: Stop::after(4), ..Settings::default() }
}

#[test]
fn lpa_cdlp_and_llp_answer_alike() {
    replay(Lpa::default(), settings());
    replay(Cdlp, settings());
    replay(Llp::new(Gamma::new(0.25).unwrap()), settings());
}

#[test]
fn slpa_answers_alike() {
    replay(Slpa::default(), settings());
}

#[test]
fn seeded_answers_alike() {
    let seeds: Vec<_> =
        (0..20).map(|n| Seed { vertex: n * 9, label: n * 9, strength: 0.75 }).collect();
    let settings = Seeded::begin(settings(), VERTICES, &seeds, Seeding::Initial).unwrap();
    replay(Seeded::new(&graph(), 0.5).unwrap(), settings);
}

#[test]
fn a_program_of_ones_own_answers_alike() {
    let mut settings = settings();
    let trust = (0..VERTICES).map(|v| u32::from(v % 5 != 0)).collect();
    settings.columns.insert("trust".into(), ColumnValues::U32(trust));
    replay(HopAttenuated { attenuation: 0.125, memory: 3, members: true }, settings);
}
