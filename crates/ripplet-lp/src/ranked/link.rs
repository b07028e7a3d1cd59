//! The exchanges of a phase over a communicator, in either way: labels of all vertices on each rank, or ghosts.

use super::label_totals::{LabelTotals, Move};
use super::locked;
use super::messages::{Messages, joined, split};
use super::rank_sets::{RankSets, ranks_of};
use crate::ranks::{CpuRank, Exchange, Rank, Update};
use crate::{NO_LABEL, RunError};
use ripplet_graph::Observer;
use ripplet_ranks::Comm;
use std::mem::take;
use std::sync::Mutex;

/// The state of a rank, and the observer that may cancel.
pub(super) struct Watched<'w, 'a> {
    pub rank: &'w mut (dyn CpuRank + 'a),
    pub observer: &'w dyn Observer,
}

impl Rank for Watched<'_, '_> {
    fn choose(&mut self) -> Result<(), RunError> {
        self.rank.choose(self.observer)
    }

    fn activate_neighbors(&mut self) -> Result<(), RunError> {
        self.rank.activate_neighbors();
        Ok(())
    }
}

/// The exchanges of label propagation over a communicator.
pub(super) struct Link<'c> {
    pub comm: &'c Mutex<Comm>,
    pub messages: Messages,
    /// What a rank knows of the others if it has ghosts; `None` if each has the labels of all vertices.
    pub ghosts: Option<Ghosts>,
}

/// What a rank with ghosts knows of the others.
pub(super) struct Ghosts {
    /// The ranks that have a neighbour of each own vertex, and so its label.
    pub subscribers: RankSets,
    /// The totals of own labels, if the program has totals.
    pub totals: Option<LabelTotals>,
    /// The totals that each rank needs before the next phase.
    pub to_send: Vec<Vec<u64>>,
}

impl Link<'_> {
    /// Exchanges the totals of the labels that the vertices begin with.
    pub fn begin(&mut self, rank: &mut dyn CpuRank) -> Result<(), RunError> {
        let (messages, comm) = (&self.messages, self.comm);
        let Some(Ghosts { subscribers, totals: Some(totals), .. }) = &mut self.ghosts else {
            return Ok(());
        };
        let labels = rank.state().labels;
        let joins = |v: u32| Move { vertex: v, before: NO_LABEL, label: labels[v as usize] };
        let own = messages.parts.of(messages.rank);
        let mut to = totals.updates_of(own.map(joins), subscribers, messages);
        drop(labels);
        let to_itself = take(&mut to[messages.rank]);
        let received = locked(comm).all_to_all("total updates", &to)?;
        drop(to);
        let to_itself = [(messages.rank, &*to_itself)];
        let updates: Vec<_> = received.iter().enumerate().chain(to_itself).collect();
        let mut to = totals.apply(&updates, messages)?;
        drop(received);
        let to_itself = take(&mut to[messages.rank]);
        let received = locked(comm).all_to_all("totals", &to)?;
        for (peer, words) in received.iter().enumerate().chain([(messages.rank, &*to_itself)]) {
            rank.set_totals(&messages.totals(peer, words)?);
        }
        Ok(())
    }

    /// Gives some ranks, or all, the labels and columns of all vertices, unless they have them.
    pub fn gather(
        &self,
        rank: &mut dyn CpuRank,
        receivers: Option<&[usize]>,
    ) -> Result<(), RunError> {
        if self.ghosts.is_none() {
            return Ok(());
        }
        let own = rank.own_vertices()?;
        let received = match receivers {
            None => locked(self.comm).all_gather("vertices", &own)?,
            Some(receivers) => {
                let mut to: Vec<&[u32]> = vec![&[]; self.messages.parts.ranks()];
                receivers.iter().for_each(|&receiver| to[receiver] = &own);
                locked(self.comm).all_to_all("vertices", &to)?
            }
        };
        drop(own);
        let receives = receivers.is_none_or(|some| some.contains(&self.messages.rank));
        for (peer, words) in self.of_others(received.iter()) {
            let expected = if receives { self.messages.parts.of(peer) } else { 0..0 };
            self.messages.check_vertices(peer, words, expected.len())?;
            rank.replace_vertices(expected.start, words);
        }
        Ok(())
    }

    /// Yields the messages of the other ranks.
    fn of_others<'m, T: 'm>(
        &self,
        received: impl Iterator<Item = &'m [T]>,
    ) -> impl Iterator<Item = (usize, &'m [T])> {
        let own = self.messages.rank;
        received.enumerate().filter(move |&(peer, _)| peer != own)
    }

    /// Sends all updates to all ranks.
    fn send_to_all(&self, rank: &mut dyn CpuRank) -> Result<(), RunError> {
        let mut words = Vec::new();
        rank.updates().iter().for_each(|update| self.messages.put_update(update, &mut words));
        let received = locked(self.comm).all_gather("label updates", &words)?;
        for (peer, words) in self.of_others(received.iter()) {
            rank.apply_updates(self.messages.updates(peer, words)?);
        }
        Ok(())
    }
}

impl Exchange<Watched<'_, '_>> for Link<'_> {
    fn exchange_updates(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let rank = &mut *watched.rank;
        let Link { comm, messages, ghosts: Some(ghosts) } = self else {
            return self.send_to_all(rank);
        };
        let (updates, len) = (rank.updates(), messages.update_len());
        let (mut to, mut to_itself) = (messages.to_each(), Vec::new());
        for update in &updates {
            let subscribers = ranks_of(ghosts.subscribers.of(update.vertex));
            subscribers.for_each(|peer| messages.put_update(update, &mut to[peer]));
        }
        if let Some(totals) = &ghosts.totals {
            let moves = updates.iter().zip(rank.labels_before()).map(|(update, before)| {
                let &Update { vertex, label, .. } = update;
                Move { vertex, before, label }
            });
            let mut of_totals = totals.updates_of(moves, &ghosts.subscribers, messages);
            to_itself = take(&mut of_totals[messages.rank]);
            for (words, of_totals) in to.iter_mut().zip(&of_totals) {
                *words = joined(words, len, of_totals);
            }
        }
        drop(updates);
        let received = locked(comm).all_to_all("label updates", &to)?;
        let mut of_totals = Vec::new();
        for (peer, words) in received.iter().enumerate() {
            let (updates, rest) = match ghosts.totals {
                Some(_) => split(peer, words, len)?,
                None => (words, &[][..]),
            };
            rank.apply_updates(messages.updates(peer, updates)?);
            of_totals.push((peer, rest));
        }
        if let Some(totals) = &mut ghosts.totals {
            of_totals.push((messages.rank, &to_itself));
            ghosts.to_send = totals.apply(&of_totals, messages)?;
            let to_itself = take(&mut ghosts.to_send[messages.rank]);
            rank.set_totals(&messages.totals(messages.rank, &to_itself)?);
        }
        Ok(())
    }

    fn exchange_frontier(&mut self, watched: &mut Watched<'_, '_>) -> Result<(), RunError> {
        let rank = &mut *watched.rank;
        let mut to = self.messages.frontier_to_each(rank.take_frontier());
        let has_totals = self.ghosts.as_ref().is_some_and(|ghosts| ghosts.totals.is_some());
        if let Some(ghosts) = self.ghosts.as_mut().filter(|_| has_totals) {
            for (words, totals) in to.iter_mut().zip(&ghosts.to_send) {
                *words = joined(words, 2, totals);
            }
            ghosts.to_send.clear();
        }
        let received = locked(self.comm).all_to_all("frontier", &to)?;
        for (peer, words) in received.iter().enumerate() {
            let (words, totals) = match has_totals {
                true => split(peer, words, 2)?,
                false => (words, &[][..]),
            };
            rank.apply_frontier(self.messages.frontier(peer, words)?);
            rank.set_totals(&self.messages.totals(peer, totals)?);
        }
        Ok(())
    }
}
