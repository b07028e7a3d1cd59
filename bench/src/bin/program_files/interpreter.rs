//! The alternative to machine code: a walk over the intermediate form at each call.
//!
//! As plain as it gets, and only for what the measured programs are made of: values are 64 bits,
//! locals an array on the stack. What it does not know, it says by a panic.

use ripplet_hooks::ir;
use ripplet_hooks::ir::{
    Binary, Block, Expression, ExpressionKind, Field, FunctionId, Module, Statement, Type, Value,
};
use ripplet_jit::JitProgram;
use ripplet_lp::{
    Activation, Candidate, ColumnSpec, Hints, LabelTotal, Neighbor, Program, Scalar, Score, Vertex,
    VertexMut, Vote,
};
use std::cell::RefCell;

/// A program whose hooks are interpreted, and whose declarations are those of the compiled one.
pub struct Interpreted<'a> {
    module: &'a Module,
    parameters: Vec<u64>,
    declared: &'a JitProgram<u64>,
    activation: Activation,
    label_total: LabelTotal,
}

/// Locals of a function at most.
const MOST_LOCALS: usize = 32;

/// A value: the bits of a scalar; a vote with the label in the low half; or which view it is.
type Bits = u64;

/// The views of a call.
#[derive(Clone, Copy, Default)]
struct Views<'v, 'a> {
    vertex: Option<Vertex<'a>>,
    neighbor: Option<Neighbor<'a>>,
    candidate: Option<Candidate<'a>>,
    update: Option<&'v RefCell<&'v mut VertexMut<'a>>>,
}

// Views as values: which they are.
const VERTEX: Bits = 0;
const NEIGHBOR: Bits = 1;
const CANDIDATE: Bits = 2;
const UPDATE: Bits = 3;

enum Flow {
    On,
    Break,
    Continue,
    Return(Bits),
}

impl<'a> Interpreted<'a> {
    pub fn new(module: &'a Module, declared: &'a JitProgram<u64>) -> Interpreted<'a> {
        let parameters = declared.parameters().into_iter().map(|value| match value {
            Scalar::U32(value) => u64::from(value),
            Scalar::I32(value) => u64::from(value as u32),
            Scalar::U64(value) => value,
            Scalar::I64(value) => value as u64,
            Scalar::F32(value) => u64::from(value.to_bits()),
            Scalar::Bool(value) => u64::from(value),
        });
        let (activation, label_total) = (declared.activation(), declared.label_total());
        Interpreted { module, parameters: parameters.collect(), declared, activation, label_total }
    }

    fn call(&self, id: FunctionId, arguments: &[Bits], views: Views<'_, '_>) -> Bits {
        let function = &self.module.functions[id.0];
        let mut locals = [0; MOST_LOCALS];
        locals[..arguments.len()].copy_from_slice(arguments);
        match self.block(&function.body, &mut locals, views) {
            Flow::Return(value) => value,
            _ => 0,
        }
    }

    fn block(&self, block: &Block, locals: &mut [Bits], views: Views<'_, '_>) -> Flow {
        for statement in block {
            match self.statement(statement, locals, views) {
                Flow::On => {}
                other => return other,
            }
        }
        Flow::On
    }

    fn statement(&self, statement: &Statement, locals: &mut [Bits], views: Views<'_, '_>) -> Flow {
        match statement {
            Statement::Let { value: None, .. } => {}
            Statement::Let { local, value: Some(value) } | Statement::Set { local, value } => {
                locals[local.0] = self.value(value, locals, views);
            }
            Statement::SetColumn { column, index, value, .. } => {
                let index = index.as_ref().map_or(0, |index| self.value(index, locals, views));
                let value = self.value(value, locals, views);
                if let Some(update) = views.update {
                    update.borrow_mut().set_column_u32(column.0, index as u32, value as u32);
                }
            }
            Statement::Run(call) => drop(self.value(call, locals, views)),
            Statement::If { condition, then, otherwise } => {
                let holds = self.value(condition, locals, views) != 0;
                return self.block(if holds { then } else { otherwise }, locals, views);
            }
            Statement::For { counter, range, body } => {
                let first = self.value(&range.first, locals, views);
                let end = self.value(&range.end, locals, views) + u64::from(range.inclusive);
                for turn in first..end {
                    locals[counter.0] = turn;
                    match self.block(body, locals, views) {
                        Flow::On | Flow::Continue => {}
                        Flow::Break => break,
                        Flow::Return(value) => return Flow::Return(value),
                    }
                }
            }
            Statement::Break => return Flow::Break,
            Statement::Continue => return Flow::Continue,
            Statement::Return(value) => {
                let value = value.as_ref().map_or(0, |value| self.value(value, locals, views));
                return Flow::Return(value);
            }
            other => unimplemented!("{other:?}"),
        }
        Flow::On
    }

    fn value(&self, expression: &Expression, locals: &[Bits], views: Views<'_, '_>) -> Bits {
        let of = |expression: &Expression| self.value(expression, locals, views);
        match &expression.kind {
            ExpressionKind::Constant(value) => match *value {
                Value::U32(value) => u64::from(value),
                Value::U64(value) => value,
                Value::F32(value) => u64::from(value.to_bits()),
                Value::Bool(value) => u64::from(value),
                other => unimplemented!("{other:?}"),
            },
            ExpressionKind::Local(local) => locals[local.0],
            ExpressionKind::Parameter(parameter) => self.parameters[parameter.0],
            ExpressionKind::Field { view, field } => field_of(locals[view.0], *field, views),
            ExpressionKind::Random { view, stream } => match locals[view.0] {
                NEIGHBOR => views.neighbor.map_or(0, |u| u.random(of(stream) as u32)).into(),
                _ => views.vertex.map_or(0, |v| v.random(of(stream) as u32)).into(),
            },
            ExpressionKind::Column { view, column, index } => {
                let index = index.as_ref().map_or(0, |index| of(index)) as u32;
                let value = match locals[view.0] {
                    VERTEX => views.vertex.map_or(0, |v| v.column_u32(column.0, index)),
                    NEIGHBOR => views.neighbor.map_or(0, |u| u.column_u32(column.0, index)),
                    _ => views.update.map_or(0, |v| v.borrow().column_u32(column.0, index)),
                };
                u64::from(value)
            }
            ExpressionKind::Binary(Binary::LazyAnd, a, b) => u64::from(of(a) != 0 && of(b) != 0),
            ExpressionKind::Binary(Binary::LazyOr, a, b) => u64::from(of(a) != 0 || of(b) != 0),
            ExpressionKind::Binary(operation, a, b) => binary(*operation, a.ty, of(a), of(b)),
            ExpressionKind::Cast(value) => cast(value.ty, expression.ty, of(value)),
            ExpressionKind::Select { condition, then, otherwise } => {
                of(if of(condition) != 0 { then } else { otherwise })
            }
            ExpressionKind::Call { function, arguments } => {
                let mut values = [0; MOST_LOCALS];
                for (value, argument) in values.iter_mut().zip(arguments) {
                    *value = of(argument);
                }
                self.call(*function, &values[..arguments.len()], views)
            }
            ExpressionKind::Vote(label, weight) => of(label) | of(weight) << 32,
            ExpressionKind::ProductsGe(factors) => {
                let [a, b, c, d] = [0, 1, 2, 3].map(|place| u128::from(of(&factors[place])));
                u64::from(a * b >= c * d)
            }
            other => unimplemented!("{other:?}"),
        }
    }
}

fn field_of(view: Bits, field: Field, views: Views<'_, '_>) -> Bits {
    let v = || match views.update {
        Some(update) => ***update.borrow(),
        None => views.vertex.expect("a hook of a vertex"),
    };
    let (u, c) = (views.neighbor, views.candidate);
    match (view, field) {
        (VERTEX | UPDATE, Field::Id) => v().id.into(),
        (VERTEX | UPDATE, Field::Label) => v().label.into(),
        (NEIGHBOR, Field::Id) => u.map_or(0, |u| u.id).into(),
        (NEIGHBOR, Field::Label) => u.map_or(0, |u| u.label).into(),
        (NEIGHBOR, Field::Weight) => u.map_or(0, |u| u.weight).into(),
        (CANDIDATE, Field::Label) => c.map_or(0, |c| c.label).into(),
        (CANDIDATE, Field::Total) => c.map_or(0, |c| c.total()).into(),
        (CANDIDATE, Field::Frequency) => c.map_or(0, |c| c.frequency),
        (CANDIDATE, Field::TotalVotes) => c.map_or(0, |c| c.total_votes),
        (CANDIDATE, Field::GrandTotal) => c.map_or(0, |c| c.grand_total),
        (UPDATE, Field::Carried) => {
            let carried = views.update.map_or(0.0, |v| v.borrow().carried());
            u64::from(carried.to_bits())
        }
        (_, other) => unimplemented!("{other:?}"),
    }
}

fn binary(operation: Binary, ty: Type, a: Bits, b: Bits) -> Bits {
    let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
    let narrow = |value: u64| match ty {
        Type::Scalar(ir::Scalar::U32) => u64::from(value as u32),
        _ => value,
    };
    match (operation, ty) {
        (Binary::Mul, Type::Scalar(ir::Scalar::F32)) => u64::from((x * y).to_bits()),
        (Binary::Add, _) => narrow(a.wrapping_add(b)),
        (Binary::Sub, _) => narrow(a.wrapping_sub(b)),
        (Binary::Mul, _) => narrow(a.wrapping_mul(b)),
        (Binary::Shl, _) => narrow(a.wrapping_shl(b as u32)),
        (Binary::Shr, _) => a.wrapping_shr(b as u32),
        (Binary::Min, _) => a.min(b),
        (Binary::Eq, _) => u64::from(a == b),
        (Binary::Ne, _) => u64::from(a != b),
        (Binary::Lt, _) => u64::from(a < b),
        (Binary::Gt, _) => u64::from(a > b),
        other => unimplemented!("{other:?}"),
    }
}

fn cast(from: Type, to: Type, value: Bits) -> Bits {
    match (from, to) {
        (Type::Scalar(ir::Scalar::F32), Type::Scalar(ir::Scalar::U64)) => {
            f32::from_bits(value as u32) as u64
        }
        (_, Type::Scalar(ir::Scalar::U32)) => u64::from(value as u32),
        (_, Type::Scalar(ir::Scalar::U64)) => value,
        other => unimplemented!("{other:?}"),
    }
}

impl Program for Interpreted<'_> {
    type Score = u64;

    fn name(&self) -> &str {
        self.declared.name()
    }

    fn activation(&self) -> Activation {
        self.activation
    }

    fn label_total(&self) -> LabelTotal {
        self.label_total
    }

    fn load_neighbor(&self, v: Vertex<'_>, u: Neighbor<'_>) -> Vote {
        let Some(hook) = self.module.hooks.load_neighbor else {
            return Vote { label: u.label, weight: u.weight };
        };
        let views = Views { vertex: Some(v), neighbor: Some(u), ..Views::default() };
        let vote = self.call(hook, &[VERTEX, NEIGHBOR], views);
        Vote { label: vote as u32, weight: (vote >> 32) as u32 }
    }

    fn label_score(&self, v: Vertex<'_>, candidate: Candidate<'_>) -> u64 {
        let views = Views { vertex: Some(v), candidate: Some(candidate), ..Views::default() };
        self.call(self.module.hooks.label_score, &[VERTEX, CANDIDATE], views)
    }

    fn carry(&self, v: Vertex<'_>, u: Neighbor<'_>) -> f32 {
        let views = Views { vertex: Some(v), neighbor: Some(u), ..Views::default() };
        let hook = self.module.hooks.carry;
        hook.map_or(0.0, |hook| f32::from_bits(self.call(hook, &[VERTEX, NEIGHBOR], views) as u32))
    }

    fn update_vertex(&self, v: &mut VertexMut<'_>, label: u32, score: u64) -> u32 {
        let Some(hook) = self.module.hooks.update_vertex else { return label };
        let update = RefCell::new(v);
        let views = Views { update: Some(&update), ..Views::default() };
        self.call(hook, &[UPDATE, label.into(), score], views) as u32
    }

    fn columns(&self) -> Vec<ColumnSpec> {
        self.declared.columns()
    }
}

impl Hints for Interpreted<'_> {
    fn falls_with_total(&self) -> bool {
        self.declared.falls_with_total()
    }

    fn score_bound(&self, frequency: u64) -> u64 {
        let hook = self.module.hooks.score_bound;
        hook.map_or(u64::HIGHEST, |hook| self.call(hook, &[frequency], Views::default()))
    }

    fn carries(&self) -> bool {
        self.declared.carries()
    }
}
