//! Times reading an edge list of 10 million edges, with one thread and with two, beside the
//! ceiling: the time to read the same bytes and count their lines.
//!
//! `cargo run --release -p ripplet-bench --bin read_text`
//!
//! A figure is megabytes of text per second, by the fastest of five runs. `of CPU` divides by the
//! time of all cores (Linux only): it is the speed of a core, also on a busy machine.

use ripplet_io::{IdKind, ReadOptions, read_edges};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::time::Instant;

const VERTICES: u64 = 1_000_000;
const EDGES: usize = 10_000_000;
const TIMES: usize = 5;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let plain = ReadOptions::default();
    let names = ReadOptions { ids: IdKind::Names, ..plain.clone() };
    let weighted = ReadOptions { weighted: true, ..plain.clone() };
    for (what, file, options) in [
        ("integers", "plain.txt", &plain),
        ("integers and weights", "weighted.txt", &weighted),
        ("names", "names.csv", &names),
        ("integers, gzip", "plain.txt.gz", &plain),
    ] {
        let path = folder.path().join(file);
        let text = write(&path)?;
        println!("{what}: {EDGES} edges, {:.1} MB of text", text as f64 / 1e6);
        if !file.ends_with(".gz") {
            report("read and count lines, the ceiling", text, || count_lines(&path))?;
        }
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
            let read = || Ok(pool.install(|| read_edges(&path, options))?.len());
            report(&format!("{threads} threads"), text, read)?;
        }
        std::fs::remove_file(&path)?;
    }
    Ok(())
}

/// Writes random edges in the format of the file's name; returns the size of the text in bytes.
fn write(path: &Path) -> Outcome<usize> {
    let file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let mut out: Box<dyn std::io::Write> = match name.ends_with(".gz") {
        true => Box::new(flate2::write::GzEncoder::new(file, flate2::Compression::fast())),
        false => Box::new(file),
    };
    let (mut state, mut line, mut bytes) = (1u64, String::new(), 0);
    for _ in 0..EDGES {
        let [source, target, weight] = [(); 3].map(|()| random(&mut state) % VERTICES);
        line.clear();
        match name {
            "weighted.txt" => {
                let weight = weight as f64 / 1000.0;
                writeln!(line, "{source} {target} {weight}")?;
            }
            "names.csv" => writeln!(line, "user{source},user{target}")?,
            _ => writeln!(line, "{source} {target}")?,
        }
        out.write_all(line.as_bytes())?;
        bytes += line.len();
    }
    out.flush()?;
    Ok(bytes)
}

/// SplitMix64 (Steele, Lea and Flood 2014).
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ *state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

fn count_lines(path: &Path) -> Outcome<usize> {
    Ok(memchr::memchr_iter(b'\n', &std::fs::read(path)?).count())
}

fn report(what: &str, bytes: usize, mut work: impl FnMut() -> Outcome<usize>) -> Outcome<()> {
    let mut fastest = f64::INFINITY;
    let cpu = cpu_seconds();
    for _ in 0..TIMES {
        let begin = Instant::now();
        let edges = work()?;
        fastest = fastest.min(begin.elapsed().as_secs_f64());
        assert_eq!(edges, EDGES);
    }
    let speed = bytes as f64 / 1e6 / fastest;
    let of_cpu = cpu.zip(cpu_seconds()).map_or(String::new(), |(before, after)| {
        let speed = (bytes * TIMES) as f64 / 1e6 / (after - before);
        format!(", {speed:.0} MB/s of CPU")
    });
    println!("  {what}: {speed:.0} MB/s{of_cpu}");
    Ok(())
}

/// Seconds that this process's threads ran, in hundredths: fields 14 and 15 of `/proc/self/stat`,
/// which count from after the name in parentheses.
fn cpu_seconds() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
    Some(ticks.sum::<Result<f64, _>>().ok()? / 100.0)
}
