//! Random functions of the subset: the results of rustc against those of the compiled code, bit by
//! bit.

use crate::random_program::Ty;
use crate::rust_side::{Made, ROWS, corners, program, random, rows, rust_source};
use crate::toolchain::{run_rust, workspace};
use ripplet_hooks::read_program;
use ripplet_jit::{Functions, Parameters};
use ripplet_lp::Scalar;
use std::fmt::Write;

/// Number of programs that differ in their parameters only. Parameters are constants in compiled
/// code, so the rows use the parameters of the first `PARAMETERS` rows in rotation.
const PARAMETERS: usize = 6;

const TYPES: [Ty; 6] = [Ty::U32, Ty::I32, Ty::U64, Ty::I64, Ty::F32, Ty::Bool];

/// Returns the values of half a row, one of each type, as the Rust side reads them.
fn scalars(half: &[u64]) -> Vec<Scalar> {
    let read = |(ty, &bits): (Ty, &u64)| match ty {
        Ty::U32 => Scalar::U32(bits as u32),
        Ty::I32 => Scalar::I32(bits as i32),
        Ty::U64 => Scalar::U64(bits),
        Ty::I64 => Scalar::I64(bits as i64),
        Ty::F32 => Scalar::F32(f32::from_bits(bits as u32)),
        Ty::Bool => Scalar::Bool(bits & 1 == 1),
    };
    TYPES.into_iter().zip(half).map(read).collect()
}

fn bits(value: Scalar) -> u64 {
    match value {
        Scalar::U32(value) => u64::from(value),
        Scalar::I32(value) => value as u64,
        Scalar::U64(value) => value,
        Scalar::I64(value) => value as u64,
        Scalar::F32(value) if value.is_nan() => 0x7fc0_0000,
        Scalar::F32(value) => u64::from(value.to_bits()),
        Scalar::Bool(value) => u64::from(value),
    }
}

fn compare(name: &str, seed: u64, functions: &Made) {
    let text = program(functions);
    let mut rows = rows(seed ^ 0x5eed);
    for row in PARAMETERS..ROWS {
        let (first, rest) = rows.split_at_mut(PARAMETERS);
        rest[row - PARAMETERS][6..].copy_from_slice(&first[row % PARAMETERS][6..]);
    }
    let directory = workspace(name);
    std::fs::write(directory.join("program.rs"), &text).unwrap();
    std::fs::write(directory.join("main.rs"), rust_source(functions, &rows)).unwrap();
    let expected = run_rust(&directory.join("main.rs"));
    assert_eq!(expected.lines().count(), functions.len() * ROWS);

    let module = read_program("program.rs", &text).unwrap();
    let compile = |row: &[u64; 12]| {
        let values = scalars(&row[6..]).into_iter().enumerate();
        let parameters =
            values.fold(Parameters::new(), |given, (p, value)| given.with(&format!("p{p}"), value));
        Functions::compile(&module, &parameters).unwrap()
    };
    let compiled: Vec<Functions> = rows[..PARAMETERS].iter().map(compile).collect();
    for line in expected.lines() {
        let mut words = line[1..].split(' ').map(|word| word.parse::<usize>());
        let (Some(Ok(number)), Some(Ok(row))) = (words.next(), words.next()) else {
            panic!("the Rust side says {line}")
        };
        let mut found = String::new();
        let name = format!("f{number}");
        let value = compiled[row % PARAMETERS].call(&name, &scalars(&rows[row][..6]));
        write!(found, "{name} {row} {:x}", bits(value.unwrap())).unwrap();
        assert_eq!(line, found, "seed {seed}: {:x?}, in\n{}", rows[row], functions[number].0);
    }
}

/// `RIPPLET_PROGRAMS=20 cargo test -p ripplet-jit differential` tests 20 programs of 120 functions
/// each.
#[test]
fn compiled_functions_agree_with_rust() {
    let programs = std::env::var("RIPPLET_PROGRAMS").ok().and_then(|n| n.parse().ok());
    for seed in 1..=programs.unwrap_or(2) {
        compare(&format!("random-{seed}"), seed, &random(seed));
    }
}

#[test]
fn compiled_functions_agree_with_rust_in_corners() {
    compare("corners", 1, &corners());
}
