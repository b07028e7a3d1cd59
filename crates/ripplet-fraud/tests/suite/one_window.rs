//! The graph of one window of a feed, beside the rows that it is made of.

use crate::runs::Days;
use ripplet_fraud::Timestamp;
use ripplet_fraud::feed::{Feed, FeedError, FeedOptions, NoWindow};
use ripplet_graph::Graph;
use std::collections::BTreeMap;
use std::fs;

fn end(text: &str) -> Option<Timestamp> {
    Some(Timestamp::parse_last(text).unwrap())
}

/// Edges by the names of their ends, with their weights.
fn edges(graph: &Graph) -> BTreeMap<(String, String), f64> {
    let name = |v: u32| graph.ids().get(v).to_string();
    let mut found = BTreeMap::new();
    for shard in graph.shards() {
        for (local, v) in shard.vertices().enumerate() {
            let out = shard.out();
            let weights = out.weights_of(local).unwrap();
            for (&u, &weight) in out.of(local).iter().zip(weights).filter(|(u, _)| **u > v) {
                let weight = graph.weight_scale().weight(weight.into());
                assert!(found.insert((name(v), name(u)), weight).is_none(), "twice");
            }
        }
    }
    found
}

/// Returns the edges that the rows of days make, and the number of rows.
fn expected(
    days: &Days,
    of: std::ops::RangeInclusive<u32>,
) -> (BTreeMap<(String, String), f64>, u64) {
    let (mut pairs, mut rows) = (BTreeMap::new(), 0);
    for day in of {
        for line in fs::read_to_string(days.file(day)).unwrap().lines().skip(1) {
            let fields: Vec<&str> = line.split(',').collect();
            let pair = (format!("shop:{}", fields[1]), format!("user:{}", fields[0]));
            *pairs.entry(pair).or_insert(0.0) += 1.0;
            rows += 1;
        }
    }
    (pairs, rows)
}

fn begin(options: &FeedOptions) -> Feed {
    Feed::begin(options).unwrap()
}

#[test]
fn a_window_is_the_graph_of_its_rows() {
    let days = Days::new(7);
    let options = days.options().feed;
    for (until, of, windows) in [
        (None, 5..=7, 5),
        (end("2024-03-03"), 1..=3, 1),
        (end("2024-03-05"), 3..=5, 3),
        (end("2024-03-06T00:00:00"), 3..=5, 3),
    ] {
        let mut feed = begin(&options);
        let ends = feed.slide_to(until, || false).unwrap();
        assert_eq!((ends.len(), ends[0]), (windows, end("2024-03-03").unwrap()));
        let window = feed.window().unwrap();
        assert_eq!(ends.last(), Some(&window.range.until));
        let graph = window.named(feed.entities()).unwrap();
        let (edges_of_rows, rows) = expected(&days, of);
        assert_eq!((edges(&graph), window.transactions), (edges_of_rows, rows));
        assert!((0..graph.vertices()).all(|v| graph.degree(v) > 0), "who is absent is no vertex");
    }
}

#[test]
fn a_window_that_does_not_end_then_is_an_error_that_names_the_others() {
    let days = Days::new(5);
    let options = days.options().feed;
    let mut feed = begin(&options);
    let ends = feed.slide_to(end("2024-03-09"), || false).unwrap();
    assert!(feed.window().is_none());
    let error = NoWindow { ends };
    assert_eq!(error.to_string(), "there is no window that ends then");
    assert_eq!(error.help(), "the last days of the 3 windows are 2024-03-03 to 2024-03-05");
    assert_eq!(NoWindow { ends: Vec::new() }.help(), "there are no transactions in the input");
    let cancelled = begin(&options).slide_to(None, || true);
    assert!(matches!(cancelled, Err(FeedError::Cancelled)));
}
