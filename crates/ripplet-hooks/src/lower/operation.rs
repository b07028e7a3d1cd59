//! Operators, conversions and constants: which types they accept, and which divisors are safe.

use super::{Lowered, Lowerer};
use crate::constant::value_of;
use crate::error::Diagnostic;
use crate::ir::{Binary, Expression, ExpressionKind, Scalar, Type, Unary, Value};
use crate::tree::{Kind, Literal, Node};
use proc_macro2::Span;

impl Lowerer<'_> {
    /// Lowers a node that is not control flow.
    pub(super) fn operation(&mut self, node: &Node) -> Lowered {
        let kind = match &node.kind {
            Kind::Literal(literal) => return Some(self.literal(literal, node)),
            Kind::Local(local) => ExpressionKind::Local(*local),
            Kind::Parameter(parameter) => ExpressionKind::Parameter(*parameter),
            Kind::Field { view, field } => ExpressionKind::Field { view: *view, field: *field },
            Kind::Random { view, stream } => {
                ExpressionKind::Random { view: *view, stream: Box::new(self.value(stream)?) }
            }
            Kind::Column { view, column, index } => {
                let index = match index {
                    Some(index) => Some(Box::new(self.value(index)?)),
                    None => None,
                };
                ExpressionKind::Column { view: *view, column: *column, index }
            }
            Kind::Minus(operand) => return self.minus(operand, node),
            Kind::Unary(operation, operand) => return self.unary(*operation, operand, node),
            Kind::Binary(operator, left, right) => {
                return self.binary(*operator, [left, right], node.span);
            }
            Kind::Method(operation, left, right) => {
                let mut values = self.values([&**left, right])?;
                let (right, left) = (Box::new(values.pop()?), Box::new(values.pop()?));
                ExpressionKind::Binary(*operation, left, right)
            }
            Kind::Checked { operation, operands } => return self.checked(*operation, operands),
            Kind::Cast(operand) => return self.cast(operand, node),
            Kind::From(operand) => return self.convert(operand, node),
            Kind::Vote { parts, weight_first } => {
                let [label, weight] = &**parts;
                let order = if *weight_first { [weight, label] } else { [label, weight] };
                let mut values = self.values(order)?;
                let (second, first) = (Box::new(values.pop()?), Box::new(values.pop()?));
                match weight_first {
                    true => ExpressionKind::Vote(second, first),
                    false => ExpressionKind::Vote(first, second),
                }
            }
            Kind::VoteLabel(vote) => ExpressionKind::VoteLabel(Box::new(self.value(vote)?)),
            Kind::VoteWeight(vote) => ExpressionKind::VoteWeight(Box::new(self.value(vote)?)),
            Kind::ProductsGe(factors) => {
                let factors = self.values(&**factors)?;
                ExpressionKind::ProductsGe(Box::new(factors.try_into().ok()?))
            }
            // A refused node: the error is already reported, and the result is not used.
            _ => return None,
        };
        Some(Expression { kind, ty: self.ty(node) })
    }

    fn literal(&mut self, literal: &Literal, node: &Node) -> Expression {
        let scalar = self.scalar(node);
        constant(value_of(literal, scalar).unwrap_or_else(|| {
            let message = format!("this number does not fit into {}", scalar.name());
            let help = "give it another type, as in `3_000_000_000_u64`";
            self.errors.push(Diagnostic::new(node.span, message, help));
            Value::U32(0)
        }))
    }

    fn minus(&mut self, operand: &Node, node: &Node) -> Lowered {
        let scalar = self.scalar(operand);
        if !scalar.is_signed() && scalar != Scalar::F32 {
            let message = format!("{} has no minus", scalar.name());
            let help = "write `x.wrapping_neg()`, or convert to a signed type";
            self.errors.push(Diagnostic::new(node.span, message, help));
        }
        if let Kind::Literal(Literal::Integer(number)) = operand.kind {
            // The smallest i32 is a literal that does not fit, negated.
            if let Some(value) = value_of(&Literal::Integer(-number), scalar) {
                return Some(constant(value));
            }
        }
        let value = self.value(operand)?;
        if let ExpressionKind::Constant(Value::F32(number)) = value.kind {
            return Some(constant(Value::F32(-number)));
        }
        let ty = value.ty;
        Some(Expression { kind: ExpressionKind::Unary(Unary::Neg, Box::new(value)), ty })
    }

    fn unary(&mut self, operation: Unary, operand: &Node, node: &Node) -> Lowered {
        if operation == Unary::Not && self.scalar(operand) == Scalar::F32 {
            let help = "bits of a float are those of `x.to_bits()`";
            self.errors.push(Diagnostic::new(node.span, "f32 has no such operator", help));
        }
        let kind = ExpressionKind::Unary(operation, Box::new(self.value(operand)?));
        Some(Expression { kind, ty: self.ty(node) })
    }

    fn binary(&mut self, operator: Binary, sides: [&Node; 2], span: Span) -> Lowered {
        if let Binary::LazyAnd | Binary::LazyOr = operator {
            return self.lazy(operator, sides);
        }
        let spans = [span, sides[1].span];
        let mut values = self.values(sides)?;
        let (right, left) = (values.pop()?, values.pop()?);
        Some(self.checked_binary(operator, left, right, spans))
    }

    /// Lowers `&&` and `||`: the right side is evaluated only if the left side does not decide.
    fn lazy(&mut self, operator: Binary, [left, right]: [&Node; 2]) -> Lowered {
        let left = self.value(left)?;
        let (block, right) = self.aside(|this| this.value(right));
        let bool = Type::Scalar(Scalar::Bool);
        let (Some(right), true) = (&right, block.is_empty()) else {
            let place = self.place(bool);
            self.block.push(crate::ir::Statement::Let { local: place, value: Some(left) });
            let needed = super::set_at_end(block, Some(place), right);
            let (then, otherwise) = match operator {
                Binary::LazyAnd => (needed, Vec::new()),
                _ => (Vec::new(), needed),
            };
            let condition = self.local(place);
            self.block.push(crate::ir::Statement::If { condition, then, otherwise });
            return Some(self.local(place));
        };
        let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right.clone()));
        Some(Expression { kind, ty: bool })
    }

    /// Lowers an operator on lowered operands. The spans are those of the operator and of the right
    /// operand.
    pub(super) fn checked_binary(
        &mut self,
        operator: Binary,
        left: Expression,
        mut right: Expression,
        [span, right_span]: [Span; 2],
    ) -> Expression {
        let scalar = scalar_of(&left);
        if !has_operator(scalar, operator) {
            let message = format!("{} has no such operator", scalar.name());
            let help = match (scalar, operator) {
                (Scalar::F32, Binary::Rem) => "write `x - (x / y).trunc() * y`",
                (Scalar::F32, _) => "bits of a float are those of `x.to_bits()`",
                _ => "convert: `x as u32`",
            };
            self.errors.push(Diagnostic::new(span, message, help));
        }
        match operator {
            Binary::Shl | Binary::Shr => right = self.amount(right, scalar, right_span),
            Binary::Div | Binary::Rem if scalar.is_integer() && !self.is_divisor(&right) => {
                let name = if operator == Binary::Div { "div" } else { "rem" };
                let message = "this divisor could be 0 (or -1)";
                let help = format!(
                    "write `a.checked_{name}(b).unwrap_or(c)`, or divide by a literal or by \
                     `b.max(1)`"
                );
                self.errors.push(Diagnostic::new(right_span, message, help));
            }
            _ => {}
        }
        let ty = match operator {
            Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge => {
                Scalar::Bool
            }
            _ => scalar,
        };
        let kind = ExpressionKind::Binary(operator, Box::new(left), Box::new(right));
        Expression { kind, ty: Type::Scalar(ty) }
    }

    /// Converts a shift's amount to u32: only its low bits count.
    fn amount(&mut self, right: Expression, shifted: Scalar, span: Span) -> Expression {
        let help = "shift by a literal below the number of bits, or by an integer, of which only \
            the low 5 (of 64 bits: 6) bits count";
        let constant = match right.kind {
            ExpressionKind::Constant(Value::U32(amount)) => Some(i64::from(amount)),
            ExpressionKind::Constant(Value::I32(amount)) => Some(i64::from(amount)),
            ExpressionKind::Constant(Value::I64(amount)) => Some(amount),
            ExpressionKind::Constant(Value::U64(amount)) => i64::try_from(amount).ok().or(Some(-1)),
            _ => None,
        };
        let shift_too_far =
            constant.is_some_and(|amount| !(0..i64::from(shifted.bits())).contains(&amount));
        if shift_too_far || !scalar_of(&right).is_integer() {
            self.errors.push(Diagnostic::new(span, "this is not an amount to shift by", help));
        }
        match (constant, scalar_of(&right)) {
            (_, Scalar::U32) => right,
            (Some(amount), _) => self::constant(Value::U32(amount as u32)),
            _ => {
                let ty = Type::Scalar(Scalar::U32);
                Expression { kind: ExpressionKind::Cast(Box::new(right)), ty }
            }
        }
    }

    /// Returns whether a value is an integer that is never 0 and never -1.
    pub(super) fn is_divisor(&self, value: &Expression) -> bool {
        match &value.kind {
            ExpressionKind::Constant(value) => match *value {
                Value::U32(number) => number != 0,
                Value::U64(number) => number != 0,
                Value::I32(number) => number != 0 && number != -1,
                Value::I64(number) => number != 0 && number != -1,
                Value::F32(_) | Value::Bool(_) => false,
            },
            ExpressionKind::Binary(Binary::Max, left, right) => {
                is_positive(left) || is_positive(right)
            }
            ExpressionKind::Local(local) => self.divisors.contains(local),
            _ => false,
        }
    }

    fn cast(&mut self, operand: &Node, node: &Node) -> Lowered {
        let (from, to) = (self.scalar(operand), self.scalar(node));
        let refused = match (from, to) {
            (Scalar::Bool, Scalar::F32) => Some("write `x as u32 as f32`"),
            (_, Scalar::Bool) if from != Scalar::Bool => Some("compare: `x != 0`"),
            _ => None,
        };
        if let Some(help) = refused {
            let message = format!("{} is not converted to {}", from.name(), to.name());
            self.errors.push(Diagnostic::new(node.span, message, help));
        }
        let value = self.value(operand)?;
        if from == to {
            return Some(value);
        }
        let kind = ExpressionKind::Cast(Box::new(value));
        Some(Expression { kind, ty: Type::Scalar(to) })
    }

    /// Lowers `T::from(x)`.
    fn convert(&mut self, operand: &Node, node: &Node) -> Lowered {
        let (from, to) = (self.scalar(operand), self.scalar(node));
        let loses_nothing = from == to
            || matches!(
                (from, to),
                (Scalar::Bool, Scalar::U32 | Scalar::I32 | Scalar::U64 | Scalar::I64)
                    | (Scalar::U32, Scalar::U64 | Scalar::I64)
                    | (Scalar::I32, Scalar::I64)
            );
        if !loses_nothing {
            let message = format!("{} is not converted from {}", to.name(), from.name());
            let help = format!("write `x as {}`, which may lose something", to.name());
            self.errors.push(Diagnostic::new(node.span, message, help));
        }
        self.cast(operand, node)
    }
}

fn constant(value: Value) -> Expression {
    Expression { kind: ExpressionKind::Constant(value), ty: Type::Scalar(value.scalar()) }
}

fn scalar_of(value: &Expression) -> Scalar {
    match value.ty {
        Type::Scalar(scalar) => scalar,
        _ => Scalar::I32,
    }
}

fn is_positive(value: &Expression) -> bool {
    match value.kind {
        ExpressionKind::Constant(Value::U32(number)) => number > 0,
        ExpressionKind::Constant(Value::U64(number)) => number > 0,
        ExpressionKind::Constant(Value::I32(number)) => number > 0,
        ExpressionKind::Constant(Value::I64(number)) => number > 0,
        _ => false,
    }
}

/// Returns whether Rust, and therefore the language of hooks, has this operator for this type.
fn has_operator(scalar: Scalar, operator: Binary) -> bool {
    match operator {
        Binary::And | Binary::Or | Binary::Xor => scalar != Scalar::F32,
        Binary::Add | Binary::Sub | Binary::Mul | Binary::Div => scalar != Scalar::Bool,
        Binary::Rem | Binary::Shl | Binary::Shr => scalar.is_integer(),
        _ => true,
    }
}
