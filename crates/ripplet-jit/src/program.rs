//! Programs with just-in-time compiled hooks.

use crate::lower::{self, Compiler};
use crate::machine::{
    Carry, CarryMost, Code, Declaration, Declared, Entry, LabelScore, LoadNeighbor, LoadNeighbors,
    PickLabel, ScoreBound, UpdateVertex,
};
use crate::parameters::scalar_from;
use crate::{JitError, Parameters};
use cranelift_codegen::ir::Value;
use ripplet_hooks::ir;
use ripplet_lp::{
    Activation, Candidate, ColumnKind, ColumnSpec, DeviceSource, DynProgram, Hints, Label,
    LabelTotal, Neighbor, NeighborList, Program, Scalar, Schedule, Score, Vertex, VertexMut, Vote,
};
use std::borrow::Cow;
use std::marker::PhantomData;
use std::sync::Arc;

/// A type of scores that hooks can be compiled for: `u64`, `i64` and `f32`.
pub trait JitScore: Score + sealed::Sealed {
    /// The type in the intermediate representation.
    const SCALAR: ir::Scalar;
    /// Returns the score with these bits.
    fn from_bits(bits: u64) -> Self;
    /// Returns the bits of the score.
    fn bits(self) -> u64;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for u64 {}
    impl Sealed for i64 {}
    impl Sealed for f32 {}
}

impl JitScore for u64 {
    const SCALAR: ir::Scalar = ir::Scalar::U64;

    #[inline]
    fn from_bits(bits: u64) -> u64 {
        bits
    }

    #[inline]
    fn bits(self) -> u64 {
        self
    }
}

impl JitScore for i64 {
    const SCALAR: ir::Scalar = ir::Scalar::I64;

    #[inline]
    fn from_bits(bits: u64) -> i64 {
        bits.cast_signed()
    }

    #[inline]
    fn bits(self) -> u64 {
        self.cast_unsigned()
    }
}

impl JitScore for f32 {
    const SCALAR: ir::Scalar = ir::Scalar::F32;

    #[inline]
    fn from_bits(bits: u64) -> f32 {
        // The upper half is 0.
        f32::from_bits(bits as u32)
    }

    #[inline]
    fn bits(self) -> u64 {
        u64::from(self.to_bits())
    }
}

/// A just-in-time compiled program with scores of type `S`.
#[derive(Clone, Debug)]
pub struct JitProgram<S> {
    name: String,
    parameters: Vec<Scalar>,
    columns: Vec<ColumnSpec>,
    schedule: Schedule,
    activation: Activation,
    label_total: LabelTotal,
    falls_with_total: bool,
    follows_frequency: bool,
    votes_for_own_label: bool,
    carries: bool,
    device_source: DeviceSource,
    hooks: Hooks,
    score: PhantomData<S>,
}

/// The compiled hooks; `None` for the trait's default.
#[derive(Clone, Debug)]
struct Hooks {
    pick_label: Option<PickLabel>,
    load_neighbor: Option<LoadNeighbor>,
    /// `Some` if one of the two above is.
    load_neighbors: Option<LoadNeighbors>,
    label_score: LabelScore,
    carry: Option<Carry>,
    carry_most: Option<CarryMost>,
    update_vertex: Option<UpdateVertex>,
    score_bound: Option<ScoreBound>,
}

/// A compiled program with scores of any type.
#[derive(Clone, Debug)]
pub enum CompiledProgram {
    /// With scores of type `u64`.
    U64(JitProgram<u64>),
    /// With scores of type `i64`.
    I64(JitProgram<i64>),
    /// With scores of type `f32`.
    F32(JitProgram<f32>),
}

impl CompiledProgram {
    /// Compiles a program; `parameters` must have a value for each of its parameters, and no
    /// others.
    ///
    /// # Errors
    /// If a parameter is missing, unknown or of the wrong type, or if this machine cannot run
    /// programs from files. Modules from `ripplet_hooks` compile.
    pub fn compile(
        module: &ir::Module,
        parameters: &Parameters,
    ) -> Result<CompiledProgram, JitError> {
        match module.score {
            ir::Scalar::U64 => JitProgram::compile(module, parameters).map(CompiledProgram::U64),
            ir::Scalar::I64 => JitProgram::compile(module, parameters).map(CompiledProgram::I64),
            ir::Scalar::F32 => JitProgram::compile(module, parameters).map(CompiledProgram::F32),
            other => Err(JitError::unsound(format!("scores that are {}", other.name()))),
        }
    }
}

impl From<CompiledProgram> for Box<dyn DynProgram> {
    // If it were inlined, the caller would compile the engine's loops again.
    #[inline(never)]
    fn from(program: CompiledProgram) -> Self {
        match program {
            CompiledProgram::U64(program) => Box::new(program),
            CompiledProgram::I64(program) => Box::new(program),
            CompiledProgram::F32(program) => Box::new(program),
        }
    }
}

impl<S: JitScore> JitProgram<S> {
    /// Compiles a program; `parameters` must have a value for each of its parameters, and no
    /// others.
    ///
    /// # Errors
    /// See [`CompiledProgram::compile`]; also if its scores are not of type `S`.
    pub fn compile(module: &ir::Module, parameters: &Parameters) -> Result<Self, JitError> {
        if module.score != S::SCALAR {
            let (given, wanted) = (module.score.name(), S::SCALAR.name());
            return Err(JitError::Score { given, wanted });
        }
        let values = parameters.in_order(module)?;
        let schedule = schedule_named(module.schedule.as_deref())?;
        let program = lower::Program::new(module, &values)?;
        let columns = specs(module, &program.columns);
        let (declared, hooks) = lower::with_stack(|| {
            let mut compiler = Compiler::new(program)?;
            let declared = DeclaredHooks::compile(&mut compiler, &module.hooks)?;
            let declarations = DeclaredDeclarations::compile(&mut compiler, &module.hooks)?;
            let code = compiler.finish()?;
            Ok((declarations.evaluate(&code), declared.hooks(&code)))
        })?;
        Ok(JitProgram {
            name: module.name.clone(),
            parameters: values,
            columns,
            schedule,
            activation: declared.activation.map_or(Ok(Activation::Change), activation_of)?,
            label_total: declared.label_total.map_or(Ok(LabelTotal::None), label_total_of)?,
            falls_with_total: declared.falls_with_total.is_some_and(|said| said != 0),
            follows_frequency: declared.follows_frequency.is_some_and(|said| said != 0),
            votes_for_own_label: declared.votes_for_own_label.map_or(
                module.hooks.pick_label.is_none() && module.hooks.load_neighbor.is_none(),
                |said| said != 0,
            ),
            carries: declared.carries.map_or(hooks.carry.is_some(), |said| said != 0),
            device_source: DeviceSource { text: Cow::Owned(ripplet_hooks::cpp::emit(module)) },
            hooks,
            score: PhantomData,
        })
    }
}

fn schedule_named(name: Option<&str>) -> Result<Schedule, JitError> {
    let Some(name) = name else { return Ok(Schedule::phased()) };
    Schedule::declared(name).ok_or_else(|| JitError::Schedule(name.to_owned()))
}

fn activation_of(said: u32) -> Result<Activation, JitError> {
    match said {
        0 => Ok(Activation::Disagreement),
        1 => Ok(Activation::Change),
        2 => Ok(Activation::Always),
        other => Err(JitError::unsound(format!("`activation` says {other}"))),
    }
}

fn label_total_of(said: u32) -> Result<LabelTotal, JitError> {
    match said {
        0 => Ok(LabelTotal::None),
        1 => Ok(LabelTotal::Members),
        2 => Ok(LabelTotal::Volume),
        other => Err(JitError::unsound(format!("`label_total` says {other}"))),
    }
}

fn specs(module: &ir::Module, columns: &[lower::Column]) -> Vec<ColumnSpec> {
    let spec = |(column, lowered): (&ir::Column, &lower::Column)| ColumnSpec {
        name: Cow::Owned(column.name.clone()),
        kind: match lowered.scalar {
            ir::Scalar::F32 => ColumnKind::F32,
            _ => ColumnKind::U32,
        },
        len: lowered.len,
        default: column.default.map(scalar_from),
        written: column.written,
    };
    module.columns.iter().zip(columns).map(spec).collect()
}

/// The hooks before their code is sealed.
struct DeclaredHooks {
    pick_label: Option<Declared<PickLabel>>,
    load_neighbor: Option<Declared<LoadNeighbor>>,
    load_neighbors: Option<Declared<LoadNeighbors>>,
    label_score: Declared<LabelScore>,
    carry: Option<Declared<Carry>>,
    carry_most: Option<Declared<CarryMost>>,
    update_vertex: Option<Declared<UpdateVertex>>,
    score_bound: Option<Declared<ScoreBound>>,
}

impl DeclaredHooks {
    fn compile(compiler: &mut Compiler<'_>, hooks: &ir::Hooks) -> Result<DeclaredHooks, JitError> {
        let (pick, load) = (hooks.pick_label, hooks.load_neighbor);
        let asks = pick.or(load);
        Ok(DeclaredHooks {
            pick_label: pick
                .map(|hook| {
                    compiler.entry("pick_label", |lowering, p| {
                        lowering.pick_label(Some(hook), p[1], p[2])
                    })
                })
                .transpose()?,
            load_neighbor: load
                .map(|hook| {
                    compiler.entry("load_neighbor", |lowering, p| {
                        lowering.packed_vote(hook, [p[1], p[2]], [p[3], p[4], p[5]])
                    })
                })
                .transpose()?,
            load_neighbors: asks
                .map(|_| {
                    compiler.entry("load_neighbors", |lowering, p| {
                        lowering.load_neighbors(pick, load, p[1], [p[2], p[3]])
                    })
                })
                .transpose()?,
            label_score: compiler.entry("label_score", |lowering, p| {
                lowering.label_score(hooks.label_score, p[1], [p[2], p[3]])
            })?,
            carry: hooks
                .carry
                .map(|hook| {
                    compiler.entry("carry", |lowering, p| {
                        lowering.carry(hook, [p[1], p[2]], [p[3], p[4], p[5]])
                    })
                })
                .transpose()?,
            carry_most: hooks
                .carry
                .map(|hook| {
                    compiler.entry("carry_most", |lowering, p| {
                        lowering.carry_most(pick, hook, p[1], [p[2], p[3]], p[4])
                    })
                })
                .transpose()?,
            update_vertex: hooks
                .update_vertex
                .map(|hook| {
                    compiler.entry("update_vertex", |lowering, p| {
                        lowering.update_vertex(hook, p[1], [p[2], p[3]], p[4], p[5])
                    })
                })
                .transpose()?,
            score_bound: hooks
                .score_bound
                .map(|hook| {
                    compiler.entry("score_bound", |lowering, p| lowering.score_bound(hook, p[0]))
                })
                .transpose()?,
        })
    }

    fn hooks(self, code: &Arc<Code>) -> Hooks {
        Hooks {
            pick_label: self.pick_label.map(|hook| Entry::of(code, hook)),
            load_neighbor: self.load_neighbor.map(|hook| Entry::of(code, hook)),
            load_neighbors: self.load_neighbors.map(|hook| Entry::of(code, hook)),
            label_score: Entry::of(code, self.label_score),
            carry: self.carry.map(|hook| Entry::of(code, hook)),
            carry_most: self.carry_most.map(|hook| Entry::of(code, hook)),
            update_vertex: self.update_vertex.map(|hook| Entry::of(code, hook)),
            score_bound: self.score_bound.map(|hook| Entry::of(code, hook)),
        }
    }
}

/// The declarations of a program by functions; `T` is the state of each.
struct Declarations<T> {
    activation: Option<T>,
    label_total: Option<T>,
    falls_with_total: Option<T>,
    follows_frequency: Option<T>,
    votes_for_own_label: Option<T>,
    carries: Option<T>,
}

type DeclaredDeclarations = Declarations<Declared<Declaration>>;

impl DeclaredDeclarations {
    fn compile(compiler: &mut Compiler<'_>, hooks: &ir::Hooks) -> Result<Self, JitError> {
        let mut entry = |name, hook: Option<ir::FunctionId>, scalar| {
            let entry = |hook| {
                compiler.entry(name, |lowering, _: &[Value]| lowering.declaration(hook, scalar))
            };
            hook.map(entry).transpose()
        };
        let (u32, bool) = (ir::Scalar::U32, ir::Scalar::Bool);
        Ok(Declarations {
            activation: entry("activation", hooks.activation, u32)?,
            label_total: entry("label_total", hooks.label_total, u32)?,
            falls_with_total: entry("falls_with_total", hooks.falls_with_total, bool)?,
            follows_frequency: entry("follows_frequency", hooks.follows_frequency, bool)?,
            votes_for_own_label: entry("votes_for_own_label", hooks.votes_for_own_label, bool)?,
            carries: entry("carries", hooks.carries, bool)?,
        })
    }

    fn evaluate(self, code: &Arc<Code>) -> Declarations<u32> {
        let value_of = |declared: Declared<Declaration>| Declaration::of(code, declared).call();
        Declarations {
            activation: self.activation.map(value_of),
            label_total: self.label_total.map(value_of),
            falls_with_total: self.falls_with_total.map(value_of),
            follows_frequency: self.follows_frequency.map(value_of),
            votes_for_own_label: self.votes_for_own_label.map(value_of),
            carries: self.carries.map(value_of),
        }
    }
}

impl<S: JitScore> Program for JitProgram<S> {
    type Score = S;

    fn name(&self) -> &str {
        &self.name
    }

    #[inline]
    fn activation(&self) -> Activation {
        self.activation
    }

    fn schedule(&self) -> Schedule {
        self.schedule
    }

    #[inline]
    fn label_total(&self) -> LabelTotal {
        self.label_total
    }

    #[inline]
    fn pick_label(&self, v: Vertex<'_>) -> Label {
        match &self.hooks.pick_label {
            Some(hook) => hook.call(self.columns.len(), v),
            None => v.label,
        }
    }

    #[inline]
    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        match &self.hooks.load_neighbor {
            Some(hook) => hook.call(self.columns.len(), v, u),
            None => Vote { label: u.label, weight: u.weight },
        }
    }

    #[inline]
    fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> S {
        S::from_bits(self.hooks.label_score.call(self.columns.len(), v, candidate))
    }

    #[inline]
    fn carry(&self, v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        self.hooks.carry.as_ref().map_or(0.0, |hook| hook.call(self.columns.len(), v, u))
    }

    #[inline]
    fn update_vertex(&self, v: &mut VertexMut<'_>, label: Label, score: S) -> Label {
        match &self.hooks.update_vertex {
            Some(hook) => hook.call(self.columns.len(), v, label, score.bits()),
            None => label,
        }
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        self.columns.clone()
    }
}

impl<S: JitScore> Hints for JitProgram<S> {
    #[inline]
    fn falls_with_total(&self) -> bool {
        self.falls_with_total
    }

    #[inline]
    fn follows_frequency(&self) -> bool {
        self.follows_frequency
    }

    #[inline]
    fn score_bound(&self, frequency: u64) -> S {
        match &self.hooks.score_bound {
            Some(hook) => S::from_bits(hook.call(frequency)),
            None => S::HIGHEST,
        }
    }

    #[inline]
    fn votes_for_own_label(&self) -> bool {
        self.votes_for_own_label
    }

    #[inline]
    fn carries(&self) -> bool {
        self.carries
    }

    #[inline]
    fn load_neighbors(&self, v: Vertex<'_>, list: NeighborList<'_>, votes: &mut [Vote]) {
        match &self.hooks.load_neighbors {
            Some(hook) => hook.call(self.columns.len(), v, list, votes),
            None => list.load_each(&Plain, v, votes),
        }
    }

    #[inline]
    fn carry_most(
        &self,
        v: Vertex<'_>,
        list: NeighborList<'_>,
        votes: &[Vote],
        label: Label,
    ) -> Option<f32> {
        match &self.hooks.carry_most {
            Some(hook) => hook.call(self.columns.len(), v, list, votes, label),
            None => list.carried(&Plain, v, votes, label),
        }
    }

    fn parameters(&self) -> Vec<Scalar> {
        self.parameters.clone()
    }

    fn device_source(&self) -> Option<DeviceSource> {
        Some(self.device_source.clone())
    }
}

/// The default hooks, compiled with the engine.
struct Plain;

impl Program for Plain {
    type Score = u64;

    fn name(&self) -> &str {
        "plain"
    }

    fn label_score(&self, _v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
        candidate.frequency
    }
}
