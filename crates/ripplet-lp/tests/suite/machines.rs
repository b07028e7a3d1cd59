//! Who runs the conformance suite here: the CPU, on 1, 2 and 7 threads, with plain and with
//! compressed lists.

use crate::graphs::{Edges, Storage};
use crate::oracle::Rules;
use ripplet_lp::cpu::CpuExecutor;

/// An executor under test.
pub struct Machine {
    pub name: String,
    pub executor: CpuExecutor,
    pub storage: Storage,
}

pub fn machines() -> Vec<Machine> {
    let on = |(threads, storage)| Machine {
        name: format!("on {threads} threads, {storage:?}"),
        executor: CpuExecutor::new(Some(threads)).unwrap(),
        storage,
    };
    let plain = [1, 2, 7].map(|threads| (threads, Storage::Plain));
    let compressed = [1, 2].map(|threads| (threads, Storage::Compressed));
    plain.into_iter().chain(compressed).map(on).collect()
}

impl Machine {
    /// Whether it runs these rules on this graph: all.
    pub fn takes(&self, _: &Edges, _: Rules) -> bool {
        true
    }
}

/// Of many runs of one kind, each so manieth is done.
pub const STRIDE: usize = 1;

/// Random graphs that each program runs on, by default.
pub const CASES: u32 = 16;

/// Whether these rules are run on this graph here: all are.
pub fn takes(_: &Edges, _: Rules) -> bool {
    true
}
