//! Evaluation over consecutive windows: each method ranks the accounts in each draw.

use super::figure::mean;
use super::method::Context;
use super::numbers::Numbers;
use super::report::{Counted, Report, Row};
use super::{EvaluateError, Evaluation, Method, rank_of};
use crate::days::DayAdjacency;
use crate::detect::{DetectError, Known};
use crate::entity_table::EntityTable;
use crate::evidence::{BlindEvidence, Evidence, Sources};
use crate::model::{Earlier, ModelFile};
use crate::seeds::{Conflict, ListEntry};
use crate::ties::{Ties, arcs};
use crate::{Entities, KindId, KnownBad, Timestamp, Trusted, Window};
use rayon::prelude::*;
use ripplet_graph::VertexId;
use ripplet_graph::splitmix::finalize;
use ripplet_lp::{Executor, RoundObserver, RunError};
use std::collections::BTreeMap;

/// Confirmed account.
struct Account {
    entries: Vec<ListEntry>,
    vertex: Option<VertexId>,
    /// End of the first window in which it has transactions, in days.
    begun: Option<f64>,
    /// Whether analysts cleared it by the end of the last window, after all of its entries. It then counts neither as bad
    /// nor as good.
    is_cleared: bool,
}

/// Examples of a draw that are active at the end of a window, ascending.
struct Labels {
    /// Known accounts.
    bad: Vec<VertexId>,
    /// Cleared entities.
    good: Vec<VertexId>,
}

/// One draw: the known accounts, and when each method detected which account.
struct Draw {
    key: u64,
    known: Vec<bool>,
    /// By method and account: end of the window that detected it, in days.
    found: Vec<Vec<Option<f64>>>,
    /// What scorecards learnt in the windows so far.
    earlier: Earlier,
}

/// Evaluation over consecutive windows.
pub struct Evaluator {
    options: Evaluation,
    kinds: Vec<KindId>,
    accounts: Vec<Account>,
    draws: Vec<Draw>,
    last: Vec<Row>,
    population: u32,
    windows: u32,
    /// End of the last window, in days.
    end: f64,
    table: Option<EntityTable>,
    model: Option<ModelFile>,
    /// Entries of entities that analysts cleared.
    cleared: Vec<ListEntry>,
}

impl Account {
    fn of(entries: Vec<ListEntry>) -> Account {
        Account { entries, vertex: None, begun: None, is_cleared: false }
    }

    /// Returns the latest beginning of its entries that are active at an instant; `None` if none is.
    fn since(&self, at: Timestamp) -> Option<Option<Timestamp>> {
        let active = self.entries.iter().filter(|entry| entry.is_active_at(at));
        active.map(|entry| entry.from).max()
    }
}

impl Evaluator {
    /// Draws the known accounts; an account that is listed several times counts once.
    ///
    /// # Errors
    /// If an option is invalid, or no account would be held out.
    pub fn new(options: Evaluation, confirmed: &KnownBad) -> Result<Evaluator, EvaluateError> {
        options.check()?;
        options.detection.check()?;
        let mut by_id: BTreeMap<(KindId, &str), Vec<ListEntry>> = BTreeMap::new();
        for entry in &confirmed.entries {
            by_id.entry((entry.kind, &entry.id)).or_default().push(entry.clone());
        }
        let mut kinds: Vec<KindId> = by_id.keys().map(|(kind, _)| *kind).collect();
        kinds.dedup();
        let entries = by_id.into_values();
        let accounts: Vec<Account> = entries.map(Account::of).collect();
        let confirmed = accounts.len();
        if confirmed == 0 {
            return Err(EvaluateError::NobodyConfirmed);
        }
        let known = (options.known * confirmed as f64).round() as usize;
        if known >= confirmed {
            return Err(EvaluateError::NobodyHeldOut { known, confirmed });
        }
        let draw = |index: u32| {
            let mut numbers =
                Numbers(finalize(options.seed).wrapping_add(finalize(u64::from(index))));
            let key = numbers.next();
            let mut order: Vec<usize> = (0..confirmed).collect();
            (1..confirmed).rev().for_each(|at| order.swap(at, numbers.below(at + 1)));
            let mut of = vec![false; confirmed];
            order[..known].iter().for_each(|&account| of[account] = true);
            let found = vec![vec![None; confirmed]; options.methods.len()];
            Draw { key, known: of, found, earlier: Earlier::default() }
        };
        let draws = (0..options.draws).map(draw).collect();
        let (last, population, windows, end) = (Vec::new(), 0, 0, 0.0);
        let (table, model, cleared) = (None, None, Vec::new());
        Ok(Evaluator {
            options,
            kinds,
            accounts,
            draws,
            last,
            population,
            windows,
            end,
            table,
            model,
            cleared,
        })
    }

    /// Lets [`Method::Score`] use the features of a table of entities.
    #[must_use]
    pub fn with_table(self, table: EntityTable) -> Evaluator {
        Evaluator { table: Some(table), ..self }
    }

    /// Lets [`Method::Score`] be by a model instead of scorecards that are learnt. If it was learnt from accounts that are
    /// held out here, the figures are too good.
    #[must_use]
    pub fn with_model(self, model: ModelFile) -> Evaluator {
        Evaluator { model: Some(model), ..self }
    }

    /// Adds entities that analysts cleared: examples of good ones for [`Method::Score`] while their entries are active.
    ///
    /// Of a known account that is also cleared, the later entry decides. That a held-out account is confirmed is not known to
    /// any method: it stays cleared. An account that was cleared after it was confirmed is neither ranked nor held out.
    #[must_use]
    pub fn with_cleared(self, cleared: Vec<ListEntry>) -> Evaluator {
        Evaluator { cleared, ..self }
    }

    /// Returns the table of entities.
    pub fn table(&self) -> Option<&EntityTable> {
        self.table.as_ref()
    }

    /// Ranks the accounts of the next window in all draws; `window_days` are those of the window, in order.
    ///
    /// # Errors
    /// If an account is confirmed and trusted, or confirmed and cleared from the same instant on, detection fails, the model has evidence that the evaluation does not have, memory allocation fails, or the
    /// observer cancels.
    pub fn window(
        &mut self,
        executor: &dyn Executor,
        window: &Window,
        window_days: &[&DayAdjacency],
        entities: &Entities,
        trusted: &Trusted,
        observer: &mut dyn RoundObserver,
    ) -> Result<(), EvaluateError> {
        let end = window.range.until;
        let days = end.0 as f64 / crate::Span::DAY.micros() as f64;
        let trusted = trusted.at_end_of(entities, window.range).vertices;
        let graph = &window.graph;
        for account in &mut self.accounts {
            let id = &account.entries[0];
            let seen = entities.find(id.kind, &id.id).filter(|&v| v < graph.vertices());
            account.vertex = seen;
            let transfers = seen.is_some_and(|v| arcs(graph, v).next().is_some());
            if account.begun.is_none() && transfers {
                account.begun = Some(days);
            }
        }
        let before = Timestamp(end.0.saturating_sub(1));
        let cleared = self.decide(entities, &trusted, graph.vertices(), before)?;
        let population =
            (0..graph.vertices()).filter(|&v| self.kinds.contains(&entities.kind_of(v)));
        let population: Vec<VertexId> = population.collect();
        self.population = population.len() as u32;
        self.windows += 1;
        self.end = days;
        observer.on_stage("judging ties");
        let ties =
            Ties::of(graph, self.options.detection.ties, &trusted).map_err(DetectError::from)?;
        let needs_evidence =
            |method: &Method| matches!(method, Method::Score | Method::Evidence(_));
        if let Some(table) = &mut self.table {
            table.refresh(entities);
        }
        let table = self.table.as_ref();
        let range = window.days;
        let sources = Sources { graph, ties: &ties, days: window_days, range, table };
        let seed = self.options.detection.seed;
        let blind_evidence = match self.options.methods.iter().any(needs_evidence) {
            true => Some(BlindEvidence::of(executor, sources, seed, observer)?),
            false => None,
        };
        let mut blind: Vec<Option<Vec<f64>>> = vec![None; self.options.methods.len()];
        let mut rows = Vec::new();
        for index in 0..self.draws.len() {
            let Labels { bad, good } = self.labels(index, before, &cleared);
            let known = Known { bad: &bad, trusted: &trusted };
            let evidence = blind_evidence.as_ref();
            let evidence = evidence.map(|of| Evidence::of(of, graph, &ties, entities, &bad));
            let evidence = evidence.transpose()?;
            let evidence = evidence.as_ref();
            let card = match (&self.model, evidence) {
                (Some(model), Some(evidence)) => Some(model.for_columns(evidence.columns())?),
                _ => None,
            };
            let earlier = std::mem::take(&mut self.draws[index].earlier).into();
            let context = Context {
                executor,
                window,
                ties: &ties,
                known,
                entities,
                cleared: &good,
                card: card.as_ref(),
                evidence,
                earlier,
            };
            for (method, of) in self.options.methods.clone().into_iter().enumerate() {
                if observer.is_cancelled() {
                    return Err(RunError::Cancelled.into());
                }
                let scores = match blind[method].take() {
                    Some(scores) => scores,
                    None => context.scores(of, &self.options.detection)?,
                };
                rows.push(self.rank(index, method, &population, &scores, days));
                if !of.looks_at_known() {
                    blind[method] = Some(scores);
                }
            }
            self.draws[index].earlier = context.earlier.into_inner();
        }
        self.last = rows;
        Ok(())
    }

    /// Decides which accounts are cleared at an instant, and returns the cleared entities of the window with the latest
    /// beginning of their active entries.
    fn decide(
        &mut self,
        entities: &Entities,
        trusted: &[VertexId],
        vertices: u32,
        at: Timestamp,
    ) -> Result<BTreeMap<VertexId, Option<Timestamp>>, Conflict> {
        let mut cleared = BTreeMap::new();
        for entry in self.cleared.iter().filter(|entry| entry.is_active_at(at)) {
            let found = entities.find(entry.kind, &entry.id).filter(|&v| v < vertices);
            if let Some(v) = found {
                let since = cleared.entry(v).or_insert(entry.from);
                *since = entry.from.max(*since);
            }
        }
        for account in &mut self.accounts {
            account.is_cleared = false;
            let Some(v) = account.vertex else { continue };
            let name = || (entities.kind_name_of(v).to_owned(), entities.id_of(v).to_owned());
            let bad = account.since(at);
            let good = cleared.get(&v).copied();
            if let (Some(since), true) = (bad, bad == good) {
                let (kind, id) = name();
                return Err(Conflict::Cleared { kind, id, since });
            }
            if bad > good && trusted.binary_search(&v).is_ok() {
                let (kind, id) = name();
                return Err(Conflict::Trusted { kind, id });
            }
            // Confirmed later on, it is bad.
            let latest = account.entries.iter().map(|entry| entry.from).max().flatten();
            account.is_cleared = good.is_some_and(|since| since >= latest);
        }
        Ok(cleared)
    }

    /// Returns the known accounts of a draw that are active at an instant and in the window, and the cleared entities, by
    /// what the draw knows.
    fn labels(
        &self,
        draw: usize,
        at: Timestamp,
        cleared: &BTreeMap<VertexId, Option<Timestamp>>,
    ) -> Labels {
        let (mut bad, mut good) = (Vec::new(), cleared.clone());
        let known = self.accounts.iter().zip(&self.draws[draw].known).filter(|(_, known)| **known);
        for (account, _) in known {
            let (Some(v), Some(since)) = (account.vertex, account.since(at)) else { continue };
            if good.get(&v).is_none_or(|&cleared| cleared < since) {
                bad.push(v);
                good.remove(&v);
            }
        }
        bad.sort_unstable();
        Labels { bad, good: good.into_keys().collect() }
    }

    /// Ranks the accounts that are neither known in a draw nor cleared after they were confirmed, and records detections.
    fn rank(
        &mut self,
        draw: usize,
        method: usize,
        population: &[VertexId],
        scores: &[f64],
        days: f64,
    ) -> Row {
        let Draw { key, known, found, .. } = &mut self.draws[draw];
        let of_known = self.accounts.iter().zip(&*known);
        let is_left_out = |account: &Account, known: bool| known || account.is_cleared;
        let left_out =
            of_known.filter_map(|(of, &known)| of.vertex.filter(|_| is_left_out(of, known)));
        let mut left_out: Vec<VertexId> = left_out.collect();
        left_out.sort_unstable();
        let held_out = self.accounts.iter().zip(&*known).enumerate();
        let held_out = held_out.filter(|(_, (account, known))| !is_left_out(account, **known));
        let held_out: BTreeMap<VertexId, usize> =
            held_out.filter_map(|(at, (account, _))| account.vertex.map(|v| (v, at))).collect();
        let ranked = population.iter().filter(|v| left_out.binary_search(v).is_err());
        let mut ranked: Vec<VertexId> = ranked.copied().collect();
        let lot = |v: VertexId| finalize(*key ^ u64::from(v));
        ranked.par_sort_unstable_by(|&a, &b| {
            scores[b as usize].total_cmp(&scores[a as usize]).then_with(|| lot(a).cmp(&lot(b)))
        });
        let tops: Vec<usize> =
            self.options.tops.iter().map(|&top| rank_of(top, population.len())).collect();
        let first = rank_of(self.options.top, population.len());
        let (mut hits, mut precisions) = (0_u32, 0.0);
        let mut at_tops = vec![0; tops.len()];
        for (rank, vertex) in ranked.iter().enumerate() {
            if let Some(&account) = held_out.get(vertex) {
                hits += 1;
                precisions += f64::from(hits) / (rank + 1) as f64;
                tops.iter().zip(&mut at_tops).for_each(|(&top, of)| *of += u32::from(rank < top));
                if rank < first && found[method][account].is_none() {
                    found[method][account] = Some(days);
                }
            }
        }
        let count = held_out.len() as u32;
        Row {
            draw: draw as u32,
            method: self.options.methods[method],
            held_out: count,
            found: at_tops,
            average_precision: precisions / f64::from(count),
            detected: 0,
            days: f64::NAN,
            waited: f64::NAN,
        }
    }

    /// Returns the results after the last window.
    ///
    /// # Errors
    /// If no window has a held-out account.
    pub fn finish(mut self) -> Result<Report, EvaluateError> {
        if self.last.iter().all(|row| row.held_out == 0) {
            return Err(EvaluateError::NoAccountSeen);
        }
        for row in &mut self.last {
            let method = self.options.methods.iter().position(|method| *method == row.method);
            let draw = &self.draws[row.draw as usize];
            let found = draw.found[method.unwrap_or(0)].iter().zip(&self.accounts);
            let held_out = found.zip(&draw.known);
            let held_out = held_out.filter(|((_, of), known)| !**known && !of.is_cleared);
            let begun = held_out.filter_map(|((at, account), _)| Some((*at, account.begun?)));
            let waits: Vec<(bool, f64)> = begun
                .map(|(at, begun)| (at.is_some(), (at.unwrap_or(self.end) - begun).max(0.0)))
                .collect();
            let of = |all: bool| -> Vec<f64> {
                let those = waits.iter().filter(|(detected, _)| all || *detected);
                those.map(|(_, days)| *days).collect()
            };
            row.detected = of(false).len() as u32;
            (row.days, row.waited) = (mean(&of(false)), mean(&of(true)));
        }
        let confirmed = self.accounts.iter().filter(|account| account.vertex.is_some()).count();
        let counted = Counted {
            accounts: self.population,
            confirmed: confirmed as u32,
            unseen: (self.accounts.len() - confirmed) as u32,
            windows: self.windows,
        };
        Ok(Report::of(self.options, counted, self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 86_400_000_000;

    /// The label of a held-out account has no effect on the examples of a draw.
    #[test]
    fn examples_are_decided_by_what_a_draw_knows() {
        let mut entities = Entities::new();
        let kind = entities.kind("account").unwrap();
        let entry = |id: &str, day: i64| {
            let from = Some(Timestamp(day * DAY));
            ListEntry { kind, id: id.into(), from, until: None }
        };
        for id in ["known", "held out", "cleared later", "good"] {
            entities.intern(kind, id).unwrap();
        }
        let confirmed = [entry("known", 32), entry("held out", 32), entry("cleared later", 1)];
        let confirmed = KnownBad { entries: confirmed.to_vec() };
        let cleared = [("known", 5), ("held out", 5), ("cleared later", 33), ("good", 5)];
        let cleared = cleared.map(|(id, day)| entry(id, day)).to_vec();
        let options = Evaluation { draws: 1, ..Evaluation::default() };
        let mut evaluator = Evaluator::new(options, &confirmed).unwrap().with_cleared(cleared);
        for account in &mut evaluator.accounts {
            account.vertex = entities.find(kind, &account.entries[0].id);
        }
        let ids = |vertices: &[VertexId]| -> Vec<String> {
            vertices.iter().map(|&v| entities.id_of(v).to_owned()).collect()
        };
        let mut at = |day: i64, known: &[&str]| {
            let of = |account: &Account| known.contains(&&*account.entries[0].id);
            evaluator.draws[0].known = evaluator.accounts.iter().map(of).collect();
            let at = Timestamp(day * DAY);
            let cleared = evaluator.decide(&entities, &[], 4, at).unwrap();
            let Labels { bad, good } = evaluator.labels(0, at, &cleared);
            let left_out = evaluator.accounts.iter().filter(|account| account.is_cleared);
            let left_out: Vec<VertexId> = left_out.filter_map(|account| account.vertex).collect();
            [ids(&bad), ids(&good), ids(&left_out)]
        };
        let all = ["known", "held out", "cleared later"];
        let none: [&str; 0] = [];
        // Before the accounts are confirmed, all that are cleared are good ones.
        let found = at(10, &all);
        assert_eq!(found[0], ["cleared later"]);
        assert_eq!(found[1], ["known", "held out", "good"]);
        assert_eq!(found[2], none, "they will be confirmed");
        let found = at(40, &all);
        assert_eq!(found[0], ["known", "held out"]);
        assert_eq!(found[1], ["cleared later", "good"]);
        assert_eq!(found[2], ["cleared later"]);
        let found = at(40, &["known"]);
        assert_eq!(found[0], ["known"]);
        assert_eq!(found[1], ["held out", "cleared later", "good"]);
        assert_eq!(found[2], ["cleared later"]);
    }
}
