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
use crate::seeds::ListEntry;
use crate::ties::{Ties, arcs};
use crate::{Entities, KindId, KnownBad, Trusted, Window};
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
    /// Entities that are cleared at the end of the next window, ascending.
    cleared: Vec<VertexId>,
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
        let accounts: Vec<Account> =
            entries.map(|entries| Account { entries, vertex: None, begun: None }).collect();
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

    /// Sets the entities that analysts cleared by the end of the next window, ascending: examples of good ones for
    /// [`Method::Score`], in this window alone. A confirmed account among them is not known there.
    pub fn set_cleared(&mut self, cleared: Vec<VertexId>) {
        self.cleared = cleared;
    }

    /// Returns the table of entities.
    pub fn table(&self) -> Option<&EntityTable> {
        self.table.as_ref()
    }

    /// Ranks the accounts of the next window in all draws; `window_days` are those of the window, in order.
    ///
    /// # Errors
    /// If detection fails, the model has evidence that the evaluation does not have, memory allocation fails, or the
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
        let sources = Sources { graph, ties: &ties, days: window_days, table };
        let seed = self.options.detection.seed;
        let blind_evidence = match self.options.methods.iter().any(needs_evidence) {
            true => Some(BlindEvidence::of(executor, sources, seed, observer)?),
            false => None,
        };
        let cleared = std::mem::take(&mut self.cleared);
        let before = crate::Timestamp(end.0.saturating_sub(1));
        let mut blind: Vec<Option<Vec<f64>>> = vec![None; self.options.methods.len()];
        let mut rows = Vec::new();
        for index in 0..self.draws.len() {
            let mut bad = self.known_at(index, before);
            bad.retain(|v| trusted.binary_search(v).is_err());
            bad.retain(|v| cleared.binary_search(v).is_err());
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
                cleared: &cleared,
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

    /// Returns a draw's known accounts that are active at an instant and in the window.
    fn known_at(&self, draw: usize, at: crate::Timestamp) -> Vec<VertexId> {
        let known = self.accounts.iter().zip(&self.draws[draw].known).filter(|(_, known)| **known);
        let holding =
            known.filter(|(account, _)| account.entries.iter().any(|e| e.is_active_at(at)));
        let mut vertices: Vec<VertexId> =
            holding.filter_map(|(account, _)| account.vertex).collect();
        vertices.sort_unstable();
        vertices
    }

    /// Ranks the accounts that are not known in a draw, and records detections.
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
        let mut left_out: Vec<VertexId> =
            of_known.filter_map(|(account, known)| account.vertex.filter(|_| *known)).collect();
        left_out.sort_unstable();
        let held_out = self.accounts.iter().zip(&*known).enumerate();
        let held_out = held_out.filter(|(_, (_, known))| !**known);
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
            let held_out = found.zip(&draw.known).filter(|(_, known)| !**known);
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
