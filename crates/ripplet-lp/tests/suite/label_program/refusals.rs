//! What the macro refuses: the message, and its place at the user's own token.

/// `TRYBUILD=overwrite cargo test -p ripplet-lp refused` rewrites the expected messages.
#[test]
fn refused_programs_say_why_and_where() {
    trybuild::TestCases::new().compile_fail("tests/suite/label_program/refused/*.rs");
}
