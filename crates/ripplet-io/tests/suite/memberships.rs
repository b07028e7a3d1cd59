//! Memberships in communities: rows and lines of members, and their errors.

use proptest::prelude::*;
use ripplet_graph::{Names, VertexIds};
use ripplet_io::{Format, MembershipForm, Memberships, parse_memberships};

fn four() -> VertexIds {
    VertexIds::Consecutive { first: 1, count: 4 }
}

fn read(text: &[u8], form: MembershipForm, format: Format) -> Result<Memberships, String> {
    parse_memberships(text, form, format, &four()).map_err(|error| error.to_string())
}

#[test]
fn rows_may_be_of_one_vertex_or_of_none() {
    let found = read(b"id,community\n1,x\n3,y\n1,y\n1,x\n", MembershipForm::Rows, Format::Csv);
    let Memberships { memberships, names, .. } = found.unwrap();
    assert_eq!(memberships, [(0, 0), (2, 1), (0, 1), (0, 0)]);
    assert_eq!(names, ["x", "y"]);
    let strengths = read(b"1 5 0.25\n1 7 1\n", MembershipForm::Rows, Format::EdgeList).unwrap();
    assert_eq!((strengths.memberships.len(), strengths.names), (2, vec!["5".into(), "7".into()]));
    assert_eq!(read(b"", MembershipForm::Rows, Format::EdgeList), Ok(Memberships::default()));
}

#[test]
fn lines_are_communities_in_their_order() {
    let text = b"# SNAP\n1\t2\t3\r\n\n4 2\n";
    let found = read(text, MembershipForm::Members, Format::EdgeList).unwrap();
    assert_eq!(found.memberships, [(0, 0), (1, 0), (2, 0), (3, 1), (1, 1)]);
    assert_eq!(found.names, ["1", "2"]);
    let names = VertexIds::Names(Names::new(["ann lee", "bob"]));
    let by_tabs =
        parse_memberships(b"ann lee\tbob\n", MembershipForm::Members, Format::Tsv, &names);
    assert_eq!(by_tabs.unwrap().memberships, [(0, 0), (1, 0)]);
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    use MembershipForm::{Members, Rows};
    for (text, form, format, parts) in [
        (&b"1 a\n9 a\n"[..], Rows, Format::EdgeList, [":2: ", "`9` is no vertex"]),
        (b"1 a\n2\n", Rows, Format::EdgeList, [":2: ", "missing"]),
        (b"1 2\n3 x\n", Members, Format::EdgeList, [":2: ", "`x` is no vertex"]),
        (b"1 \xff\n", Members, Format::EdgeList, [":1: ", "not UTF-8"]),
        (b"1,\"2\n", Members, Format::Csv, [":1: ", "closing"]),
        (b"C1 1 2\n", Members, Format::EdgeList, [":1: ", "lines begin with a name: leave it out"]),
        (b"", Members, Format::Parquet, ["", "lines of members are text"]),
        (b"", Rows, Format::Metis, ["", "communities are read from"]),
    ] {
        let error = read(text, form, format).unwrap_err();
        assert!(parts.iter().all(|part| error.contains(part)), "{error}");
    }
}

proptest! {
    #[test]
    fn what_is_written_is_read_by_any_number_of_threads(
        communities in prop::collection::vec(prop::collection::vec(0u32..500, 1..40), 0..60),
    ) {
        let ids = VertexIds::Consecutive { first: 0, count: 500 };
        let lines: String = communities
            .iter()
            .map(|members| members.iter().map(u32::to_string).collect::<Vec<_>>().join("\t") + "\n")
            .collect();
        let rows: String = (0..)
            .zip(&communities)
            .flat_map(|(at, members): (u32, &Vec<u32>)| members.iter().map(move |v| format!("{v} c{at}\n")))
            .collect();
        let expected: Vec<(u32, u32)> =
            (0..).zip(&communities).flat_map(|(at, members)| members.iter().map(move |&v| (v, at))).collect();
        for (text, form) in [(lines, MembershipForm::Members), (rows, MembershipForm::Rows)] {
            for threads in [1, 3] {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                let read = || parse_memberships(text.as_bytes(), form, Format::EdgeList, &ids);
                let found = pool.install(read).unwrap();
                prop_assert_eq!(&found.memberships, &expected);
                prop_assert_eq!(found.names.len(), communities.len());
            }
        }
    }
}
