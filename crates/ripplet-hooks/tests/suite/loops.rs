//! Which loops are accepted, and which are refused.

use crate::programs::{read, refusal};

#[test]
fn loops_that_count_are_taken() {
    for body in [
        "let mut i = 0; while i < self.n { i += 1; } 1",
        "let mut i = 0_u64; while c.frequency > i && v.age() == 3 { i += 1; } 1",
        "let mut i = 10_i32; while i > -10 { if i == 3 { break; } i -= 1; } 1",
        "let mut i = 0_u32; while i <= 100 { i += 5; } 1",
        "let mut i = 100_i64; while i >= 7 { i -= 7; continue; } 1",
        "let mut x = c.frequency; while x != 0 { x >>= 3; } 1",
        "let mut x = self.n; while 1 < x { x /= 2; } 1",
        "let mut x = self.n; let end = self.n / 3; while x > end { x -= 1; } 1",
        "let mut i = 0; while i < v.degree().min(9) { i += 1; for j in 0..i { if j == 2 { continue; } } } 1",
        "for i in 0..self.n { if i == 3 { break; } } 1",
        "for i in -3_i32..=3 { let _ = i; } 1",
    ] {
        assert!(read(body).is_ok(), "{body}\n{}", read(body).unwrap_err());
    }
}

#[test]
fn loops_that_may_not_end_are_refused() {
    for body in [
        "while true { } 1",
        "let mut i = 0; while i < self.n { } 1",
        // The step wraps past the end.
        "let mut i = 0; while i < self.n { i += 2; } 1",
        "let mut i = 0_u32; while i <= self.n { i += 1; } 1",
        "let mut i = 0_u32; while i <= 4294967295 { i += 1; } 1",
        "let mut i = self.n; while i >= 0 { i -= 1; } 1",
        // The step leads away from the end, or is 0.
        "let mut i = 0; while i < self.n { i -= 1; } 1",
        "let mut i = 0; while i < self.n { i += 0; } 1",
        "let mut i = 0; while i != self.n { i += 1; } 1",
        "let mut x = self.n; while x > 1 { x /= 1; } 1",
        "let mut x = self.n; while x > 1 { x >>= 0; } 1",
        "let mut x = -1_i32; while x != 0 { x >>= 1; } 1",
        "let mut x = -3_i32; while x < 0 { x /= 2; } 1",
        "let mut x = self.n; while x >= 0 { x /= 2; } 1",
        // The step is not in every iteration, or something else sets the counter or the end.
        "let mut i = 0; while i < self.n { if v.id == 3 { i += 1; } } 1",
        "let mut i = 0; while i < self.n { if v.id == 3 { continue; } i += 1; } 1",
        "let mut i = 0; while i < self.n { i += 1; i = 0; } 1",
        "let mut i = 0; while i < self.n { i += 1; if v.id == 3 { i = 0; } } 1",
        "let mut i = 0; while { i = 0; i } < self.n { i += 1; } 1",
        "let mut i = 0; let mut end = 5; while i < end { i += 1; end += 1; } 1",
        "let mut i = 0; while i < self.n || v.id == 3 { i += 1; } 1",
        "let mut i = 0.0; while i < self.decay { i += 1.0; } 1",
    ] {
        assert!(refusal(body).contains("may never end"), "{body}\n{}", refusal(body));
    }
    assert!(refusal("for i in 0..c.frequency { } 1").contains("longer than anyone waits"));
    assert!(refusal("for i in 0.. { } 1").contains("no end"));
    assert!(refusal("let mut i = 0; while i < 3 { i += 1; break 'a; } 1").contains("label"));
}
