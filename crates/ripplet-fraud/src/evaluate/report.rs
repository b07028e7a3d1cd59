//! What an evaluation found: rows of draws, summaries over them, and both as tables.

use super::figure::{Figure, NOT_DEFINED, mean};
use super::{Evaluation, Method, rank_of};
use crate::baselines::Baseline;

/// What a method did in a draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The draw, from 0.
    pub draw: u32,
    /// The method.
    pub method: Method,
    /// Those held out who are there: H.
    pub held_out: u32,
    /// Those of the first k, for each of [`Evaluation::tops`].
    pub found: Vec<u32>,
    /// PR-AUC; NaN if none of those held out is there.
    pub average_precision: f64,
    /// Those who were ever in the first k of a window.
    pub detected: u32,
    /// Mean days until they were; NaN where nobody was.
    pub days: f64,
    /// Mean days until they were or time was up, of all; NaN where nobody dealt with anybody.
    pub waited: f64,
}

/// What a method did in all draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The method.
    pub method: Method,
    /// Recall, for each of [`Evaluation::tops`].
    pub recall: Vec<Figure>,
    /// Precision, likewise.
    pub precision: Vec<Figure>,
    /// PR-AUC.
    pub average_precision: Figure,
    /// The share of those held out who were detected.
    pub detected: Figure,
    /// Days until they were.
    pub days: Figure,
    /// Days until they were or time was up, of all.
    pub waited: Figure,
    /// Its recall at [`Evaluation::top`] as a multiple of that of the best baseline.
    pub ratio: Figure,
}

/// What an evaluation found.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How it was done.
    pub options: Evaluation,
    /// Accounts that were ranked, known ones among them: n.
    pub accounts: u32,
    /// Confirmed accounts that are there.
    pub confirmed: u32,
    /// Confirmed accounts that no window has.
    pub unseen: u32,
    /// Windows.
    pub windows: u32,
    /// k for each of [`Evaluation::tops`].
    pub ranks: Vec<u32>,
    /// The most recall that any ranking can have, for each of them.
    pub ceilings: Vec<f64>,
    /// The baseline of most recall at [`Evaluation::top`]; none where none was among the methods.
    pub best_baseline: Option<Baseline>,
    /// Each method in all draws.
    pub summaries: Vec<Summary>,
    /// Each method in each draw.
    pub rows: Vec<Row>,
}

/// Who was there.
pub(super) struct Counted {
    /// Accounts that were ranked.
    pub accounts: u32,
    /// Confirmed ones among them.
    pub confirmed: u32,
    /// Confirmed ones that no window has.
    pub unseen: u32,
    /// Windows.
    pub windows: u32,
}

impl Report {
    /// What the rows of the last window say together.
    pub(super) fn of(options: Evaluation, counted: Counted, rows: Vec<Row>) -> Report {
        let Counted { accounts, confirmed, unseen, windows } = counted;
        let ranks = options.tops.iter().map(|&top| rank_of(top, accounts as usize) as u32);
        let ranks: Vec<u32> = ranks.collect();
        let held_out = mean(&rows.iter().map(|row| f64::from(row.held_out)).collect::<Vec<_>>());
        let ceilings = ranks.iter().map(|&k| (f64::from(k) / held_out).min(1.0)).collect();
        let first = rank_of(options.top, accounts as usize) as u32;
        let compared = ranks.iter().position(|&k| k == first).unwrap_or(0);
        let of = |method: Method| rows.iter().filter(move |row| row.method == method);
        let recalls = |method: Method, at: usize| -> Vec<f64> {
            let of_draw = of(method).map(|row| share(row.found[at], row.held_out));
            of_draw.filter(|recall| !recall.is_nan()).collect()
        };
        let baselines = options.methods.iter().filter_map(|method| match method {
            Method::Baseline(baseline) => Some(*baseline),
            _ => None,
        });
        let best_baseline = baselines.max_by(|a, b| {
            let recall = |of: Baseline| mean(&recalls(Method::Baseline(of), compared));
            recall(*a).total_cmp(&recall(*b))
        });
        let summary = |&method: &Method| {
            let figure = |of_row: &dyn Fn(&Row) -> f64| {
                let values: Vec<f64> = of(method).map(of_row).filter(|v| !v.is_nan()).collect();
                Figure::of(&values, options.seed)
            };
            let recall = |at: usize| Figure::of(&recalls(method, at), options.seed);
            let precision = |at: usize| figure(&|row| share(row.found[at], ranks[at]));
            Summary {
                method,
                recall: (0..ranks.len()).map(recall).collect(),
                precision: (0..ranks.len()).map(precision).collect(),
                average_precision: figure(&|row| row.average_precision),
                detected: figure(&|row| share(row.detected, row.held_out)),
                days: figure(&|row| row.days),
                waited: figure(&|row| row.waited),
                ratio: best_baseline.map_or_else(Figure::none, |best| {
                    let best = recalls(Method::Baseline(best), compared);
                    Figure::of_ratio(&recalls(method, compared), &best, options.seed)
                }),
            }
        };
        let summaries = options.methods.iter().map(summary).collect();
        Report {
            accounts,
            confirmed,
            unseen,
            windows,
            ranks,
            ceilings,
            best_baseline,
            summaries,
            rows,
            options,
        }
    }

    /// The summaries as tables of Markdown: recall at each share, precision, and the rest.
    pub fn tables(&self) -> String {
        let percent = |top: &f64| format!("{} %", round(100.0 * top, 4));
        let mut text = String::new();
        for precision in [false, true] {
            let title = if precision { "precision" } else { "recall" };
            text += &format!("| {title} in the first |");
            self.options.tops.iter().for_each(|top| text += &format!(" {} |", percent(top)));
            text += "\n|---|";
            self.options.tops.iter().for_each(|_| text += "--:|");
            text += "\n";
            if !precision {
                text += "| *the most there can be* |";
                self.ceilings.iter().for_each(|most| text += &format!(" {most:.3} |"));
                text += "\n";
            }
            for summary in &self.summaries {
                let of = if precision { &summary.precision } else { &summary.recall };
                text += &format!("| {} |", summary.method.name());
                of.iter().for_each(|figure| text += &format!(" {} |", figure.text(3)));
                text += "\n";
            }
            text += "\n";
        }
        text += &format!(
            "| | PR-AUC | recall in the first {} as a multiple of the best baseline's | detected | days to detection | days waited |\n|---|--:|--:|--:|--:|--:|\n",
            percent(&self.options.top)
        );
        for summary in &self.summaries {
            let Summary { method, average_precision, ratio, detected, days, waited, .. } = summary;
            let (ratio, days, waited) = (ratio.text(2), days.text(1), waited.text(1));
            let (area, detected) = (average_precision.text(3), detected.text(3));
            let name = method.name();
            text += &format!("| {name} | {area} | {ratio} | {detected} | {days} | {waited} |\n");
        }
        text + &self.undefined()
    }

    /// Says which figures are not defined, and why; empty if all are.
    fn undefined(&self) -> String {
        let any = |figure: fn(&Summary) -> Figure| self.summaries.iter().map(figure).any(has_gap);
        let of = [
            (any(|of| of.ratio), "a multiple, if the best baseline finds none"),
            (any(|of| of.days), "days to detection, if none is detected"),
            (any(|of| of.waited), "days waited, if none has transactions"),
            (
                self.rows.iter().any(|row| row.held_out == 0),
                "a figure of a draw, if it holds out none",
            ),
        ];
        let of: Vec<&str> = of.into_iter().filter(|(is, _)| *is).map(|(_, what)| what).collect();
        match of.is_empty() {
            true => String::new(),
            false => format!("\n{NOT_DEFINED}: not defined ({})\n", of.join("; ")),
        }
    }

    /// Says what keeps the figures from a conclusion: too few accounts, or none that is known.
    pub fn cautions(&self) -> Vec<String> {
        /// The standard error of a share of 25 is 0.1 at most.
        const FEW: f64 = 25.0;
        let mut cautions = Vec::new();
        let listed = self.confirmed + self.unseen;
        let known = (self.options.known * f64::from(listed)).round();
        let held_out =
            mean(&self.rows.iter().map(|row| f64::from(row.held_out)).collect::<Vec<_>>());
        if held_out < FEW {
            let accounts = if listed == 1 { "account" } else { "accounts" };
            cautions.push(format!(
                "too few to conclude anything: of {listed} confirmed {accounts}, {} held out and in the windows, and one more \
                 that is found changes recall by {:.2}: compare methods with {FEW} held out at least",
                if held_out == 1.0 { "1 is".into() } else { format!("{} are", round(held_out, 1)) },
                (1.0 / held_out).min(1.0)
            ));
        }
        if known == 0.0 {
            cautions.push(
                "no account is known in any draw: what uses known accounts cannot be judged; --known sets their share"
                    .into(),
            );
        }
        cautions
    }
}

/// Whether a figure or one of its bounds is not defined though there are several draws.
fn has_gap(figure: Figure) -> bool {
    figure.mean.is_nan() || figure.low.is_nan() != figure.high.is_nan()
}

fn round(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (value * unit).round() / unit
}

/// NaN of none.
fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all)
}
