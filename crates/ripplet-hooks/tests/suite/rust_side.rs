//! Programs of random and of odd functions, with their arguments and with rustc's results.

use crate::random_program::{Generator, Random, TYPES, Ty};
use std::fmt::Write;

/// Number of functions in a program.
pub const FUNCTIONS: usize = 120;

/// Number of calls of each function.
pub const ROWS: usize = 48;

/// Values at which implementations often go wrong.
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

/// Functions as text, with their result types.
pub type Made = Vec<(String, Ty)>;

/// Cases decided by evaluation order, inference and the ends of ranges.
const CORNERS: [(&str, Ty); 32] = [
    // Operands to the left are evaluated first and keep their values.
    ("let mut x = a; x + { x = x.wrapping_mul(3); x } + { x += 1; x } * x", Ty::U32),
    ("let mut x = a; let y = x ^ { x = 5; if g { return x; } 7 }; y + x", Ty::U32),
    ("let mut x = a; x += { x = 5; 1 }; x", Ty::U32),
    (
        "let mut x = a; if x > 3 && { x = 1; g } || { x += 7; x > 9 } { x } else { x + 100 }",
        Ty::U32,
    ),
    (
        "let mut x = a; let y = if g { x += 1; x } else { x }; if { x = y; x > 2 } { y } else { x }",
        Ty::U32,
    ),
    (
        "let mut x = a; let v = Vote { weight: { x = x ^ 9; x }, label: x }; v.label - v.weight",
        Ty::U32,
    ),
    ("let mut x = a; Vote::new(x, { x = 3; x }).label + x", Ty::U32),
    ("let mut x = a; self.f0(x, b, c, d, e, { x = 1; g }) + x", Ty::U32),
    // The types of literals.
    ("let x = 5; let y = x + 1; (y as u64) + c", Ty::U64),
    ("let x = 3; let s = x; a << s >> x", Ty::U32),
    ("let x = 5; let y = if g { x } else { c }; y", Ty::U64),
    ("(-1) as i64 as u32 ^ 3_000_000_000 as u32", Ty::U32),
    ("-5 as i64 as u64 + (5 as f32 * 0.3) as u64", Ty::U64),
    ("let x = -2147483648; x - b", Ty::I32),
    ("let x = 0.1; if e < x { x } else { 2.0 * x + 1.0 }", Ty::F32),
    ("(1 << 31) as i64 + (1 << a) as i64", Ty::I64),
    ("16777217 as f32 + a as f32 + c as f32 + d as f32 + b as f32", Ty::F32),
    ("1e-45 / 2.0 + 3.4028235e38 * e + 0.1", Ty::F32),
    // Shadowing.
    (
        "let a = a + 1; let a = { let a = a * 2; a + 1 } - a; for a in 0..a.min(3) { if a == 2 { return a; } } a",
        Ty::U32,
    ),
    // The ends of loops.
    (
        "let mut n = 0; for i in 4294967290..=4294967295_u32 { if i & 1 == 0 { continue; } n += i; } n",
        Ty::U32,
    ),
    (
        "let mut n = 0; for i in i32::MAX - 2..=i32::MAX { n += i; } for i in b..b { n += i; } n",
        Ty::I32,
    ),
    ("let mut n = 0_u32; for i in a..=a { n += i; } for i in 5..=4_u32 { n += i; } n", Ty::U32),
    (
        "let mut n = a; let mut i = 0; while i < 9 { i += 1; if i == 3 { continue; } if n == 7 { break; } n += i; } n",
        Ty::U32,
    ),
    (
        "let mut n = 0; for i in 0..3 { for j in 0..=i { if j == 1 { break; } n += 10 * i + j; } } n ^ a",
        Ty::U32,
    ),
    (
        "let mut n = a; let mut t = 0; while { t += 1; t > 5 || n > 3 } && n > 0 { n >>= 2; } n ^ t",
        Ty::U32,
    ),
    // Matches.
    (
        "match b { i32::MIN..=-1 => 1, 0 | 7 => return 2, 1..5 => { if g { 3 } else { 4 } } _ => 5 }",
        Ty::U32,
    ),
    (
        "for i in 0..5_u32 { match i ^ a { 0 => break, 1 | 3 => continue, _ => {} } if i == 3 { return 77; } } 5",
        Ty::U32,
    ),
    ("match g { true => e, false => 1.0 }", Ty::F32),
    // Casts and signs.
    ("(e as i32 as i64) ^ (e as u32 as i64) ^ (e as i64) ^ (e as u64 as i64)", Ty::I64),
    (
        "(a as i32 as i64) ^ (b as u32 as i64) ^ (b as u64 as i64) ^ (c as i32 as i64) ^ (d as u32 as i64)",
        Ty::I64,
    ),
    ("i64::MIN.abs() + (-i64::MIN) + b.abs() as i64 + i64::from(g)", Ty::I64),
    ("-0.0_f32 + -e * 0.0 - 0.0", Ty::F32),
];

pub fn corners() -> Made {
    let arguments: Vec<_> =
        TYPES.iter().map(|(ty, name)| format!("{name}: {}", ty.name())).collect();
    let first = ("a ^ 1", Ty::U32);
    let bodies = std::iter::once(&first).chain(&CORNERS).enumerate();
    let function = |(number, (body, ty)): (usize, &(&str, Ty))| {
        let head = format!("fn f{number}(&self, {}) -> {}", arguments.join(", "), ty.name());
        (format!("{head} {{ {body} }}\n"), *ty)
    };
    bodies.map(function).collect()
}

pub fn random(seed: u64) -> Made {
    let mut generator = Generator::new(seed);
    (0..FUNCTIONS).map(|_| generator.function()).collect()
}

/// Returns the program of these functions, with a parameter of each type.
pub fn program(functions: &Made) -> String {
    let mut text = String::from("use super::hooks::*;\n\npub struct Mine {\n");
    for (ty, _) in TYPES {
        writeln!(text, "    pub p{}: {},", ty as usize, ty.name()).unwrap();
    }
    text.push_str("}\n\nimpl Program for Mine {\n    type Score = u64;\n");
    text.push_str("    fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {\n");
    for number in 0..functions.len() {
        writeln!(text, "        let _ = self.f{number}(1, 2, 3, 4, 5.0, true);").unwrap();
    }
    text.push_str("        c.frequency\n    }\n}\n\nimpl Mine {\n");
    functions.iter().for_each(|(function, _)| write!(text, "pub {function}").unwrap());
    text.push_str("}\n");
    text
}

/// Returns rows of arguments followed by parameters, one of each type.
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
    pub struct Vote { pub label: u32, pub weight: u32 }
    impl Vote {
        pub fn new(label: u32, weight: u32) -> Vote { Vote { label, weight } }
    }
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
