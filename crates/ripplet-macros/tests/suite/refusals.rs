//! What the macro refuses: the message, and its place at the user's own token.

/// `TRYBUILD=overwrite cargo test -p ripplet-macros` rewrites the expected messages.
#[test]
fn refused_programs_say_why_and_where() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
