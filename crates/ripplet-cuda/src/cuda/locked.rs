//! Pages of the host's memory that are locked to their place, so that devices read them by themselves.
//!
//! The driver locks a page once for the whole process, and refuses to do so twice. So which pages are locked is known
//! here: who wants pages that are locked already shares them, and the last one gives them back.

use super::context::Context;
use super::driver::{Driver, SUCCESS};
use crate::device::DeviceError;
use cudarc::driver::sys::{
    CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_READ_ONLY,
    CUdeviceptr,
};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a page, which are locked together or not at all.
const PAGE: usize = 4096;

/// Pages that were locked together, and how many use them.
struct Stretch {
    end: usize,
    users: u32,
}

/// All stretches of this process, by where they begin.
static LOCKED: Mutex<BTreeMap<usize, Stretch>> = Mutex::new(BTreeMap::new());

fn locked() -> MutexGuard<'static, BTreeMap<usize, Stretch>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is to be locked for some pages where others are already, in ascending order: `used` by who wants them, and
/// `missing`.
fn parted(all: &BTreeMap<usize, Stretch>, pages: &Range<usize>) -> Parted {
    let (mut used, mut missing, mut at) = (Vec::new(), Vec::new(), pages.start);
    let before = all.range(..=pages.start).next_back().map_or(pages.start, |(&start, _)| start);
    for (&start, stretch) in all.range(before..pages.end) {
        if stretch.end <= pages.start {
            continue;
        }
        if at < start {
            missing.push(at..start);
        }
        used.push(start);
        at = stretch.end;
    }
    if at < pages.end {
        missing.push(at..pages.end);
    }
    Parted { used, missing }
}

#[derive(Debug, PartialEq)]
struct Parted {
    used: Vec<usize>,
    missing: Vec<Range<usize>>,
}

/// Pages that follow upon one another, as long as this lives.
pub struct Locked {
    context: Arc<Context>,
    pages: Range<usize>,
    /// Where the stretches begin that they are in.
    stretches: Vec<usize>,
    address: CUdeviceptr,
}

impl Locked {
    /// Locks the pages that these ranges of addresses are in, for all devices.
    pub fn pages_of(
        context: &Arc<Context>,
        mut ranges: Vec<Range<usize>>,
    ) -> Result<Vec<Locked>, DeviceError> {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        let mut all: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            // The last page is memory's that can be addressed, and so is its end but at the very top.
            let end = range.end.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX);
            let pages = range.start / PAGE * PAGE..end;
            match all.last_mut() {
                Some(before) if pages.start < before.end => before.end = before.end.max(end),
                _ => all.push(pages),
            }
        }
        all.into_iter().map(|pages| Locked::new(context, pages)).collect()
    }

    fn new(context: &Arc<Context>, pages: Range<usize>) -> Result<Locked, DeviceError> {
        context.enter()?;
        let mut all = locked();
        let Parted { used, missing } = parted(&all, &pages);
        // From here on, what was locked is given back where something fails.
        let mut its = Locked { context: Arc::clone(context), pages, stretches: used, address: 0 };
        for start in &its.stretches {
            all.entry(*start).and_modify(|stretch| stretch.users += 1);
        }
        let lock_missing = || {
            for pages in missing {
                lock(context.driver, &pages)?;
                all.insert(pages.start, Stretch { end: pages.end, users: 1 });
                its.stretches.push(pages.start);
            }
            Ok::<_, DeviceError>(())
        };
        let done = lock_missing();
        drop(all);
        done?;
        its.stretches.sort_unstable();
        its.address = its.find()?;
        Ok(its)
    }

    /// The device's address of the first byte. Those of all stretches are as far from the host's.
    fn find(&self) -> Result<CUdeviceptr, DeviceError> {
        let driver = self.context.driver;
        let first = self.address_in(driver, self.pages.start)?;
        for &start in self.stretches.iter().filter(|start| **start > self.pages.start) {
            let expected = first.wrapping_add((start - self.pages.start) as u64);
            if self.address_in(driver, start)? != expected {
                return Err(DeviceError::Failed {
                    what: "finding the host's memory".to_owned(),
                    reason:
                        "another run has locked a part of it elsewhere; wait until that is done"
                            .to_owned(),
                });
            }
        }
        Ok(first)
    }

    fn address_in(&self, driver: &Driver, byte: usize) -> Result<CUdeviceptr, DeviceError> {
        let mut address = 0;
        // SAFETY: the byte is of locked memory; the driver writes its address.
        let code = unsafe {
            (driver.cuMemHostGetDevicePointer_v2)(
                &raw mut address,
                ptr::with_exposed_provenance_mut(byte),
                0,
            )
        };
        driver.check(code, "finding the host's memory")?;
        Ok(address)
    }

    /// Whether a byte is in one of its pages.
    pub fn contains(&self, byte: usize) -> bool {
        self.pages.contains(&byte)
    }

    /// The device's address of a byte that is.
    pub fn address_of(&self, byte: usize) -> CUdeviceptr {
        self.address + (byte - self.pages.start) as u64
    }

    /// A range of its bytes in parts that were locked together: what is copied at once must be of one.
    pub fn parts_of(&self, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let bounds = self.stretches.iter().copied().filter({
            let bytes = bytes.clone();
            move |bound| bytes.start < *bound && *bound < bytes.end
        });
        let starts = std::iter::once(bytes.start).chain(bounds.clone());
        starts.zip(bounds.chain([bytes.end])).map(|(start, end)| start..end)
    }
}

/// Locks pages that are not.
fn lock(driver: &Driver, pages: &Range<usize>) -> Result<(), DeviceError> {
    let start: *mut c_void = ptr::with_exposed_provenance_mut(pages.start);
    let lock = |flags| {
        // SAFETY: the context is current; the pages are there, as who lends them keeps them, and are not written to.
        unsafe { (driver.cuMemHostRegister_v2)(start, pages.len(), flags) }
    };
    let flags = CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE;
    // Pages that may not be written to, as those of a mapped file, can only be locked as such; not all systems can.
    let code = match lock(flags | CU_MEMHOSTREGISTER_READ_ONLY) {
        SUCCESS => SUCCESS,
        _ => lock(flags),
    };
    driver.check(code, &format!("locking {} bytes of the host's memory", pages.len()))
}

impl Drop for Locked {
    fn drop(&mut self) {
        // What still runs may read it; where the device is lost, nothing runs.
        let _ = self.context.wait("waiting for what was launched");
        let is_well = self.context.enter().is_ok();
        let mut all = locked();
        for start in &self.stretches {
            let Some(stretch) = all.get_mut(start) else { continue };
            stretch.users -= 1;
            if stretch.users > 0 {
                continue;
            }
            all.remove(start);
            if is_well {
                // SAFETY: locked in this process, used by nobody else, and given back once.
                unsafe {
                    (self.context.driver.cuMemHostUnregister)(ptr::with_exposed_provenance_mut(
                        *start,
                    ))
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(of: &[(usize, usize)]) -> BTreeMap<usize, Stretch> {
        of.iter().map(|&(start, end)| (start, Stretch { end, users: 1 })).collect()
    }

    #[test]
    fn pages_that_are_locked_are_used_and_others_are_missing() {
        let some = all(&[(10, 20), (20, 30), (40, 50)]);
        let of = |pages| parted(&some, &pages);
        let parts = |used: &[usize], missing: &[(usize, usize)]| Parted {
            used: used.to_vec(),
            missing: missing.iter().map(|&(start, end)| start..end).collect(),
        };
        assert_eq!(of(12..18), parts(&[10], &[]));
        assert_eq!(of(0..10), parts(&[], &[(0, 10)]));
        assert_eq!(of(5..25), parts(&[10, 20], &[(5, 10)]));
        assert_eq!(of(20..60), parts(&[20, 40], &[(30, 40), (50, 60)]));
        assert_eq!(of(30..40), parts(&[], &[(30, 40)]));
        assert_eq!(of(49..51), parts(&[40], &[(50, 51)]));
    }
}
