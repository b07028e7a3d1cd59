//! Who runs the conformance suite here: the CPU, on 1, 2 and 7 threads.

use crate::graphs::Edges;
use crate::oracle::Rules;
use ripplet_lp::cpu::CpuExecutor;

/// An executor under test.
pub struct Machine {
    pub name: String,
    pub executor: CpuExecutor,
}

pub fn machines() -> Vec<Machine> {
    let on = |threads: usize| Machine {
        name: format!("on {threads} threads"),
        executor: CpuExecutor::new(Some(threads)).unwrap(),
    };
    [1, 2, 7].map(on).into()
}

/// Whether these rules are run on this graph here: all are.
pub fn takes(_: &Edges, _: Rules) -> bool {
    true
}
