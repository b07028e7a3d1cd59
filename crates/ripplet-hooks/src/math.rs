//! Floating-point functions with identical results on every machine.
//!
//! The standard library's `exp`, `ln` and `powf` are those of the platform and differ in their last
//! bits. The functions here use only `+ - * /`, comparisons and bit operations, each of which is
//! exact or correctly rounded. They are written in the language of hooks: a hook that calls them is
//! translated together with this file.
//!
//! They are *not* correctly rounded. The stated errors are the largest found against `f64` over
//! some millions of arguments, in units of the last place of the result (`tests/suite/math.rs`).

/// High part of ln 2: its products with exponents are exact.
const LN_2_HIGH: f32 = 0.693_359_375;
/// Low part of ln 2: ln 2 - `LN_2_HIGH`.
const LN_2_LOW: f32 = -2.121_944_4e-4;
/// log2 e, rounded.
const LOG2_E: f32 = 1.442_695;
/// The rounding error of `LOG2_E`: log2 e - `LOG2_E`.
const LOG2_E_LOW: f32 = 1.925_963_e-8;
/// √2
const SQRT_2: f32 = 1.414_213_5;

/// Returns 2 to the power of `x`, within 1.5 units in the last place.
///
/// A subnormal result is rounded once more. A result above the largest float is infinite. The
/// result for NaN is NaN.
pub fn exp2(x: f32) -> f32 {
    exp2_sum(x, 0.0)
}

/// Returns e to the power of `x`, within 1.5 units in the last place.
///
/// A subnormal result is rounded once more. A result above the largest float is infinite. The
/// result for NaN is NaN.
pub fn exp(x: f32) -> f32 {
    if x > 89.0 {
        return f32::INFINITY;
    }
    if x < -104.0 {
        return 0.0;
    }
    if x.is_nan() {
        return x;
    }
    let whole = (x * LOG2_E + 0.5).floor();
    let rest = (x - whole * LN_2_HIGH) - whole * LN_2_LOW;
    scale(exp_small(rest), whole as i32)
}

/// Returns the logarithm to base 2, within 1 unit in the last place.
///
/// The result for 0 is minus infinity; for negative numbers and NaN it is NaN.
pub fn log2(x: f32) -> f32 {
    if !(x > 0.0 && x.is_finite()) {
        return log_outside(x);
    }
    let exponent = exponent_of(x) as f32;
    let high = ln_high(mantissa_of(x));
    let low = ln_low(mantissa_of(x), high);
    let product = high * LOG2_E;
    exponent
        + (product + (product_error(high, LOG2_E, product) + (high * LOG2_E_LOW + low * LOG2_E)))
}

/// Returns the natural logarithm, within 1 unit in the last place.
///
/// The result for 0 is minus infinity; for negative numbers and NaN it is NaN.
pub fn ln(x: f32) -> f32 {
    if !(x > 0.0 && x.is_finite()) {
        return log_outside(x);
    }
    let exponent = exponent_of(x) as f32;
    let high = ln_high(mantissa_of(x));
    let low = ln_low(mantissa_of(x), high);
    exponent * LN_2_HIGH + (high + (exponent * LN_2_LOW + low))
}

/// Returns `x` to the power of `y`, within 4 units in the last place.
///
/// The special cases are those of C and Rust:
///
/// - Anything to the power of 0 is 1, and 1 to any power is 1.
/// - A negative finite `x` with a finite `y` that is not whole gives NaN.
pub fn powf(x: f32, y: f32) -> f32 {
    if y == 0.0 || x == 1.0 {
        return 1.0;
    }
    if x.is_nan() || y.is_nan() {
        return x + y;
    }
    let whole = y.trunc() == y;
    // Every float from 2^24 on is even.
    let odd = whole && y.abs() < 16_777_216.0 && (y as i32) & 1 == 1;
    if x < 0.0 && x.is_finite() && y.is_finite() && !whole {
        return f32::NAN;
    }
    let size = power_of_size(x.abs(), y);
    let negative = x.to_bits() >> 31 == 1;
    if odd && negative { -size } else { size }
}

/// Returns `x` to the power of `y` for `x` ≥ 0.
fn power_of_size(x: f32, y: f32) -> f32 {
    let grows = (x > 1.0) == (y > 0.0);
    if x == 1.0 {
        return 1.0;
    }
    if x == 0.0 || !x.is_finite() || !y.is_finite() {
        return if grows { f32::INFINITY } else { 0.0 };
    }
    // log2 of x as high + low.
    let exponent = exponent_of(x) as f32;
    let ln_high = ln_high(mantissa_of(x));
    let ln_low = ln_low(mantissa_of(x), ln_high);
    let product = ln_high * LOG2_E;
    let product_low =
        product_error(ln_high, LOG2_E, product) + (ln_high * LOG2_E_LOW + ln_low * LOG2_E);
    let sum = exponent + product;
    let high = sum + product_low;
    let low = if exponent == 0.0 {
        (product - high) + product_low
    } else {
        // |exponent| ≥ 1 > |product|, so the rounding error of the sum is computed exactly.
        ((exponent - sum) + product) + ((sum - high) + product_low)
    };
    let power = high * y;
    if power > 200.0 {
        return f32::INFINITY;
    }
    if power < -200.0 {
        return 0.0;
    }
    exp2_sum(power, product_error(high, y, power) + low * y)
}

/// Returns 2 to the power of `x + low`, where `low` is below the last place of `x`.
fn exp2_sum(x: f32, low: f32) -> f32 {
    if x >= 129.0 {
        return f32::INFINITY;
    }
    if x < -152.0 {
        return 0.0;
    }
    if x.is_nan() {
        return x;
    }
    let whole = (x + 0.5).floor();
    let part = (x - whole) + low;
    // ln 2 in two parts, so that the last place of the product is right.
    let product = part * 0.693_147_2;
    let rest = product_error(part, 0.693_147_2, product) - part * 1.904_654_2e-9;
    scale(exp_small(product) * (1.0 + rest), whole as i32)
}

/// Returns e to the power of `x` for |x| ≤ 0.36, by its Taylor series.
fn exp_small(x: f32) -> f32 {
    let tail = 0.001_388_888_9 + x * 1.984_127e-4;
    let tail = 0.008_333_334 + x * tail;
    let tail = 0.041_666_668 + x * tail;
    let tail = 0.166_666_67 + x * tail;
    1.0 + (x + x * x * (0.5 + x * tail))
}

/// Returns `x` times 2 to the power of `exponent`, for an exponent from -160 to 130.
fn scale(x: f32, exponent: i32) -> f32 {
    // Two steps, of which only the second can round.
    let half = exponent / 2;
    x * power_of_two(half) * power_of_two(exponent - half)
}

fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) as u32) << 23)
}

/// Returns the logarithm of an argument that has none or whose logarithm is infinite.
fn log_outside(x: f32) -> f32 {
    if x == 0.0 {
        return f32::NEG_INFINITY;
    }
    if x > 0.0 { x } else { f32::NAN }
}

/// Exponent of the factor that makes subnormal numbers normal: 2 to the power of 24.
const LIFT: i32 = 24;

fn lifted(x: f32) -> f32 {
    if x < f32::MIN_POSITIVE { x * 16_777_216.0 } else { x }
}

/// Returns the exponent of a positive finite number whose mantissa is taken from √½ to √2.
fn exponent_of(x: f32) -> i32 {
    let lift = if x < f32::MIN_POSITIVE { LIFT } else { 0 };
    let exponent = (lifted(x).to_bits() >> 23) as i32 - 127 - lift;
    if bare_mantissa(x) > SQRT_2 { exponent + 1 } else { exponent }
}

/// Returns the mantissa of a positive finite number, from √½ to √2.
fn mantissa_of(x: f32) -> f32 {
    let mantissa = bare_mantissa(x);
    if mantissa > SQRT_2 { mantissa * 0.5 } else { mantissa }
}

/// Returns the mantissa of a positive finite number, from 1 to 2.
fn bare_mantissa(x: f32) -> f32 {
    f32::from_bits((lifted(x).to_bits() & 0x007f_ffff) | 0x3f80_0000)
}

/// Returns ln of a mantissa from √½ to √2, to the last place: 2 atanh(s) with s = (m - 1) / (m +
/// 1).
fn ln_high(m: f32) -> f32 {
    let s = (m - 1.0) / (m + 1.0);
    2.0 * s + s * atanh_tail(s)
}

/// Returns the rounding error of [`ln_high`]: ln m - `high`.
fn ln_low(m: f32, high: f32) -> f32 {
    let above = m - 1.0;
    let below = m + 1.0;
    // m + 1 lies from 1.7 to 2.5, so its last bit may be lost.
    let below_low = m - (below - 1.0);
    let s = above / below;
    let product = s * below;
    let left = ((above - product) - product_error(s, below, product)) - s * below_low;
    let s_low = left / below;
    ((2.0 * s - high) + s * atanh_tail(s)) + 2.0 * s_low
}

/// Returns 2 (atanh(s) / s - 1) for |s| ≤ 0.172.
fn atanh_tail(s: f32) -> f32 {
    let z = s * s;
    let tail = 0.222_222_22 + z * (0.181_818_18 + z * 0.153_846_15);
    z * (0.666_666_7 + z * (0.4 + z * (0.285_714_3 + z * tail)))
}

/// Returns `a * b - product` exactly, if `product` is `a * b` rounded and nothing is subnormal.
fn product_error(a: f32, b: f32, product: f32) -> f32 {
    let a_high = f32::from_bits(a.to_bits() & 0xffff_f000);
    let b_high = f32::from_bits(b.to_bits() & 0xffff_f000);
    let a_low = a - a_high;
    let b_low = b - b_high;
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}
