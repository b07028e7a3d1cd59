//! What the macro refuses: the message, and that it stands at the user's own token.

/// `TRYBUILD=overwrite cargo test -p ripplet-macros` writes the expected messages anew.
#[test]
fn refused_programs_say_why_and_where() {
    trybuild::TestCases::new().compile_fail("tests/refused/*.rs");
}
