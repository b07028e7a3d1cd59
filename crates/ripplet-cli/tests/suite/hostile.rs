//! Inputs that mean harm, or look as if: each is answered with a sentence, or done as it says.

use crate::sandbox::Sandbox;

/// One cent beside a thousand million and a half: 37 bits, where 32 are stored.
const COARSE: &str = "source,target,weight\na,b,0.01\nb,c,1000000000.5\n";
/// The same in one graph of a table of two.
const COARSE_GRAPHS: &str =
    "graph,source,target,weight\nfine,a,b,0.5\nrough,a,b,0.01\nrough,b,c,1000000000.5\n";

#[test]
fn weights_that_would_change_by_more_than_a_hundredth_are_refused() {
    let sandbox = Sandbox::with([("w.csv", COARSE), ("many.csv", COARSE_GRAPHS)]);
    let told = ["1 of 2 weights", "0.01 to 0.25", "--coarse-weights"];
    for command in [
        "convert w.csv out.csv",
        "communities w.csv -o out.csv",
        "pagerank w.csv -o out.csv",
        "closeness w.csv -o out.csv",
        "quality w.csv w.csv",
        "info w.csv",
    ] {
        sandbox.fails(&format!("{command} --weighted"), 2, &told);
    }
    let graphs = ["graph rough", "0.01 to 0.25", "--coarse-weights"];
    sandbox.fails("convert many.csv out.swarm --batch --weighted", 2, &graphs);
    sandbox.fails("apsp many.csv --batch --weighted -o out.csv", 2, &graphs);
}

#[test]
fn coarse_weights_are_taken_if_asked_and_counted() {
    let sandbox = Sandbox::with([("w.csv", COARSE), ("many.csv", COARSE_GRAPHS)]);
    for command in ["convert w.csv out.csv", "communities w.csv -o out.csv --quiet"] {
        let said = sandbox.run(&format!("{command} --weighted --coarse-weights"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.error.contains("note: 1 of 2 weights changed"), "{said:?}");
        assert!(said.error.contains("2.40e3 % (0.01 to 0.25)"), "{said:?}");
    }
    let said = sandbox.run("convert many.csv out.swarm --batch --weighted --coarse-weights");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("note: 1 of 3 weights changed"), "{said:?}");
    sandbox.fails("convert w.csv o.rg --coarse-weights", 2, &["--weighted"]);
    sandbox.ok("convert w.csv o.rg --weighted --coarse-weights");
    let late = "convert o.rg o2.csv --weighted --coarse-weights";
    sandbox.fails(late, 2, &["--coarse-weights comes too late"]);
}

#[test]
fn small_losses_are_noted_and_cents_are_exact() {
    let small = "source,target,weight\na,b,0.0123456789\nb,c,1000.5\n";
    let cents = "source,target,weight\na,b,0.01\nb,c,42949672.95\nc,d,19.99\n";
    let sandbox = Sandbox::with([("small.csv", small), ("cents.csv", cents)]);
    let said = sandbox.run("convert small.csv out.csv --weighted");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.error.contains("1 of 2 weights changed"), "{said:?}");
    for stored in ["cents.rg", "cents.rgz", "out.csv"] {
        let said = sandbox.run(&format!("convert cents.csv {stored} --weighted"));
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(!said.error.contains("changed"), "{said:?}");
        sandbox.ok(&format!("convert {stored} back.csv --weighted"));
        let back = sandbox.read("back.csv");
        for line in ["a,b,0.01\n", "b,c,42949672.95\n", "c,d,19.99\n"] {
            assert!(back.contains(line), "{stored}: {back}");
        }
    }
    // Sums of repeated edges, too.
    sandbox.write("sums.csv", "source,target,weight\na,b,0.1\na,b,0.2\nb,c,9000000.01\n");
    let sums = sandbox.ok("convert sums.csv - --weighted --to csv");
    assert!(sums.contains("a,b,0.3\n"), "{sums}");
}
