//! Tables in parts: nothing of one that fails is left.

use ripplet_graph::VertexIds;
use ripplet_io::Format;
use ripplet_io::write::{
    Communities, Naming, PartRecord, TableParts, Target, write_communities_part,
};
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

const IDS: VertexIds = VertexIds::Consecutive { first: 10, count: 3 };

/// Two processes that have written their parts, of two rows and one.
fn written(target: Target<'_>) -> [(TableParts, PartRecord); 2] {
    let communities = Communities::of_all(&[0, 0, 2]);
    let write = |mut parts: TableParts, number, vertices| {
        let own = (number, vertices);
        let record =
            write_communities_part(&mut parts, own, &IDS, &communities, Naming::Consecutive);
        (parts, record.unwrap())
    };
    let first = TableParts::begin(target).unwrap();
    let other = TableParts::join(target, &first.token(), 1).unwrap();
    [write(first, 0, 0..2), write(other, 1, 2..3)]
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_folder_appears_when_it_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out/");
    let [(mut first, own), (mut other, others)] = written(Target::new(&path, Some(Format::Tsv)));
    assert_eq!(PartRecord::parse(&others.to_line()).as_ref(), Some(&others));
    assert_eq!((own.rows, others.rows, others.bytes), (2, 1, 18));
    first.commit().unwrap();
    other.commit().unwrap();
    assert!(!path.exists());
    other.leave();
    first.finish(vec![own, others]).unwrap();
    assert_eq!(names(folder.path()), ["out"]);
    // Numbers of communities are those of all rows.
    let part = fs::read_to_string(path.join("part-00001.tsv")).unwrap();
    assert_eq!(part, "id\tcommunity\n12\t1\n");
}

#[test]
fn what_is_not_finished_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out/");
    let target = Target::new(&path, None);
    // Before and after parts are committed, in both orders.
    for (commits, first_ends_first) in [(false, true), (false, false), (true, true), (true, false)]
    {
        let [(mut first, _), (mut other, _)] = written(target);
        assert_eq!(names(folder.path()).len(), 1);
        if commits {
            first.commit().unwrap();
            other.commit().unwrap();
        }
        match first_ends_first {
            true => drop((first, other)),
            false => drop((other, first)),
        }
        assert_eq!(names(folder.path()), [""; 0]);
    }
    // The folder appears meanwhile.
    let [(mut first, own), (mut other, others)] = written(target);
    first.commit().unwrap();
    other.commit().unwrap();
    other.leave();
    fs::create_dir(&path).unwrap();
    let error = first.finish(vec![own, others]).unwrap_err();
    assert!(error.to_string().contains("a folder of this name exists already"), "{error}");
    assert_eq!(names(folder.path()), ["out"]);
    assert_eq!(names(&path), [""; 0]);
}

#[test]
fn a_process_that_does_not_see_the_folder_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out/");
    let error = TableParts::join(Target::new(&path, None), ".ripplet-1-1.part", 1).unwrap_err();
    assert_eq!(error.source.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains("this one does not see it"), "{error}");
    let file = folder.path().join("out");
    let error = TableParts::begin(Target::new(&file, Some(Format::Csv))).unwrap_err();
    assert!(error.to_string().contains("end its name with /"), "{error}");
    assert_eq!(names(folder.path()), [""; 0]);
}
