//! Oracle: the definitions, evaluated literally over sets and matrices; slow, and independent of
//! the implementation.

use super::graphs::Edges;
use ripplet_analytics::lcc::Definition;
use std::collections::BTreeSet;

/// A directed graph without loops, by its arcs u → w.
pub struct Oracle {
    out: Vec<BTreeSet<usize>>,
}

impl Oracle {
    pub fn new(edges: &Edges) -> Oracle {
        let mut out = vec![BTreeSet::new(); edges.vertices as usize];
        for &(s, t) in edges.pairs.iter().filter(|(s, t)| s != t) {
            out[s as usize].insert(t as usize);
            if !edges.directed {
                out[t as usize].insert(s as usize);
            }
        }
        Oracle { out }
    }

    fn vertices(&self) -> usize {
        self.out.len()
    }

    fn neighbors(&self, v: usize) -> BTreeSet<usize> {
        let enters = |&u: &usize| self.out[u].contains(&v);
        self.out[v].iter().copied().chain((0..self.vertices()).filter(enters)).collect()
    }

    pub fn coefficients(&self, definition: Definition) -> Vec<f64> {
        match definition {
            Definition::Ldbc => (0..self.vertices()).map(|v| self.ldbc(v)).collect(),
            Definition::Fagiolo => self.fagiolo(),
        }
    }

    /// Returns Σ |N(v) ∩ N_out(u)| over the u in N(v), as in the specification.
    fn ldbc(&self, v: usize) -> f64 {
        let neighbors = self.neighbors(v);
        let d = neighbors.len();
        if d <= 1 {
            return 0.0;
        }
        let arcs: usize =
            neighbors.iter().map(|&u| neighbors.intersection(&self.out[u]).count()).sum();
        arcs as f64 / (d * (d - 1)) as f64
    }

    /// Returns the diagonal of (A + Aᵀ)³ over 2 (t (t − 1) − 2 r).
    fn fagiolo(&self) -> Vec<f64> {
        let n = self.vertices();
        let arc = |u: usize, w: usize| u64::from(self.out[u].contains(&w));
        let s: Vec<Vec<u64>> =
            (0..n).map(|u| (0..n).map(|w| arc(u, w) + arc(w, u)).collect()).collect();
        let around = |v: usize| -> u64 {
            let pairs = (0..n).flat_map(|u| (0..n).map(move |w| (u, w)));
            pairs.map(|(u, w)| s[v][u] * s[u][w] * s[w][v]).sum()
        };
        let coefficient = |v: usize| {
            let total: i64 = s[v].iter().sum::<u64>() as i64;
            let both = s[v].iter().filter(|&&arcs| arcs == 2).count() as i64;
            let pairs = 2 * (total * (total - 1) - 2 * both);
            if pairs <= 0 { 0.0 } else { around(v) as f64 / pairs as f64 }
        };
        (0..n).map(coefficient).collect()
    }

    pub fn triangles(&self) -> Vec<u64> {
        let sets: Vec<_> = (0..self.vertices()).map(|v| self.neighbors(v)).collect();
        let pairs = |v: &BTreeSet<usize>| {
            v.iter().map(|&u| v.intersection(&sets[u]).count()).sum::<usize>()
        };
        sets.iter().map(|v| pairs(v) as u64 / 2).collect()
    }
}
