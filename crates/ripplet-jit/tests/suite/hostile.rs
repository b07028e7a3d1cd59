//! Inputs that must be refused or must do no harm: large programs, invalid modules, much code.

use crate::programs::compiled;
use ripplet_hooks::{ir, read_program};
use ripplet_jit::{CompiledProgram, Functions, JitError, JitProgram, MOST_COLUMNS, Parameters};
use ripplet_lp::{Hints, Scalar};

const LPA: &str = include_str!("../programs/lpa.rs");

fn module(text: &str) -> ir::Module {
    read_program("hostile.rs", text).unwrap_or_else(|errors| panic!("{errors}"))
}

/// Returns a program with this score and these other items.
fn scoring(score: &str, items: &str) -> String {
    format!(
        "struct P;\nimpl Program for P {{\ntype Score = u64;\n\
         fn label_score(&self, v: Vertex, c: Candidate) -> u64 {{ {score} }}\n}}\n{items}"
    )
}

fn refused(parameters: Parameters) -> String {
    CompiledProgram::compile(&module(LPA), &parameters).unwrap_err().to_string()
}

#[test]
fn parameters_are_checked_by_name_and_type() {
    let none = Parameters::new();
    let given = |value| none.clone().with("guard", value);
    assert_eq!(refused(none.clone()), "the program's parameter `guard` must be given: a u32");
    assert_eq!(
        refused(given(Scalar::U32(1)).with("gamma", Scalar::F32(1.0))),
        "the program has no parameter `gamma`; it has `guard`"
    );
    assert_eq!(
        refused(given(Scalar::I32(-1))),
        "the program's parameter `guard` is a u32, which -1_i32 is not"
    );
    let text = |text| none.clone().with_text(&module(LPA), "guard", text);
    assert_eq!(text(" 65536 "), Ok(given(Scalar::U32(65536))));
    assert_eq!(
        text("-1").unwrap_err().to_string(),
        "the program's parameter `guard` is a u32, from 0 to 4294967295, which `-1` is not"
    );
    for (given, part) in
        [("1.5", "is a u32, which `1.5` is not"), ("99999999999", "from 0 to 4294967295")]
    {
        let refused = text(given).unwrap_err().to_string();
        assert!(refused.contains(part), "{refused}");
    }
    assert!(matches!(
        none.clone().with_text(&module(LPA), "gamma", "1"),
        Err(JitError::UnknownParameter { .. })
    ));
    assert_eq!(
        JitProgram::<f32>::compile(&module(LPA), &given(Scalar::U32(1))).unwrap_err(),
        JitError::Score { given: "u64", wanted: "f32" }
    );
}

#[test]
fn too_many_columns_are_refused() {
    let with = |count: usize| {
        let columns = (0..count).map(|c| format!("#[default(0)] c{c}: u32,"));
        let columns = columns.collect::<String>();
        let text = scoring("c.frequency", &format!("#[columns]\nstruct C {{ {columns} }}"));
        CompiledProgram::compile(&module(&text), &Parameters::new()).map(|_| ())
    };
    assert_eq!(with(MOST_COLUMNS), Ok(()));
    let (given, most) = (MOST_COLUMNS + 1, MOST_COLUMNS);
    assert_eq!(with(given), Err(JitError::Columns { given, most }));
}

#[test]
fn functions_that_call_the_last_twice_do_not_explode() {
    // Fully inlined, this is 2^60 functions.
    let mut items = String::from("fn f0(x: u64) -> u64 { x.rotate_left(7) ^ 12345 }\n");
    for n in 1..=60 {
        let m = n - 1;
        items += &format!(
            "fn f{n}(x: u64) -> u64 {{ if x % 3 == 0 {{ f{m}(x / 3) ^ f{m}(x >> 9) }} else {{ x + 1 }} }}\n"
        );
    }
    let text = scoring("f60(c.frequency)", &items);
    let functions = Functions::compile(&module(&text), &Parameters::new()).unwrap();
    assert_eq!(functions.call("f60", &[Scalar::U64(10)]), Some(Scalar::U64(11)));
    fn f(n: u32, x: u64) -> u64 {
        match n {
            0 => x.rotate_left(7) ^ 12345,
            _ if x.is_multiple_of(3) => f(n - 1, x / 3) ^ f(n - 1, x >> 9),
            _ => x + 1,
        }
    }
    for x in [9, 27, 3 << 20, 81 << 30] {
        assert_eq!(functions.call("f12", &[Scalar::U64(x)]), Some(Scalar::U64(f(12, x))));
    }
}

#[test]
fn long_and_deep_programs_compile() {
    let long = (0..1500).map(|n| format!("x = (x ^ {n}).rotate_left(5);\n")).collect::<String>();
    let deep = format!("{}x{}", "(1 + ".repeat(90), ")".repeat(90));
    let sum = "x + ".repeat(400);
    let text = scoring(&format!("let mut x = c.frequency;\n{long}\n{deep} ^ ({sum} 1)"), "");
    CompiledProgram::compile(&module(&text), &Parameters::new()).unwrap();
}

#[test]
fn modules_that_were_tampered_with_are_errors() {
    let sound =
        module(&scoring("near(c.frequency, 5)", "fn near(a: u64, b: u64) -> u64 { a.min(b) }"));
    let compile = |module: &ir::Module| CompiledProgram::compile(module, &Parameters::new());
    assert!(compile(&sound).is_ok());
    let tampered: [fn(&mut ir::Module); 7] = [
        |m| m.functions.reverse(),
        |m| m.functions.clear(),
        |m| m.functions.iter_mut().for_each(|f| f.body.clear()),
        |m| m.functions.iter_mut().for_each(|f| f.locals.clear()),
        |m| m.functions.iter_mut().for_each(|f| f.parameters = 0),
        |m| m.functions.iter_mut().for_each(|f| f.result = ir::Type::Vote),
        |m| m.score = ir::Scalar::F32,
    ];
    for (n, tamper) in tampered.into_iter().enumerate() {
        let mut module = sound.clone();
        tamper(&mut module);
        assert!(matches!(compile(&module), Err(JitError::Unsound(_))), "{n}");
    }
}

#[test]
fn programs_outlive_their_originals_on_other_threads() {
    let program = compiled(LPA, &[("guard", Scalar::U32(1))]);
    let CompiledProgram::U64(program) = program else { panic!("its scores are u64") };
    let clone = program.clone();
    drop(program);
    let bound = std::thread::spawn(move || clone.score_bound(77));
    assert_eq!(bound.join().unwrap(), 77);
}

/// Returns the executable bytes of this process; fails if a page is both writable and executable.
#[cfg(target_os = "linux")]
fn executable_bytes() -> usize {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let size = |line: &str| {
        let (range, rest) = line.split_once(' ')?;
        assert!(!rest.starts_with("rwx"), "writable and executable: {line}");
        let (from, to) = range.split_once('-')?;
        let address = |text| usize::from_str_radix(text, 16).ok();
        (rest.as_bytes().get(2) == Some(&b'x')).then_some(address(to)? - address(from)?)
    };
    maps.lines().filter_map(size).sum()
}

/// Runs in a process of its own, as the code of other tests would be counted too.
#[test]
#[cfg(target_os = "linux")]
fn code_is_not_writable_and_is_freed() {
    const ALONE: &str = "RIPPLET_TEST_ALONE";
    if std::env::var_os(ALONE).is_none() {
        let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
        alone.args(["--exact", "hostile::code_is_not_writable_and_is_freed"]).env(ALONE, "1");
        let output = alone.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        return;
    }
    let program = || compiled(LPA, &[("guard", Scalar::U32(1))]);
    let (before, programs) = (executable_bytes(), (0..500).map(|_| program()).collect::<Vec<_>>());
    let with = executable_bytes();
    assert!(with >= before + 400 * 4096, "500 programs in {} bytes", with - before);
    drop(programs);
    let after = executable_bytes();
    assert!(after < before + (with - before) / 4, "{before} bytes, {with}, {after}");
}
