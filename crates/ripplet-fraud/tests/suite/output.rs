//! Tables and arrays, read back by others than wrote them: the csv and parquet crates, and a reader of `.npy` here.

use crate::synthetic::{DAY, Found, synthetic_windows};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Decimal128Type, Float32Type, Float64Type, Int32Type, Int64Type, TimestampMicrosecondType,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, TimeUnit};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use ripplet_fraud::days::DayAdjacency;
use ripplet_fraud::ledger::{DaysLedger, Flow, Ledger, Payment};
use ripplet_fraud::output::{
    GnnScope, Split, write_arcs, write_clusters, write_edges, write_ended, write_gnn,
    write_members, write_nodes, write_transactions,
};
use ripplet_fraud::payments::Transfer;
use ripplet_fraud::{Amount, ClusterEvent, Entities, Timestamp};
use ripplet_graph::VertexId;
use ripplet_io::Format;
use ripplet_io::tables::TableFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// A table's header and its cells as text; nulls are empty.
pub type Cells = (Vec<String>, Vec<Vec<String>>);

pub fn cells(path: &Path) -> Cells {
    let format = Format::of_path(path).unwrap().0;
    if matches!(format, Format::Csv | Format::Tsv) {
        let delimiter = if format == Format::Csv { b',' } else { b'\t' };
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(path).unwrap();
        let text = |record: &csv::StringRecord| record.iter().map(String::from).collect();
        let header = text(reader.headers().unwrap());
        return (header, reader.records().map(|record| text(&record.unwrap())).collect());
    }
    let table = TableFile::open(path, format).unwrap();
    let header: Vec<String> = table.schema().fields().iter().map(|f| f.name().clone()).collect();
    let all: Vec<usize> = (0..header.len()).collect();
    let mut rows = Vec::new();
    for batch in table.batches(&all).unwrap() {
        let batch: RecordBatch = batch.unwrap().batch;
        for row in 0..batch.num_rows() {
            rows.push(batch.columns().iter().map(|column| cell(column, row)).collect());
        }
    }
    (header, rows)
}

fn cell(column: &dyn Array, row: usize) -> String {
    if column.is_null(row) {
        return String::new();
    }
    match column.data_type() {
        DataType::Utf8 => column.as_string::<i32>().value(row).into(),
        DataType::Boolean => column.as_boolean().value(row).to_string(),
        DataType::UInt32 => column.as_primitive::<UInt32Type>().value(row).to_string(),
        DataType::UInt64 => column.as_primitive::<UInt64Type>().value(row).to_string(),
        DataType::Int32 => column.as_primitive::<Int32Type>().value(row).to_string(),
        DataType::Int64 => column.as_primitive::<Int64Type>().value(row).to_string(),
        DataType::Float32 => column.as_primitive::<Float32Type>().value(row).to_string(),
        DataType::Float64 => column.as_primitive::<Float64Type>().value(row).to_string(),
        DataType::Decimal128(38, 2) => column.as_primitive::<Decimal128Type>().value_as_string(row),
        DataType::Timestamp(TimeUnit::Microsecond, Some(zone)) if &**zone == "UTC" => {
            let at = column.as_primitive::<TimestampMicrosecondType>().value(row);
            instant(Timestamp(at))
        }
        other => panic!("a column of {other}"),
    }
}

/// All times of the synthetic windows are midnights.
fn instant(at: Timestamp) -> String {
    assert_eq!(at.0 % DAY, 0);
    format!("{at}T00:00:00Z")
}

const NAMES: [&str; 5] = ["t.parquet", "t.arrow", "t.csv", "t.tsv", "t.feather"];

/// Contents of each format, which must be equal.
fn same_in_every_format(folder: &Path, write: impl Fn(&Path)) -> Cells {
    let read = NAMES.map(|name| {
        let path = folder.join(name);
        write(&path);
        cells(&path)
    });
    assert!(read.windows(2).all(|pair| pair[0] == pair[1]));
    read.into_iter().next().unwrap()
}

fn last(windows: &[Found]) -> &Found {
    windows.last().unwrap()
}

#[test]
fn tables_have_what_was_found() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(60, 9);
    // A known bad member is evidence that chance does not weigh: only clusters without one are noise.
    for cluster in windows[8].findings.clusters.iter_mut().step_by(2) {
        cluster.seeds = 0;
    }
    let found = last(&windows);
    let is_noise = |cluster: &ripplet_fraud::Cluster| cluster.chance > 0.05 && cluster.seeds == 0;
    let all = |write: &dyn Fn(&Path)| same_in_every_format(folder.path(), write);
    found.with(|of| {
        let (header, rows) = all(&|path| write_clusters(path, of).unwrap());
        assert_eq!(
            header.join(","),
            "window,from,until,cluster,rank,score,chance,noise,why,size,known_bad,edges,weight_within,weight_out,density,\
             conductance,growth,age,born,fate,parents,suspicion,reason_1,reason_2,reason_3,path"
        );
        assert_eq!(rows.len(), found.findings.clusters.len());
        for (row, cluster) in rows.iter().zip(&found.findings.clusters) {
            let parents: Vec<String> = cluster.parents.iter().map(|id| format!("c{}", id.0)).collect();
            let range = found.window.range;
            let expected = [
                "8".into(),
                instant(range.from),
                instant(range.until),
                format!("c{}", cluster.id.0),
                cluster.rank.to_string(),
                cluster.score.to_string(),
                cluster.chance.to_string(),
                is_noise(cluster).to_string(),
                row[8].clone(),
                cluster.size.to_string(),
                cluster.seeds.to_string(),
                cluster.edges.to_string(),
                // Weights of the synthetic windows are whole.
                cluster.weight_within.to_string(),
                cluster.weight_out.to_string(),
                cluster.density.to_string(),
                cluster.conductance.to_string(),
                cluster.growth.map(|growth| growth.to_string()).unwrap_or_default(),
                cluster.age.to_string(),
                instant(cluster.born),
                format!("{:?}", cluster.fate).to_lowercase(),
                parents.join(" "),
                cluster.suspicion.to_string(),
                // No model, no reasons.
                String::new(),
                String::new(),
                String::new(),
                String::new(),
            ];
            assert_eq!(row[..], expected);
            let odds = ripplet_fraud::chance::one_in(cluster.chance);
            let said = match (cluster.chance > 0.05, cluster.seeds) {
                (true, 0) => row[8].ends_with(&format!("chance alone: {odds}: noise")),
                (true, known) => row[8].starts_with(&format!("{known} of its {} members ", cluster.size)),
                (false, _) => row[8].ends_with(&format!("chance alone: {odds}")),
            };
            assert!(said, "{}", row[8]);
        }
        assert!(found.findings.clusters.iter().any(|cluster| cluster.fate != ClusterEvent::Born));

        let (header, rows) = all(&|path| write_members(path, of).unwrap());
        assert_eq!(
            header.join(","),
            "window,cluster,kind,id,score,share_to_known_bad,seed_distance,known_bad,standing,degree,strength,\
             entity_score,entity_rank"
        );
        assert_eq!(rows.len(), found.findings.members.len());
        for (row, member) in rows.iter().zip(&found.findings.members) {
            let entities = &found.entities;
            let expected = [
                "8".into(),
                format!("c{}", member.cluster.0),
                entities.kinds()[usize::from(entities.kind_of(member.vertex).0)].clone(),
                entities.id_of(member.vertex).to_owned(),
                member.score.to_string(),
                member.share_to_known_bad.to_string(),
                member.seed_distance.to_string(),
                member.known_bad.to_string(),
                if member.known_bad { "known bad" } else { "unknown" }.into(),
                member.degree.to_string(),
                member.strength.to_string(),
                // These windows have no scores of entities.
                String::new(),
                String::new(),
            ];
            assert_eq!(row[..], expected);
        }

        let (_, rows) = all(&|path| write_ended(path, of).unwrap());
        let ended = found.findings.ended.iter().map(|(id, into)| {
            let into = into.map(|id| format!("c{}", id.0)).unwrap_or_default();
            vec!["8".to_owned(), format!("c{}", id.0), into]
        });
        assert!(!rows.is_empty() && rows.into_iter().eq(ended));

        let (header, rows) = all(&|path| write_edges(path, of).unwrap());
        assert_eq!(
            header.join(","),
            "window,cluster,source_kind,source,target_kind,target,weight,count,amount,first,last"
        );
        let name = |vertex: VertexId| found.entities.id_of(vertex).to_owned();
        let expected = found.findings.clusters.iter().flat_map(|cluster| {
            found.edges_of(cluster.id).into_iter().map(move |edge| {
                let Flow { count, amount, first, last } = edge.flow.unwrap();
                let ends = [edge.source, edge.target].map(|end| (found.entities.kind_name_of(end).to_owned(), name(end)));
                let [(source_kind, source), (target_kind, target)] = ends;
                let id = format!("c{}", cluster.id.0);
                let amount = amount.unwrap().to_string();
                let weight = edge.weight.to_string();
                let count = count.to_string();
                vec![
                    "8".to_owned(), id, source_kind, source, target_kind, target, weight, count, amount,
                    instant(first), instant(last),
                ]
            })
        });
        assert!(rows.iter().any(|row| rows.iter().any(|r| (&r[3], &r[5]) == (&row[5], &row[3]))), "none pays back");
        assert!(rows.into_iter().eq(expected));

        let (header, rows) = all(&|path| write_transactions(path, of).unwrap());
        assert_eq!(header.join(","), "window,cluster,source_kind,source,target_kind,target,time,amount");
        let edges = found.findings.clusters.iter().flat_map(|cluster| found.edges_of(cluster.id));
        let mut expected = edges.flat_map(|edge| {
            let newest = found.newest(edge.source, edge.target, usize::MAX);
            newest.into_iter().rev().map(move |payment| (name(edge.source), name(edge.target), payment))
        });
        for row in &rows {
            let (source, target, Payment { time, amount }) = expected.next().unwrap();
            assert_eq!(row[6..], [instant(time), amount.unwrap().to_string()]);
            assert_eq!((&row[3], &row[5]), (&source, &target));
        }
        assert!(expected.next().is_none() && rows.len() > 100);
    });
}

#[test]
fn tables_do_not_depend_on_threads_and_nothing_is_left_of_what_fails() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(20, 2);
    for name in ["t.parquet", "t.csv.gz", "t.npz"] {
        let path = folder.path().join(name);
        let write = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                last(&windows).with(|of| match name {
                    "t.npz" => write_gnn(&path, of, GnnScope::Window).unwrap(),
                    _ => write_edges(&path, of).unwrap(),
                });
            });
            fs::read(&path).unwrap()
        };
        assert!(write(1) == write(5), "{name}");
        fs::remove_file(path).unwrap();
    }
    let found = windows.last_mut().unwrap();
    found.with(|of| {
        for name in ["t.txt", "t", "t.parquet.gz", "t.rg"] {
            let error = write_clusters(&folder.path().join(name), of).unwrap_err();
            assert!(error.to_string().contains(".parquet or .arrow"), "{error}");
        }
        let nowhere = folder.path().join("nowhere/t.npz");
        assert!(write_gnn(&nowhere, of, GnnScope::Window).is_err());
    });
    // A text cannot hold every id.
    let mut entities = Entities::new();
    for kind in found.entities.kinds() {
        entities.kind(kind).unwrap();
    }
    for vertex in 0..found.entities.len() {
        let id = format!("{}\n", found.entities.id_of(vertex));
        entities.intern(found.entities.kind_of(vertex), &id).unwrap();
    }
    found.entities = entities;
    found.with(|of| {
        let error = write_members(&folder.path().join("t.csv"), of).unwrap_err();
        assert!(error.to_string().contains("line end"), "{error}");
        write_members(&folder.path().join("t.parquet"), of).unwrap();
    });
    let left: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["t.parquet"]);
}

/// An array as its description, its shape, and its bytes.
struct Npy {
    description: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Npy {
    /// As the format's page has it: a magic, a version, a length, a dictionary, the values.
    fn of(bytes: &[u8]) -> Npy {
        assert_eq!(&bytes[..8], b"\x93NUMPY\x01\x00");
        let length = usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!((10 + length) % 64, 0);
        let header = std::str::from_utf8(&bytes[10..10 + length]).unwrap();
        assert!(header.ends_with('\n') && header.contains("'fortran_order': False"));
        let description = header.split('\'').nth(3).unwrap().to_owned();
        let shape = header.split('(').nth(1).unwrap().split(')').next().unwrap();
        let shape = shape.split(',').filter(|size| !size.trim().is_empty());
        let shape: Vec<usize> = shape.map(|size| size.trim().parse().unwrap()).collect();
        let npy = Npy { description, shape, bytes: bytes[10 + length..].to_vec() };
        let width: usize = match npy.description.strip_prefix("<U") {
            Some(letters) => 4 * letters.parse::<usize>().unwrap(),
            None => npy.description[2..].parse().unwrap(),
        };
        assert_eq!(npy.bytes.len(), width * npy.shape.iter().product::<usize>());
        npy
    }

    fn values<const WIDTH: usize, T>(
        &self,
        description: &str,
        from: fn([u8; WIDTH]) -> T,
    ) -> Vec<T> {
        assert_eq!(self.description, description);
        let (chunks, _) = self.bytes.as_chunks::<WIDTH>();
        chunks.iter().map(|chunk| from(*chunk)).collect()
    }

    fn flags(&self) -> Vec<bool> {
        self.values("|b1", |[byte]| byte == 1)
    }
}

fn npz(path: &Path) -> BTreeMap<String, Npy> {
    let mut archive = zip::ZipArchive::new(File::open(path).unwrap()).unwrap();
    (0..archive.len())
        .map(|index| {
            let mut entry = archive.by_index(index).unwrap();
            let name = entry.name().unwrap().strip_suffix(".npy").unwrap().to_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            (name, Npy::of(&bytes))
        })
        .collect()
}

#[test]
fn arrays_are_the_window_s_graph_with_labels_and_scores() {
    let folder = tempfile::tempdir().unwrap();
    let mut windows = synthetic_windows(50, 4);
    let found = windows.last_mut().unwrap();
    // A trusted entity has transactions, and a known bad one has none.
    let dealing: BTreeSet<VertexId> = found.flows.keys().flat_map(|&(a, b)| [a, b]).collect();
    let idle = (0..found.entities.len()).rev().find(|vertex| !dealing.contains(vertex)).unwrap();
    found.known_bad.vertices.push(idle);
    found.known_bad.vertices.sort_unstable();
    found.trusted.vertices.extend(dealing.iter().rev().take(30).rev());
    let members: BTreeMap<VertexId, _> =
        found.findings.members.iter().map(|member| (member.vertex, member)).collect();
    for scope in [GnnScope::Window, GnnScope::Clusters] {
        let path = folder.path().join("gnn.npz");
        found.with(|of| write_gnn(&path, of, scope).unwrap());
        let arrays = npz(&path);
        let vertices: Vec<VertexId> = match scope {
            GnnScope::Window => {
                dealing.iter().copied().chain([idle]).collect::<BTreeSet<_>>().into_iter().collect()
            }
            GnnScope::Clusters => members.keys().copied().collect(),
        };
        let count = vertices.len();
        let node = |vertex: VertexId| vertices.binary_search(&vertex).ok().map(|node| node as i64);
        assert_eq!(arrays["vertex"].values("<u4", u32::from_le_bytes), vertices);

        let mut sums: BTreeMap<(i64, i64), u64> = BTreeMap::new();
        for (&(a, b), flow) in &found.flows {
            if let (Some(a), Some(b)) = (node(a), node(b)) {
                *sums.entry((a, b)).or_default() += flow.count;
                *sums.entry((b, a)).or_default() += flow.count;
            }
        }
        let mut arcs: Vec<(i64, i64, f32)> =
            sums.into_iter().map(|((a, b), count)| (a, b, count as f32)).collect();
        arcs.sort_by(|a, b| a.partial_cmp(b).unwrap());
        assert_eq!(arrays["edge_index"].shape, [2, arcs.len()]);
        let index = arrays["edge_index"].values("<i8", i64::from_le_bytes);
        let (sources, targets) = index.split_at(arcs.len());
        let weights = arrays["edge_weight"].values("<f4", f32::from_le_bytes);
        let read = sources.iter().zip(targets).zip(&weights).map(|((&a, &b), &w)| (a, b, w));
        assert!(read.eq(arcs.iter().copied()));
        let begins = arrays["arcs_at"].values("<i8", i64::from_le_bytes);
        let plain =
            (0..=count as i64).map(|node| arcs.iter().filter(|arc| arc.0 < node).count() as i64);
        assert!(begins.into_iter().eq(plain));

        let labels = arrays["y"].values("|i1", i8::from_le_bytes);
        let bad: BTreeSet<_> = found.known_bad.vertices.iter().collect();
        let trusted: BTreeSet<_> = found.trusted.vertices.iter().collect();
        for (at, vertex) in vertices.iter().enumerate() {
            let label = if bad.contains(vertex) {
                1
            } else if trusted.contains(vertex) {
                0
            } else {
                -1
            };
            assert_eq!(labels[at], label);
        }
        let masks = ["train_mask", "val_mask", "test_mask"].map(|name| arrays[name].flags());
        let known = arrays["known_mask"].flags();
        for at in 0..count {
            assert_eq!(known[at], labels[at] >= 0);
            assert_eq!(masks.iter().filter(|mask| mask[at]).count(), usize::from(known[at]));
        }
        assert!(masks.iter().all(|mask| mask.contains(&true)), "a split is empty");

        let scores = arrays["score"].values("<f4", f32::from_le_bytes);
        let shares = arrays["share_to_known_bad"].values("<f4", f32::from_le_bytes);
        let distances = arrays["seed_distance"].values("<i4", i32::from_le_bytes);
        let clusters = arrays["cluster"].values("<i8", i64::from_le_bytes);
        let inside = arrays["member_mask"].flags();
        for (at, vertex) in vertices.iter().enumerate() {
            // Without scores of entities, a node outside of clusters has the smallest possible score.
            let least = (1.0_f32 / 65536.0).ln();
            let expected = members.get(vertex).map_or((false, least, 0.0, -1, -1), |member| {
                let share = member.share_to_known_bad as f32;
                (
                    true,
                    member.score as f32,
                    share,
                    member.seed_distance as i32,
                    member.cluster.0 as i64,
                )
            });
            assert_eq!((inside[at], scores[at], shares[at], distances[at], clusters[at]), expected);
        }

        let ends = arrays["id_ends"].values("<i8", i64::from_le_bytes);
        let (bytes, mut begin) = (&arrays["id_bytes"].bytes, 0);
        let kinds = arrays["kind"].values("|u1", u8::from_le_bytes);
        for (at, &vertex) in vertices.iter().enumerate() {
            let end = ends[at] as usize;
            assert_eq!(
                std::str::from_utf8(&bytes[begin..end]).unwrap(),
                found.entities.id_of(vertex)
            );
            assert_eq!(kinds[at], found.entities.kind_of(vertex).0);
            begin = end;
        }
        let letters = arrays["kinds"].values("<U8", u32::from_le_bytes);
        let texts: Vec<String> = letters
            .chunks(8)
            .map(|text| {
                text.iter().filter_map(|&l| char::from_u32(l)).filter(|&l| l != '\0').collect()
            })
            .collect();
        assert_eq!(texts, ["user", "merchant", "device"]);

        // The arrays equal the tables.
        let (_, nodes) = same_in_every_format(folder.path(), |path| {
            found.with(|of| write_nodes(path, of, scope).unwrap());
        });
        assert_eq!(nodes.len(), count);
        for (at, row) in nodes.iter().enumerate() {
            let expected = [
                at.to_string(),
                vertices[at].to_string(),
                found.entities.kind_name_of(vertices[at]).into(),
                found.entities.id_of(vertices[at]).into(),
                labels[at].to_string(),
                known[at].to_string(),
                masks[0][at].to_string(),
                masks[1][at].to_string(),
                masks[2][at].to_string(),
                inside[at].to_string(),
                scores[at].to_string(),
                shares[at].to_string(),
                distances[at].to_string(),
                clusters[at].to_string(),
            ];
            assert_eq!(row[..], expected);
        }
        let (_, rows) = same_in_every_format(folder.path(), |path| {
            found.with(|of| write_arcs(path, of, scope).unwrap());
        });
        let plain =
            arcs.iter().map(|arc| vec![arc.0.to_string(), arc.1.to_string(), arc.2.to_string()]);
        assert!(rows.into_iter().eq(plain));
    }
}

#[test]
fn splits_are_what_their_page_says() {
    // Computed with Python's hashlib.
    let expected = [
        (("user", "u0"), Split::Validation),
        (("merchant", "u0"), Split::Train),
        (("user", "u1"), Split::Train),
        (("merchant", "u1"), Split::Validation),
        (("user", "u7"), Split::Test),
        (("merchant", "u12"), Split::Test),
    ];
    for ((kind, id), split) in expected {
        assert_eq!(Split::of(kind, id), split, "{kind} {id}");
    }
    let count =
        |split| (0..10_000).filter(|id| Split::of("user", &id.to_string()) == split).count();
    assert!((7600..8400).contains(&count(Split::Train)));
    assert!((800..1200).contains(&count(Split::Validation)));
    assert!((800..1200).contains(&count(Split::Test)));
}

/// In doubles, a tenth three times over is not three tenths.
#[test]
fn a_ledger_has_sums_and_single_transactions_of_each_direction() {
    let at = |day: i64, second: i64| Timestamp(day * DAY + second * 1_000_000);
    let transfer = |source, target, time, amount| Transfer { source, target, time, amount };
    let runs = [
        vec![
            transfer(0, 1, at(0, 9), 10),
            transfer(1, 0, at(0, 5), 7),
            transfer(0, 1, at(0, 3), 10),
        ],
        vec![transfer(2, 3, at(1, 0), 1), transfer(2, 2, at(1, 0), 99)],
        vec![transfer(0, 1, at(2, 1), 10), transfer(0, 2, at(2, 1), u64::from(u32::MAX) << 17)],
    ];
    let runs = runs.map(|transfers| {
        DayAdjacency::of(transfers.clone(), transfers.len() as u64, true).unwrap()
    });
    let ledger = DaysLedger::new(&runs, Some(2));
    let flow = |count, units, first, last| {
        Some(Flow { count, amount: Some(Amount { units, decimals: 2 }), first, last })
    };
    assert_eq!(ledger.flow(0, 1), flow(3, 30, at(0, 3), at(2, 1)));
    assert_eq!(ledger.flow(0, 1).unwrap().amount.unwrap().to_string(), "0.30");
    assert_eq!(ledger.flow(1, 0), flow(1, 7, at(0, 5), at(0, 5)));
    assert_eq!(ledger.flow(2, 3), flow(1, 1, at(1, 0), at(1, 0)));
    assert_eq!(ledger.flow(0, 2).unwrap().amount.unwrap().to_string(), "5629499532902.40");
    for (from, to) in [(3, 2), (2, 2), (0, 3), (9, 3)] {
        assert_eq!(ledger.flow(from, to), None);
        assert_eq!(ledger.newest(from, to, 9), []);
    }
    let times = |most| ledger.newest(0, 1, most).iter().map(|p| p.time).collect::<Vec<_>>();
    assert_eq!(times(9), [at(2, 1), at(0, 9), at(0, 3)]);
    assert_eq!(times(2), [at(2, 1), at(0, 9)]);
    let bare = DayAdjacency::of(vec![transfer(0, 1, at(4, 0), 0)], 1, false).unwrap();
    let ledger = DaysLedger::new([&bare], None);
    assert_eq!(ledger.flow(0, 1).unwrap().amount, None);
    assert_eq!(ledger.newest(0, 1, 1), [Payment { time: at(4, 0), amount: None }]);
}

proptest! {
    /// The payments are counted one by one, without any order.
    #[test]
    fn flows_to_many_are_those_to_each(
        days in vec(vec((0..6u32, 0..40u32, 0..90_000i64, 1..1000u64), 0..120), 1..4),
        wanted in btree_set(0..44u32, 0..20),
    ) {
        let days: Vec<Vec<Transfer>> = (0..).zip(days).map(|(day, transfers)| {
            let transfer = |(source, target, second, amount)| {
                let time = Timestamp(day * DAY + second * 960_000);
                Transfer { source, target, time, amount }
            };
            transfers.into_iter().map(transfer).collect()
        }).collect();
        let run = |transfers: &Vec<Transfer>| DayAdjacency::of(transfers.clone(), transfers.len() as u64, true).unwrap();
        let runs: Vec<DayAdjacency> = days.iter().map(run).collect();
        let ledger = DaysLedger::new(&runs, Some(2));
        let wanted: Vec<u32> = wanted.into_iter().collect();
        for from in 0..44 {
            let expected: Vec<Option<Flow>> = wanted.iter().map(|&to| {
                let paid = days.iter().flatten().filter(|d| d.source != d.target);
                let paid: Vec<&Transfer> = paid.filter(|d| (d.source, d.target) == (from, to)).collect();
                let units = paid.iter().map(|transfer| transfer.amount).sum();
                Some(Flow {
                    count: paid.len() as u64,
                    amount: Some(Amount { units, decimals: 2 }),
                    first: paid.iter().map(|transfer| transfer.time).min()?,
                    last: paid.iter().map(|transfer| transfer.time).max()?,
                })
            }).collect();
            prop_assert_eq!(ledger.flows(from, &wanted), &*expected);
            let each: Vec<_> = wanted.iter().map(|&to| ledger.flow(from, to)).collect();
            prop_assert_eq!(each, expected);
        }
    }
}

/// Files for NumPy, pandas and pyarrow to read, where `RIPPLET_OUTPUTS` names a folder.
#[test]
fn files_for_others() {
    let Some(folder) = std::env::var_os("RIPPLET_OUTPUTS").map(PathBuf::from) else { return };
    let windows = synthetic_windows(60, 9);
    last(&windows).with(|of| {
        for extension in ["parquet", "arrow", "csv"] {
            let path = |name: &str| folder.join(format!("{name}.{extension}"));
            write_clusters(&path("clusters"), of).unwrap();
            write_members(&path("members"), of).unwrap();
            write_ended(&path("ended"), of).unwrap();
            write_edges(&path("edges"), of).unwrap();
            write_transactions(&path("transactions"), of).unwrap();
            write_nodes(&path("nodes"), of, GnnScope::Window).unwrap();
            write_arcs(&path("arcs"), of, GnnScope::Window).unwrap();
        }
        write_gnn(&folder.join("gnn.npz"), of, GnnScope::Window).unwrap();
    });
}
