//! Collectives over threads, recorded and with faults.

use ripplet_conformance::recorded::{Fault, Network, Record, Recorded};
use ripplet_ranks::{Bytes, Collective, Comm, CommError, Step, Threads, Traffic, Wire};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const SIZES: [usize; 5] = [1, 2, 3, 4, 7];
const SOON: Duration = Duration::from_secs(20);

#[test]
fn collectives_return_what_each_rank_sent() {
    for size in SIZES {
        let done = Threads::run(size, SOON, |mut comm| -> Result<(), CommError> {
            let rank = comm.rank() as u32;
            // Rank r sends to rank p the number r p times.
            let to: Vec<Vec<u32>> = (0..size).map(|peer| vec![rank; peer]).collect();
            let received = comm.all_to_all("numbers", &to)?;
            for peer in 0..size {
                assert_eq!(received.of(peer), vec![peer as u32; rank as usize]);
            }
            assert_eq!(received.of(size), []);
            let gathered = comm.all_gather("ranks", &vec![u64::from(rank); rank as usize])?;
            let expected: Vec<u64> = (0..size as u64).flat_map(|r| vec![r; r as usize]).collect();
            assert_eq!(gathered.all().collect::<Vec<_>>(), expected);
            // A combination in the order of the ranks: that of all but one would differ.
            let digits = comm.all_reduce("digits", [u64::from(rank), 10], |a, b| {
                [a[0] * b[1] + b[0], a[1] * b[1]]
            })?;
            let expected = (0..size as u64).fold(0, |digits, rank| digits * 10 + rank);
            assert_eq!(digits[0], expected);
            let root = size - 1;
            assert_eq!(comm.broadcast("number", root, &[rank + 5])?, [root as u32 + 5]);
            comm.barrier("end")
        });
        assert_eq!(done, vec![Ok(()); size]);
    }
}

#[test]
fn traffic_is_what_went_to_other_ranks() {
    let traffic = Threads::run(3, SOON, |mut comm| {
        comm.all_gather("four bytes", &[1u32])?;
        let before = comm.traffic();
        comm.all_to_all("own", &[vec![0u64; 5], vec![0; 6], vec![0; 7]])?;
        Ok::<_, CommError>((before, comm.traffic().since(before)))
    });
    for (rank, traffic) in traffic.into_iter().enumerate() {
        let (gathered, all) = traffic.unwrap();
        assert_eq!((gathered.calls, gathered.sent, gathered.received), (1, 8, 8));
        let own = 8 * [5, 6, 7][rank];
        let Traffic { calls, sent, received, .. } = all;
        assert_eq!((calls, sent, received), (1, 8 * 18 - own, 2 * own));
    }
}

#[test]
fn ranks_in_different_collectives_are_told_so() {
    let errors = Threads::run(2, SOON, |mut comm| {
        let first = match comm.rank() {
            0 => comm.all_gather("labels", &[1u32]).map(|_| ()),
            _ => comm.all_gather("labels", &[1u64]).map(|_| ()),
        };
        (first, comm.barrier("after that"))
    });
    for (rank, (first, then)) in errors.into_iter().enumerate() {
        let of = |bytes| Step::new(0, Collective::AllGather, "labels", bytes);
        let (own, theirs) = if rank == 0 { (of(4), of(8)) } else { (of(8), of(4)) };
        assert_eq!(first, Err(CommError::OutOfStep { rank, peer: 1 - rank, own, theirs }));
        assert_eq!(then, Err(CommError::Broken));
    }
}

#[test]
fn messages_that_a_collective_does_not_have_are_refused() {
    let mut alone = Comm::alone();
    let error = alone.all_to_all("numbers", &[[1u32], [2]]).err();
    assert_eq!(error, Some(CommError::Messages { given: 2, size: 1 }));
    assert_eq!(alone.barrier("end"), Err(CommError::Broken));
    /// A wire whose other side sends too many bytes.
    struct TooMuch;
    impl Wire for TooMuch {
        fn rank(&self) -> usize {
            0
        }
        fn size(&self) -> usize {
            1
        }
        fn exchange(&mut self, _: Step, _: &[Arc<Bytes>]) -> Result<Vec<Arc<Bytes>>, CommError> {
            Ok(vec![Arc::new(Bytes::of(&[0u8; 12])?)])
        }
        fn abort(&mut self, _: u8) {}
        fn name(&self) -> String {
            "too much".into()
        }
    }
    for error in [
        Comm::new(TooMuch).all_reduce("sum", 1u32, |a, b| a + b).err(),
        Comm::new(TooMuch).all_gather("longs", &[1u64]).err(),
    ] {
        assert!(matches!(error, Some(CommError::Length { peer: 0, bytes: 12, .. })), "{error:?}");
    }
}

#[test]
fn a_rank_that_fails_ends_or_hangs_ends_the_others() {
    let errors = Threads::run(3, SOON, |mut comm| match comm.rank() {
        1 => {
            comm.abort(2);
            Ok(())
        }
        _ => comm.barrier("start"),
    });
    assert_eq!(errors[0], Err(CommError::Failed { rank: 1, code: 2 }));
    assert_eq!(errors[2], Err(CommError::Failed { rank: 1, code: 2 }));
    let errors = Threads::run(2, SOON, |mut comm| match comm.rank() {
        1 => Ok(()),
        _ => comm.barrier("start"),
    });
    assert_eq!(errors[0], Err(CommError::Gone { rank: 1 }));
    let waited = Duration::from_millis(20);
    let errors = Threads::run(2, waited, |mut comm| {
        if comm.rank() == 1 {
            thread::sleep(10 * waited);
        }
        comm.barrier("start")
    });
    assert_eq!(errors[0], Err(CommError::Silent { rank: 1, waited }));
}

/// Runs `work` on recorded ranks; rank 1 has a fault.
fn with_fault(
    fault: Fault,
    work: impl Fn(&mut Comm) -> Result<(), CommError> + Sync,
) -> Vec<(Result<(), CommError>, Vec<Record>)> {
    let wires = Threads::connect(3, SOON);
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = wires
            .into_iter()
            .map(|wire| {
                scope.spawn(move || {
                    let faulty = wire.rank() == 1;
                    let (recorded, recording) = Recorded::new(wire);
                    let wire = if faulty { recorded.with(fault) } else { recorded };
                    (work(&mut Comm::new(wire)), recording.take())
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn three_barriers(comm: &mut Comm) -> Result<(), CommError> {
    comm.all_gather("a", &[1u8])?;
    comm.all_gather("b", &[1u8])?;
    comm.all_gather("c", &[1u8]).map(|_| ())
}

#[test]
fn faults_happen_where_they_are_injected() {
    let died = with_fault(Fault::Death(1), three_barriers);
    assert_eq!(died[0].0, Err(CommError::Gone { rank: 1 }));
    assert_eq!(died[0].1.len(), 1);
    let late = Instant::now();
    let delayed = with_fault(Fault::Delay(2, Duration::from_millis(30)), three_barriers);
    assert!(delayed.iter().all(|(done, records)| done.is_ok() && records.len() == 3));
    assert!(late.elapsed() >= Duration::from_millis(30));
    let confused = with_fault(Fault::OutOfStep(0), three_barriers);
    assert!(matches!(confused[2].0, Err(CommError::OutOfStep { peer: 1, .. })), "{confused:?}");
}

#[test]
fn a_network_takes_the_time_of_the_slowest_rank() {
    let record = |sent, received| Record {
        step: Step::new(0, Collective::AllGather, "labels", 4),
        sent,
        received,
    };
    let network = Network::gigabits(8.0, Duration::from_micros(10));
    // 8 Gb/s are 1e9 bytes a second: 2 ms and 3 ms, and 10 µs each.
    let ranks =
        [vec![record(2_000_000, 5), record(0, 1)], vec![record(0, 0), record(1, 3_000_000)]];
    assert!((network.seconds_of_run(&ranks) - 0.005_02).abs() < 1e-9);
    assert_eq!(network.seconds_of_run(&[]), 0.0);
    let (wire, recording) = Recorded::new(Threads::alone());
    let slow = Network { latency: Duration::from_millis(5), bytes_per_second: 1e9 };
    let begun = Instant::now();
    Comm::new(wire.on(slow)).barrier("start").unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(5));
    assert_eq!(recording.take().len(), 1);
}
