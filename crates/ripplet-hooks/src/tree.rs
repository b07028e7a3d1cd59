//! The tree of a function's body: every name resolved, in the shape of the Rust text, with types
//! still being inferred.

use crate::ir::{Binary, Checked, ColumnId, Field, LocalId, ParameterId, Unary};
use crate::types::Ty;
use proc_macro2::Span;

/// An expression, or a statement (whose type is then unit or never).
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) ty: Ty,
    pub(crate) span: Span,
}

/// A local of a function.
#[derive(Debug)]
pub(crate) struct Local {
    pub(crate) name: String,
    pub(crate) ty: Ty,
    pub(crate) mutable: bool,
}

/// A literal whose type is not known yet.
#[derive(Clone, Debug)]
pub(crate) enum Literal {
    Bool(bool),
    /// An integer literal, or a constant such as `u32::MIN`; it may be negative.
    Integer(i128),
    Float(f32),
}

/// An arm of a match: ranges of values, both ends included; none in an arm that matches everything.
#[derive(Debug)]
pub(crate) struct Arm {
    pub(crate) values: Vec<(i128, i128)>,
    pub(crate) takes_all: bool,
    pub(crate) body: Node,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Literal(Literal),
    Local(LocalId),
    Parameter(ParameterId),
    Field {
        view: LocalId,
        field: Field,
    },
    Random {
        view: LocalId,
        stream: Box<Node>,
    },
    Column {
        view: LocalId,
        column: ColumnId,
        index: Option<Box<Node>>,
    },
    SetColumn {
        view: LocalId,
        column: ColumnId,
        index: Option<Box<Node>>,
        value: Box<Node>,
    },
    /// The operator `-`; `wrapping_neg` is a [`Kind::Unary`].
    Minus(Box<Node>),
    Unary(Unary, Box<Node>),
    /// An operator.
    Binary(Binary, Box<Node>, Box<Node>),
    /// A method with one argument, for known types.
    Method(Binary, Box<Node>, Box<Node>),
    Checked {
        operation: Checked,
        operands: Box<[Node; 3]>,
    },
    Cast(Box<Node>),
    /// `T::from(value)`: a lossless cast.
    From(Box<Node>),
    If {
        condition: Box<Node>,
        then: Box<Node>,
        otherwise: Option<Box<Node>>,
    },
    Match {
        on: Box<Node>,
        arms: Vec<Arm>,
    },
    Block {
        statements: Vec<Node>,
        tail: Option<Box<Node>>,
    },
    Let {
        local: LocalId,
        value: Box<Node>,
    },
    Set {
        local: LocalId,
        value: Box<Node>,
    },
    SetWith {
        local: LocalId,
        operator: Binary,
        value: Box<Node>,
    },
    For {
        counter: LocalId,
        ends: Box<[Node; 2]>,
        inclusive: bool,
        body: Box<Node>,
    },
    While {
        condition: Box<Node>,
        body: Box<Node>,
    },
    Break,
    Continue,
    Return(Option<Box<Node>>),
    Call {
        function: Callee,
        arguments: Vec<Node>,
    },
    /// A label and a weight, and which of the two is evaluated first.
    Vote {
        parts: Box<[Node; 2]>,
        weight_first: bool,
    },
    VoteLabel(Box<Node>),
    VoteWeight(Box<Node>),
    ProductsGe(Box<[Node; 4]>),
    Refused,
}

/// A function, as its index in the order in which the checker discovered it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Callee(pub(crate) usize);

impl Node {
    /// Visits the nodes directly below this one.
    pub(crate) fn each_part(&self, visit: &mut dyn FnMut(&Node)) {
        match &self.kind {
            Kind::Literal(_)
            | Kind::Local(_)
            | Kind::Parameter(_)
            | Kind::Field { .. }
            | Kind::Break
            | Kind::Continue
            | Kind::Refused => {}
            Kind::Random { stream: part, .. }
            | Kind::Minus(part)
            | Kind::Unary(_, part)
            | Kind::Cast(part)
            | Kind::From(part)
            | Kind::VoteLabel(part)
            | Kind::VoteWeight(part)
            | Kind::Let { value: part, .. }
            | Kind::Set { value: part, .. }
            | Kind::SetWith { value: part, .. } => visit(part),
            Kind::Column { index, .. } => index.iter().for_each(|part| visit(part)),
            Kind::SetColumn { index, value, .. } => {
                index.iter().for_each(|part| visit(part));
                visit(value);
            }
            Kind::Binary(_, left, right) | Kind::Method(_, left, right) => {
                [left, right].into_iter().for_each(|part| visit(part))
            }
            Kind::Checked { operands, .. } => operands.iter().for_each(visit),
            Kind::If { condition, then, otherwise } => {
                visit(condition);
                visit(then);
                otherwise.iter().for_each(|part| visit(part));
            }
            Kind::Match { on, arms } => {
                visit(on);
                arms.iter().for_each(|arm| visit(&arm.body));
            }
            Kind::Block { statements, tail } => {
                statements.iter().for_each(&mut *visit);
                tail.iter().for_each(|part| visit(part));
            }
            Kind::For { ends, body, .. } => {
                ends.iter().for_each(&mut *visit);
                visit(body);
            }
            Kind::While { condition, body } => {
                visit(condition);
                visit(body);
            }
            Kind::Return(value) => value.iter().for_each(|part| visit(part)),
            Kind::Call { arguments, .. } => arguments.iter().for_each(visit),
            Kind::Vote { parts, .. } => parts.iter().for_each(visit),
            Kind::ProductsGe(parts) => parts.iter().for_each(visit),
        }
    }
}
