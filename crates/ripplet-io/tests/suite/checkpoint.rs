//! `.checkpoint`: what is written is what is opened, and nothing else is opened.

use crate::rgz::{mapped, resealed, word};
use proptest::prelude::*;
use ripplet_io::ReadError;
use ripplet_io::checkpoint::{self, SavedState, State, open, remove_leftovers, write};
use std::fs;
use std::path::Path;

fn written(state: &State<'_>) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.checkpoint");
    write(&path, state).unwrap();
    fs::read(path).unwrap()
}

fn opened(bytes: &[u8]) -> Result<SavedState, ReadError> {
    checkpoint::from_bytes(mapped(bytes), Path::new("x.checkpoint"))
}

fn example() -> State<'static> {
    State {
        run: "program\tlpa\n",
        rounds: &[1, 2, 3],
        labels: &[0, 0, u32::MAX],
        active: &[0b101],
        columns: &[&[1, 2, 3, 4, 5, 6], &[7, 8, 9]],
    }
}

#[track_caller]
fn assert_is(kept: &SavedState, state: &State<'_>) {
    assert_eq!(kept.run, state.run);
    assert_eq!((&*kept.rounds, &*kept.labels), (state.rounds, state.labels));
    assert_eq!(&*kept.active, state.active);
    assert!(kept.columns.iter().map(|values| &**values).eq(state.columns.iter().copied()));
}

proptest! {
    #[test]
    fn what_is_written_is_opened(
        run in ".*",
        rounds in prop::collection::vec(any::<u64>(), 0..30),
        labels in prop::collection::vec(any::<u32>(), 0..300),
        active in prop::collection::vec(any::<u64>(), 0..10),
        columns in prop::collection::vec(prop::collection::vec(any::<u32>(), 0..50), 0..4),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.checkpoint");
        let columns: Vec<&[u32]> = columns.iter().map(|values| &**values).collect();
        let state =
            State { run: &run, rounds: &rounds, labels: &labels, active: &active, columns: &columns };
        write(&path, &state).unwrap();
        assert_is(&open(&path).unwrap(), &state);
    }

    #[test]
    fn other_values_under_right_checksums_never_panic(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u64>()), 1..4),
    ) {
        let mut bytes = written(&example());
        for (at, value) in changes {
            let at = at.index(bytes.len() / 8) * 8;
            let value = if value % 3 == 0 { value % 50 } else { value };
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let _ = opened(&resealed(bytes));
    }
}

#[test]
fn arrays_of_many_blocks() {
    let labels: Vec<u32> = (0..700_000).collect();
    let state = State { labels: &labels, ..example() };
    let bytes = written(&state);
    assert!(bytes.len() > 2 << 20);
    assert_is(&opened(&bytes).unwrap(), &state);
}

#[test]
fn every_flipped_byte_every_cut_and_every_tail_is_an_error() {
    let bytes = written(&example());
    assert_is(&opened(&bytes).unwrap(), &example());
    for at in 0..bytes.len() {
        for flip in [0x01, 0x80, 0xff] {
            let mut bytes = bytes.clone();
            bytes[at] ^= flip;
            assert!(opened(&bytes).is_err(), "byte {at} flipped by {flip:#x}");
        }
        assert!(opened(&bytes[..at]).is_err(), "cut to {at}");
    }
    for tail in [1, 4, 64, 1 << 21] {
        let mut bytes = bytes.clone();
        bytes.resize(bytes.len() + tail, 0);
        assert!(opened(&bytes).is_err(), "a tail of {tail}");
    }
}

#[test]
fn absurd_sizes_are_refused_without_memory_for_them() {
    let bytes = written(&example());
    let end = bytes.len() - 64;
    let index = word(&bytes, end);
    for at in (64..64 + 128).step_by(8).chain((index..end + 48).step_by(8)) {
        for value in [u64::MAX, u64::MAX / 2, 1 << 40, u64::MAX - 63] {
            let mut bytes = bytes.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            assert!(opened(&resealed(bytes)).is_err(), "{value} at {at}");
        }
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let bytes = written(&example());
    let with = |at: usize, value: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = value;
        opened(&bytes).unwrap_err().to_string()
    };
    assert!(with(0, b'P').contains("not a checkpoint file"));
    assert!(with(8, 9).contains("version 9"));
    let damaged = with(64 + 200, 77);
    assert!(
        damaged.starts_with("x.checkpoint at byte 64: the state: the bytes up to"),
        "{damaged}"
    );
    assert!(opened(&bytes[..150]).unwrap_err().to_string().contains("cut short"));
}

#[test]
fn leftovers_are_removed_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let bytes = written(&example());
    fs::write(place(".ripplet-1-0.part"), &bytes[..100]).unwrap();
    fs::write(place(".ripplet-1-1.part"), b"").unwrap();
    for other in ["a.checkpoint", "b.part", ".ripplet-1-2.part"] {
        fs::write(place(other), b"another's").unwrap();
    }
    fs::create_dir(place(".ripplet-1-3.part")).unwrap();
    remove_leftovers(folder.path()).unwrap();
    let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, [".ripplet-1-2.part", ".ripplet-1-3.part", "a.checkpoint", "b.part"]);
    assert!(remove_leftovers(&place("nowhere")).is_err());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let error = write(Path::new("/dev/full"), &example()).unwrap_err();
    assert_eq!(error.source.kind(), std::io::ErrorKind::StorageFull);
}
