//! Outputs appear atomically.

use ripplet_graph::VertexIds;
use ripplet_io::write::{
    AtomicFile, Communities, Naming, SyncedTogether, remove_unfinished, whole_file,
    write_communities,
};
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn a_file_appears_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    fs::write(&path, "old").unwrap();
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    file.flush().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"old");
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(files(folder.path()), [path]);
}

#[test]
fn files_that_are_synced_together_appear_as_others_do() {
    let folder = tempfile::tempdir().unwrap();
    let together = SyncedTogether::begin(folder.path());
    let all = ["a.txt", "b.txt"].map(|name| folder.path().join(name));
    for path in &all {
        whole_file(path, |out| out.write_all(b"whole")).unwrap();
        assert_eq!(fs::read(path).unwrap(), b"whole");
    }
    // A folder of its own in it, also one of the same name, has nothing to do with it.
    let inside = folder.path().join("inside");
    fs::create_dir(&inside).unwrap();
    whole_file(&inside.join("c.txt"), |out| out.write_all(b"whole")).unwrap();
    together.sync().unwrap();
    assert_eq!(files(folder.path()), [all[0].clone(), all[1].clone(), inside.clone()]);

    let gone = SyncedTogether::begin(&inside);
    fs::remove_dir_all(&inside).unwrap();
    assert_eq!(gone.sync().unwrap_err().kind(), io::ErrorKind::NotFound);
}

#[test]
fn what_fails_leaves_all_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    for (name, old) in [("new.txt", None), ("old.txt", Some("old"))] {
        let path = folder.path().join(name);
        old.iter().for_each(|old| fs::write(&path, old).unwrap());
        let before = files(folder.path());
        let error = whole_file(&path, |out| {
            out.write_all(&[b'x'; 1 << 20])?;
            Err(io::ErrorKind::StorageFull.into())
        });
        assert!(error.unwrap_err().to_string().contains(name));
        assert_eq!(files(folder.path()), before);
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), old);
    }
}

#[test]
fn a_panic_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let result = std::panic::catch_unwind(|| whole_file(&path, |_| panic!("on purpose")));
    assert!(result.is_err());
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_missing_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("missing").join("out.txt");
    let error = AtomicFile::create(&path).unwrap_err().to_string();
    assert!(error.contains("missing does not exist: create it"), "{error}");
    assert!(AtomicFile::create(folder.path()).is_err(), "a folder is no file");
    assert!(AtomicFile::create(Path::new("")).is_err(), "no name is no file");
    assert!(AtomicFile::create(Path::new("/")).is_err());
    assert!(files(folder.path()).is_empty());
}

/// Removing all unfinished files removes those of other tests, too: it takes a process of its own.
#[test]
fn unfinished_files_are_removed_in_a_process_of_its_own() {
    let name = "atomic_file::unfinished_files_are_removed_and_none_begins_meanwhile";
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    let output = alone.args(["--ignored", "--exact", name]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
#[ignore = "run by the test above, alone"]
fn unfinished_files_are_removed_and_none_begins_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.txt");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"half").unwrap();
    assert_eq!(files(folder.path()).len(), 1);
    let stopped = remove_unfinished();
    assert!(files(folder.path()).is_empty());
    std::thread::scope(|scope| {
        let later = scope.spawn(|| AtomicFile::create(&folder.path().join("later.txt")).is_ok());
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(files(folder.path()).is_empty(), "as long as outputs are stopped");
        drop(stopped);
        assert!(later.join().unwrap());
    });
    assert!(file.commit().is_err(), "its temporary file is gone");
    assert!(files(folder.path()).is_empty());
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn a_full_device_is_an_error() {
        let full = Path::new("/dev/full");
        if !full.exists() {
            return; // only some systems have one
        }
        let ids = VertexIds::Consecutive { first: 0, count: 3 };
        let link = tempfile::tempdir().unwrap();
        let link = link.path().join("full.txt");
        symlink(full, &link).unwrap();
        let error =
            write_communities(&link, &ids, &Communities::of_all(&[0, 0, 2]), Naming::VertexId)
                .unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull, "{error}");
        assert!(fs::metadata(full).unwrap().file_type().is_char_device(), "not replaced");
    }

    #[test]
    fn a_device_is_written_and_stays() {
        whole_file(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }

    #[test]
    fn a_link_stays_and_the_file_behind_it_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        whole_file(&link, |out| out.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn what_may_not_be_written_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (path, kept) = (folder.path().join("new"), folder.path().join("kept"));
        fs::write(&kept, "kept").unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        let permitted = fs::write(folder.path().join("probe"), "").is_ok();
        for path in [&path, &kept] {
            let written = whole_file(path, |out| out.write_all(b"x"));
            // Root is refused nothing.
            assert_eq!(written.is_ok(), permitted);
            assert!(
                written.err().is_none_or(|e| e.source.kind() == io::ErrorKind::PermissionDenied)
            );
        }
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert!(permitted || fs::read(&kept).unwrap() == b"kept");
    }
}
