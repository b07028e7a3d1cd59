//! A list as intervals of consecutive neighbours and the residual ones.

/// Reused from list to list.
#[derive(Default)]
pub struct Parts {
    /// Begin and length.
    pub intervals: Vec<(u32, u32)>,
    pub residuals: Vec<u32>,
}

impl Parts {
    /// Cuts an ascending list; intervals have `least` neighbours or more, and 0 means none at all.
    pub fn cut(&mut self, list: &[u32], least: usize) {
        self.intervals.clear();
        self.residuals.clear();
        let mut rest = list;
        while let Some(&first) = rest.first() {
            let run =
                rest.iter().zip(u64::from(first)..).take_while(|&(&u, at)| u64::from(u) == at);
            let run = run.count();
            if least > 0 && run >= least {
                self.intervals.push((first, run as u32));
            } else {
                self.residuals.extend(&rest[..run]);
            }
            rest = &rest[run..];
        }
    }
}
