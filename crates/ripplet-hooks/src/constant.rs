//! Literals and constants.

use crate::error::Diagnostic;
use crate::ir::{Scalar, Value};
use crate::tree::Literal;
use proc_macro2::Span;
use syn::spanned::Spanned;

/// The name of the label of a vertex without a label.
pub(crate) const NO_LABEL: &str = "NO_LABEL";

/// Reads a literal: its value, and its type if a suffix gives one.
pub(crate) fn read_literal(lit: &syn::Lit) -> Result<(Literal, Option<Scalar>), Diagnostic> {
    let help = "literals are integers, floats, `true` and `false`";
    let refused = |message: &str| Diagnostic::new(lit.span(), message, help);
    match lit {
        syn::Lit::Bool(value) => Ok((Literal::Bool(value.value), Some(Scalar::Bool))),
        syn::Lit::Int(value) if value.suffix() == "f32" => {
            Ok((Literal::Float(read_float(value.base10_digits(), lit.span())?), Some(Scalar::F32)))
        }
        syn::Lit::Int(value) => {
            // A minus in a pattern is part of the literal.
            let number = value.base10_parse::<i128>().ok();
            let number = number.filter(|&number| number <= i128::from(u64::MAX));
            let number = number.ok_or_else(|| refused("this number is larger than any integer"))?;
            Ok((Literal::Integer(number), read_suffix(value.suffix(), lit.span())?))
        }
        syn::Lit::Float(value) => {
            let number = read_float(value.base10_digits(), lit.span())?;
            Ok((Literal::Float(number), read_suffix(value.suffix(), lit.span())?))
        }
        _ => Err(refused("this literal has no type that hooks know")),
    }
}

fn read_float(digits: &str, span: Span) -> Result<f32, Diagnostic> {
    let number = digits.parse::<f32>().ok().filter(|number| number.is_finite());
    number.ok_or_else(|| Diagnostic::plain(span, "this number is larger than any f32"))
}

fn read_suffix(suffix: &str, span: Span) -> Result<Option<Scalar>, Diagnostic> {
    match Scalar::named(suffix) {
        _ if suffix.is_empty() => Ok(None),
        Some(scalar) if scalar != Scalar::Bool => Ok(Some(scalar)),
        _ => {
            let message = format!("hooks have no {suffix}");
            Err(Diagnostic::new(span, message, "numbers are u32, i32, u64, i64 and f32"))
        }
    }
}

/// Returns a literal as a value of a type, if it can have that type and fits.
pub(crate) fn value_of(literal: &Literal, scalar: Scalar) -> Option<Value> {
    match (literal, scalar) {
        (Literal::Bool(value), Scalar::Bool) => Some(Value::Bool(*value)),
        (Literal::Float(value), Scalar::F32) => Some(Value::F32(*value)),
        (Literal::Integer(value), Scalar::U32) => (*value).try_into().ok().map(Value::U32),
        (Literal::Integer(value), Scalar::I32) => (*value).try_into().ok().map(Value::I32),
        (Literal::Integer(value), Scalar::U64) => (*value).try_into().ok().map(Value::U64),
        (Literal::Integer(value), Scalar::I64) => (*value).try_into().ok().map(Value::I64),
        _ => None,
    }
}

/// The associated constants of `f32`.
pub(crate) const FLOAT_CONSTANTS: [(&str, f32); 7] = [
    ("INFINITY", f32::INFINITY),
    ("NEG_INFINITY", f32::NEG_INFINITY),
    ("NAN", f32::NAN),
    ("MAX", f32::MAX),
    ("MIN", f32::MIN),
    ("MIN_POSITIVE", f32::MIN_POSITIVE),
    ("EPSILON", f32::EPSILON),
];

/// Returns an associated constant of a scalar type, such as `u32::MAX` or `f32::INFINITY`.
pub(crate) fn associated(ty: &str, name: &str) -> Option<(Literal, Scalar)> {
    let scalar = Scalar::named(ty)?;
    let literal = match (scalar, name) {
        (Scalar::F32, _) => {
            let known = FLOAT_CONSTANTS.iter().find(|(known, _)| *known == name)?;
            Literal::Float(known.1)
        }
        (Scalar::Bool, _) => return None,
        (_, "BITS") => return Some((Literal::Integer(scalar.bits().into()), Scalar::U32)),
        (_, "MAX") => Literal::Integer(limits(scalar).1),
        (_, "MIN") => Literal::Integer(limits(scalar).0),
        _ => return None,
    };
    Some((literal, scalar))
}

/// Returns the smallest and the largest value of an integer type.
pub(crate) fn limits(scalar: Scalar) -> (i128, i128) {
    match scalar {
        Scalar::U32 => (0, u32::MAX.into()),
        Scalar::I32 => (i32::MIN.into(), i32::MAX.into()),
        Scalar::U64 => (0, u64::MAX.into()),
        Scalar::I64 => (i64::MIN.into(), i64::MAX.into()),
        Scalar::F32 | Scalar::Bool => (0, 1),
    }
}

/// Reads a value written as a literal, its negative, or an associated constant of a scalar type.
///
/// # Errors
/// If the expression is anything else, or the value is not of this type.
pub(crate) fn read_constant(value: &syn::Expr, scalar: Scalar) -> Result<Value, Diagnostic> {
    let (literal, suffix) = read_parts(value)?;
    let fits = suffix.is_none_or(|suffix| suffix == scalar);
    let message = format!("this is not a value of type {}", scalar.name());
    fits.then(|| value_of(&literal, scalar))
        .flatten()
        .ok_or_else(|| Diagnostic::plain(value.span(), message))
}

fn read_parts(value: &syn::Expr) -> Result<(Literal, Option<Scalar>), Diagnostic> {
    let refused = || {
        let help = "write a literal, such as 3, -1.5 or true, or u32::MAX and the like";
        Diagnostic::new(value.span(), "a constant is not computed", help)
    };
    match value {
        syn::Expr::Lit(literal) => read_literal(&literal.lit),
        syn::Expr::Paren(inner) => read_parts(&inner.expr),
        syn::Expr::Group(inner) => read_parts(&inner.expr),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            match read_parts(expr)? {
                (Literal::Integer(number), suffix) => Ok((Literal::Integer(-number), suffix)),
                (Literal::Float(number), suffix) => Ok((Literal::Float(-number), suffix)),
                (Literal::Bool(_), _) => Err(refused()),
            }
        }
        syn::Expr::Path(path) => {
            let names: Vec<_> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
            match &names[..] {
                [name] if name == NO_LABEL => {
                    Ok((Literal::Integer(u32::MAX.into()), Some(Scalar::U32)))
                }
                [ty, name] => {
                    let (literal, scalar) = associated(ty, name).ok_or_else(refused)?;
                    Ok((literal, Some(scalar)))
                }
                _ => Err(refused()),
            }
        }
        _ => Err(refused()),
    }
}
