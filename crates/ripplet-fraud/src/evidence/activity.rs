//! When and how an entity deals: balance, bursts, hours, fan-in, fan-out, and money that passes through.
//!
//! A day is one of UTC, from midnight to midnight, whatever the slide: if windows slide by less than a day, the runs
//! of a day count as one. Of a window that begins or ends within a day, the part that it has counts as a day.
//!
//! Two passes over the transactions of the window's days. Memory: 112 bytes per vertex while they run, 32 of them
//! for the result, and 8 per transaction of a day of several runs. Determinism: one thread, sums in the order of
//! runs, payers and payees.

use crate::days::DayAdjacency;
use crate::{Span, TimeRange, Timestamp};
use ripplet_graph::{OutOfMemory, VertexId, memory};

/// Activity of each vertex; see the [definitions](super::ALL) of the same names.
#[derive(Debug, Default)]
pub struct Activity {
    /// Payments less receipts, divided by both.
    pub balance: Vec<f32>,
    /// Crowding on few days.
    pub burst: Vec<f32>,
    /// Transactions of the busiest day.
    pub busiest_day: Vec<f32>,
    /// The most payers of a day.
    pub fan_in: Vec<f32>,
    /// The most payees of a day.
    pub fan_out: Vec<f32>,
    /// Share of receipts that were paid on at once.
    pub pass_through: Vec<f32>,
    /// Mean logarithm of amounts in smallest units; 0 if amounts are not mapped.
    pub amount_level: Vec<f32>,
    /// How rare the hours of its transactions are.
    pub odd_hours: Vec<f32>,
}

/// Sums of a vertex over the days so far.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    paid: u64,
    received: u64,
    amount_out: u64,
    amount_in: u64,
    passed: u64,
    squares: u64,
    most: u32,
    payers: u32,
    payees: u32,
    ln_amount: f64,
    odd_hours: f64,
}

/// Sums of a vertex over one day.
#[derive(Clone, Copy, Debug, Default)]
struct Day {
    transactions: u32,
    payers: u32,
    payees: u32,
    amount_out: u64,
    amount_in: u64,
}

impl Activity {
    /// Computes the activity of the vertices `0..vertices` over the days of a range, whose runs are in order; a run is
    /// of a day or of a part of it.
    ///
    /// # Errors
    /// If memory allocation fails.
    pub fn of(
        runs: &[&DayAdjacency],
        range: TimeRange,
        vertices: u32,
    ) -> Result<Activity, OutOfMemory> {
        let count = vertices as usize;
        let mut sums = memory::filled(Sums::default(), count)?;
        let mut today = memory::filled(Day::default(), count)?;
        let mut before = memory::filled((0u64, 0u64), count)?;
        let (mut here, mut there) = (Vec::new(), Vec::new());
        let hours = rarity_of_hours(runs);
        let mut yesterday = i64::MIN;
        // Runs without transactions have no day.
        let runs = runs.iter().filter(|run| !run.payments.is_empty());
        let runs: Vec<(i64, &DayAdjacency)> =
            runs.map(|run| (run.payments.time(0).unit(Span::DAY), *run)).collect();
        for day in runs.chunk_by(|a, b| a.0 == b.0) {
            let number = day[0].0;
            for (_, run) in day {
                add_run(run, &hours, &mut sums, &mut today, &mut here)?;
            }
            add_partners(day, &mut today)?;
            let follows = yesterday.checked_add(1) == Some(number);
            pass(&mut sums, &before, &there, |v| if follows { today[v].amount_out } else { 0 });
            yesterday = number;
            there.drain(..).for_each(|v: VertexId| before[v as usize] = (0, 0));
            for v in here.drain(..) {
                let Day { transactions, payers, payees, amount_out, amount_in } =
                    std::mem::take(&mut today[v as usize]);
                let of = &mut sums[v as usize];
                of.squares = of.squares.saturating_add(u64::from(transactions).pow(2));
                of.most = of.most.max(transactions);
                of.payers = of.payers.max(payers);
                of.payees = of.payees.max(payees);
                of.amount_out = of.amount_out.saturating_add(amount_out);
                of.amount_in = of.amount_in.saturating_add(amount_in);
                before[v as usize] = (amount_in, amount_out);
                memory::push(&mut there, v)?;
            }
        }
        pass(&mut sums, &before, &there, |_| 0);
        Activity::from_sums(&sums, days_in(range))
    }

    fn from_sums(sums: &[Sums], days: f64) -> Result<Activity, OutOfMemory> {
        let column = |value: fn(&Sums, f64) -> f64| {
            memory::collected(sums.iter().map(|of| value(of, days) as f32))
        };
        Ok(Activity {
            balance: column(|of, _| {
                ratio(of.paid as f64 - of.received as f64, (of.paid + of.received) as f64)
            })?,
            burst: column(|of, days| {
                let mean = (of.paid + of.received) as f64 / days;
                ratio(of.squares as f64 / days, mean) - mean
            })?,
            busiest_day: column(|of, _| f64::from(of.most))?,
            fan_in: column(|of, _| f64::from(of.payers))?,
            fan_out: column(|of, _| f64::from(of.payees))?,
            pass_through: column(|of, _| {
                ratio(of.passed as f64, of.amount_in.max(of.amount_out) as f64)
            })?,
            amount_level: column(|of, _| ratio(of.ln_amount, (of.paid + of.received) as f64))?,
            odd_hours: column(|of, _| ratio(of.odd_hours, (of.paid + of.received) as f64))?,
        })
    }
}

/// Returns the number of days that a range has a part of, at least 1.
fn days_in(range: TimeRange) -> f64 {
    let last = Timestamp(range.until.0.saturating_sub(1));
    (last.unit(Span::DAY) - range.from.unit(Span::DAY) + 1).max(1) as f64
}

/// Returns the hour of the day (UTC) of an instant, from 0 to 23.
fn hour(time: Timestamp) -> usize {
    let hour = Span::DAY.micros() / HOURS as i64;
    (time.0.div_euclid(hour)).rem_euclid(HOURS as i64) as usize
}

const HOURS: usize = 24;

/// Returns −ln of the share of all transactions for each hour of the day; 0 for hours without any.
fn rarity_of_hours(runs: &[&DayAdjacency]) -> [f64; HOURS] {
    let mut counts = [0_u64; HOURS];
    for run in runs {
        (0..run.payments.len()).for_each(|at| counts[hour(run.payments.time(at))] += 1);
    }
    let all = counts.iter().sum::<u64>() as f64;
    counts.map(|count| if count > 0 { (all / count as f64).ln() } else { 0.0 })
}

fn ratio(part: f64, all: f64) -> f64 {
    if all > 0.0 { part / all } else { 0.0 }
}

/// Adds what passed through each vertex of the day before: at most what it paid on that day and the next.
fn pass(
    sums: &mut [Sums],
    before: &[(u64, u64)],
    active: &[VertexId],
    next: impl Fn(usize) -> u64,
) {
    for &v in active {
        let (received, paid) = before[v as usize];
        let passed = received.min(paid.saturating_add(next(v as usize)));
        let of = &mut sums[v as usize];
        of.passed = of.passed.saturating_add(passed);
    }
}

/// Counts the different payers and payees of a day's vertices.
fn add_partners(day: &[(i64, &DayAdjacency)], today: &mut [Day]) -> Result<(), OutOfMemory> {
    let mut add = |(from, to): (VertexId, VertexId)| {
        let (payer, payee) = (from as usize, to as usize);
        if payer.max(payee) < today.len() {
            today[payer].payees += 1;
            today[payee].payers += 1;
        }
    };
    if let [(_, run)] = day {
        // Sorted by payer and payee.
        let all = (0..run.payments.len()).map(|at| run.payments.ends(at));
        let mut last = None;
        all.filter(|&ends| last.replace(ends) != Some(ends)).for_each(add);
        return Ok(());
    }
    let all = day.iter().map(|(_, run)| run.payments.len()).sum();
    let mut ends = memory::with_room(all)?;
    for (_, run) in day {
        ends.extend((0..run.payments.len()).map(|at| run.payments.ends(at)));
    }
    ends.sort_unstable();
    ends.dedup();
    ends.into_iter().for_each(&mut add);
    Ok(())
}

/// Adds the transactions of a run, and lists the vertices that have any for the first time on its day.
fn add_run(
    run: &DayAdjacency,
    hours: &[f64; HOURS],
    sums: &mut [Sums],
    today: &mut [Day],
    active: &mut Vec<VertexId>,
) -> Result<(), OutOfMemory> {
    for place in 0..run.payments.len() {
        let (from, to) = run.payments.ends(place);
        let (payer, payee) = (from as usize, to as usize);
        let Some(_) = sums.get(payer.max(payee)) else { continue };
        for v in [from, to] {
            let of = &mut today[v as usize];
            if of.transactions == 0 {
                memory::push(active, v)?;
            }
            of.transactions += 1;
        }
        // Without amounts, a transaction counts 1.
        let amount = run.payments.amount(place);
        let units = amount.unwrap_or(1);
        today[payer].amount_out = today[payer].amount_out.saturating_add(units);
        today[payee].amount_in = today[payee].amount_in.saturating_add(units);
        sums[payer].paid += 1;
        sums[payee].received += 1;
        let ln = amount.map_or(0.0, |amount| (amount.max(1) as f64).ln());
        sums[payer].ln_amount += ln;
        sums[payee].ln_amount += ln;
        let rarity = hours[hour(run.payments.time(place))];
        sums[payer].odd_hours += rarity;
        sums[payee].odd_hours += rarity;
    }
    Ok(())
}
