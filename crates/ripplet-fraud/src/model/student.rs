//! Tail of Student's t distribution.
//!
//! Reference: Abramowitz, Stegun, *Handbook of Mathematical Functions*, 1964, 26.7.3 and 26.7.4.

/// Returns P(T > t) for T with a whole number of degrees of freedom, at least 1, and t ≥ 0.
///
/// With θ = atan(t / √ν), A(t | ν) is the chance of −t < T < t:
/// - even ν: sin θ · (1 + 1/2 cos² θ + (1·3)/(2·4) cos⁴ θ + … up to cos^(ν−2) θ)
/// - odd ν: 2/π · (θ + sin θ · (cos θ + 2/3 cos³ θ + (2·4)/(3·5) cos⁵ θ + … up to cos^(ν−2) θ))
pub(super) fn upper_tail(t: f64, degrees: usize) -> f64 {
    let angle = (t / (degrees.max(1) as f64).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let is_odd = !degrees.is_multiple_of(2);
    let (mut term, mut sum) = (if is_odd { cosine } else { 1.0 }, 0.0);
    let first = if is_odd { 1 } else { 0 };
    for power in (first..degrees.saturating_sub(1)).step_by(2) {
        sum += term;
        term *= (power + 1) as f64 / (power + 2) as f64 * cosine * cosine;
    }
    let within = match is_odd {
        true => (angle + sine * sum) * std::f64::consts::FRAC_2_PI,
        false => sine * sum,
    };
    ((1.0 - within) / 2.0).clamp(0.0, 0.5)
}

#[cfg(test)]
mod tests {
    use super::upper_tail;

    /// Quantiles of Abramowitz and Stegun's table 26.10, with more digits.
    #[test]
    fn tails_are_those_of_tables() {
        for (degrees, t, tail) in [
            (1, 6.313_752, 0.05),
            (2, 4.302_653, 0.025),
            (2, 9.924_843, 0.005),
            (3, 3.182_446, 0.025),
            (4, 2.131_847, 0.05),
            (4, 4.604_095, 0.005),
            (4, 7.173_182, 0.001),
            (5, 4.032_143, 0.005),
            (10, 1.812_461, 0.05),
        ] {
            let found = upper_tail(t, degrees);
            assert!((found / tail - 1.0).abs() < 1e-5, "{degrees} {t}: {found} not {tail}");
        }
        assert_eq!(upper_tail(0.0, 4), 0.5);
        assert!(upper_tail(f64::INFINITY, 4) < 1e-15 && upper_tail(f64::INFINITY, 3) < 1e-15);
    }
}
