//! Errors of the floating-point functions, with `f64` as the true value.

use crate::random_program::Random;
use ripplet_hooks::math::{exp, exp2, ln, log2, powf};

/// Number of arguments of each kind.
const SAMPLES: u64 = 300_000;

/// Returns the error in units in the last place of the true value.
fn ulps(found: f32, truth: f64) -> f64 {
    let rounded = truth as f32;
    if rounded.is_nan() || rounded.is_infinite() || found == rounded {
        let same = found.to_bits() == rounded.to_bits() || (found.is_nan() && rounded.is_nan());
        return if same || found == rounded { 0.0 } else { f64::INFINITY };
    }
    let size = (rounded.abs().to_bits() >> 23).max(1) as i32 - 127 - 23;
    (f64::from(found) - truth).abs() / 2f64.powi(size)
}

/// Returns the largest error over many arguments.
fn worst(sample: impl Fn(&mut Random) -> (f32, f64, String)) -> (f64, String) {
    let mut random = Random(1);
    let mut worst = (0.0, String::new());
    for _ in 0..SAMPLES {
        let (found, truth, name) = sample(&mut random);
        let distance = ulps(found, truth);
        if distance > worst.0 {
            worst = (distance, name);
        }
    }
    worst
}

fn any(random: &mut Random) -> f32 {
    f32::from_bits(random.next() as u32)
}

/// Returns a number from -`limit` to `limit`.
fn within(random: &mut Random, limit: f32) -> f32 {
    (random.next() as i64 as f64 / 2f64.powi(63)) as f32 * limit
}

#[test]
fn errors_are_as_small_as_documented() {
    let one = |function: fn(f32) -> f32, truth: fn(f64) -> f64, limit: f32| {
        let near = worst(|random| {
            let x = within(random, limit);
            (function(x), truth(f64::from(x)), format!("{x:?}"))
        });
        let far = worst(|random| {
            let x = any(random);
            (function(x), truth(f64::from(x)), format!("{x:?}"))
        });
        if near.0 > far.0 { near } else { far }
    };
    let around_one = worst(|random| {
        let x = 1.0 + within(random, 0.01);
        (ln(x), f64::from(x).ln(), format!("ln {x:?}"))
    });
    let powers = worst(|random| {
        let (x, y) = (any(random).abs(), within(random, 40.0));
        (powf(x, y), f64::from(x).powf(f64::from(y)), format!("{x:?}, {y:?}"))
    });
    let near_powers = worst(|random| {
        let (x, y) = (1.0 + within(random, 0.5), any(random));
        (powf(x, y), f64::from(x).powf(f64::from(y)), format!("{x:?}, {y:?}"))
    });
    for (name, (found, at), allowed) in [
        ("exp2", one(exp2, f64::exp2, 150.0), 1.5),
        ("exp", one(exp, f64::exp, 104.0), 1.5),
        ("log2", one(log2, f64::log2, 4.0), 1.0),
        ("ln", one(ln, f64::ln, 4.0), 1.0),
        ("ln around 1", around_one, 1.0),
        ("powf", powers, 4.0),
        ("powf near 1", near_powers, 4.0),
    ] {
        println!("{name}: {found} units at {at}");
        assert!(found <= allowed, "{name}: {found} units at {at}");
    }
}

#[test]
fn exact_where_the_result_is() {
    for n in -149..128 {
        assert_eq!(exp2(n as f32), 2f64.powi(n) as f32, "2^{n}");
        assert_eq!(log2(2f64.powi(n) as f32), n as f32, "log2 2^{n}");
    }
    assert_eq!([exp(0.0), ln(1.0), powf(3.0, 2.0), powf(-2.0, 3.0)], [1.0, 0.0, 9.0, -8.0]);
}

#[test]
fn special_cases_are_those_of_std() {
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        -0.5,
        2.0,
        -2.0,
        3.0,
        -3.0,
        1e-45,
        1e30,
        -1e30,
        3e38,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        16_777_216.0,
        16_777_217.0,
        -7.0,
        2.5,
    ];
    let same = |a: f32, b: f32| a == b || (a.is_nan() && b.is_nan());
    for x in special {
        for y in special {
            let (found, std) = (powf(x, y), f64::from(x).powf(f64::from(y)) as f32);
            let close = same(found, std) || (found - std).abs() <= std.abs() * 1e-6;
            assert!(close, "powf({x:?}, {y:?}) = {found:?}, not {std:?}");
            let zero = found == 0.0 && std == 0.0;
            assert!(!zero || found.is_sign_negative() == std.is_sign_negative(), "{x:?}, {y:?}");
        }
    }
    for (function, truth) in [
        (exp as fn(f32) -> f32, f64::exp as fn(f64) -> f64),
        (exp2, f64::exp2),
        (ln, f64::ln),
        (log2, f64::log2),
    ] {
        for x in [0.0, -0.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -1e-45, 1e30, -1e30]
        {
            let (found, std) = (function(x), truth(f64::from(x)) as f32);
            let close = same(found, std) || (found - std).abs() <= std.abs() * 1e-6;
            assert!(close, "of {x:?}: {found:?}, not {std:?}");
        }
    }
}
