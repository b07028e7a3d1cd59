//! Surprise of a count: −ln of its Poisson tail probability, in nats.
//!
//! [`surprise`] of a count c with expectation λ is −ln P(X ≥ c) for a Poisson variable X. It is 0 if c is 0,
//! and about c · ln(c / (e λ)) far above the expectation. Counts need not be whole: the regularized lower
//! incomplete gamma function P(c, λ), which equals the tail at whole counts, interpolates between them.
//!
//! Memory: none. The bits depend on the platform's `exp` and `ln` alone.
//!
//! Reference: NIST Digital Library of Mathematical Functions, 8.7.1, 8.9.2 and 5.11.1.

/// Upper bound of the surprise: beyond it, probabilities are no normal `f64`.
pub const MOST_SURPRISE: f64 = 700.0;

/// Returns −ln P(X ≥ `count`) for a Poisson variable X with mean `expected`, from 0 to [`MOST_SURPRISE`].
///
/// Returns 0 if an argument is NaN or below 0, or the expectation is infinite.
pub fn surprise(count: f64, expected: f64) -> f64 {
    Counted::new(count).beside(expected)
}

/// Count with the precomputed terms of its surprise, for repeated use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Counted {
    count: f64,
    /// ln Γ(count + 1).
    ln_factorial: f64,
}

impl Counted {
    pub fn new(count: f64) -> Counted {
        let ln_factorial = if count > 0.0 { ln_gamma(count + 1.0) } else { 0.0 };
        Counted { count, ln_factorial }
    }

    /// Returns the [`surprise`] of the count.
    pub fn beside(self, expected: f64) -> f64 {
        self.nats(expected).min(MOST_SURPRISE)
    }

    /// Returns the surprise without the upper bound, for sums and differences.
    pub fn nats(self, expected: f64) -> f64 {
        let Counted { count, ln_factorial } = self;
        if !(count > 0.0 && expected < f64::INFINITY) {
            return 0.0;
        }
        if expected <= 0.0 {
            return f64::INFINITY;
        }
        let ln_begin = count * expected.ln() - expected;
        let nats = if expected < count + 1.0 {
            ln_factorial - ln_begin - series(count, expected).ln()
        } else {
            // P(X < count), from the rest of Γ(count); its complement is P.
            let below = (ln_begin - ln_factorial).exp() * count * fraction(count, expected);
            -(-below).ln_1p()
        };
        nats.max(0.0)
    }
}

/// Upper bound on the terms of a series or continued fraction; sufficient for counts below 10⁸.
const MOST_TERMS: usize = 100_000;

/// Returns Σ x^n / ((a + 1) … (a + n)).
fn series(a: f64, x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..MOST_TERMS {
        term *= x / (a + n as f64);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// Returns the continued fraction of Γ(a, x) · e^x / x^a, by Lentz's method.
fn fraction(a: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let mut b = x + 1.0 - a;
    let mut c = 1.0 / TINY;
    let mut d = 1.0 / if b.abs() < TINY { TINY } else { b };
    let mut value = d;
    for n in 1..MOST_TERMS {
        let n = n as f64;
        let step = n * (a - n);
        b += 2.0;
        let below = step * d + b;
        d = 1.0 / if below.abs() < TINY { TINY } else { below };
        c = b + step / c;
        c = if c.abs() < TINY { TINY } else { c };
        value *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    value
}

/// Returns ln Γ(x) for x above 0, by Stirling's series and the recurrence.
fn ln_gamma(x: f64) -> f64 {
    /// The terms below are exact to 10⁻¹⁵ from here on.
    const FAR: f64 = 10.0;
    let (mut x, mut product) = (x, 1.0);
    while x < FAR {
        product *= x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    let tail = 1.0 / 12.0
        - square
            * (1.0 / 360.0
                - square * (1.0 / 1260.0 - square * (1.0 / 1680.0 - square * (1.0 / 1188.0))));
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + tail / x - f64::ln(product)
}
