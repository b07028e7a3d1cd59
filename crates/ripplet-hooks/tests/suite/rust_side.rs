//! A program of random functions, what they are called with, and what rustc makes of them.

use crate::random_program::{Generator, Random, TYPES, Ty};
use std::fmt::Write;

/// Functions in one program.
pub const FUNCTIONS: usize = 120;

/// Calls of each function.
pub const ROWS: usize = 48;

/// Values that have a history of going wrong.
const EDGES: [u64; 26] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_ffff,
    0x3f80_0000, // 1.0
    0xbf80_0000, // -1.0
    0x7f80_0000, // infinity
    0xff80_0000, // -infinity
    0x7fc0_0000, // NaN
    0x0000_0001, // the smallest float
    0x0080_0000, // the smallest normal float
    0x7f7f_ffff, // the largest float
    0x4b80_0000, // 2^24
    0x4f00_0000, // 2^31
    0x5f80_0000, // 2^64
];

/// The program, of as many functions and parameters of each type.
pub fn program(seed: u64) -> (String, Vec<(String, Ty)>) {
    let mut generator = Generator::new(seed);
    let functions: Vec<_> = (0..FUNCTIONS).map(|_| generator.function()).collect();
    let mut text = String::from("use super::hooks::*;\n\npub struct Mine {\n");
    for (ty, _) in TYPES {
        writeln!(text, "    pub p{}: {},", ty as usize, ty.name()).unwrap();
    }
    text.push_str("}\n\nimpl Program for Mine {\n    type Score = u64;\n");
    text.push_str("    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {\n");
    for number in 0..FUNCTIONS {
        writeln!(text, "        let _ = self.f{number}(1, 2, 3, 4, 5.0, true);").unwrap();
    }
    text.push_str("        c.frequency\n    }\n}\n\nimpl Mine {\n");
    functions.iter().for_each(|(function, _)| write!(text, "pub {function}").unwrap());
    text.push_str("}\n");
    (text, functions)
}

/// Arguments and then parameters, one of each type.
pub fn rows(seed: u64) -> Vec<[u64; 12]> {
    let mut random = Random(seed);
    let mut value = || match random.below(3) {
        0 => random.next(),
        1 => random.next() >> random.below(64),
        _ => EDGES[random.below(EDGES.len() as u64) as usize],
    };
    (0..ROWS).map(|_| std::array::from_fn(|_| value())).collect()
}

pub fn table(rows: &[[u64; 12]], open: char, close: char, suffix: &str) -> String {
    let row = |row: &[u64; 12]| {
        let values: Vec<_> = row.iter().map(|value| format!("{value}{suffix}")).collect();
        format!("{open}{}{close}", values.join(", "))
    };
    rows.iter().map(row).collect::<Vec<_>>().join(",\n")
}

const RUST_HOOKS: &str = r#"
mod hooks {
    pub use super::math::*;
    pub trait Program {
        type Score;
        fn label_score(&self, v: Vertex<'_>, c: Candidate<'_>) -> Self::Score;
    }
    pub struct Vertex<'a>(pub &'a ());
    pub struct Candidate<'a> { pub frequency: u64, pub of: &'a () }
    pub fn products_ge(a: u64, b: u64, c: u64, d: u64) -> bool {
        u128::from(a) * u128::from(b) >= u128::from(c) * u128::from(d)
    }
}
fn float(x: f32) -> u64 { if x.is_nan() { 0x7fc0_0000 } else { u64::from(x.to_bits()) } }
"#;

pub fn rust_source(functions: &[(String, Ty)], rows: &[[u64; 12]]) -> String {
    let math = concat!(env!("CARGO_MANIFEST_DIR"), "/../ripplet-hooks/src/math.rs");
    let table = table(rows, '[', ']', "");
    let mut text = format!("#[path = {math:?}]\nmod math;\nmod program;\n{RUST_HOOKS}\n");
    writeln!(text, "const ROWS: [[u64; 12]; {ROWS}] = [\n{table}];\nfn main() {{").unwrap();
    text.push_str("    for (n, r) in ROWS.iter().enumerate() {\n");
    let read = |place: usize| match TYPES[place % 6].0 {
        Ty::F32 => format!("f32::from_bits(r[{place}] as u32)"),
        Ty::Bool => format!("(r[{place}] & 1 == 1)"),
        ty => format!("r[{place}] as {}", ty.name()),
    };
    let fields: Vec<_> = (0..6).map(|p| format!("p{p}: {}", read(p + 6))).collect();
    writeln!(text, "        let mine = program::Mine {{ {} }};", fields.join(", ")).unwrap();
    let arguments = (0..6).map(read).collect::<Vec<_>>().join(", ");
    for (number, (_, ty)) in functions.iter().enumerate() {
        let call = format!("mine.f{number}({arguments})");
        let bits = match ty {
            Ty::F32 => format!("float({call})"),
            Ty::Bool => format!("u64::from({call})"),
            _ => format!("({call}) as u64"),
        };
        writeln!(text, "        println!(\"f{number} {{n}} {{:x}}\", {bits});").unwrap();
    }
    text + "    }\n}\n"
}
