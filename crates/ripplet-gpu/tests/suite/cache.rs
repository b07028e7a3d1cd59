//! The cache of compiled kernels: with any folder, and with other processes.

use ripplet_gpu::Version;
use ripplet_gpu::cache::{Cache, Compiled, Key, with_lock};
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

const NVRTC: Version = Version { major: 13, minor: 0 };
const NEWER: Version = Version { major: 13, minor: 2 };

fn any(_: &Compiled) -> bool {
    true
}

fn key(text: &str) -> Key {
    Key::new(text, &["--std=c++17"], (9, 0))
}

/// Code that hardly deflates.
fn compiled(nvrtc: Version, byte: u8) -> Compiled {
    let code = (0..10_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 19) as u8 ^ byte);
    Compiled { nvrtc, code: code.collect() }
}

struct Folder {
    _temporary: TempDir,
    cache: Cache,
}

impl Folder {
    fn new() -> Folder {
        let temporary = tempfile::tempdir().expect("a folder");
        let cache = Cache::at(temporary.path().join("not/yet/there"));
        Folder { _temporary: temporary, cache }
    }

    fn files(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache.folder()).expect("a folder");
        entries.map(|entry| entry.expect("an entry").path()).collect()
    }

    fn only_file(&self) -> PathBuf {
        let mut files = self.files();
        assert_eq!(files.len(), 1, "{files:?}");
        files.remove(0)
    }
}

#[test]
fn what_is_stored_is_found() {
    let folder = Folder::new();
    let cache = &folder.cache;
    assert_eq!(cache.find(key("a"), Some(NVRTC), any), None);
    assert_eq!(cache.find(key("a"), None, any), None);
    cache.store(key("a"), &compiled(NVRTC, 1)).expect("it is stored");
    cache.store(key("b"), &compiled(NVRTC, 2)).expect("it is stored");
    assert_eq!(cache.find(key("a"), Some(NVRTC), any), Some(compiled(NVRTC, 1)));
    assert_eq!(cache.find(key("b"), Some(NVRTC), any), Some(compiled(NVRTC, 2)));
    assert_eq!(cache.find(key("c"), Some(NVRTC), any), None);
    let empty = Compiled { nvrtc: NVRTC, code: Vec::new() };
    cache.store(key("c"), &empty).expect("it is stored");
    assert_eq!(cache.find(key("c"), Some(NVRTC), any), Some(empty));
}

#[test]
fn versions_are_kept_apart_and_needed_by_none() {
    let folder = Folder::new();
    let cache = &folder.cache;
    cache.store(key("a"), &compiled(NVRTC, 1)).expect("it is stored");
    assert_eq!(cache.find(key("a"), Some(NEWER), any), None, "a newer NVRTC compiles anew");
    cache.store(key("a"), &compiled(NEWER, 2)).expect("it is stored");
    assert_eq!(cache.find(key("a"), Some(NVRTC), any), Some(compiled(NVRTC, 1)));
    assert_eq!(cache.find(key("a"), Some(NEWER), any), Some(compiled(NEWER, 2)));
    assert_eq!(cache.find(key("a"), None, any), Some(compiled(NEWER, 2)), "the newest");
    let older = |compiled: &Compiled| compiled.nvrtc <= NVRTC;
    assert_eq!(cache.find(key("a"), None, older), Some(compiled(NVRTC, 1)), "the newest accepted");
    assert_eq!(cache.find(key("a"), Some(NEWER), older), None);
    assert_eq!(cache.find(key("b"), None, any), None);
}

#[test]
fn keys_tell_text_options_and_architecture_apart() {
    let keys = [
        Key::new("text", &["-a", "-b"], (9, 0)),
        Key::new("text ", &["-a", "-b"], (9, 0)),
        Key::new("text", &["-b", "-a"], (9, 0)),
        Key::new("text", &["-a-b"], (9, 0)),
        Key::new("text", &["-a"], (9, 0)),
        Key::new("-b\0text", &["-a"], (9, 0)),
        Key::new("text", &["-a", "-b"], (8, 9)),
        Key::new("text", &[], (9, 0)),
        Key::new("", &[], (9, 0)),
    ];
    for (at, key) in keys.iter().enumerate() {
        assert!(!keys[..at].contains(key), "{at}");
    }
}

#[test]
fn a_damaged_file_is_none_and_is_replaced() {
    let folder = Folder::new();
    let whole = compiled(NVRTC, 7);
    folder.cache.store(key("a"), &whole).expect("it is stored");
    let path = folder.only_file();
    let bytes = fs::read(&path).expect("a file");
    let is_none = |damaged: &[u8], what: &str| {
        fs::write(&path, damaged).expect("written");
        assert_eq!(folder.cache.find(key("a"), Some(NVRTC), any), None, "{what}");
        assert_eq!(folder.cache.find(key("a"), None, any), None, "{what}, without NVRTC");
    };
    for length in (0..100).chain([bytes.len() / 2, bytes.len() - 1]) {
        is_none(&bytes[..length], &format!("cut to {length}"));
    }
    // Every bit of the header, and some of the code.
    for bit in (0..8 * 100).chain((800..8 * bytes.len()).step_by(997)) {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        is_none(&flipped, &format!("bit {bit} flipped"));
    }
    is_none(&[&bytes[..], b"more"].concat(), "longer");
    is_none(b"a file of another program", "foreign");
    folder.cache.store(key("b"), &whole).expect("it is stored");
    let other = folder.files().into_iter().find(|file| *file != path).expect("another file");
    is_none(&fs::read(other).expect("a file"), "of another key");

    folder.cache.store(key("a"), &whole).expect("it is stored");
    assert_eq!(folder.cache.find(key("a"), Some(NVRTC), any), Some(whole));
}

#[test]
fn a_folder_in_the_place_of_a_file_is_none() {
    let folder = Folder::new();
    folder.cache.store(key("a"), &compiled(NVRTC, 7)).expect("it is stored");
    let path = folder.only_file();
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("made");
    assert_eq!(folder.cache.find(key("a"), Some(NVRTC), any), None);
    assert!(folder.cache.store(key("a"), &compiled(NVRTC, 7)).is_err());
    assert_eq!(folder.only_file(), path, "nothing is left beside it");
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let temporary = tempfile::tempdir().expect("a folder");
    let file = temporary.path().join("file");
    fs::write(&file, "not a folder").expect("written");
    for folder in [file.clone(), file.join("below")] {
        let cache = Cache::at(folder);
        assert!(cache.store(key("a"), &compiled(NVRTC, 1)).is_err());
        assert_eq!(cache.find(key("a"), Some(NVRTC), any), None);
        assert_eq!(cache.find(key("a"), None, any), None);
    }
    assert_eq!(fs::read_to_string(file).expect("a file"), "not a folder");
}

#[test]
fn what_was_used_last_is_kept() {
    let folder = Folder::new();
    let cache = &folder.cache;
    cache.store(key("used"), &compiled(NVRTC, 0)).expect("it is stored");
    let long_ago = SystemTime::now() - Duration::from_secs(1_000_000);
    for number in 0..1023_u32 {
        cache.store(key(&number.to_string()), &compiled(NVRTC, 1)).expect("it is stored");
    }
    for path in folder.files() {
        let file = fs::File::options().append(true).open(path).expect("a file");
        file.set_modified(long_ago).expect("set");
    }
    assert!(cache.find(key("used"), Some(NVRTC), any).is_some());
    assert_eq!(folder.files().len(), 1024);
    for number in 1000..1010_u32 {
        cache.store(key(&number.to_string()), &compiled(NVRTC, 2)).expect("it is stored");
    }
    assert_eq!(folder.files().len(), 1024);
    assert!(cache.find(key("used"), Some(NVRTC), any).is_some());
    for number in 1000..1010_u32 {
        assert!(cache.find(key(&number.to_string()), Some(NVRTC), any).is_some());
    }
}

#[test]
fn what_ended_processes_left_is_removed_and_nothing_else() {
    let folder = Folder::new();
    folder.cache.store(key("a"), &compiled(NVRTC, 0)).expect("it is stored");
    let put = |name: &str, age: u64| {
        let path = folder.cache.folder().join(name);
        fs::write(&path, "half").expect("written");
        let file = fs::File::options().append(true).open(&path).expect("a file");
        file.set_modified(SystemTime::now() - Duration::from_secs(age)).expect("set");
        path
    };
    let (left, in_use) = (put("left.part", 1_000_000), put("in-use.part", 1));
    let foreign = put("foreign.txt", 1_000_000);
    folder.cache.store(key("b"), &compiled(NVRTC, 0)).expect("it is stored");
    assert!(!left.exists());
    assert!(in_use.exists());
    assert!(foreign.exists());
}

/// Variable with the folder of `many_processes_share_a_folder`.
const SHARED: &str = "RIPPLET_TEST_SHARED_CACHE";

/// Stores and finds until every key was found; each code is whole.
fn hammer(cache: &Cache) {
    for round in 0..60_u8 {
        let name = (round % 5).to_string();
        if let Some(found) = cache.find(key(&name), Some(NVRTC), any) {
            assert!(found == compiled(NVRTC, found.code[0]));
        }
        cache.store(key(&name), &compiled(NVRTC, round)).expect("it is stored");
        assert!(cache.find(key(&name), Some(NVRTC), any).is_some());
    }
}

#[test]
fn many_threads_share_a_folder() {
    let folder = Folder::new();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| hammer(&folder.cache));
        }
    });
    assert_eq!(folder.files().len(), 5, "no half file is left");
}

#[test]
fn many_processes_share_a_folder() {
    if let Some(folder) = std::env::var_os(SHARED) {
        return hammer(&Cache::at(folder.into()));
    }
    let folder = Folder::new();
    let this = std::env::current_exe().expect("this program");
    let start = |_| {
        Command::new(&this)
            .args(["cache::many_processes_share_a_folder", "--exact"])
            .env(SHARED, folder.cache.folder())
            .stdout(std::process::Stdio::null())
            .spawn()
            .expect("it starts")
    };
    let children: Vec<_> = (0..4).map(start).collect();
    for mut child in children {
        assert!(child.wait().expect("it ends").success());
    }
    assert_eq!(folder.files().len(), 5, "no half file is left");
}

#[test]
fn threads_take_turns_for_a_key_and_for_no_other() {
    let folder = Folder::new();
    let cache = &folder.cache;
    let meet = Barrier::new(2);
    let compiled_by = |text: &'static str| {
        with_lock(key(text), || {
            if cache.find(key(text), Some(NVRTC), any).is_some() {
                return 0;
            }
            // Threads of different keys wait for each other here, so they must run concurrently.
            meet.wait();
            cache.store(key(text), &compiled(NVRTC, 1)).expect("it is stored");
            1
        })
    };
    let total: u32 = thread::scope(|scope| {
        let threads = ["a", "a", "b", "a", "b", "b"];
        let threads = threads.map(|text| scope.spawn(move || compiled_by(text)));
        threads.into_iter().map(|thread| thread.join().expect("no panic")).sum()
    });
    assert_eq!(total, 2);
}
