//! Results of an evaluation: rows of draws, summaries over them, and both as tables.

use super::figure::{Figure, NOT_DEFINED, mean};
use super::{Evaluation, Method, rank_of};
use crate::baselines::Baseline;

/// Results of a method in one draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Number of the draw, from 0.
    pub draw: u32,
    /// The method.
    pub method: Method,
    /// Number of held-out accounts in the window: H.
    pub held_out: u32,
    /// Held-out accounts among the first k, for each of [`Evaluation::tops`].
    pub found: Vec<u32>,
    /// PR-AUC; NaN if the window has no held-out account.
    pub average_precision: f64,
    /// Number of accounts detected in any window.
    pub detected: u32,
    /// Mean days to detection; NaN if no account was detected.
    pub days: f64,
    /// Restricted mean of the days to detection; NaN if no account has transactions.
    pub waited: f64,
}

/// Results of a method over all draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The method.
    pub method: Method,
    /// Recall, for each of [`Evaluation::tops`].
    pub recall: Vec<Figure>,
    /// Precision, for each of [`Evaluation::tops`].
    pub precision: Vec<Figure>,
    /// PR-AUC.
    pub average_precision: Figure,
    /// Share of held-out accounts that were detected.
    pub detected: Figure,
    /// Days to detection.
    pub days: Figure,
    /// Restricted mean of the days to detection.
    pub waited: Figure,
    /// Recall at [`Evaluation::top`] as a multiple of the best baseline's.
    pub ratio: Figure,
}

/// Results of an evaluation.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Options of the evaluation.
    pub options: Evaluation,
    /// Number of ranked accounts, including known ones: n.
    pub accounts: u32,
    /// Number of confirmed accounts in any window.
    pub confirmed: u32,
    /// Number of confirmed accounts in no window.
    pub unseen: u32,
    /// Number of windows.
    pub windows: u32,
    /// k for each of [`Evaluation::tops`].
    pub ranks: Vec<u32>,
    /// Upper bound of the recall of any ranking, for each of [`Evaluation::tops`].
    pub ceilings: Vec<f64>,
    /// Baseline with the highest recall at [`Evaluation::top`]; `None` if no baseline is compared.
    pub best_baseline: Option<Baseline>,
    /// Results of each method over all draws.
    pub summaries: Vec<Summary>,
    /// Results of each method in each draw.
    pub rows: Vec<Row>,
}

/// Counters of accounts and windows.
pub(super) struct Counted {
    /// Ranked accounts.
    pub accounts: u32,
    /// Confirmed accounts among them.
    pub confirmed: u32,
    /// Confirmed accounts in no window.
    pub unseen: u32,
    /// Windows.
    pub windows: u32,
}

impl Report {
    /// Summarizes the rows of the last window.
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

    /// Formats the summaries as Markdown tables: recall at each share, precision, and the other measures.
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

    /// Returns a note on figures that are not defined; empty if all are.
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

    /// Returns notes that limit the conclusions: too few accounts, or no known one.
    pub fn cautions(&self) -> Vec<String> {
        /// The standard error of a share of 25 is at most 0.1.
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

/// Whether a figure or one of its bounds is undefined although there are several draws.
fn has_gap(figure: Figure) -> bool {
    figure.mean.is_nan() || figure.low.is_nan() != figure.high.is_nan()
}

fn round(value: f64, digits: i32) -> f64 {
    let unit = 10_f64.powi(digits);
    (value * unit).round() / unit
}

/// Returns a ratio; NaN if `all` is 0.
fn share(part: u32, all: u32) -> f64 {
    f64::from(part) / f64::from(all)
}
