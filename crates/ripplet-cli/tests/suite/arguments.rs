//! Contradicting arguments are refused before the run, with the change to make.

use crate::sandbox::{Said, Sandbox};

fn sandbox() -> Sandbox {
    Sandbox::with([("a.txt", "1 2 1\n2 3 1\n")])
}

#[test]
fn what_cdlp_is_not() {
    for (flags, parts) in [
        ("--schedule phased", ["synchronous", "use --schedule sync"]),
        ("--schedule async", ["synchronous", "use --schedule sync"]),
        ("--weighted", ["unweighted", "leave --weighted out"]),
        ("--guard 1", ["guard", "leave --guard out"]),
        ("--tolerance 0.1", ["fixed number", "use --iterations"]),
        ("--max-iterations 3", ["fixed number", "use --iterations"]),
    ] {
        sandbox().fails(&format!("communities a.txt -o b.txt --program cdlp {flags}"), 2, &parts);
    }
    sandbox().ok("communities a.txt -o b.txt --program cdlp --schedule sync --iterations 3");
}

#[test]
fn values_that_are_not_there() {
    for (flags, parts) in [
        ("--device cuda:0,0", ["GPU 0 is named twice", "--device"]),
        ("--device cuda:0,", ["expected auto, cpu, cuda, cuda:N", "--device"]),
        ("--device tpu", ["expected auto, cpu, cuda, cuda:N", "--device"]),
        ("--device cuda:", ["expected auto, cpu, cuda, cuda:N", "--device"]),
        ("--device cuda:-1", ["expected auto, cpu, cuda, cuda:N", "--device"]),
        ("--device cuda:+1", ["expected auto, cpu, cuda, cuda:N", "--device"]),
        ("--device cuda:99999999999999999999", ["expected auto, cpu, cuda", "--device"]),
        ("--device-memory lots", ["8GiB", "--device-memory"]),
        ("--device cpu --device-memory 1GiB", ["is for a GPU", "leave --device-memory out"]),
        ("--program lp", ["lpa", "cdlp"]),
        ("--counter mg", ["expected auto, exact, bm, or mg:K", "--counter"]),
        (
            "--counter mg:0",
            ["<COUNTER>': a Misra-Gries sketch has 1 to 32 slots, not 0", "--counter"],
        ),
        ("--counter mg:33", ["has 1 to 32 slots, not 33", "--counter"]),
        ("--counter mg:8:thrice", ["expected auto, exact, bm, or mg:K", "--counter"]),
        ("--pick-less 0", ["0 is not in 1..", "--pick-less"]),
        ("--pick-less 8", ["this one is phased", "--schedule async"]),
        ("--preset nu-mg9", ["nu-mg8", "--preset"]),
        ("--preset nu-bm --counter bm", ["--preset", "--counter"]),
        ("--preset nu-bm --gamma 2", ["--gamma", "llp"]),
        ("--storage packed", ["--storage", "packed"]),
        ("--schedule phases", ["phased", "--schedule"]),
        ("--threads 0", ["0", "--threads"]),
        ("--threads 5000", ["5000", "--threads"]),
        ("--phases 0", ["0", "--phases"]),
        ("--tolerance 1.5", ["from 0 to 1", "--tolerance"]),
        ("--tolerance NaN", ["from 0 to 1", "--tolerance"]),
        ("--tolerance -0.5", ["from 0 to 1", "--tolerance"]),
        ("--guard -1", ["0 (plain label propagation) to 65535", "--guard"]),
        ("--guard x", ["expected a number", "--guard"]),
        ("--host-memory lots", ["8GiB", "--host-memory"]),
        ("--host-memory -1", ["8GiB", "--host-memory"]),
        ("--program cdlp --phases 4", ["phased", "leave --phases out: cdlp is synchronous"]),
        ("--columns a", ["SOURCE,TARGET", "--columns"]),
        ("--columns a,", ["empty", "--columns"]),
        ("--from xlsx", ["edgelist", "--from"]),
        ("--iterations 3 --tolerance 0.1", ["--iterations", "--tolerance"]),
        ("--iterations 3 --max-iterations 4", ["--iterations", "--max-iterations"]),
        ("--iterationz 3", ["--iterationz", "--iterations"]),
        ("--seed -1", ["a seed is a whole number from 0", "--seed"]),
        ("--seed 1.5", ["a seed is a whole number from 0", "--seed"]),
    ] {
        sandbox().fails(&format!("communities a.txt -o b.txt {flags}"), 2, &parts);
    }
    sandbox().fails("communities a.txt", 2, &["--output"]);
    sandbox().fails("community a.txt", 2, &["communities"]);
}

#[test]
fn flags_that_would_be_ignored() {
    let sandbox = sandbox();
    sandbox.ok("convert a.txt a.rg");
    sandbox.ok("convert a.txt a.rgz");
    for (run, parts) in [
        ("communities a.txt -o b.txt --schedule sync --phases 4", ["--phases", "phased"]),
        ("communities a.rg -o b.txt --keep-loops", ["finished graph", "convert"]),
        ("communities a.rg -o b.txt --ids names", ["finished graph", "convert"]),
        ("communities a.rg -o b.txt --columns a,b", ["finished graph", "convert"]),
        ("quality a.rg a.txt --keep-duplicates", ["finished graph", "convert"]),
        ("communities a.rg -o b.txt --directed", ["a.rg", "stored undirected"]),
        ("communities a.rg -o b.txt --weighted", ["a.rg", "stored without weights"]),
        ("communities a.rgz -o b.txt --keep-loops", ["finished graph", "convert"]),
        ("communities a.rgz -o b.txt --directed", ["a.rgz", "stored undirected"]),
        ("lcc a.rgz -o b.txt --ids names", ["finished graph", "convert"]),
        ("quality a.rgz a.txt --weighted", ["a.rgz", "stored without weights"]),
        ("communities a.txt --batch -o b.txt --storage compressed", ["--storage", "batch"]),
        ("communities a.txt -o b.txt --columns 1,2,3", ["the weight `3`", "add --weighted"]),
        ("quality a.txt a.txt --columns u,v,weight", ["the weight `weight`", "add --weighted"]),
        ("communities - -o b.txt --labels -", ["standard input", "name files"]),
        ("quality - -", ["standard input", "name files"]),
        ("communities a.txt --top 3 --to csv", ["--to is the format of OUT", "-o OUT"]),
        ("communities a.txt --estimate --to csv", ["--to is the format of OUT", "-o OUT"]),
    ] {
        sandbox.fails(run, 2, &parts);
    }
}

#[test]
fn a_run_that_will_not_fit_is_refused_with_a_way_out() {
    let sandbox = sandbox();
    let run = "communities a.txt -o b.txt --host-memory 100";
    let said = sandbox.fails(run, 2, &["the run needs", "100 B is what --host-memory allows"]);
    let mut limited = sandbox.command("communities a.txt -o b.txt");
    let by_variable = Said::of(limited.env("RIPPLET_HOST_MEMORY", "100B").output().unwrap());
    by_variable.must_fail(run, 2, &["the run needs", "100 B is what RIPPLET_HOST_MEMORY allows"]);
    let way_out = said.error.split("allow --host-memory ").nth(1).unwrap();
    let enough: u64 = way_out.split(',').next().unwrap().parse().unwrap();
    sandbox.fails(&format!("communities a.txt -o b.txt --host-memory {}", enough - 1), 2, &[]);
    sandbox.ok(&format!("communities a.txt -o b.txt --host-memory {enough}"));
}

#[test]
fn every_command_has_help() {
    let sandbox = Sandbox::new();
    assert!(sandbox.ok("--version").starts_with("ripplet "));
    let mut commands = vec!["", "communities", "lcc", "quality", "generate", "convert", "info"];
    commands.extend(["graphalytics", "devices", "generate planted", "generate rmat"]);
    commands.push("generate transactions");
    for command in commands {
        let help = sandbox.ok(&format!("{command} --help"));
        assert!(help.contains("Usage: ripplet"), "{command}: {help}");
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{command}: {help}");
    }
}

#[test]
fn generators_refuse_what_they_cannot_make() {
    let sandbox = Sandbox::new();
    for (flags, part) in [
        ("planted --mixing 2", "mixing is 2"),
        ("planted --vertices 10 --edges 1000", "1000 edges asked for"),
        ("planted --vertices 1", "10 edges asked for, but 1 vertex has room for 0"),
        ("planted --vertices 1", "ask for more --vertices, or for --edges 0 at most"),
        ("planted --vertices 20", "20 vertices have room for 190"),
        (
            "planted --vertices 1000 --max-size 5",
            "--min-size is 20; it must be from 1 to --max-size, 5",
        ),
        ("planted --vertices 1000 --max-size 5", "choose both --min-size and --max-size"),
        ("planted --vertices 1000 --max-degree 5", "twice --edges by --vertices"),
        ("planted --vertices 1000 --max-degree 1000", "--max-degree is 1000; it must be below"),
        ("web --min-block 3000", "--min-block is 3000; it must be from 1 to --max-block, 2048"),
        ("web --max-block 0", "choose both --min-block and --max-block"),
        ("rmat --scale 40", "choose another --scale, or leave it out"),
        ("planted --vertices 99999999999", "vertices asked for"),
        #[cfg(target_os = "linux")]
        ("planted --vertices 4000000000 --edges 4000000000000", "of memory are free"),
        #[cfg(target_os = "linux")]
        ("rmat --scale 31 --edge-factor 4000000", "of memory are free"),
        ("rmat --scale 40", "scale is 40"),
        ("rmat --quadrants 1,1", "three numbers"),
        ("road --removed 2", "removed is 2"),
        ("road --rows 5", "--columns"),
        ("web --inside 7", "inside is 7"),
        ("road --truth t.txt", "--truth"),
        ("swarm", "not the name of a .swarm"),
        ("transactions --days 0", "days is 0"),
        ("transactions --days 101", "days is 101; it must be from 1 to 100"),
        ("transactions --scale 0", "scale is 0; it must be 0.000001 or more"),
        ("transactions --scale nan", "scale is NaN"),
        ("transactions --scale 5", "5050000000 vertices asked for"),
        ("transactions --item-exponent 1", "--item-exponent is 1"),
        ("transactions --ring-share 2", "--ring-share is 2"),
        ("transactions --known 0.5", "--seeds"),
        ("transactions --seeds s.txt --known 2", "--known is 2"),
        ("transactions --shard-arcs 0", "--shard-arcs"),
        ("transactions --truth a.rg", "a.rg"),
        ("transactions --truth t.txt --seeds t.txt", "named twice"),
    ] {
        // More memory may be free later.
        let code = if part == "of memory are free" { 1 } else { 2 };
        sandbox.fails(&format!("generate {flags} -o a.rg"), code, &[part]);
    }
}
