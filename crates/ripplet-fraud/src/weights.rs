//! Edge weights: the number of transactions, their amounts, or an expression of both and of their age.
//!
//! The expression is one of the hook language (`docs/hooks.md`) of type `f32`, compiled when it is evaluated,
//! with `count` (transactions), `amount` (their sum) and `age` (in days) as `f32`s:
//!
//! ```text
//! ln(1.0 + amount) * powf(0.5, age / 7.0)
//! ```
//!
//! Without `age`, the expression is evaluated once for each edge, on the sums of the window. With `age`, it
//! is evaluated on each day's sums, and the values are added up. A day's age is that of its end at the end of
//! the window: 0 for the last day.
//!
//! Weights are stored as integers, `round(weight · resolution)`, and at least 1 if they are above 0
//! ([`WeightScale`]), so that sums are exact in any order. `count` and `amount` alone are the integers
//! themselves: amounts in their smallest unit, with the scale of their decimals. A weight that is negative, NaN, or too large for 32 bits is an
//! error that names the edge.

use crate::expression::ExpressionErrors;
use crate::mapping::WeightRule;
use ripplet_graph::WeightScale;
use ripplet_hooks::{check_balance, read_program};
use ripplet_jit::{Functions, JitError, Parameters};
use ripplet_lp::Scalar;
use thiserror::Error;

/// Compiled weight rule of a mapping.
#[derive(Debug)]
pub struct WeightFunction {
    rule: Rule,
    scale: WeightScale,
    text: String,
}

#[derive(Debug)]
enum Rule {
    Count,
    Amount,
    /// Evaluated on the sums in the window.
    OfSums(Functions),
    /// Evaluated on each day's sums and age.
    OfDays(Functions),
}

/// Error of a weight rule.
#[derive(Debug, Error)]
pub enum WeightError {
    /// The text is no expression, or closes the function around it.
    #[error("the weight is no expression of count, amount and age:\n{0}")]
    Expression(#[from] ExpressionErrors),
    /// The expression cannot be compiled on this machine.
    #[error("the weight `{text}` cannot be compiled: {source}")]
    Compile {
        /// Text that was given.
        text: String,
        /// Reason.
        source: JitError,
    },
    /// The weight is infinite for all transactions.
    #[error("the weight `{text}` is infinite for all transactions: expected numbers from 0 on")]
    Infinite {
        /// Text that was given.
        text: String,
    },
    /// The rule needs amounts that are not mapped.
    #[error(
        "the weight `{text}` needs amounts, and the mapping names no column `amount`: name one, or weigh by count"
    )]
    NoAmount {
        /// Text that was given.
        text: String,
    },
    /// The resolution is no power of 2 in range.
    #[error("weight.resolution {0} is no power of 2 up to 65536")]
    Resolution(u32),
    /// Counts and amounts need no resolution.
    #[error("weight.resolution is for expressions: `{text}` alone is whole already")]
    Whole {
        /// Text that was given.
        text: String,
    },
}

/// Error of a weight that cannot be stored.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum BadWeight {
    /// The weight is negative or NaN.
    #[error("is {0}, where a weight is 0 or above")]
    Value(f32),
    /// The weight is too large.
    #[error(
        "is {0}, which does not fit 32 bits: make the rule's numbers smaller, or its resolution coarser"
    )]
    TooLarge(f64),
}

/// Default number of units in a weight of 1.
const RESOLUTION: u32 = 256;

impl WeightFunction {
    /// Compiles the rule of a mapping; `decimals` are those of amounts, if they are mapped.
    ///
    /// # Errors
    /// If it is no expression, or needs amounts that are not mapped.
    pub fn new(rule: &WeightRule, decimals: Option<u32>) -> Result<WeightFunction, WeightError> {
        let text = rule.of.as_deref().unwrap_or("count").trim().to_owned();
        let whole = match &*text {
            "count" => Some(Rule::Count),
            "amount" => Some(Rule::Amount),
            _ => None,
        };
        if let Some(rule_found) = whole {
            if rule.resolution.is_some() {
                return Err(WeightError::Whole { text });
            }
            let scale = match (&rule_found, decimals) {
                (Rule::Amount, None) => return Err(WeightError::NoAmount { text }),
                (Rule::Amount, Some(decimals)) => decimal_scale(decimals),
                _ => WeightScale::ONE,
            };
            return Ok(WeightFunction { rule: rule_found, scale, text });
        }
        let resolution = rule.resolution.unwrap_or(RESOLUTION);
        let exponent = resolution.trailing_zeros() as i32;
        let scale = WeightScale::from_code(exponent);
        let scale = scale.filter(|_| resolution.is_power_of_two() && resolution <= 1 << 16);
        let scale = scale.ok_or(WeightError::Resolution(resolution))?;
        let functions = compiled(&text)?;
        let names = words(&text);
        if names.contains(&"amount") && decimals.is_none() {
            return Err(WeightError::NoAmount { text });
        }
        let rule = match names.contains(&"age") {
            true => Rule::OfDays(functions),
            false => Rule::OfSums(functions),
        };
        let weighing = WeightFunction { rule, scale, text };
        match weighing.is_infinite() {
            true => Err(WeightError::Infinite { text: weighing.text }),
            false => Ok(weighing),
        }
    }

    /// Whether the weight is infinite for any transactions: then the rule is wrong, not the amounts.
    fn is_infinite(&self) -> bool {
        let transactions = [(1, 1), (2, 7), (9, 1000)];
        transactions.into_iter().all(|(count, amount)| {
            let stored = self.stored(count, amount, 1.0, 1.0);
            matches!(stored, Err(BadWeight::TooLarge(weight)) if weight.is_infinite())
        })
    }

    /// Returns the text of the rule.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the scale of stored weights.
    pub fn scale(&self) -> WeightScale {
        self.scale
    }

    /// Whether stored weights are the counts themselves.
    pub fn is_count(&self) -> bool {
        matches!(self.rule, Rule::Count)
    }

    /// Whether weights depend on age.
    pub fn ages(&self) -> bool {
        matches!(self.rule, Rule::OfDays(_))
    }

    /// Returns the stored weight of `count` transactions with a sum of `amount` smallest units, `age` days
    /// old; `unit` is the value of a smallest unit.
    ///
    /// # Errors
    /// If the weight cannot be stored.
    pub fn stored(&self, count: u32, amount: u64, unit: f64, age: f32) -> Result<u32, BadWeight> {
        let functions = match &self.rule {
            Rule::Count => return Ok(count),
            Rule::Amount => {
                return u32::try_from(amount)
                    .map_err(|_| BadWeight::TooLarge(amount as f64 * unit));
            }
            Rule::OfSums(functions) | Rule::OfDays(functions) => functions,
        };
        let amount = (amount as f64 * unit) as f32;
        let arguments = [count as f32, amount, age].map(Scalar::F32);
        let weight = match functions.call(FUNCTION, &arguments) {
            Some(Scalar::F32(weight)) => weight,
            // `compiled` checked the function's name and type.
            _ => f32::NAN,
        };
        if weight.is_nan() || weight < 0.0 {
            return Err(BadWeight::Value(weight));
        }
        let weight = f64::from(weight);
        if self.scale.weight(u64::from(u32::MAX)) < weight {
            return Err(BadWeight::TooLarge(weight));
        }
        Ok(self.scale.quantize(weight))
    }
}

/// Returns the scale of whole numbers of 10^−`decimals`.
fn decimal_scale(decimals: u32) -> WeightScale {
    // A decimal scale has the code 4096 + decimals (`WeightScale::code`).
    let code = i32::try_from(decimals).ok().filter(|&decimals| decimals > 0);
    let scale = code.and_then(|decimals| WeightScale::from_code(4096 + decimals));
    scale.unwrap_or(WeightScale::ONE)
}

/// Name of the function around an expression.
const FUNCTION: &str = "weight";

/// Returns the names in a text.
fn words(text: &str) -> Vec<&str> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.split(|c| !is_part(c)).filter(|word| !word.is_empty()).collect()
}

/// Name of an expression in errors.
const PLACE: &str = "weight.of";

fn compiled(text: &str) -> Result<Functions, WeightError> {
    check_balance(PLACE, text).map_err(|found| ExpressionErrors::new(found, text, 1))?;
    // On its own line, so that errors have the expression's columns. What no hook calls is not compiled.
    let program = format!(
        "struct WeightFunction; impl Program for WeightFunction {{ type Score = u64; \
         fn label_score(&self, _v: Vertex, c: Candidate) -> u64 {{ \
         {FUNCTION}(c.frequency as f32, 0.0, 0.0) as u64 }} }} \
         fn {FUNCTION}(count: f32, amount: f32, age: f32) -> f32 {{\n{text}\n}}"
    );
    let module =
        read_program(PLACE, &program).map_err(|found| ExpressionErrors::new(found, text, 2))?;
    Functions::compile(&module, &Parameters::new())
        .map_err(|source| WeightError::Compile { text: text.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weighing(text: &str) -> Result<WeightFunction, WeightError> {
        WeightFunction::new(&WeightRule { of: Some(text.into()), resolution: None }, Some(2))
    }

    #[test]
    fn counts_and_amounts_are_whole() {
        let count = weighing("count").unwrap();
        assert_eq!(count.stored(7, 123, 0.01, 0.0), Ok(7));
        let amount = weighing("amount").unwrap();
        assert_eq!(amount.stored(7, 123, 0.01, 0.0), Ok(123));
        assert_eq!(amount.scale().weight(123), 1.23, "in the unit of the column");
        let whole = WeightRule { of: Some("amount".into()), resolution: None };
        let whole = WeightFunction::new(&whole, Some(0)).unwrap();
        assert_eq!(whole.scale().weight(123), 123.0);
        assert_eq!(amount.stored(7, 1 << 32, 0.01, 0.0), Err(BadWeight::TooLarge(42_949_672.96)));
    }

    #[test]
    fn expressions_are_those_of_hooks() {
        let faded = weighing("ln(1.0 + amount) * powf(0.5, age / 7.0)").unwrap();
        assert!(faded.ages());
        let fresh = faded.stored(1, 100 * 100, 0.01, 0.0).unwrap();
        assert_eq!(fresh, (101f64.ln() * 256.0).round() as u32);
        assert_eq!(faded.stored(1, 100 * 100, 0.01, 7.0), Ok((101f64.ln() * 128.0).round() as u32));
        assert!(!weighing("count.min(3.0)").unwrap().ages());
        assert_eq!(weighing("0.0001").unwrap().stored(1, 1, 1.0, 0.0), Ok(1), "never none");
    }

    #[test]
    fn what_is_no_weight_is_refused() {
        for (text, place, excerpt) in [
            ("amount +", ":1:9: ", "  amount +\n          ^"),
            ("1.0 + price * 2.0", ":1:7: ", "  1.0 + price * 2.0\n        ^^^^^"),
            ("count *\n  (amount + age2)", ":2:13: ", "    (amount + age2)\n              ^^^^"),
            ("powf(count)", ":1:", "  powf(count)\n  "),
            ("", ":1:1: ", "  \n  ^"),
            ("0.0 } fn a(", ":1:5: ", "  0.0 } fn a(\n      ^"),
            ("0.0 } fn other(count: f32) -> f32 { count", ":1:5: ", "      ^"),
            ("0.0 } impl WeightFunction { fn other(&self) -> f32 { 1.0 }", ":1:5: ", "      ^"),
            ("amount /*", ":1:8: ", "  amount /*\n         ^"),
            ("(amount", ":1:1: ", "  (amount\n  ^"),
            ("amount } // {", ":1:8: ", "         ^"),
            (&format!("{}price", "1.0 + ".repeat(99)), ":1:595: ", "^^^^^"),
        ] {
            let found = weighing(text).unwrap_err();
            assert!(matches!(found, WeightError::Expression(_)), "{text}: {found}");
            let said = found.to_string();
            assert!(
                said.contains(&format!("weight.of{place}")) && said.contains(excerpt),
                "{said}"
            );
            assert!(said.lines().all(|line| line.chars().count() < 150), "{said}");
        }
        for (text, help) in [
            ("pow(count, 2.0)", "help: a weight has the names `count`, `amount` and `age`"),
            ("amout", "help: a weight has the names `count`, `amount` and `age`"),
            ("count * age / 90", "help: numbers of a weight have a point"),
        ] {
            let said = weighing(text).unwrap_err().to_string();
            assert!(said.contains(help), "{said}");
        }
        assert!(weighing("{ let half = amount / 2.0; half } // of it").is_ok());
        let negative = weighing("0.0 - amount").unwrap();
        assert_eq!(negative.stored(1, 5, 1.0, 0.0), Err(BadWeight::Value(-5.0)));
        let nan = weighing("(0.0 - amount).sqrt()").unwrap();
        assert!(matches!(nan.stored(1, 5, 1.0, 0.0), Err(BadWeight::Value(_))));
        let large = weighing("amount * 1000000.0").unwrap();
        assert!(matches!(large.stored(1, 1 << 20, 1.0, 0.0), Err(BadWeight::TooLarge(_))));
        let infinite = weighing("1.0 / 0.0").unwrap_err().to_string();
        assert!(infinite.contains("the weight `1.0 / 0.0` is infinite"), "{infinite}");
        assert!(weighing("1.0 / (amount - 1.0)").is_ok());
        let rule = WeightRule { of: Some("amount".into()), resolution: None };
        assert!(matches!(WeightFunction::new(&rule, None), Err(WeightError::NoAmount { .. })));
        let rule = WeightRule { of: Some("count * 2.0".into()), resolution: Some(100) };
        assert!(matches!(WeightFunction::new(&rule, None), Err(WeightError::Resolution(100))));
    }
}
