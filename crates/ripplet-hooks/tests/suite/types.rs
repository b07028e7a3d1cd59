//! The programs that the checker refuses, with the exact messages.

use crate::programs::{read, refusal};

#[test]
fn refused_with_a_reason() {
    for (body, reason) in [
        ("v.id", "u64 is needed here, not u32"),
        ("c.frequency + v.degree()", "u64 and u32 do not go together"),
        ("if c.frequency { 1 } else { 2 }", "bool is needed here, not u64"),
        ("if v.id == 1 { 1 }", "() is needed here"),
        ("let x = 5; x.min(3) as u64", "the type of this number is not known"),
        ("c.frequency + 1.5", "do not go together"),
        ("(1.5 as u64) + 1.5_f64 as u64", "hooks have no f64"),
        ("-c.frequency", "u64 has no minus"),
        ("(self.decay % 2.0) as u64", "f32 has no such operator"),
        ("(self.decay & 2.0) as u64", "f32 has no such operator"),
        ("(true + false) as u64", "bool has no such operator"),
        ("!self.decay as u64", "f32 has no such operator"),
        ("4294967296_u32 as u64", "does not fit into u32"),
        ("3_000_000_000 as f32 as u64", "does not fit into i32"),
        ("-1 as u32 as u64", "u32 has no minus"),
        ("true as f32 as u64", "bool is not converted to f32"),
        ("(v.id as bool) as u64", "u32 is not converted to bool"),
        ("u64::from(-1)", "u64 is not converted from i32"),
        ("u32::from(c.frequency) as u64", "u32 is not converted from u64"),
        ("c.frequency / 0", "divisor could be 0"),
        ("(v.id as i64 / -1) as u64", "divisor could be 0 (or -1)"),
        ("c.frequency % c.total_votes", "a.checked_rem(b)"),
        ("c.frequency / c.total_votes.max(0)", "divisor could be 0"),
        ("let mut n = c.total_votes.max(1); n = 0; c.frequency / n", "divisor could be 0"),
        ("c.frequency << 64", "not an amount to shift by"),
        ("(v.id << 32) as u64", "not an amount to shift by"),
        ("c.frequency << -1", "not an amount to shift by"),
        ("c.frequency.checked_add(1)", "directly behind"),
        ("c.frequency.checked_pow(2).unwrap_or(3)", "nothing to unwrap"),
        ("match v.id { 1 => 2, 3 => 4 }", "all other values"),
        ("match v.id { 5..=3 => 2, _ => 4 }", "an empty range"),
        ("match v.id { -1 => 2, _ => 4 }", "not a value of type u32"),
        ("match v.id == 1 { true => 2 }", "all other values"),
        ("match v.id { n => 2 }", "this pattern"),
        ("match v.id { 1 if true => 2, _ => 3 }", "a condition on an arm"),
        ("match self.decay { 1.0 => 2, _ => 3 }", "float"),
        ("let w = v; 1", "a local cannot hold Vertex"),
        ("let x; x = 1; 1", "not a name and a value"),
        ("let (a, b) = (1, 2); 1", "a pattern"),
        ("let NO_LABEL = 1; 1", "is a constant"),
        ("v.set_age(3); 1", "Vertex is only read"),
        ("v.age", "write `age()`"),
        ("v.age(1) as u64", "this takes 0 arguments, not 1"),
        ("self.n = 3; 1", "cannot be assigned to"),
        ("c.round() as u64", "Candidate has no method `round`"),
        ("self.decay.sin() as u64", "hooks have no method `sin`"),
        ("self.decay.powi(2) as u64", "differs from machine to machine"),
        ("{ fn f() {} } 1", "an item inside a function"),
        ("break; 1", "no loop to leave"),
        ("c.frequency?", "`?`"),
        ("\"text\"", "no type that hooks know"),
        ("atanh_tail(1.0) as u64", "there is no function `atanh_tail`"),
        ("std::cmp::min(1, 2)", "a path"),
    ] {
        let found = refusal(body);
        assert!(found.contains(reason), "{body}\n{found}");
    }
}

#[test]
fn taken_as_rust_takes_it() {
    for body in [
        "c.frequency / 3 + c.total_votes % 7",
        "c.frequency / c.total_votes.max(1)",
        "let n = c.total_votes.max(1); c.frequency / n",
        "((v.id as i64 - 5) / (v.id as i64).max(3)) as u64",
        "c.frequency << 3 >> v.id",
        "let s = 3; c.frequency << s",
        "match v.id == 3 { true => 1, false => 2 }",
        "match v.id { NO_LABEL => 1, 0 | 2..=5 | 7..9 => 2, _ => 3 }",
        "if v.label == NO_LABEL { return 1; } 2",
        "let x: u64 = if v.id == 3 { return 4 } else { 5 }; x",
        "f32::from_bits(v.id).max(exp2(self.decay)) as u64",
        "u64::from(v.id) + u64::from(v.id == 3)",
        "c.frequency.checked_add(1).unwrap_or(u64::MAX)",
        "products_ge(c.frequency, 2, c.total_votes, 3) as u64",
        "let vote = Vote::new(v.id, 3); let vote = if v.id == 1 { Vote::NONE } else { vote }; vote.weight as u64",
        "if v.id == 1 { return 2; } else { return 3; }",
        "let _ = 3; { let x = v.random(1); (x >> 3) as u64 }",
        "1u64 + 1_u64 + 0x10 + 0b11 + 0o7 + 1_000",
    ] {
        assert!(read(body).is_ok(), "{body}\n{}", read(body).unwrap_err());
    }
}

#[test]
fn names_keep_their_meaning() {
    let read = |items: &str| {
        ripplet_hooks::read_program("mine.rs", &crate::programs::scoring("exp2(1.0) as u64", items))
    };
    for items in [
        "use crate::fast::exp2;",
        "use crate::{fast::{self, Vote}};",
        "use std::primitive::u64 as u32;",
        "use ripplet::lp::hooks::Vertex as Neighbor;",
        "static NO_LABEL: u32 = 3;",
        "mod math { pub fn exp2(x: f32) -> f32 { x } }",
        "type Label = u64;",
        "enum Activation { Never }",
    ] {
        let errors = read(items).unwrap_err().to_string();
        assert!(errors.contains("means something else"), "{items}\n{errors}");
    }
    for items in [
        "use ripplet::lp::hooks::*; use ripplet::lp::hooks::{Vote, exp2};",
        "use std::fmt::Debug; static OTHER: u32 = 3; mod tests { fn f() {} }",
        // The text's own function has precedence, as in Rust.
        "fn exp2(x: f32) -> f32 { x }",
    ] {
        assert!(read(items).is_ok(), "{items}");
    }
    let own = read("fn exp2(x: f32) -> f32 { x }").unwrap();
    assert_eq!(own.functions.len(), 2);
}
