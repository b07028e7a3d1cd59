//! The report of `ripplet bench lp`, as JSON and as text.

use crate::stats::Shape;
use ripplet::lp::profile::{Iteration, Part, Profile};
use serde::Serialize;
use std::fmt::Write;

/// The measurement of a way of counting votes.
pub struct Variant {
    /// The name of the way of counting.
    pub name: &'static str,
    /// The measurements.
    pub profile: Profile,
}

/// A tuning report. Programs rely on the names.
#[derive(Debug, Serialize)]
pub struct Report {
    /// The version of ripplet.
    version: &'static str,
    /// The graph.
    #[serde(flatten)]
    shape: Shape,
    /// Its arcs, as an iteration reads them: of a directed graph each edge at both of its ends.
    arcs: u64,
    /// The program.
    program: String,
    /// The device.
    device: String,
    /// Reading every arc.
    stream_ceiling: Pace,
    /// Reading every arc's label as well.
    gather_ceiling: Pace,
    /// The iterations, from the first.
    iterations: Vec<Measured>,
    /// Other ways of counting; null where none was measured.
    ablation: Option<Vec<Ablated>>,
}

/// The speed in arcs.
#[derive(Clone, Copy, Debug, Serialize)]
struct Pace {
    seconds: f64,
    arcs_per_second: f64,
    /// The gather ceiling's seconds as a share of these: 1 is what no iteration can beat.
    of_gather: f64,
}

/// An iteration.
#[derive(Debug, Serialize)]
struct Measured {
    #[serde(flatten)]
    pace: Pace,
    /// Vertices that changed.
    changed: u64,
    /// Its steps, each launched and measured separately.
    steps: Vec<Step>,
}

/// A step of an iteration: a degree class, or the work before or after the classes.
#[derive(Debug, Serialize)]
struct Step {
    name: &'static str,
    vertices: u64,
    arcs: u64,
    #[serde(flatten)]
    pace: Pace,
}

/// A way of counting.
#[derive(Debug, Serialize)]
struct Ablated {
    counting: &'static str,
    iterations: Vec<Measured>,
}

/// Arcs, and the seconds that reading their labels takes.
struct Ceiling {
    arcs: u64,
    gather: f64,
}

impl Ceiling {
    /// Returns the pace of `arcs` of the arcs. Their ceiling is their share of the ceiling of all.
    fn pace(&self, arcs: u64, seconds: f64) -> Pace {
        let share = arcs as f64 / self.arcs.max(1) as f64;
        // Without a measurable time there is no speed: JSON has no infinity.
        let over = |number: f64| if seconds > 0.0 { number / seconds } else { 0.0 };
        Pace { seconds, arcs_per_second: over(arcs as f64), of_gather: over(self.gather * share) }
    }

    fn iterations(&self, iterations: &[Iteration]) -> Vec<Measured> {
        let step = |part: &Part| Step {
            name: part.name,
            vertices: part.vertices,
            arcs: part.arcs,
            pace: self.pace(part.arcs, part.seconds),
        };
        let measured = |iteration: &Iteration| Measured {
            pace: self.pace(self.arcs, iteration.seconds),
            changed: iteration.changed,
            steps: iteration.parts.iter().map(step).collect(),
        };
        iterations.iter().map(measured).collect()
    }
}

impl Report {
    /// Creates the report on a program: of the first way of counting, and, if there are more, of all.
    pub fn new(shape: Shape, program: String, device: String, variants: &[Variant]) -> Report {
        let none = Profile { arcs: 0, stream: 0.0, gather: 0.0, iterations: Vec::new() };
        let Profile { arcs, stream, gather, iterations } =
            variants.first().map_or(&none, |variant| &variant.profile);
        // All are beside one ceiling, that of the first.
        let ceiling = Ceiling { arcs: *arcs, gather: *gather };
        let ablated = |variant: &Variant| Ablated {
            counting: variant.name,
            iterations: ceiling.iterations(&variant.profile.iterations),
        };
        Report {
            version: env!("CARGO_PKG_VERSION"),
            shape,
            arcs: *arcs,
            program,
            device,
            stream_ceiling: ceiling.pace(*arcs, *stream),
            gather_ceiling: ceiling.pace(*arcs, *gather),
            iterations: ceiling.iterations(iterations),
            ablation: (variants.len() > 1).then(|| variants.iter().rev().map(ablated).collect()),
        }
    }

    /// Returns the report as tables of text.
    pub fn lines(&self) -> String {
        let mut text = format!(
            "{}, full iterations, on {}: {} vertices, {} arcs\n\n",
            self.program, self.device, self.shape.vertices, self.arcs
        );
        let _ = writeln!(text, "{:40}{:>11}{PACE}", "", "changed");
        for (name, pace) in
            [("stream ceiling", self.stream_ceiling), ("gather ceiling", self.gather_ceiling)]
        {
            let _ = writeln!(text, "{name:51}{}", pace.cells(self.arcs));
        }
        for (number, iteration) in (1..).zip(&self.iterations) {
            let (cells, changed) = (iteration.pace.cells(self.arcs), iteration.changed);
            let _ = writeln!(text, "{:40}{changed:>11}{cells}", format!("iteration {number}"));
        }
        if let Some(first) = self.iterations.first() {
            text += &first.steps(1);
        }
        if let [_, .., last] = &self.iterations[..] {
            text += &last.steps(self.iterations.len());
        }
        self.ablation.iter().for_each(|ablation| text += &side_by_side(ablation));
        text
    }
}

/// The heads of a pace's cells.
const PACE: &str = "        arcs          ms  G arcs/s  of gather";

impl Pace {
    fn cells(self, arcs: u64) -> String {
        let Pace { seconds, arcs_per_second, of_gather } = self;
        let (ms, rate) = (seconds * 1e3, arcs_per_second / 1e9);
        format!("{arcs:>12}{ms:>12.4}{rate:>10.2}{of_gather:>11.3}")
    }
}

impl Measured {
    /// The steps of the iteration of this number.
    fn steps(&self, number: usize) -> String {
        let title = format!("iteration {number}, step by step");
        let mut text = format!("\n{title:40}{:>11}{PACE}\n", "vertices");
        for Step { name, vertices, arcs, pace } in &self.steps {
            let _ = writeln!(text, "{name:40}{vertices:>11}{}", pace.cells(*arcs));
        }
        text
    }
}

/// The iterations of each way of counting.
fn side_by_side(ways: &[Ablated]) -> String {
    let row = |title: &str, cells: &dyn Fn(&Ablated) -> String| {
        let cells = ways.iter().map(|way| format!("{:>16}", cells(way))).collect::<String>();
        format!("{title:24}{cells}\n")
    };
    let mut text = format!("\n{}", row("milliseconds", &|way| way.counting.into()));
    for at in 0..ways.first().map_or(0, |way| way.iterations.len()) {
        let cell = |way: &Ablated| {
            let ms = way.iterations.get(at).map(|iteration| iteration.pace.seconds * 1e3);
            ms.map_or_else(String::new, |ms| format!("{ms:.4}"))
        };
        text += &row(&format!("iteration {}", at + 1), &cell);
    }
    text
}
