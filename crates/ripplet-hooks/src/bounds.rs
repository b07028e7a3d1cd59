//! Termination of `while` loops: a loop is accepted if it counts.
//!
//! No analysis can prove that an arbitrary condition becomes false. A counter can be proved:
//!
//! - the condition requires `i < end`,
//! - the body moves `i` towards `end` once in every iteration,
//! - nothing else sets `i`,
//! - `end` does not change.
//!
//! Halving a number until it is 0 counts, too.

use crate::constant::limits;
use crate::ir::{Binary, LocalId, Scalar};
use crate::tree::{Kind, Literal, Local, Node};

/// Help text for a loop that is not proved to end.
pub(crate) const HELP: &str = "count: `while i < end && … { … i += 1; }` with nothing else setting \
    `i` or `end` and no `continue` before the step (also `i -= 1` with `i > end`, and `x >>= 1` or \
    `x /= 2` with an unsigned `x > 0`), or `for _ in 0..1000 { if done { break; } … }`";

/// The locals of a function, with their integer types.
pub(crate) struct Counters<'a> {
    pub(crate) locals: &'a [Local],
    /// The integer type of each local, or `None` for a local of another type.
    pub(crate) integers: &'a [Option<Scalar>],
}

impl Counters<'_> {
    /// Returns whether a loop ends after finitely many iterations for all values of its locals.
    pub(crate) fn end(&self, condition: &Node, body: &Node) -> bool {
        let Kind::Block { statements, tail } = &body.kind else { return false };
        let mut sets = vec![0; self.locals.len()];
        count_sets(condition, &mut sets);
        count_sets(body, &mut sets);
        let reached = statements.iter().chain(tail.as_deref()).scan(true, |reached, statement| {
            // The step itself cannot `continue`: it adds a literal.
            let now = *reached;
            *reached = now && !continues(statement);
            now.then_some(statement)
        });
        reached.into_iter().any(|step| {
            let Kind::SetWith { local, operator, value } = &step.kind else {
                return false;
            };
            let (Some(amount), Some(scalar)) = (literal(value), self.integers[local.0]) else {
                return false;
            };
            let counter = Counter { local: *local, scalar, step: (*operator, amount) };
            sets[local.0] == 1 && self.demands(condition, &sets, &counter)
        })
    }

    /// Returns whether the condition, or one of its `&&` operands, stops this counter.
    fn demands(&self, condition: &Node, sets: &[usize], counter: &Counter) -> bool {
        match &condition.kind {
            Kind::Binary(Binary::LazyAnd, left, right) => {
                self.demands(left, sets, counter) || self.demands(right, sets, counter)
            }
            Kind::Binary(comparison, left, right) => {
                let is_counter =
                    |node: &Node| matches!(node.kind, Kind::Local(local) if local == counter.local);
                let (comparison, end) = match (is_counter(left), is_counter(right)) {
                    (true, false) => (*comparison, right),
                    (false, true) => (mirrored(*comparison), left),
                    _ => return false,
                };
                stays(end, sets) && counter.stops_at(comparison, literal(end))
            }
            Kind::Block { statements, tail: Some(tail) } if statements.is_empty() => {
                self.demands(tail, sets, counter)
            }
            _ => false,
        }
    }
}

/// Returns whether a value is the same in every iteration. `sets` counts the statements in the loop
/// that set each local.
fn stays(end: &Node, sets: &[usize]) -> bool {
    match &end.kind {
        Kind::Literal(_) | Kind::Parameter(_) | Kind::Field { .. } => true,
        Kind::Local(local) => sets[local.0] == 0,
        Kind::Minus(value) | Kind::Unary(_, value) | Kind::Cast(value) | Kind::From(value) => {
            stays(value, sets)
        }
        Kind::Binary(_, left, right) | Kind::Method(_, left, right) => {
            stays(left, sets) && stays(right, sets)
        }
        _ => false,
    }
}

struct Counter {
    local: LocalId,
    scalar: Scalar,
    /// The operator of the assignment and its operand.
    step: (Binary, i128),
}

impl Counter {
    /// Returns whether `counter comparison end` becomes false without the step wrapping past the
    /// end.
    fn stops_at(&self, comparison: Binary, end: Option<i128>) -> bool {
        let (least, most) = limits(self.scalar);
        let unsigned = least == 0;
        match (self.step, comparison) {
            ((Binary::Add, step @ 1..), Binary::Lt) => end.unwrap_or(most) - 1 + step <= most,
            ((Binary::Add, step @ 1..), Binary::Le) => end.unwrap_or(most) + step <= most,
            ((Binary::Sub, step @ 1..), Binary::Gt) => end.unwrap_or(least) + 1 - step >= least,
            ((Binary::Sub, step @ 1..), Binary::Ge) => end.unwrap_or(least) - step >= least,
            // Halving decreases a number above 0 until it is 0, and then the condition fails.
            ((Binary::Shr, 1..=31) | (Binary::Div, 2..), Binary::Gt) => unsigned,
            ((Binary::Shr, 1..=31) | (Binary::Div, 2..), Binary::Ge) => {
                unsigned && end.is_some_and(|end| end > 0)
            }
            ((Binary::Shr, 1..=31) | (Binary::Div, 2..), Binary::Ne) => unsigned && end == Some(0),
            _ => false,
        }
    }
}

fn mirrored(comparison: Binary) -> Binary {
    match comparison {
        Binary::Lt => Binary::Gt,
        Binary::Le => Binary::Ge,
        Binary::Gt => Binary::Lt,
        Binary::Ge => Binary::Le,
        other => other,
    }
}

fn literal(node: &Node) -> Option<i128> {
    match node.kind {
        Kind::Literal(Literal::Integer(value)) => Some(value),
        _ => None,
    }
}

/// Counts the statements that set each local.
fn count_sets(node: &Node, sets: &mut [usize]) {
    if let Kind::Set { local, .. } | Kind::SetWith { local, .. } = &node.kind {
        sets[local.0] += 1;
    }
    node.each_part(&mut |part| count_sets(part, sets));
}

/// Returns whether a tree contains a `continue` of the loop around it.
fn continues(node: &Node) -> bool {
    match &node.kind {
        Kind::Continue => true,
        Kind::For { .. } | Kind::While { .. } => false,
        _ => {
            let mut any = false;
            node.each_part(&mut |part| any |= continues(part));
            any
        }
    }
}
