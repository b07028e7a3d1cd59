//! Fraud runs whose windows are shared by several processes, which the launchers of MPICH and Open MPI start.

use crate::ranks::{on_each_rank, on_ranks, one_error};
use crate::sandbox::Sandbox;
use ripplet_conformance::launcher::Mpi;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

fn example(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/fraud");
    folder.join(name).display().to_string()
}

/// The arguments of a run of eight windows.
fn arguments() -> String {
    format!(
        "fraud run {} -m {} -b {} --window 14d --slide 4d --since 2017-01-06 --exact --threads 1",
        example("transactions.csv.gz"),
        example("mapping.toml"),
        example("known.csv")
    )
}

/// Removes figures of time and memory, and the id of the run.
fn plain(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            ["seconds", "bytes_peak", "bytes_planned", "run_id", "threads"].iter().for_each(
                |name| {
                    fields.remove(*name);
                },
            );
            fields.values_mut().for_each(plain);
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        _ => {}
    }
}

/// The files of a run, without figures of time and memory.
fn files(sandbox: &Sandbox, folder: &str) -> BTreeMap<String, Vec<u8>> {
    let windows = fs::read_dir(sandbox.path(folder).join("windows")).unwrap();
    let windows = windows.map(|window| window.unwrap().path());
    let of_windows = windows.flat_map(|window| fs::read_dir(window).unwrap());
    let paths = of_windows.map(|file| file.unwrap().path());
    let all = paths.chain([sandbox.path(folder).join("manifest.json")]);
    let bytes = |path: &Path| match path.extension().is_some_and(|name| name == "json") {
        true => {
            let mut value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
            plain(&mut value);
            value.to_string().into_bytes()
        }
        false => fs::read(path).unwrap(),
    };
    let name = |path: &Path| path.strip_prefix(sandbox.path(folder)).unwrap().display().to_string();
    all.map(|path| (name(&path), bytes(&path))).collect()
}

#[test]
fn the_files_are_those_of_one_process() {
    let sandbox = Sandbox::new();
    let run = arguments();
    sandbox.ok(&format!("{run} -o one"));
    let expected = files(&sandbox, "one");
    assert!(expected.len() > 8 * 12, "{:?}", expected.keys());
    for mpi in Mpi::all() {
        for &ranks in if mpi.is_open_mpi() { &[2][..] } else { &[1, 2, 3] } {
            let folder = format!("of{ranks}-{}", mpi.is_open_mpi());
            let said = on_ranks(&mpi, &sandbox, ranks, &format!("{run} -o {folder} --ranks mpi"));
            assert_eq!((said.code, &*said.out), (Some(0), ""), "{said:?}");
            let found = files(&sandbox, &folder);
            assert!(found.keys().eq(expected.keys()), "{:?}", found.keys());
            for (name, bytes) in &expected {
                assert!(found[name] == *bytes, "{name}, {ranks} ranks");
            }
            assert!(sandbox.path(&folder).join("report.html").exists());
            assert_eq!(said.error.matches(&format!(" s on {ranks} ranks; see ")).count(), 1);
            assert_eq!(said.error.matches("window of 2017").count(), 8, "{said:?}");
        }
    }
    // Ranks go on with what one process began.
    let Some(mpi) = Mpi::mpich() else { return };
    let manifest = sandbox.json("one/manifest.json");
    let kept = manifest["windows"].as_array().unwrap().len();
    let said = on_ranks(&mpi, &sandbox, 2, &format!("{run} -o one --resume"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(sandbox.json("one/manifest.json")["windows"].as_array().unwrap().len(), kept);
}

#[test]
fn errors_are_reported_once_and_leave_nothing() {
    let Some(mpi) = Mpi::mpich() else { return };
    let mapping = "time = \"at\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
        [target]\ncolumn = \"to\"\nkind = \"user\"\n";
    let sandbox = Sandbox::with([("m.toml", mapping), ("none.csv", "from,to,at\n")]);
    // The last file is the first one again.
    for (file, day) in (1..9).chain([1]).enumerate() {
        sandbox.write(&format!("days/{file}.csv"), format!("from,to,at\na,b,2024-05-0{day}\n"));
    }
    let before = sandbox.names();
    let run = "fraud run days -m m.toml -w 3d -s 1d -o run";
    for (arguments, part) in [
        (run.to_owned(), "start from the labels of those before is not possible on several ranks"),
        (format!("{run} --exact --follow"), "following the input is not possible on several ranks"),
        (format!("{run} --exact --device cuda"), "a GPU is not possible on several ranks"),
        (format!("{run} --exact --seeded-only"), "error: clusters around the known bad alone need"),
        (format!("{run} --exact --known-bad missing.csv"), "missing.csv"),
        (
            "fraud run none.csv -m m.toml -w 3d -s 1d -o run --exact".to_owned(),
            "error: there are no transactions in the input",
        ),
        ("fraud window days -m m.toml -w 3d -s 1d -o w.csv".to_owned(), "does not share its work"),
    ] {
        let said = on_ranks(&mpi, &sandbox, 3, &arguments);
        one_error(&said, 2, &[part]);
        assert_eq!(sandbox.names(), before, "{arguments}");
    }
    // As one process: the windows before that file are kept.
    let said = on_ranks(&mpi, &sandbox, 3, &format!("{run} --exact"));
    one_error(
        &said,
        2,
        &["error: days/8.csv has the same content as days/0.csv", "--skip-repeated-files"],
    );
    let windows =
        |folder: &str| fs::read_dir(sandbox.path(folder).join("windows")).unwrap().count();
    let one = sandbox.run("fraud run days -m m.toml -w 3d -s 1d -o one --exact");
    assert_eq!(one.code, Some(2), "{one:?}");
    assert_eq!(windows("run"), windows("one"));
    assert!(windows("run") > 2);
    let state = |folder: &str| sandbox.json(&format!("{folder}/manifest.json"))["state"].clone();
    assert_eq!(state("run"), state("one"));
}

#[test]
fn ranks_with_other_inputs_lists_or_settings_are_refused() {
    let Some(mpi) = Mpi::mpich() else { return };
    let mapping = "time = \"at\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
        [target]\ncolumn = \"to\"\nkind = \"user\"\n";
    let day = |day: u32| format!("from,to,at\na,b,2024-05-0{day}\nb,c,2024-05-0{day}\n");
    let files = |sandbox: &Sandbox, folder: &str| {
        for number in 1..9 {
            sandbox.write(&format!("{folder}/days/{number}.csv"), day(number));
        }
        sandbox.write(&format!("{folder}/m.toml"), mapping);
        sandbox.write(&format!("{folder}/known.csv"), "id\na\n");
    };
    for (file, text, what) in [
        ("days/3.csv", day(3).replace("b,c", "b,d"), "days/3.csv"),
        ("days/8.csv", day(8).replace("a,b", "a,x"), "days/8.csv"),
        ("known.csv", "id\nb\n".into(), "list of known bad"),
        ("m.toml", mapping.replace("user", "account"), "mapping"),
    ] {
        let sandbox = Sandbox::new();
        files(&sandbox, "a");
        files(&sandbox, "b");
        sandbox.write(&format!("b/{file}"), text);
        let run = format!(
            "fraud run days -m m.toml -b known.csv -w 3d -s 1d --exact -o {}",
            sandbox.path("run").display()
        );
        let said = on_each_rank(&mpi, &sandbox, &[("a", &run), ("a", &run), ("b", &run)]);
        one_error(&said, 2, &[&format!("rank 2 has another {what} than rank 0"), "the same"]);
        // Windows that all ranks have read alike may be there.
        let folder = sandbox.path("run").join("windows");
        let finished = fs::read_dir(folder).into_iter().flatten().count();
        assert!(finished < 3 || file == "days/8.csv", "{file}: {finished}");
    }
}

#[test]
fn a_folder_that_one_rank_does_not_see_gets_no_window() {
    let Some(mpi) = Mpi::mpich() else { return };
    let sandbox = Sandbox::with([("a/x", ""), ("b/x", "")]);
    let run = format!("{} -o run", arguments());
    let said = on_each_rank(&mpi, &sandbox, &[("a", &run), ("a", &run), ("b", &run)]);
    one_error(&said, 2, &["is not the folder that rank 0 has created there", "all machines share"]);
    assert!(!sandbox.path("a/run").exists() && !sandbox.path("b/run").exists());
}

/// A query of a real server, without blanks: its address is in `RIPPLET_POSTGRES`, as `.ci/run` sets it.
#[test]
fn ranks_read_one_snapshot_of_a_query_and_refuse_other_rows() {
    let Ok(server) = std::env::var("RIPPLET_POSTGRES") else {
        assert!(std::env::var("RIPPLET_REQUIRE_POSTGRES").is_err(), "RIPPLET_POSTGRES is not set");
        eprintln!("no RIPPLET_POSTGRES: nothing is tested");
        return;
    };
    let Some(mpi) = Mpi::mpich() else { return };
    let mapping = "time = \"at\"\namount = \"eur\"\n[source]\ncolumn = \"from\"\nkind = \"user\"\n\
        [target]\ncolumn = \"to\"\nkind = \"shop\"\n";
    let sandbox = Sandbox::with([("m.toml", mapping), ("known.csv", "id\nu1\n")]);
    let run = |eur: &str, folder: &str| {
        let query = format!(
            "SELECT 'u'||i*7919%90 AS \"from\",'s'||i*31%40 AS \"to\",timestamp'2024-03-01'+i*interval'3minute'AS at,{eur} AS eur \
             FROM generate_series(0,2879)AS i ORDER BY i"
        );
        let query = query.replace(' ', "/**/");
        format!(
            "fraud run --postgres {server} --query {query} -m m.toml -b known.csv -w 3d -s 1d --exact -o {folder}"
        )
    };
    sandbox.ok(&run("i%100", "one"));
    let said = on_ranks(&mpi, &sandbox, 3, &run("i%100", "three"));
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(files(&sandbox, "three") == files(&sandbox, "one"));
    let before = sandbox.names();
    let said = on_ranks(&mpi, &sandbox, 3, &run("(random()*1e9)::int", "random"));
    one_error(
        &said,
        2,
        &["error: the query: rank 1 has read other rows than rank 0", "ORDER BY at, id"],
    );
    assert_eq!(sandbox.names(), before);
}
