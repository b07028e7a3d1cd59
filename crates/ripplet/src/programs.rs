//! The programs that ripplet ships, by name, with their parameters and defaults.
//!
//! This is the only list of them: the command's `--program`, its help and its checks read it.
//!
//! | name | parameters | schedule | rounds | a vertex has |
//! |---|---|---|---|---|
//! | `lpa` | `guard` | phased | until at most 3 % change, at most 30; then communities merge | one community |
//! | `cdlp` | | sync, smallest label | 10 | one community |
//! | `llp` | `gamma` | phased | until at most 0.1 % change, at most 30 | one community |
//! | `slpa` | `memory`, `threshold` | phased | 40 | one or several |
//! | `seeded` | `attenuation` | phased | until nothing changes, at most 1000 | one or none |
//!
//! ```
//! use ripplet::programs::{BuiltIn, ProgramName};
//!
//! let program = BuiltIn::from_name("lpa")?.with("guard", "0.5")?;
//! assert_eq!(program.name(), ProgramName::Lpa);
//! for name in ProgramName::ALL {
//!     println!("{name}: {}", name.help());
//!     for parameter in name.parameters() {
//!         println!("  {} [default: {}]: {}", parameter.name, parameter.default, parameter.help);
//!     }
//! }
//! # Ok::<(), ripplet::programs::ProgramError>(())
//! ```

use ripplet_graph::GraphView;
use ripplet_lp::programs::{BadAttenuation, Cdlp, Gamma, Guard, Llp, Lpa, Seeded, Slpa, THRESHOLD};
use ripplet_lp::refine::MergeShare;
use ripplet_lp::stop::DEFAULT_ROUNDS;
use ripplet_lp::{DynProgram, Schedule, Settings, Stop};
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Name of a program that ripplet ships.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProgramName {
    /// Label propagation with a guard against giant communities.
    Lpa,
    /// LDBC Graphalytics' community detection.
    Cdlp,
    /// Layered label propagation.
    Llp,
    /// Speaker-listener label propagation.
    Slpa,
    /// Label propagation from seeds.
    Seeded,
}

/// A parameter of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name: `guard`.
    pub name: &'static str,
    /// The default as text.
    pub default: &'static str,
    /// Its effect, as a line of help.
    pub help: &'static str,
}

/// A program that ripplet ships, with its parameters.
///
/// # Examples
/// ```
/// use ripplet::graph_from_edges;
/// use ripplet::programs::BuiltIn;
///
/// let graph = graph_from_edges([(1, 2), (2, 3), (3, 1), (4, 5), (5, 6), (6, 4), (3, 4)])?;
/// let program = BuiltIn::from_name("slpa")?.with("memory", "20")?.with("threshold", "0.3")?;
/// let found = ripplet::communities(&graph).built_in(program).device("cpu".parse()?).run()?;
/// assert!(!found.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub enum BuiltIn {
    /// Label propagation with this guard.
    Lpa(Guard),
    /// LDBC Graphalytics' community detection.
    Cdlp,
    /// Layered label propagation at this γ.
    Llp(Gamma),
    /// Speaker-listener label propagation.
    Slpa {
        /// The program, with the size of a vertex's memory.
        program: Slpa,
        /// The share of a vertex's memory that a community must fill to have the vertex.
        threshold: f64,
    },
    /// Label propagation from seeds.
    Seeded {
        /// The share of its strength that a label keeps at a hop.
        attenuation: f64,
    },
}

/// The end of a run as a user chooses it; what is left open is the default.
///
/// ```
/// use ripplet::programs::{ProgramName, StopChoice};
///
/// let choice = StopChoice { max_iterations: Some(5), ..StopChoice::default() };
/// assert_eq!(choice.for_program(ProgramName::Lpa)?.max_rounds(), Some(5));
/// assert!(choice.for_program(ProgramName::Cdlp).is_err());
/// # Ok::<(), ripplet::programs::FixedRounds>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StopChoice {
    /// Exactly this number of rounds, unless nothing would change.
    pub iterations: Option<u32>,
    /// The largest number of rounds.
    pub max_iterations: Option<u32>,
    /// The run ends when at most this share of the vertices changed in a round.
    pub tolerance: Option<f64>,
}

/// Error of a limit or a tolerance for a program that runs a fixed number of rounds.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{0} runs a fixed number of iterations: choose these instead of a limit or a tolerance")]
pub struct FixedRounds(pub ProgramName);

impl StopChoice {
    /// Returns the rule, with what the choice leaves open as in `default`.
    pub fn or(self, default: Stop) -> Stop {
        if let Some(rounds) = self.iterations {
            return Stop::after(rounds);
        }
        let most = self.max_iterations.or(default.max_rounds());
        let stop = Stop::after(most.unwrap_or(DEFAULT_ROUNDS));
        let stop = match self.tolerance.or(default.tolerance()) {
            Some(share) => stop.at_tolerance(share),
            None => stop,
        };
        stop.at_oscillation()
    }

    /// Returns the rule for a program that ripplet ships.
    ///
    /// # Errors
    /// If the program runs a fixed number of rounds, and the choice is a limit or a tolerance.
    pub fn for_program(self, name: ProgramName) -> Result<Stop, FixedRounds> {
        match name {
            ProgramName::Cdlp | ProgramName::Slpa => {
                match self.max_iterations.is_some() || self.tolerance.is_some() {
                    true => Err(FixedRounds(name)),
                    false => Ok(self.iterations.map_or(name.stop(), Stop::after)),
                }
            }
            ProgramName::Lpa | ProgramName::Llp | ProgramName::Seeded => Ok(self.or(name.stop())),
        }
    }
}

/// Error of a name or a parameter.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProgramError {
    /// No program has the name.
    #[error("there is no program {0}: expected {names}", names = ProgramName::listed())]
    NoProgram(String),
    /// The program has no such parameter.
    #[error("{program} has no parameter {parameter}")]
    NoParameter {
        /// The program.
        program: ProgramName,
        /// The parameter.
        parameter: String,
    },
    /// The program was given as a value, which has its parameters.
    #[error("{program} was given as a value: set its parameter {parameter} there")]
    OwnProgram {
        /// The program's name.
        program: String,
        /// The parameter.
        parameter: String,
    },
    /// The value does not fit the parameter.
    #[error("{parameter}: {reason}")]
    Value {
        /// The parameter.
        parameter: String,
        /// The reason.
        reason: String,
    },
}

/// Entry of a program in the registry.
struct Entry {
    name: &'static str,
    help: &'static str,
    parameters: &'static [Parameter],
    schedule: Schedule,
    stop: fn() -> Stop,
    keeps_disconnected: bool,
    is_partition: bool,
    follows_frequency: bool,
}

static LPA: Entry = Entry {
    name: "lpa",
    help: "Label propagation that does not let one community take all",
    parameters: &[Parameter {
        name: "guard",
        default: "1",
        help: "a label is refused unless a vertex's neighbours vote for it this many times as often as \
               chance would have them: keeps giants from swallowing the rest; 0 is plain label propagation",
    }],
    schedule: Lpa::schedule(),
    stop: Lpa::stop,
    keeps_disconnected: false,
    is_partition: true,
    follows_frequency: true,
};

static CDLP: Entry = Entry {
    name: "cdlp",
    help: "LDBC Graphalytics' community detection, exactly as specified",
    parameters: &[],
    schedule: Schedule::cdlp(),
    stop: Cdlp::stop,
    keeps_disconnected: true,
    is_partition: true,
    follows_frequency: false,
};

static LLP: Entry = Entry {
    name: "llp",
    help: "Layered label propagation: large labels need more votes; communities at many resolutions",
    parameters: &[Parameter {
        name: "gamma",
        default: "1",
        help: "what each member of a community that is no neighbour costs; 0 is plain label propagation, \
               more makes communities smaller",
    }],
    schedule: Schedule::phased(),
    stop: Stop::default,
    keeps_disconnected: false,
    is_partition: true,
    follows_frequency: false,
};

static SLPA: Entry = Entry {
    name: "slpa",
    help: "Speaker-listener label propagation: communities may overlap",
    parameters: &[
        Parameter { name: "memory", default: "8", help: "communities that a vertex remembers" },
        Parameter {
            name: "threshold",
            default: "0.1",
            help: "the share of its memory that a community must fill to have a vertex, beside the one \
                   that fills most; communities that are subsets of others are left out",
        },
    ],
    schedule: Schedule::phased(),
    stop: Slpa::stop,
    keeps_disconnected: true,
    is_partition: false,
    follows_frequency: true,
};

static SEEDED: Entry = Entry {
    name: "seeded",
    help: "Labels spread from vertices whose cluster is known (--seeds)",
    parameters: &[Parameter {
        name: "attenuation",
        default: "1",
        help: "the share of its strength that a label keeps at a hop",
    }],
    schedule: Schedule::phased(),
    stop: Seeded::stop,
    keeps_disconnected: true,
    is_partition: false,
    follows_frequency: true,
};

impl ProgramName {
    /// All programs, in the order of the help.
    pub const ALL: [ProgramName; 5] = [
        ProgramName::Lpa,
        ProgramName::Cdlp,
        ProgramName::Llp,
        ProgramName::Slpa,
        ProgramName::Seeded,
    ];

    fn entry(self) -> &'static Entry {
        match self {
            ProgramName::Lpa => &LPA,
            ProgramName::Cdlp => &CDLP,
            ProgramName::Llp => &LLP,
            ProgramName::Slpa => &SLPA,
            ProgramName::Seeded => &SEEDED,
        }
    }

    /// Returns the name as text.
    pub fn as_str(self) -> &'static str {
        self.entry().name
    }

    /// Returns a line of help.
    pub fn help(self) -> &'static str {
        self.entry().help
    }

    /// Returns the parameters.
    pub fn parameters(self) -> &'static [Parameter] {
        self.entry().parameters
    }

    /// Returns the default schedule.
    pub fn schedule(self) -> Schedule {
        self.entry().schedule
    }

    /// Returns the default stop rule.
    pub fn stop(self) -> Stop {
        (self.entry().stop)()
    }

    /// Returns whether disconnected communities stay as they are, as the program defines them.
    pub fn keeps_disconnected(self) -> bool {
        self.entry().keeps_disconnected
    }

    /// Returns whether each vertex with a label has one community, named by one of its members.
    pub fn is_partition(self) -> bool {
        self.entry().is_partition
    }

    /// Returns whether frequent labels are enough, so that a counter may keep but a few
    /// ([`Hints::follows_frequency`](ripplet_lp::Hints::follows_frequency)).
    pub fn follows_frequency(self) -> bool {
        self.entry().follows_frequency
    }

    /// Returns the program that has a parameter, and the parameter.
    pub fn with_parameter(parameter: &str) -> Option<(ProgramName, &'static Parameter)> {
        let of = |name: ProgramName| {
            let found = name.parameters().iter().find(|known| known.name == parameter)?;
            Some((name, found))
        };
        ProgramName::ALL.into_iter().find_map(of)
    }

    fn listed() -> String {
        ProgramName::ALL.map(ProgramName::as_str).join(", ")
    }
}

impl fmt::Display for ProgramName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ProgramName {
    type Err = ProgramError;

    fn from_str(text: &str) -> Result<ProgramName, ProgramError> {
        let found = ProgramName::ALL.into_iter().find(|name| name.as_str() == text);
        found.ok_or_else(|| ProgramError::NoProgram(text.into()))
    }
}

impl From<ProgramName> for BuiltIn {
    /// Returns the program with its default parameters.
    fn from(name: ProgramName) -> BuiltIn {
        match name {
            ProgramName::Lpa => BuiltIn::Lpa(Guard::default()),
            ProgramName::Cdlp => BuiltIn::Cdlp,
            ProgramName::Llp => BuiltIn::Llp(Gamma::ONE),
            ProgramName::Slpa => BuiltIn::Slpa { program: Slpa::default(), threshold: THRESHOLD },
            ProgramName::Seeded => BuiltIn::Seeded { attenuation: 1.0 },
        }
    }
}

impl BuiltIn {
    /// Returns the share at which communities merge at the end by default, if they do: those of
    /// `lpa`, but without a guard it is plain label propagation, which does not merge.
    pub fn merge(&self) -> Option<MergeShare> {
        match self {
            BuiltIn::Lpa(guard) if *guard != Guard::OFF => Some(MergeShare::default()),
            _ => None,
        }
    }

    /// Returns the default settings of a run: its schedule, its end, and what happens to disconnected and to neighbouring
    /// communities.
    pub fn settings(&self) -> Settings {
        let name = self.name();
        Settings {
            schedule: name.schedule(),
            stop: name.stop(),
            keep_disconnected: name.keeps_disconnected(),
            merge: self.merge(),
            ..Settings::default()
        }
    }

    /// Returns the program of this name with its default parameters.
    ///
    /// # Errors
    /// If there is no such program.
    pub fn from_name(name: &str) -> Result<BuiltIn, ProgramError> {
        name.parse::<ProgramName>().map(BuiltIn::from)
    }

    /// Returns the name.
    pub fn name(&self) -> ProgramName {
        match self {
            BuiltIn::Lpa(_) => ProgramName::Lpa,
            BuiltIn::Cdlp => ProgramName::Cdlp,
            BuiltIn::Llp(_) => ProgramName::Llp,
            BuiltIn::Slpa { .. } => ProgramName::Slpa,
            BuiltIn::Seeded { .. } => ProgramName::Seeded,
        }
    }

    /// Sets a parameter by its name, from text.
    ///
    /// # Errors
    /// If the program has no such parameter, or the value does not fit it.
    pub fn with(mut self, parameter: &str, value: &str) -> Result<BuiltIn, ProgramError> {
        let bad = |reason| ProgramError::Value { parameter: parameter.into(), reason };
        match (&mut self, parameter) {
            (BuiltIn::Lpa(known), "guard") => *known = guard(value).map_err(bad)?,
            (BuiltIn::Llp(known), "gamma") => *known = gamma(value).map_err(bad)?,
            (BuiltIn::Slpa { program, .. }, "memory") => *program = memory(value).map_err(bad)?,
            (BuiltIn::Slpa { threshold, .. }, "threshold") => {
                *threshold = share(value).map_err(bad)?;
            }
            (BuiltIn::Seeded { attenuation }, "attenuation") => {
                *attenuation = value.parse().map_err(|_| bad("expected a number".into()))?;
            }
            _ => {
                let (program, parameter) = (self.name(), parameter.into());
                return Err(ProgramError::NoParameter { program, parameter });
            }
        }
        Ok(self)
    }

    /// Returns the program for an executor; `seeded` reads the graph's weights.
    ///
    /// # Errors
    /// If the attenuation is not above 0 and at most 1.
    pub fn instantiate<'g>(
        &self,
        graph: impl Into<GraphView<'g>>,
    ) -> Result<Box<dyn DynProgram>, BadAttenuation> {
        match *self {
            BuiltIn::Seeded { attenuation } => Ok(Seeded::new(graph, attenuation)?.into()),
            BuiltIn::Lpa(guard) => Ok(Lpa::new(guard).into()),
            BuiltIn::Cdlp => Ok(Cdlp.into()),
            BuiltIn::Llp(gamma) => Ok(Llp::new(gamma).into()),
            BuiltIn::Slpa { program, .. } => Ok(program.into()),
        }
    }
}

/// Parses a guard of `lpa`.
///
/// # Errors
/// A sentence with the range.
pub fn guard(text: &str) -> Result<Guard, String> {
    let number = text.parse().map_err(|_| "expected a number from 0 to 65535".to_string())?;
    Guard::new(number).map_err(|error| error.to_string())
}

/// Parses a γ of `llp`.
///
/// # Errors
/// A sentence with the range.
pub fn gamma(text: &str) -> Result<Gamma, String> {
    let number = text.parse().map_err(|_| "expected a number from 0 to 65535".to_string())?;
    Gamma::new(number).map_err(|error| error.to_string())
}

/// Parses the size of a vertex's memory in `slpa`, and returns the program with it.
///
/// # Errors
/// A sentence with the range.
pub fn memory(text: &str) -> Result<Slpa, String> {
    let number = text.parse().map_err(|_| "expected a whole number, 1 or more".to_string())?;
    Slpa::new(number).map_err(|error| error.to_string())
}

/// Parses a share, from 0 to 1.
///
/// # Errors
/// A sentence with the range.
pub fn share(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "expected a share, from 0 to 1".into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ripplet_lp::programs::MEMORY;

    #[test]
    fn defaults_as_text_are_the_defaults() {
        for name in ProgramName::ALL {
            assert_eq!(name.to_string().parse(), Ok(name));
            for &Parameter { name: parameter, default, .. } in name.parameters() {
                let set = BuiltIn::from(name).with(parameter, default).unwrap();
                let shown = |program: BuiltIn| format!("{program:?}");
                assert_eq!(shown(set), shown(name.into()), "{name} {parameter}");
                let found = ProgramName::with_parameter(parameter).unwrap();
                assert_eq!(found.0, name);
            }
        }
        assert_eq!(MEMORY.to_string(), SLPA.parameters[0].default);
        assert_eq!(THRESHOLD.to_string(), SLPA.parameters[1].default);
    }

    #[test]
    fn frequent_labels_are_enough_as_the_programs_say() {
        let graph = crate::graph_from_edges([("a", "b")]).unwrap();
        for name in ProgramName::ALL {
            let info = BuiltIn::from(name).instantiate(&graph).unwrap().info();
            assert_eq!(name.follows_frequency(), info.follows_frequency, "{name}");
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        let error = BuiltIn::from_name("louvain").unwrap_err();
        let expected = "there is no program louvain: expected lpa, cdlp, llp, slpa, seeded";
        assert_eq!(error.to_string(), expected);
        let error = BuiltIn::Cdlp.with("guard", "1").unwrap_err();
        assert_eq!(error.to_string(), "cdlp has no parameter guard");
        for (name, parameter, bad) in [
            ("lpa", "guard", "-1"),
            ("lpa", "guard", "NaN"),
            ("llp", "gamma", "70000"),
            ("slpa", "memory", "0"),
            ("slpa", "threshold", "1.5"),
            ("seeded", "attenuation", "half"),
        ] {
            let program = BuiltIn::from_name(name).unwrap();
            let error = program.with(parameter, bad).unwrap_err();
            assert!(matches!(error, ProgramError::Value { .. }), "{name} {parameter} {bad}");
        }
        assert_eq!(ProgramName::with_parameter("resolution"), None);
    }
}
