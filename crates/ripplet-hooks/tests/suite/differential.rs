//! Random functions of the subset: the results of rustc against those of the emitted C++, bit by
//! bit.

use crate::rust_side::{Made, ROWS, corners, program, random, rows, rust_source, table};
use crate::toolchain::{run_cpp, run_rust, workspace};
use ripplet_hooks::{cpp, read_program};
use std::fmt::Write;

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

/// `RIPPLET_PROGRAMS=20 cargo test -p ripplet-hooks differential` tests 20 programs of 120
/// functions each.
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
