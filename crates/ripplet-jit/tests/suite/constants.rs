//! Operations with a constant operand, for which the code generator has special rules.

use ripplet_hooks::read_program;
use ripplet_jit::{Functions, Parameters};
use ripplet_lp::Scalar;
use std::fmt::Write;

/// Numbers around the ends of the ranges and around powers of two, by their bits.
const EDGES: [u64; 23] = [
    0,
    1,
    2,
    3,
    7,
    8,
    10,
    0x40,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fff8,
    0xffff_ffff,
    0x1_0000_0000,
    0x4000_0000_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xc000_0000_0000_0000,
    0xffff_ffff_0000_0000,
    0xffff_ffff_ffff_fff8,
    0xffff_ffff_ffff_fffd,
    0xffff_ffff_ffff_ffff,
];

/// Returns a program with a function for each operation, edge value and side; `x` is the other
/// operand.
fn text(ty: &str, operations: &[&str], literal: impl Fn(u64) -> String) -> String {
    let (mut calls, mut functions) = (String::new(), String::new());
    for (o, body) in operations.iter().enumerate() {
        for (k, &edge) in EDGES.iter().enumerate() {
            let constant = literal(edge);
            for (side, a, b) in [("right", "x", &*constant), ("left", &*constant, "x")] {
                let name = format!("{side}_{o}_{k}");
                let locals = format!("let a: {ty} = {a}; let b: {ty} = {b};");
                writeln!(functions, "fn {name}(x: {ty}) -> {ty} {{ {locals} {body} }}").unwrap();
                writeln!(calls, "let _ = {name}(0);").unwrap();
            }
        }
    }
    format!(
        "struct P;\nimpl Program for P {{\ntype Score = u64;\n\
        fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {{\n{calls}c.frequency\n}}\n}}\n\
        {functions}"
    )
}

/// Defines tests for the operations of one type, each written twice: as Rust here, and as text.
macro_rules! test_with_constants {
    ($test:ident, $ty:ident, $scalar:ident, |$a:ident, $b:ident| $($body:expr),+ $(,)?) => {
        #[test]
        fn $test() {
            let operations: &[(&str, fn($ty, $ty) -> $ty)] =
                &[$((stringify!($body), |$a, $b| $body)),+];
            let bodies: Vec<_> = operations.iter().map(|(body, _)| *body).collect();
            let text = text(stringify!($ty), &bodies, |edge| format!("{}", edge as $ty));
            let module = read_program("constants.rs", &text).unwrap_or_else(|e| panic!("{e}"));
            let compiled = Functions::compile(&module, &Parameters::new()).unwrap();
            for (o, (body, operation)) in operations.iter().enumerate() {
                for (k, constant) in EDGES.map(|edge| edge as $ty).into_iter().enumerate() {
                    for x in EDGES.map(|edge| edge as $ty) {
                        for (side, a, b) in [("right", x, constant), ("left", constant, x)] {
                            let name = format!("{side}_{o}_{k}");
                            let found = compiled.call(&name, &[Scalar::$scalar(x)]);
                            let expected = Some(Scalar::$scalar(operation(a, b)));
                            assert_eq!(found, expected, "{body} of {a}, {b}; constant {side}");
                        }
                    }
                }
            }
        }
    };
}

/// Defines tests for the operations that all integer types have.
macro_rules! test_integers {
    ($test:ident, $ty:ident, $scalar:ident) => {
        test_with_constants!(
            $test,
            $ty,
            $scalar,
            |a, b| a.wrapping_add(b),
            a.wrapping_sub(b),
            a.wrapping_mul(b),
            a.saturating_add(b),
            a.saturating_sub(b),
            a.saturating_mul(b),
            a.checked_add(b).unwrap_or(7),
            a.checked_sub(b).unwrap_or(7),
            a.checked_mul(b).unwrap_or(7),
            a.checked_div(b).unwrap_or(7),
            a.checked_rem(b).unwrap_or(7),
            a.wrapping_shl(b as u32),
            a.wrapping_shr(b as u32),
            a.checked_shl(b as u32).unwrap_or(7),
            a.checked_shr(b as u32).unwrap_or(7),
            a.rotate_left(b as u32),
            a.wrapping_pow(b as u32),
            a.min(b),
            a.max(b),
            a.abs_diff(b) as $ty,
            (a & b) | (a ^ !b),
            (a < b) as $ty,
            (a >= b) as $ty,
            (a == b) as $ty,
            (a as f32 * b as f32) as $ty,
            (a as i32 ^ b as i32) as $ty,
        );
    };
}

test_integers!(operations_of_u32, u32, U32);
test_integers!(operations_of_i32, i32, I32);
test_integers!(operations_of_u64, u64, U64);
test_integers!(operations_of_i64, i64, I64);
