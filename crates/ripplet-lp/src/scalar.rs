//! Numbers and truth values with their types: parameters of programs, defaults of columns.

use std::fmt;

/// A number or truth value with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// `u32`.
    U32(u32),
    /// `i32`.
    I32(i32),
    /// `u64`.
    U64(u64),
    /// `i64`.
    I64(i64),
    /// `f32`.
    F32(f32),
    /// `bool`.
    Bool(bool),
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::U32(value) => value.fmt(f),
            Scalar::I32(value) => value.fmt(f),
            Scalar::U64(value) => value.fmt(f),
            Scalar::I64(value) => value.fmt(f),
            Scalar::F32(value) => value.fmt(f),
            Scalar::Bool(value) => value.fmt(f),
        }
    }
}
