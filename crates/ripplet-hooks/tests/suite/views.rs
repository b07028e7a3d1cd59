//! Hooks that read all of their views and set columns: native Rust against the emitted C++.

use crate::toolchain::{run_cpp, run_rust, workspace};
use ripplet_hooks::ir::{Len, ParameterId, Scalar, Value};
use ripplet_hooks::{cpp, read_program};

const TEXT: &str = include_str!("../programs/views.rs");

#[test]
fn views_are_the_same_on_both_sides() {
    let directory = workspace("views");
    // The macro would remove the struct of columns; here, the test's views provide the columns.
    let (before, rest) = TEXT.split_once("#[columns]").unwrap();
    let native = before.to_owned() + rest.split_once("}\n").unwrap().1;
    let (program, main) = (directory.join("program.rs"), directory.join("main.rs"));
    std::fs::write(&program, native).unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let text = include_str!("../programs/views_main.rs")
        .replace("MATH", &format!("{root}/src/math.rs"))
        .replace("HOOKS", &format!("{root}/tests/programs/views_hooks.rs"))
        .replace("PROGRAM", program.to_str().unwrap());
    std::fs::write(&main, text).unwrap();
    let module = read_program("views.rs", TEXT).unwrap_or_else(|errors| panic!("{errors}"));
    let emitted = cpp::emit(&module);
    let access = include_str!("../programs/views_access.h");
    let parts =
        [cpp::SCALAR, access, cpp::VIEWS, &emitted, include_str!("../programs/views_main.cpp")];
    let translated = directory.join("main.cpp");
    std::fs::write(&translated, parts.concat()).unwrap();
    let (expected, found) = (run_rust(&main), run_cpp(&translated));
    for (line, (expected, found)) in expected.lines().zip(found.lines()).enumerate() {
        assert_eq!(expected, found, "line {line}");
    }
    assert_eq!(expected.lines().count(), found.lines().count());
    assert!(expected.lines().count() > 10_000);
}

#[test]
fn a_module_tells_what_its_text_declares() {
    let module = read_program("views.rs", TEXT).unwrap();
    assert_eq!((module.type_name.as_str(), module.name.as_str()), ("Views", "views"));
    assert_eq!(module.score, Scalar::F32);
    let parameters: Vec<_> =
        module.parameters.iter().map(|p| (p.name.as_str(), p.scalar)).collect();
    let expected = [
        ("bias", Scalar::F32),
        ("memory", Scalar::U32),
        ("offset", Scalar::I64),
        ("strict", Scalar::Bool),
    ];
    assert_eq!(parameters, expected);
    let columns: Vec<_> =
        module.columns.iter().map(|c| (c.name.as_str(), c.len, c.default, c.written)).collect();
    let heard = Len::Parameter(ParameterId(1));
    assert_eq!(columns[0], ("strength", Len::One, Some(Value::F32(1.0)), true));
    assert_eq!(columns[1], ("heard", heard, Some(Value::U32(0)), true));
    assert_eq!(columns[2], ("home", Len::One, Some(Value::U32(u32::MAX)), true));
    assert!(module.hooks.activation.is_none() && module.hooks.carry.is_some());
    // Callees precede their callers.
    let names: Vec<_> = module.functions.iter().map(|f| f.name.as_str()).collect();
    let place = |name| names.iter().position(|n| *n == name).unwrap();
    assert!(place("remember") < place("update_vertex") && place("exp2_sum") < place("exp2"));
}

#[test]
fn only_columns_that_are_set_are_written() {
    let text = TEXT.replace("v.set_home(", "let _ = (");
    let module = read_program("views.rs", &text).unwrap_or_else(|errors| panic!("{errors}"));
    let written: Vec<_> = module.columns.iter().map(|column| column.written).collect();
    assert_eq!(written, [true, true, false]);
}
