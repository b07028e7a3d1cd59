//! Emits expressions. The operators of `scalar.cuh` are functions overloaded by their operands'
//! types, so every operand is emitted with exactly the type of the intermediate representation.

use super::{Emitter, function_name};
use crate::ir::{
    Binary, Checked, Expression, ExpressionKind, Field, FunctionId, Scalar, Type, Unary, Value,
};
use std::fmt::Write;

impl Emitter<'_> {
    pub(super) fn expression(&self, value: &Expression, text: &mut String) {
        match &value.kind {
            ExpressionKind::Constant(value) => self.constant(*value, text),
            ExpressionKind::Local(local) => text.push_str(&self.local(*local)),
            ExpressionKind::Parameter(parameter) => {
                let word = format!("self.words[{}]", parameter.0);
                text.push_str(&match self.module.parameters[parameter.0].scalar {
                    Scalar::F32 => format!("from_bits((u32){word})"),
                    Scalar::Bool => format!("({word} != 0)"),
                    scalar => format!("(({}){word})", scalar.name()),
                });
            }
            ExpressionKind::Field { view, field } => self.field(&self.local(*view), *field, text),
            ExpressionKind::Random { view, stream } => {
                text.push_str("random(");
                text.push_str(&self.local(*view));
                text.push_str(", ");
                self.expression(stream, text);
                text.push(')');
            }
            ExpressionKind::Column { view, column, index } => {
                let of = match value.ty {
                    Type::Scalar(Scalar::F32) => "column_f32",
                    _ => "column_u32",
                };
                put(text, format_args!("{of}({}, {}u, ", self.local(*view), column.0));
                match index {
                    Some(index) => self.expression(index, text),
                    None => text.push_str("0u"),
                }
                text.push(')');
            }
            ExpressionKind::Unary(operation, operand) => self.unary(*operation, operand, text),
            ExpressionKind::Binary(operation, left, right) => {
                self.binary(*operation, [left, right], text);
            }
            ExpressionKind::Checked { operation, left, right, otherwise } => {
                self.calls(checked_name(*operation), &[left, right, otherwise], text);
            }
            ExpressionKind::Cast(operand) => {
                let name = format!("to_{}", scalar_of(value).name());
                self.calls(&name, &[operand], text);
            }
            ExpressionKind::Select { condition, then, otherwise } => {
                text.push('(');
                self.expression(condition, text);
                text.push_str(" ? ");
                self.expression(then, text);
                text.push_str(" : ");
                self.expression(otherwise, text);
                text.push(')');
            }
            ExpressionKind::Call { function, arguments } => self.call(*function, arguments, text),
            ExpressionKind::Vote(label, weight) => {
                text.push_str("Vote{");
                self.expression(label, text);
                text.push_str(", ");
                self.expression(weight, text);
                text.push('}');
            }
            ExpressionKind::VoteLabel(vote) => {
                self.expression(vote, text);
                text.push_str(".label");
            }
            ExpressionKind::VoteWeight(vote) => {
                self.expression(vote, text);
                text.push_str(".weight");
            }
            ExpressionKind::ProductsGe(factors) => {
                let [a, b, c, d] = &**factors;
                self.calls("products_ge", &[a, b, c, d], text);
            }
        }
    }

    pub(super) fn constant(&self, value: Value, text: &mut String) {
        match value {
            Value::U32(number) => put(text, format_args!("{number}u")),
            Value::U64(number) => put(text, format_args!("{number}ull")),
            Value::I32(i32::MIN) => text.push_str("I32_MIN"),
            Value::I64(i64::MIN) => text.push_str("I64_MIN"),
            Value::I32(number) => put(text, format_args!("({number})")),
            Value::I64(number) => put(text, format_args!("({number}ll)")),
            Value::Bool(truth) => put(text, format_args!("{truth}")),
            // The shortest decimal that parses to this very float.
            Value::F32(number) if number.is_finite() => put(text, format_args!("({number:?}f)")),
            Value::F32(number) => put(text, format_args!("from_bits({}u)", number.to_bits())),
        }
    }

    fn field(&self, view: &str, field: Field, text: &mut String) {
        match field {
            Field::Id => put(text, format_args!("{view}.id")),
            Field::Label => put(text, format_args!("{view}.label")),
            Field::Weight => put(text, format_args!("{view}.weight")),
            Field::Frequency => put(text, format_args!("{view}.frequency")),
            Field::TotalVotes => put(text, format_args!("{view}.total_votes")),
            Field::GrandTotal => put(text, format_args!("{view}.grand_total")),
            Field::Carried => put(text, format_args!("{view}.carried")),
            Field::Degree => put(text, format_args!("degree({view})")),
            Field::Round => put(text, format_args!("round({view})")),
            Field::Total => put(text, format_args!("total({view})")),
        }
    }

    fn unary(&self, operation: Unary, operand: &Expression, text: &mut String) {
        let name = match operation {
            Unary::Not if scalar_of(operand) == Scalar::Bool => "!",
            Unary::Not => "~",
            Unary::Neg => "neg",
            Unary::Abs => "abs",
            Unary::LeadingZeros => "leading_zeros",
            Unary::TrailingZeros => "trailing_zeros",
            Unary::CountOnes => "count_ones",
            Unary::Sqrt => "sqrt",
            Unary::Floor => "floor",
            Unary::Ceil => "ceil",
            Unary::Trunc => "trunc",
            Unary::IsNan => "is_nan",
            Unary::IsFinite => "is_finite",
            Unary::ToBits => "to_bits",
            Unary::FromBits => "from_bits",
        };
        self.calls(name, &[operand], text);
    }

    fn binary(&self, operation: Binary, sides: [&Expression; 2], text: &mut String) {
        let bools = scalar_of(sides[0]) == Scalar::Bool;
        let infix = match operation {
            Binary::And | Binary::LazyAnd if bools => "&&",
            Binary::Or | Binary::LazyOr if bools => "||",
            Binary::Xor if bools => "!=",
            Binary::And => "&",
            Binary::Or => "|",
            Binary::Xor => "^",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            _ => return self.calls(binary_name(operation), &sides, text),
        };
        text.push('(');
        self.expression(sides[0], text);
        put(text, format_args!(" {infix} "));
        self.expression(sides[1], text);
        text.push(')');
    }

    fn calls(&self, name: &str, arguments: &[&Expression], text: &mut String) {
        text.push_str(name);
        text.push('(');
        for (place, argument) in arguments.iter().enumerate() {
            if place > 0 {
                text.push_str(", ");
            }
            self.expression(argument, text);
        }
        text.push(')');
    }

    fn call(&self, function: FunctionId, arguments: &[Expression], text: &mut String) {
        text.push_str(&function_name(self.module, function));
        text.push_str("(self");
        for argument in arguments {
            text.push_str(", ");
            self.expression(argument, text);
        }
        text.push(')');
    }
}

fn binary_name(operation: Binary) -> &'static str {
    match operation {
        Binary::Add => "add",
        Binary::Sub => "sub",
        Binary::Mul => "mul",
        Binary::Div => "div",
        Binary::Rem => "rem",
        Binary::Shl => "shl",
        Binary::Shr => "shr",
        Binary::RotateLeft => "rotate_left",
        Binary::RotateRight => "rotate_right",
        Binary::SaturatingAdd => "saturating_add",
        Binary::SaturatingSub => "saturating_sub",
        Binary::SaturatingMul => "saturating_mul",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::AbsDiff => "abs_diff",
        Binary::Pow => "pow",
        Binary::CopySign => "copysign",
        // These operators are written between their operands.
        _ => "",
    }
}

fn checked_name(operation: Checked) -> &'static str {
    match operation {
        Checked::Add => "checked_add",
        Checked::Sub => "checked_sub",
        Checked::Mul => "checked_mul",
        Checked::Div => "checked_div",
        Checked::Rem => "checked_rem",
        Checked::Shl => "checked_shl",
        Checked::Shr => "checked_shr",
    }
}

fn scalar_of(value: &Expression) -> Scalar {
    match value.ty {
        Type::Scalar(scalar) => scalar,
        _ => Scalar::U32,
    }
}

fn put(text: &mut String, what: std::fmt::Arguments<'_>) {
    text.write_fmt(what).expect(super::INTO_A_STRING);
}
