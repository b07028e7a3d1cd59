//! Evolution of clusters, in small examples and by properties of random ones.

use proptest::prelude::*;
use ripplet_fraud::evolution::Tracker;
use ripplet_fraud::{Cluster, ClusterEvent, ClusterId, Findings, Member, Timestamp};
use std::collections::{BTreeMap, BTreeSet};

/// Findings of clusters of these members, by rank.
fn findings(clusters: &[&[u32]]) -> Findings {
    let mut findings = Findings::default();
    for (rank, members) in (1..).zip(clusters) {
        let id = ClusterId(u64::from(rank));
        findings.clusters.push(Cluster {
            chance: 1.0,
            why: Default::default(),
            id,
            rank,
            score: 0.0,
            suspicion: 0.0,
            size: members.len() as u32,
            seeds: 0,
            edges: 0,
            weight_within: 0,
            weight_out: 0,
            density: 0.0,
            conductance: 0.0,
            growth: None,
            age: 0,
            born: Timestamp(0),
            fate: ClusterEvent::Born,
            parents: Vec::new(),
        });
        findings.members.extend(members.iter().map(|&vertex| Member {
            vertex,
            cluster: id,
            score: 0.0,
            seed_distance: 0,
            share_to_known_bad: 0.0,
            known_bad: false,
            degree: 0,
            strength: 0,
        }));
    }
    findings
}

/// Ids and fates of the windows of a story, and who ended in the last.
#[track_caller]
fn story(windows: &[&[&[u32]]]) -> Vec<Findings> {
    let mut tracker = Tracker::new();
    let mut told = Vec::new();
    for (end, clusters) in (1..).zip(windows) {
        let mut next = findings(clusters);
        tracker.follow(&mut next, Timestamp(end));
        // A run that was interrupted goes on alike.
        tracker = tracker.to_string().parse().unwrap();
        told.push(next);
    }
    told
}

fn fates(findings: &Findings) -> Vec<(u64, ClusterEvent)> {
    findings.clusters.iter().map(|cluster| (cluster.id.0, cluster.fate)).collect()
}

#[test]
fn clusters_grow_shrink_and_stay() {
    let told = story(&[
        &[&[1, 2, 3], &[10, 11, 12, 13]],
        &[&[10, 11, 12, 13], &[1, 2, 3, 4, 5, 6]],
        &[&[1, 2, 3], &[10, 11, 12, 14]],
    ]);
    assert_eq!(fates(&told[0]), [(1, ClusterEvent::Born), (2, ClusterEvent::Born)]);
    assert_eq!(fates(&told[1]), [(2, ClusterEvent::Stayed), (1, ClusterEvent::Grew)]);
    assert_eq!(fates(&told[2]), [(1, ClusterEvent::Shrank), (2, ClusterEvent::Stayed)]);
    let growth: Vec<_> = told[2].clusters.iter().map(|cluster| cluster.growth).collect();
    assert_eq!(growth, [Some(-0.5), Some(0.0)]);
    let ages: Vec<_> = told.iter().map(|window| window.clusters[0].age).collect();
    assert_eq!(ages, [0, 1, 2]);
    assert!(told[2].clusters.iter().all(|cluster| cluster.born == Timestamp(1)));
    assert_eq!(told[2].clusters[0].parents, [ClusterId(1)]);
    // Members know their clusters by the ids, too.
    assert!(
        told[1]
            .members
            .iter()
            .all(|member| member.cluster.0 == if member.vertex < 10 { 1 } else { 2 })
    );
}

#[test]
fn clusters_merge_and_split() {
    let told = story(&[
        &[&[1, 2, 3, 4], &[10, 11, 12]],
        &[&[1, 2, 3, 4, 10, 11, 12]],
        &[&[10, 11, 12], &[1, 2, 3, 4]],
    ]);
    assert_eq!(fates(&told[1]), [(1, ClusterEvent::Merged)]);
    assert_eq!(told[1].clusters[0].parents, [ClusterId(1), ClusterId(2)]);
    assert_eq!(told[1].ended, [(ClusterId(2), Some(ClusterId(1)))]);
    assert_eq!(fates(&told[2]), [(3, ClusterEvent::Split), (1, ClusterEvent::Shrank)]);
    assert_eq!(told[2].clusters[0].parents, [ClusterId(1)]);
    assert_eq!((told[2].clusters[0].age, told[2].clusters[0].growth), (0, None));
    assert!(told[2].ended.is_empty());
}

#[test]
fn clusters_die_and_their_ids_with_them() {
    let told = story(&[&[&[1, 2, 3]], &[], &[&[1, 2, 3]]]);
    assert_eq!(told[1].ended, [(ClusterId(1), None)]);
    assert_eq!(fates(&told[2]), [(2, ClusterEvent::Born)]);
}

#[test]
fn half_of_the_smaller_one_is_enough_and_less_is_not() {
    let told = story(&[&[&[1, 2, 3, 4]], &[&[3, 4, 5, 6]]]);
    assert_eq!(fates(&told[1]), [(1, ClusterEvent::Stayed)]);
    let told = story(&[&[&[1, 2, 3, 4, 5]], &[&[4, 5, 6, 7, 8]]]);
    assert_eq!(fates(&told[1]), [(2, ClusterEvent::Born)]);
    assert_eq!(told[1].ended, [(ClusterId(1), None)]);
}

#[test]
fn the_id_goes_where_most_members_went() {
    let told = story(&[&[&[1, 2, 3, 4, 5]], &[&[1, 2], &[3, 4, 5]]]);
    assert_eq!(fates(&told[1]), [(2, ClusterEvent::Split), (1, ClusterEvent::Shrank)]);
}

#[test]
fn texts_that_are_no_trackers_say_where() {
    for (text, line) in [
        ("", 1),
        ("clusters", 1),
        ("clusters x\n", 1),
        ("clusters 1\n1 0 0 5\n", 1),
        ("clusters 1 1\n1 0\n", 2),
        ("clusters 1 1\n1 0 0 5 4\n", 2),
        ("clusters 2 2\n1 0 0 4\n3 0 0 5\n", 3),
        ("clusters 2 1\n1 0 0\n", 2),
        ("clusters 2 1\n1 0 -1 7\n", 2),
        ("clusters 2 2\n1 0 0 7\n", 3),
        ("clusters 2 0\n1 0 0 7\n", 3),
        ("clusters 2 1\n1 0 0 7", 2),
        ("clusters 2 0", 1),
    ] {
        assert_eq!(text.parse::<Tracker>().unwrap_err().line, line, "{text:?}");
    }
}

/// A text that was cut off anywhere is no tracker.
#[test]
fn trackers_that_are_cut_off_are_refused() {
    for windows in [vec![], vec![findings(&[&[1, 2, 30], &[4, 5, 678]]), findings(&[&[4, 5]])]] {
        let mut tracker = Tracker::new();
        for mut window in windows {
            tracker.follow(&mut window, Timestamp(1_234_567));
            let text = tracker.to_string();
            assert_eq!(text.parse(), Ok(tracker.clone()));
            for cut in 0..text.len() {
                assert!(text[..cut].parse::<Tracker>().is_err(), "{:?}", &text[..cut]);
            }
        }
    }
}

/// Windows of clusters that do not overlap: a cluster's number, or none, for each vertex.
fn stories() -> impl Strategy<Value = Vec<Vec<Option<u8>>>> {
    let vertex = prop::option::weighted(0.8, 0u8..4);
    prop::collection::vec(prop::collection::vec(vertex, 14), 1..6)
}

proptest! {
    #[test]
    fn ids_go_on_one_to_one_and_are_never_used_twice(windows in stories()) {
        let mut tracker = Tracker::new();
        let mut last: BTreeMap<ClusterId, BTreeSet<u32>> = BTreeMap::new();
        let mut ever: BTreeSet<ClusterId> = BTreeSet::new();
        for (end, window) in (0..).zip(windows) {
            let mut sets: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
            for (v, cluster) in (0..).zip(&window) {
                cluster.iter().for_each(|&cluster| sets.entry(cluster).or_default().push(v));
            }
            let sets: Vec<&[u32]> = sets.values().map(|set| &**set).collect();
            let mut now = findings(&sets);
            tracker.follow(&mut now, Timestamp(end));
            let ids: BTreeSet<ClusterId> = now.clusters.iter().map(|cluster| cluster.id).collect();
            prop_assert_eq!(ids.len(), sets.len());
            for (cluster, set) in now.clusters.iter().zip(&sets) {
                let set: BTreeSet<u32> = set.iter().copied().collect();
                let overlaps = |of: &BTreeSet<u32>| {
                    2 * of.intersection(&set).count() >= of.len().min(set.len())
                };
                let parents: Vec<ClusterId> =
                    last.iter().filter(|(_, of)| overlaps(of)).map(|(id, _)| *id).collect();
                prop_assert_eq!(&cluster.parents, &parents);
                match last.get(&cluster.id) {
                    Some(before) => {
                        prop_assert!(overlaps(before));
                        let growth = (set.len() as f64 - before.len() as f64) / before.len() as f64;
                        prop_assert_eq!(cluster.growth, Some(growth));
                        let merged = parents.iter().any(|parent| !ids.contains(parent));
                        let expected = match set.len().cmp(&before.len()) {
                            _ if merged => ClusterEvent::Merged,
                            std::cmp::Ordering::Less => ClusterEvent::Shrank,
                            std::cmp::Ordering::Equal => ClusterEvent::Stayed,
                            std::cmp::Ordering::Greater => ClusterEvent::Grew,
                        };
                        prop_assert_eq!(cluster.fate, expected);
                    }
                    None => {
                        prop_assert!(!ever.contains(&cluster.id));
                        let expected = if parents.is_empty() { ClusterEvent::Born } else { ClusterEvent::Split };
                        prop_assert_eq!(cluster.fate, expected);
                    }
                }
            }
            let ended: BTreeSet<ClusterId> = now.ended.iter().map(|(id, _)| *id).collect();
            let gone: BTreeSet<ClusterId> = last.keys().filter(|id| !ids.contains(id)).copied().collect();
            prop_assert_eq!(ended, gone);
            ever.extend(&ids);
            last = now.clusters.iter().map(|c| c.id).zip(sets).map(|(id, set)| (id, set.iter().copied().collect())).collect();
        }
    }
}
