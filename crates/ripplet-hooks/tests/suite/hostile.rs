//! Deliberately wrong texts: they give errors in bounded time and stack, never a panic.

use crate::programs::{read, refusal, scoring};
use proptest::prelude::*;
use ripplet_hooks::{LARGEST_FILE, cpp, read_program};

/// Reads a text and translates it if it is a program; returns whether it is one.
fn survives(text: &str) -> bool {
    match read_program("mine.rs", text) {
        Ok(module) => {
            assert!(!cpp::emit(&module).is_empty());
            true
        }
        Err(errors) => {
            assert!(!errors.errors.is_empty() && errors.errors.len() <= 20);
            assert!(errors.errors.iter().all(|error| error.line > 0 && error.column > 0));
            false
        }
    }
}

#[test]
fn nesting_is_bounded_whatever_nests() {
    let many = 100_000;
    let nests = [
        "(".repeat(many) + "1" + &")".repeat(many),
        "{".repeat(many) + "1" + &"}".repeat(many),
        "-".repeat(many) + "1",
        "!".repeat(many) + "1",
        "&".repeat(many) + "1",
        "return ".repeat(many) + "1",
        "1 + ".repeat(many) + "1",
        "1 as u64 as ".repeat(many / 4) + "u64",
        "if true {} else ".repeat(many / 5) + "{}",
        "c.min(".repeat(many / 4) + "1" + &")".repeat(many / 4),
        "|x| ".repeat(many) + "1",
        "x".to_owned() + &".x".repeat(many),
        "x".to_owned() + &"?".repeat(many),
        "x = ".repeat(many) + "1",
        "let x: ".to_owned() + &"&".repeat(many) + "u32 = 1;",
        "let x: ".to_owned() + &"A<".repeat(many) + &">".repeat(many) + " = 1;",
        "match 1 { ".to_owned() + &"&".repeat(many) + "x => 1 }",
        "for i in ".repeat(many / 4),
        "while 1 < ".repeat(many / 4),
    ];
    for nest in nests {
        assert!(!survives(&scoring(&nest, "")), "{}…", &nest[..40]);
    }
}

#[test]
fn nesting_that_is_let_through_is_translated() {
    let sum = vec!["c.frequency"; 200].join(" + ");
    let brackets = "(".repeat(80) + "1" + &")".repeat(80);
    let signs = "!".repeat(600) + "1";
    let otherwise = "if v.id == 1 { 2 } else ".repeat(100) + "{ 3 }";
    let blocks = "{ if v.id == 3 { return 4; } ".repeat(80) + "1" + &"}".repeat(80);
    for body in [sum, brackets, signs, otherwise, blocks] {
        assert!(survives(&scoring(&body, "")), "{}…", &body[..40]);
    }
}

#[test]
fn sizes_are_bounded() {
    assert!(!survives(&" ".repeat(LARGEST_FILE + 1)));
    assert!(refusal(&"9".repeat(100_000)).contains("a number of 100000 characters"));
    assert!(refusal(&("0x".to_owned() + &"f".repeat(100_000))).contains("characters"));
    assert!(refusal("340282366920938463463374607431768211456").contains("larger than any integer"));
    assert!(refusal("1e39 as u64").contains("larger than any f32"));
    assert!(
        refusal("if c.frequency > 1_000_000_000_000_000_000_000 { 1 } else { 2 }")
            .contains("larger")
    );
    let arms: Vec<_> = (0..10_000).map(|n| format!("{n} => {n}")).collect();
    let body = format!("match c.frequency {{ {}, _ => 0 }}", arms.join(", "));
    assert!(refusal(&body).contains("arms"));
}

#[test]
fn long_programs_take_time_in_proportion() {
    let start = std::time::Instant::now();
    let steps: String =
        (0..15_000).map(|n| format!("let x{n} = c.frequency + {n}; i += 1;\n")).collect();
    assert!(survives(&scoring(&format!("let mut i: u32 = 0;\n{steps} x3"), "")));
    let body = format!("let mut i: u32 = 0; while i < 4 {{ {} }} 3", "i += 1; ".repeat(60_000));
    assert!(refusal(&body).contains("may never end"));
    let chain: String = (1..8_000)
        .map(|n| format!("fn f{n}(x: u64) -> u64 {{ f{}(x) + f{}(x) }}\n", n - 1, n - 1))
        .collect();
    let items = format!("fn f0(x: u64) -> u64 {{ x }}\n{chain}");
    assert!(survives(&scoring("f7999(1)", &items)));
    // A generous limit, as the machine may be busy. Quadratic time would take minutes.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn recursion_is_refused_however_long_the_way() {
    let ring: String = (0..5_000)
        .map(|n| format!("fn f{n}(x: u64) -> u64 {{ f{}(x) }}\n", (n + 1) % 5_000))
        .collect();
    let text = scoring("f0(1)", &ring);
    let errors = read_program("mine.rs", &text).unwrap_err().to_string();
    assert!(errors.contains("calls itself"), "{errors}");
    let errors = refusal("self.label_score(v, c)");
    assert!(errors.contains("`label_score` calls itself"), "{errors}");
}

#[test]
fn names_are_defined_once() {
    let twice = "fn f(x: u64) -> u64 { x }\nfn f(x: u64) -> u64 { x }\n";
    let errors = read_program("mine.rs", &scoring("f(1)", twice)).unwrap_err().to_string();
    assert!(errors.contains("mine.rs:8:4: the function `f` is defined twice"), "{errors}");
    for items in [
        "const A: u32 = 1; const A: u32 = 2;",
        "struct Mine { n: u32 }",
        "struct Vote;",
        "impl Program for Mine { type Score = u64; }",
        "impl Mine { fn label_score(&self) {} }",
        "#[columns] struct More { age: u32 }",
        "#[columns] struct More { #[default(0)] set_age: u32 }",
    ] {
        assert!(!survives(&scoring("1", items)), "{items}");
    }
}

#[test]
fn errors_name_the_place() {
    let errors = read("c.frequency\n+ c.nothing").unwrap_err();
    let place = (errors.errors[0].line, errors.errors[0].column);
    assert_eq!(place, (6, 5));
    let shown = errors.to_string();
    assert!(
        shown.starts_with("mine.rs:6:5: Candidate has no field `nothing`\n  help: "),
        "{shown}"
    );
    // Columns count characters, not bytes.
    let errors = read("/* äöü */ nothing").unwrap_err();
    assert_eq!(errors.errors[0].column, 11);
}

#[test]
fn what_is_not_a_program_is_refused() {
    for text in ["", "fn", "}{", "\"", "impl Program for Mine {}", "struct Mine;", "\u{feff}", "#!"]
    {
        assert!(!survives(text), "{text:?}");
    }
}

/// Pieces that fit together, for texts that are almost programs.
const PIECES: [&str; 60] = [
    "let",
    "mut",
    "x",
    "=",
    "1",
    ";",
    "if",
    "else",
    "{",
    "}",
    "(",
    ")",
    "c",
    ".",
    "frequency",
    "v",
    "label",
    "return",
    "while",
    "<",
    "+=",
    "for",
    "in",
    "..",
    "self",
    "n",
    "decay",
    "as",
    "u64",
    "f32",
    "match",
    "=>",
    "_",
    ",",
    "|",
    "!",
    "-",
    "Vote",
    "min",
    "checked_add",
    "unwrap_or",
    "0.5",
    "true",
    "break",
    "continue",
    "'a:",
    "loop",
    "&",
    "*",
    "set_age",
    "age",
    "random",
    "u32::MAX",
    "/",
    "%",
    "<<",
    "products_ge",
    "exp2",
    "#[cfg(x)]",
    "const",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn pieces_in_any_order(pieces in proptest::collection::vec(proptest::sample::select(&PIECES[..]), 1..40)) {
        survives(&scoring(&pieces.join(" "), ""));
    }

    #[test]
    fn programs_with_pieces_missing(at in 0usize..1200, len in 1usize..30) {
        let text = include_str!("../programs/attenuated.rs");
        let (start, end) = (at.min(text.len()), (at + len).min(text.len()));
        survives(&(text[..start].to_owned() + &text[end..]));
    }

    #[test]
    fn any_characters(text in ".{0,200}") {
        survives(&text);
        survives(&scoring(&text, ""));
    }
}
