//! `ripplet draw`: from a graph and its communities to a picture.

use crate::sandbox::{Sandbox, data};

const EDGES: &str = "ann bob\nbob cyd\ncyd ann\ndan eve\neve fay\nfay dan\ncyd dan\n";
const COMMUNITIES: &str = "ann a\nbob a\ncyd a\ndan d\neve d\nfay d\n";

fn sandbox() -> Sandbox {
    Sandbox::with([("g.txt", EDGES), ("c.txt", COMMUNITIES)])
}

#[test]
fn a_real_graph_from_file_to_page_and_picture() {
    let sandbox = Sandbox::new();
    let pgp = data("../examples/graphs/pgp.graph");
    let pgp = pgp.display();
    sandbox.ok(&format!("communities {pgp} -o c.tsv"));
    let said = sandbox.run(&format!("draw {pgp} c.tsv -o pgp.html"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("150 of "), "{said:?}");
    let page = sandbox.read("pgp.html");
    assert!(page.contains("Communities of pgp.graph") && page.contains("10,680 vertices"));
    assert!(page.len() < 2 << 20, "{} bytes", page.len());
    sandbox.ok(&format!("draw {pgp} c.tsv -o pgp.svg --largest 40"));
    assert_eq!(sandbox.read("pgp.svg").matches("<circle").count(), 40);
    // The bytes are the same on another number of threads.
    sandbox.ok(&format!("draw {pgp} c.tsv -o again.html --threads 1"));
    assert!(sandbox.read("again.html") == page);
}

#[test]
fn names_title_and_standard_output() {
    let sandbox = sandbox();
    let svg = sandbox.ok("draw g.txt c.txt -o - --to svg --title Friends");
    assert!(svg.starts_with("<svg") && svg.contains(">Friends<"), "{svg}");
    assert!(svg.contains("ann, bob, cyd: 3 members, weight 3 within, 1 to others"), "{svg}");
    assert!(svg.contains("<title>Community a: ann, bob, cyd: 3 members"), "{svg}");
    let page = sandbox.ok("draw g.txt c.txt -o - --to html");
    assert!(page.contains("\"name\":\"a\"") && page.contains("\"name\":\"d\""));
    assert!(page.contains("Communities of g.txt") && page.contains("\"ann\",\"bob\",\"cyd\""));
}

#[test]
fn weights_have_their_unit() {
    let sandbox = Sandbox::with([("g.csv", "source,target,weight\na,b,0.5\nb,c,0.25\n")]);
    sandbox.write("c.csv", "id,community\na,1\nb,1\nc,2\n");
    let svg = sandbox.ok("draw g.csv c.csv -o - --to svg --weighted");
    assert!(svg.contains("a, b: 2 members, weight 0.5 within, 0.25 to others"), "{svg}");
}

#[test]
fn vertices_in_no_community_are_counted() {
    let sandbox = sandbox();
    sandbox.write("some.txt", "ann a\nbob a\ndan d\neve d\nfay d\n");
    let said = sandbox.run("draw g.txt some.txt -o g.svg");
    let expected = "drew 2 communities, without the vertex that is in none; see g.svg";
    assert!(said.error.contains(expected), "{said:?}");
}

#[test]
fn wrong_arguments_leave_nothing() {
    let sandbox = sandbox();
    sandbox.fails("draw g.txt c.txt -o g.svg --largest 0", 2, &["--largest", "1 or above"]);
    sandbox.fails("draw g.txt c.txt -o g.html --to svg", 2, &["another kind of picture"]);
    sandbox.write("other.txt", "no-such-vertex a\n");
    sandbox.fails("draw g.txt c.txt -o picture.png", 2, &["picture.png", "--to html"]);
    sandbox.fails("draw g.txt c.txt -o -", 2, &["--to html"]);
    sandbox.fails("draw - - -o a.svg", 2, &["only one of the files"]);
    sandbox.fails("draw g.txt c.txt -o c.txt --to svg", 2, &["named twice"]);
    sandbox.fails("draw g.txt c.txt -o none/a.svg", 2, &["does not exist"]);
    sandbox.fails("draw g.txt c.txt -o a.svg --largest 1001", 2, &["at most 1000 communities"]);
    sandbox.fails("draw g.txt c.txt -o a.html --members 501", 2, &["at most 500 members"]);
    sandbox.fails("draw g.txt other.txt -o a.svg", 2, &["other.txt"]);
    sandbox.fails("draw g.txt none.txt -o a.svg", 2, &["none.txt"]);
}

#[cfg(unix)]
#[test]
fn a_batch_is_refused_with_how_to_take_one_graph_out() {
    let sandbox = sandbox();
    std::fs::create_dir(sandbox.path("folder")).unwrap();
    sandbox.write("folder/g.txt", "ann bob\n");
    sandbox.ok("convert folder g.swarm");
    sandbox.write("g.tar.gz", "");
    for (input, help) in [
        ("folder", "name one of the files in the folder"),
        ("g.tar.gz", "unpack the archive"),
        ("g.swarm", "to a file of their own"),
    ] {
        let said = sandbox.fails(&format!("draw {input} c.txt -o g.svg"), 2, &[help]);
        assert!(said.error.contains("many graphs"), "{said:?}");
        sandbox.fails(&format!("quality {input} c.txt"), 2, &[help]);
    }
}

#[test]
fn a_disk_that_is_full_leaves_nothing() {
    let sandbox = sandbox();
    let before = sandbox.names();
    let said = sandbox.run_with_blocks(8, "draw g.txt c.txt -o a.html");
    said.must_fail("a full disk", 1, &["a.html", "nothing of it was left behind"]);
    assert_eq!(sandbox.names(), before);
}
