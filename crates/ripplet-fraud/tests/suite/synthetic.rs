//! Windows with findings, made by a rule without chance: what reports, tables and arrays are made of in tests.
//!
//! Rings of users, merchants and devices come, grow, take one another in, split and go. The scores are computed here
//! from the edges, in the plainest way.

use ripplet_fraud::findings::BusiestPart;
use ripplet_fraud::ledger::{Flow, Ledger, Payment};
use ripplet_fraud::output::{Edge, WindowFindings};
use ripplet_fraud::report::{ReportLimits, WindowReport};
use ripplet_fraud::seeds::{ActiveEntries, ListEntry};
use ripplet_fraud::{
    Amount, Cluster, ClusterEvent, ClusterId, Entities, Findings, Member, TimeRange, Timestamp,
    Window,
};
use ripplet_graph::{EdgeTable, GraphBuilder, VertexId, VertexIds};
use std::collections::{BTreeMap, BTreeSet};

pub const DAY: i64 = 86_400_000_000;
/// 2026-01-01.
const FIRST: i64 = 20_454 * DAY;
const LENGTH: i64 = 30;

/// A window and what was found in it.
pub struct Found {
    pub window: Window,
    pub entities: Entities,
    pub findings: Findings,
    pub known_bad: ActiveEntries,
    pub trusted: ActiveEntries,
    pub cleared: ActiveEntries,
    pub flows: BTreeMap<(VertexId, VertexId), Flow>,
    /// The list of known bad.
    pub listed_bad: Vec<ListEntry>,
    /// The names of the pairs of columns that a row links, and which of them link whom.
    pub pairs: Vec<String>,
    pub linked: BTreeMap<(VertexId, VertexId), Vec<u32>>,
}

/// The first of a flow's transactions are of its first day, and one is of its last.
impl Ledger for Found {
    fn decimals(&self) -> Option<u32> {
        Some(2)
    }

    fn flow(&self, from: VertexId, to: VertexId) -> Option<Flow> {
        self.flows.get(&(from, to)).copied()
    }

    fn pairs(&self, from: VertexId, to: VertexId) -> Vec<u32> {
        self.linked.get(&(from, to)).cloned().unwrap_or_default()
    }

    fn newest(&self, from: VertexId, to: VertexId, most: usize) -> Vec<Payment> {
        let Some(Flow { count, amount, first, last }) = self.flow(from, to) else {
            return Vec::new();
        };
        let cent = amount.map(|amount| Amount { units: 1, ..amount });
        let rest = |amount: Amount| Amount { units: amount.units - (count - 1), ..amount };
        let earlier = (1..count).map(|_| Payment { time: first, amount: cent });
        let newest = Payment { time: last, amount: amount.map(rest) };
        std::iter::once(newest).chain(earlier).take(most).collect()
    }
}

impl Found {
    /// Does something with all that outputs are made of.
    pub fn with<T>(&self, act: impl FnOnce(WindowFindings<'_>) -> T) -> T {
        act(WindowFindings {
            window: &self.window,
            entities: &self.entities,
            findings: &self.findings,
            known_bad: &self.known_bad,
            trusted: &self.trusted,
            cleared: &self.cleared,
            ledger: self,
            noise: 0.05,
            scores: None,
            ties: None,
            explained: None,
            listed_bad: &self.listed_bad,
            pairs: &self.pairs,
        })
    }

    pub fn report(&self, limits: ReportLimits) -> WindowReport {
        self.with(|found| WindowReport::of(found, limits))
    }

    /// The edges of a cluster, in the plainest way.
    pub fn edges_of(&self, cluster: ClusterId) -> Vec<Edge> {
        let members: BTreeSet<VertexId> = self
            .findings
            .members
            .iter()
            .filter(|m| m.cluster == cluster)
            .map(|m| m.vertex)
            .collect();
        let weight = |a, b| {
            [(a, b), (b, a)].iter().filter_map(|pair| self.flows.get(pair)).map(|f| f.count).sum()
        };
        let mut edges = Vec::new();
        for &source in &members {
            for &target in members.range(source + 1..) {
                let total: u64 = weight(source, target);
                for (source, target) in [(source, target), (target, source)] {
                    let flow = self.flows.get(&(source, target)).copied();
                    if flow.is_some() {
                        edges.push(Edge { source, target, weight: total as f64, flow });
                    }
                }
            }
        }
        edges
    }
}

/// A mixed number: the same for the same parts, and unlike for others.
fn mixed(parts: [usize; 3]) -> usize {
    let mut hash = 0x9e37_79b9_7f4a_7c15_u64;
    for part in parts {
        hash ^= part as u64;
        hash = hash.wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 29;
    }
    (hash >> 7) as usize
}

/// Number of users of a ring in a window; 0 if it has none there.
fn users_in(ring: usize, window: usize, windows: usize) -> usize {
    let born = if ring.is_multiple_of(3) { 0 } else { mixed([ring, 1, 0]) % windows.max(1) };
    let life = 3 + mixed([ring, 2, 0]) % windows.max(3);
    if window < born || window >= born + life {
        return 0;
    }
    let base = if ring % 17 == 4 { 60 } else { 5 + mixed([ring, 3, 0]) % 10 };
    let all = base + (window - born) * (mixed([ring, 4, 0]) % 3)
        - usize::from(mixed([ring, window, 5]).is_multiple_of(4));
    all.min(room_of(ring))
}

/// Users that a ring ever has.
fn room_of(ring: usize) -> usize {
    if ring % 17 == 4 { 120 } else { 48 }
}

/// The ring that a ring is a part of in a window.
fn owner(ring: usize, window: usize, windows: usize) -> usize {
    let merges = ring % 5 == 4 && window * 2 >= windows + ring % 9;
    if merges && users_in(ring - 1, window, windows) > 0 { ring - 1 } else { ring }
}

/// Generates `windows` windows with `rings` rings.
pub fn synthetic_windows(rings: usize, windows: usize) -> Vec<Found> {
    let mut before: BTreeMap<usize, BTreeSet<VertexId>> = BTreeMap::new();
    let mut born: BTreeMap<usize, (usize, i64)> = BTreeMap::new();
    (0..windows)
        .map(|at| {
            let mut found = window(rings, at, windows);
            let now = found.members_of_rings();
            found.tell_fates(&before, &now, &mut born, at);
            found.rank();
            before = now;
            found
        })
        .collect()
}

/// All who are ever there, so that numbers are the same in all windows.
fn everyone(rings: usize) -> Entities {
    let mut entities = Entities::new();
    let kinds = ["user", "merchant", "device"].map(|name| entities.kind(name).unwrap());
    for ring in 0..rings {
        for place in 0..room_of(ring) {
            // A prime: numbers that look drawn, and are all different.
            let number = (ring * 200 + place) * 7919 % 9_999_991;
            entities.intern(kinds[0], &format!("u{number:07}")).unwrap();
        }
        for place in 0..4 {
            entities.intern(kinds[1], &format!("shop-{:05}", place + 4 * ring)).unwrap();
        }
        for place in 0..3 {
            entities.intern(kinds[2], &format!("dev:{:05x}", (ring * 3 + place) * 31)).unwrap();
        }
    }
    entities
}

fn window(rings: usize, at: usize, windows: usize) -> Found {
    let entities = everyone(rings);
    let range_end = FIRST + (LENGTH + at as i64) * DAY;
    let mut flows = BTreeMap::new();
    let mut transfer = |a: VertexId, b: VertexId, mix: usize| {
        let (first, count) = (mix % 20, 1 + mix / 64 % 6);
        let last = (first + count - 1) % LENGTH as usize;
        let day = |day: usize| Timestamp(range_end - (LENGTH - day as i64) * DAY);
        let amount = Some(Amount { units: (10 + mix % 990) as u64 * 100 + 50, decimals: 2 });
        let pair = Flow {
            count: count as u64,
            amount,
            first: day(first.min(last)),
            last: day(last.max(first)),
        };
        flows.insert((a, b), pair);
        // Some pay back.
        if mix % 7 == 3 {
            flows.insert((b, a), Flow { count: 2, amount, ..pair });
        }
    };
    let mut clusters: BTreeMap<usize, Vec<VertexId>> = BTreeMap::new();
    let mut bad = BTreeSet::new();
    let mut first = 0;
    for ring in 0..rings {
        let room = room_of(ring) as u32;
        let (users, shops, devices) = (first, first + room, first + room + 4);
        first += room + 7;
        let count = users_in(ring, at, windows) as u32;
        if count == 0 {
            continue;
        }
        let members = clusters.entry(owner(ring, at, windows)).or_default();
        members.extend((users..users + count).chain(shops..shops + 4).chain(devices..devices + 3));
        bad.extend(users..users + 1 + (mixed([ring, 7, 0]) % 3) as u32);
        for user in users..users + count {
            for shop in shops..shops + 4 {
                let mix = mixed([user as usize, shop as usize, 8]);
                if mix % 5 < 2 || shop - shops == (user - users) % 4 {
                    transfer(user, shop, mix);
                }
            }
            transfer(user, devices + user % 3, mixed([user as usize, 9, 0]));
        }
        // A vertex with transactions with a known bad one elsewhere.
        if ring > 0 && ring % 4 == 1 {
            let elsewhere = room_of(ring - 1) as u32 + 7;
            if users_in(ring - 1, at, windows) > 0 {
                transfer(users + 2, users - elsewhere, mixed([ring, 10, 0]));
            }
        }
    }
    // Entities are known bad whether or not the window has them.
    let known_bad = ActiveEntries { vertices: bad.into_iter().collect(), unseen: Vec::new() };
    let nobody = || ActiveEntries { vertices: Vec::new(), unseen: Vec::new() };
    let (trusted, cleared) = (nobody(), nobody());
    let mut sums: BTreeMap<(VertexId, VertexId), u64> = BTreeMap::new();
    for (&(a, b), flow) in &flows {
        *sums.entry((a.min(b), a.max(b))).or_default() += flow.count;
    }
    let pairs: Vec<(VertexId, VertexId)> = sums.keys().copied().collect();
    let table = EdgeTable::new(
        VertexIds::Consecutive { first: 0, count: entities.len() },
        pairs.iter().map(|pair| pair.0).collect(),
        pairs.iter().map(|pair| pair.1).collect(),
    );
    let weights = sums.values().map(|&count| count as f64).collect();
    let graph = GraphBuilder::new().build(table.unwrap().with_weights(weights).unwrap()).unwrap();
    let transactions = sums.values().sum();
    let range = TimeRange::new(Timestamp(range_end - LENGTH * DAY), Timestamp(range_end));
    let window = Window { index: at as u32, range, days: range, graph, transactions };
    let findings = Findings::default();
    let (listed_bad, pairs, linked) = Default::default();
    let mut found = Found {
        window,
        entities,
        findings,
        known_bad,
        trusted,
        cleared,
        flows,
        listed_bad,
        pairs,
        linked,
    };
    let mut around = vec![Vec::new(); found.entities.len() as usize];
    for ((a, b), count) in sums {
        around[a as usize].push((b, count));
        around[b as usize].push((a, count));
    }
    for (ring, members) in clusters {
        found.add(ClusterId(ring as u64 + 1), &members, &around);
    }
    found
}

impl Found {
    fn add(&mut self, id: ClusterId, members: &[VertexId], around: &[Vec<(VertexId, u64)>]) {
        let is_bad = |vertex: &VertexId| self.known_bad.vertices.binary_search(vertex).is_ok();
        let bad: BTreeSet<VertexId> = members
            .iter()
            .flat_map(|&vertex| {
                around[vertex as usize].iter().map(|&(other, _)| other).chain([vertex])
            })
            .filter(is_bad)
            .collect();
        let inside: BTreeSet<VertexId> = members.iter().copied().collect();
        let mut distance: BTreeMap<VertexId, u32> = BTreeMap::new();
        let mut ring: Vec<VertexId> = inside.intersection(&bad).copied().collect();
        for far in 0.. {
            ring.retain(|&vertex| distance.insert(vertex, far).is_none());
            if ring.is_empty() {
                break;
            }
            ring = ring
                .iter()
                .flat_map(|&vertex| &around[vertex as usize])
                .map(|&(other, _)| other)
                .filter(|other| inside.contains(other) && !distance.contains_key(other))
                .collect();
            ring.sort_unstable();
            ring.dedup();
        }
        let (mut within, mut out, mut edges) = (0, 0, 0);
        let mut rows: Vec<Member> = Vec::new();
        for &vertex in members {
            let list = &around[vertex as usize];
            let strength: u64 = list.iter().map(|&(_, weight)| weight).sum();
            let to_bad: u64 = list
                .iter()
                .filter(|(other, _)| bad.contains(other))
                .map(|&(_, weight)| weight)
                .sum();
            let own: u64 = list
                .iter()
                .filter(|(other, _)| inside.contains(other))
                .map(|&(_, weight)| weight)
                .sum();
            edges += list
                .iter()
                .filter(|&&(other, _)| other > vertex && inside.contains(&other))
                .count();
            within += own;
            out += strength - own;
            let share = if strength == 0 { 0.0 } else { to_bad as f64 / strength as f64 };
            let far = distance.get(&vertex).copied().unwrap_or(9);
            let known_bad = bad.contains(&vertex);
            rows.push(Member {
                vertex,
                cluster: id,
                score: if known_bad { 1.0 } else { (share + 1.0 / f64::from(1 + far)) / 2.0 },
                seed_distance: far,
                share_to_known_bad: share,
                known_bad,
                degree: list.len() as u64,
                strength,
            });
        }
        rows.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.vertex.cmp(&b.vertex)));
        let size = members.len();
        let seeds = rows.iter().filter(|member| member.known_bad).count();
        let pairs = (size * (size - 1) / 2) as f64;
        let conductance = if within + out == 0 { 0.0 } else { out as f64 / (within + out) as f64 };
        let mean = rows.iter().map(|member| member.score).sum::<f64>() / size as f64;
        self.findings.clusters.push(Cluster {
            id,
            rank: 0,
            score: mean * (1.0 - conductance) * (seeds as f64 + 1.0).ln(),
            suspicion: mean,
            chance: 1.0 / ((id.0 % 9 + 1) as f64).powi(2),
            why: BusiestPart {
                members: members[..members.len().min(4)].to_vec(),
                transactions: 31,
                expected: 0.25,
                pair: None,
            },
            size: size as u32,
            seeds: seeds as u32,
            edges: edges as u64,
            weight_within: within / 2,
            weight_out: out,
            density: edges as f64 / pairs,
            conductance,
            growth: None,
            age: 0,
            born: self.window.range.until,
            fate: ClusterEvent::Born,
            parents: Vec::new(),
        });
        self.findings.members.extend(rows);
    }

    fn members_of_rings(&self) -> BTreeMap<usize, BTreeSet<VertexId>> {
        let mut members: BTreeMap<usize, BTreeSet<VertexId>> = BTreeMap::new();
        for member in &self.findings.members {
            members.entry(member.cluster.0 as usize).or_default().insert(member.vertex);
        }
        members
    }

    fn tell_fates(
        &mut self,
        before: &BTreeMap<usize, BTreeSet<VertexId>>,
        now: &BTreeMap<usize, BTreeSet<VertexId>>,
        born: &mut BTreeMap<usize, (usize, i64)>,
        at: usize,
    ) {
        for cluster in &mut self.findings.clusters {
            let key = cluster.id.0 as usize;
            let own = &now[&key];
            let parents: Vec<usize> = before
                .iter()
                .filter(|(_, old)| !old.is_disjoint(own))
                .map(|(&old, _)| old)
                .collect();
            let (first, until) = *born.entry(key).or_insert((at, cluster.born.0));
            cluster.born = Timestamp(until);
            cluster.age = (at - first) as u32;
            cluster.parents = parents.iter().map(|&old| ClusterId(old as u64)).collect();
            cluster.growth = before.get(&key).map(|old| own.len() as f64 / old.len() as f64 - 1.0);
            cluster.fate = match (before.get(&key), parents.len()) {
                (None, 0) => ClusterEvent::Born,
                (None, _) => ClusterEvent::Split,
                (Some(_), 2..) => ClusterEvent::Merged,
                (Some(old), _) if own.len() > old.len() => ClusterEvent::Grew,
                (Some(old), _) if own.len() < old.len() => ClusterEvent::Shrank,
                (Some(_), _) => ClusterEvent::Stayed,
            };
        }
        let gone = before.iter().filter(|(key, _)| !now.contains_key(key));
        let into = |old: &BTreeSet<VertexId>| {
            let taker = now.iter().find(|(_, own)| !own.is_disjoint(old));
            taker.map(|(&key, _)| ClusterId(key as u64))
        };
        self.findings.ended = gone.map(|(&key, old)| (ClusterId(key as u64), into(old))).collect();
    }

    fn rank(&mut self) {
        let Findings { clusters, members, .. } = &mut self.findings;
        clusters.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        let mut rank_of = BTreeMap::new();
        for (place, cluster) in clusters.iter_mut().enumerate() {
            cluster.rank = place as u32 + 1;
            rank_of.insert(cluster.id, cluster.rank);
        }
        members.sort_by_key(|member| rank_of[&member.cluster]);
    }
}
