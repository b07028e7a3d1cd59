//! Random functions of the subset: what rustc makes of them against what the emitted C++ does, bit
//! by bit.

use crate::random_program::{Generator, Random, TYPES, Ty};
use crate::toolchain::{run_cpp, run_rust, workspace};
use ripplet_hooks::{cpp, read_program};
use std::fmt::Write;

/// Functions in one program.
const FUNCTIONS: usize = 120;

/// Calls of each function.
const ROWS: usize = 48;

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

/// Functions as text, and what they return.
pub type Made = Vec<(String, Ty)>;

/// Where evaluation order, inference and the ends of ranges decide.
const CORNERS: [(&str, Ty); 32] = [
    // What stands to the left is evaluated first, and keeps its value.
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

/// The program of these functions, with a parameter of each type.
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

/// Arguments and then parameters, one of each type.
fn rows(seed: u64) -> Vec<[u64; 12]> {
    let mut random = Random(seed);
    let mut value = || match random.below(3) {
        0 => random.next(),
        1 => random.next() >> random.below(64),
        _ => EDGES[random.below(EDGES.len() as u64) as usize],
    };
    (0..ROWS).map(|_| std::array::from_fn(|_| value())).collect()
}

fn table(rows: &[[u64; 12]], open: char, close: char, suffix: &str) -> String {
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

fn rust_source(functions: &[(String, Ty)], rows: &[[u64; 12]]) -> String {
    let math = concat!(env!("CARGO_MANIFEST_DIR"), "/src/math.rs");
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

fn cpp_source(emitted: &str, names: &[String], rows: &[[u64; 12]]) -> String {
    let access = "#include <cstdio>\nnamespace ripplet { struct Access {
        u32 degree(u32) const { return 0; } u32 round() const { return 0; }
        u32 random(u32, u32) const { return 0; } u32 total(u32) const { return 0; }
        u32 column(u32, u32, u32) const { return 0; } u32 staged(u32, u32, u32) const { return 0; }
        void stage(u32, u32, u32, u32) {} }; }\n";
    let table = table(rows, '{', '}', "ull");
    let mut text = [cpp::SCALAR, access, cpp::VIEWS, emitted].concat();
    write!(text, "using namespace ripplet;\nusing namespace ripplet::program;\n").unwrap();
    write!(text, "static const ripplet::u64 ROWS[{ROWS}][12] = {{\n{table}}};\n").unwrap();
    text.push_str("static u64 bits(f32 x) { return is_nan(x) ? 0x7fc00000ull : to_bits(x); }\n");
    text.push_str("template <class T> static u64 bits(T x) { return (u64)x; }\n");
    write!(text, "int main() {{\n    for (int n = 0; n < {ROWS}; n++) {{\n").unwrap();
    text.push_str("        const u64* r = ROWS[n]; Parameters mine;\n");
    text.push_str("        for (int p = 0; p < 6; p++) mine.words[p] = r[p + 6];\n");
    text.push_str("        mine.words[5] &= 1;\n");
    for (number, name) in names.iter().enumerate() {
        let arguments =
            "(u32)r[0], (i32)r[1], (u64)r[2], (i64)r[3], from_bits((u32)r[4]), r[5] & 1";
        let call = format!("bits({name}(mine, {arguments}))");
        writeln!(text, "        printf(\"f{number} %d %llx\\n\", n, {call});").unwrap();
    }
    text + "    }\n}\n"
}

fn compare(name: &str, seed: u64, functions: &Made) {
    let (text, rows) = (program(functions), rows(seed ^ 0x5eed));
    let directory = workspace(name);
    let module = match read_program("program.rs", &text) {
        Ok(module) => module,
        Err(errors) => {
            std::fs::write(directory.join("program.rs"), &text).unwrap();
            panic!("refused {}: {errors}", directory.join("program.rs").display())
        }
    };
    let place = |number| {
        let name = format!("f{number}");
        let place = module.functions.iter().position(|f| f.name == name);
        format!("f{}_{name}", place.expect("label_score calls every function"))
    };
    let names: Vec<_> = (0..functions.len()).map(place).collect();
    std::fs::write(directory.join("program.rs"), &text).unwrap();
    let (rust, cxx) = (directory.join("main.rs"), directory.join("main.cpp"));
    std::fs::write(&rust, rust_source(functions, &rows)).unwrap();
    std::fs::write(&cxx, cpp_source(&cpp::emit(&module), &names, &rows)).unwrap();
    let (expected, found) = (run_rust(&rust), run_cpp(&cxx));
    assert_eq!(expected.lines().count(), functions.len() * ROWS);
    for (expected, found) in expected.lines().zip(found.lines()) {
        let number = expected[1..].split(' ').next().unwrap().parse::<usize>().unwrap();
        assert_eq!(expected, found, "{name}, in\n{}", functions[number].0);
    }
    assert_eq!(expected.lines().count(), found.lines().count());
}

/// `RIPPLET_PROGRAMS=20 cargo test -p ripplet-hooks differential` tries 20 programs, each of 120
/// functions.
#[test]
fn emitted_cpp_agrees_with_rust() {
    let programs = std::env::var("RIPPLET_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for seed in 1..=programs.unwrap_or(2) {
        compare(&format!("random-{seed}"), seed, &random(seed));
    }
}

#[test]
fn emitted_cpp_agrees_with_rust_in_corners() {
    compare("corners", 1, &corners());
}
