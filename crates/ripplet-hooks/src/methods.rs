//! Methods of scalars that hooks may call.

use crate::ir::{Binary, Checked, Scalar, Unary};

/// A method of a scalar, classified by its arguments.
#[derive(Clone, Copy)]
pub(crate) enum Method {
    /// No argument. The second field is the result's type if it differs from the receiver's.
    One(Unary, Option<Scalar>),
    /// One argument of the receiver's type.
    Same(Binary),
    /// One argument of type u32.
    Amount(Binary),
    /// `abs_diff`: one argument of the receiver's type; the result is unsigned.
    Distance,
}

/// Returns the method of a scalar type with this name.
pub(crate) fn method_of(scalar: Scalar, name: &str) -> Option<Method> {
    let lists: &[&[(&str, Method)]] = match scalar {
        Scalar::F32 => &[&OF_FLOATS],
        Scalar::Bool => &[],
        _ if scalar.is_signed() => &[&OF_INTEGERS, &OF_SIGNED],
        _ => &[&OF_INTEGERS],
    };
    let mut methods = lists.iter().copied().flatten();
    methods.find(|(known, _)| *known == name).map(|&(_, method)| method)
}

/// The methods that all integer types have.
pub(crate) const OF_INTEGERS: [(&str, Method); 19] = [
    ("wrapping_add", Method::Same(Binary::Add)),
    ("wrapping_sub", Method::Same(Binary::Sub)),
    ("wrapping_mul", Method::Same(Binary::Mul)),
    ("saturating_add", Method::Same(Binary::SaturatingAdd)),
    ("saturating_sub", Method::Same(Binary::SaturatingSub)),
    ("saturating_mul", Method::Same(Binary::SaturatingMul)),
    ("min", Method::Same(Binary::Min)),
    ("max", Method::Same(Binary::Max)),
    ("abs_diff", Method::Distance),
    ("wrapping_shl", Method::Amount(Binary::Shl)),
    ("wrapping_shr", Method::Amount(Binary::Shr)),
    ("rotate_left", Method::Amount(Binary::RotateLeft)),
    ("rotate_right", Method::Amount(Binary::RotateRight)),
    ("pow", Method::Amount(Binary::Pow)),
    ("wrapping_pow", Method::Amount(Binary::Pow)),
    ("wrapping_neg", Method::One(Unary::Neg, None)),
    ("leading_zeros", Method::One(Unary::LeadingZeros, Some(Scalar::U32))),
    ("trailing_zeros", Method::One(Unary::TrailingZeros, Some(Scalar::U32))),
    ("count_ones", Method::One(Unary::CountOnes, Some(Scalar::U32))),
];

/// The methods that only signed integers have.
pub(crate) const OF_SIGNED: [(&str, Method); 2] =
    [("abs", Method::One(Unary::Abs, None)), ("wrapping_abs", Method::One(Unary::Abs, None))];

/// The methods of `f32`.
pub(crate) const OF_FLOATS: [(&str, Method); 11] = [
    ("min", Method::Same(Binary::Min)),
    ("max", Method::Same(Binary::Max)),
    ("copysign", Method::Same(Binary::CopySign)),
    ("abs", Method::One(Unary::Abs, None)),
    ("sqrt", Method::One(Unary::Sqrt, None)),
    ("floor", Method::One(Unary::Floor, None)),
    ("ceil", Method::One(Unary::Ceil, None)),
    ("trunc", Method::One(Unary::Trunc, None)),
    ("is_nan", Method::One(Unary::IsNan, Some(Scalar::Bool))),
    ("is_finite", Method::One(Unary::IsFinite, Some(Scalar::Bool))),
    ("to_bits", Method::One(Unary::ToBits, Some(Scalar::U32))),
];

/// The methods of integers that must be followed by `.unwrap_or(x)`.
pub(crate) const CHECKED: [(&str, Checked); 7] = [
    ("checked_add", Checked::Add),
    ("checked_sub", Checked::Sub),
    ("checked_mul", Checked::Mul),
    ("checked_div", Checked::Div),
    ("checked_rem", Checked::Rem),
    ("checked_shl", Checked::Shl),
    ("checked_shr", Checked::Shr),
];

/// Returns the checked operation with this name.
pub(crate) fn checked_named(name: &str) -> Option<Checked> {
    CHECKED.iter().find(|(known, _)| *known == name).map(|&(_, operation)| operation)
}
