//! Pinned (page-locked) memory of the host, which devices read by themselves.
//!
//! The driver pins a page once for the whole process, and refuses to do so twice. A table of the
//! process therefore has the pinned pages. Pages that are pinned already are shared, and the last
//! user unpins them.

use super::context::Context;
use super::driver::{Driver, SUCCESS};
use crate::error::DeviceError;
use cudarc::driver::sys::{
    CU_MEMHOSTREGISTER_DEVICEMAP, CU_MEMHOSTREGISTER_PORTABLE, CU_MEMHOSTREGISTER_READ_ONLY,
    CUdeviceptr,
};
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Bytes of a page, the unit of pinning.
const PAGE: usize = 4096;

/// Contiguous pages that were pinned in one call, and their number of users.
struct Stretch {
    end: usize,
    users: u32,
}

/// All stretches of this process, by their begin.
static LOCKED: Mutex<BTreeMap<usize, Stretch>> = Mutex::new(BTreeMap::new());

fn locked() -> MutexGuard<'static, BTreeMap<usize, Stretch>> {
    LOCKED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Divides pages into stretches that are pinned already (`used`) and pages that are not
/// (`missing`), both ascending.
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

/// Contiguous pages that are pinned as long as this lives.
pub struct Registered {
    context: Arc<Context>,
    pages: Range<usize>,
    /// Begins of the stretches that have these pages.
    stretches: Vec<usize>,
    address: CUdeviceptr,
}

impl Registered {
    /// Pins the pages that these ranges of addresses touch, for all devices.
    pub fn pages_of(
        context: &Arc<Context>,
        mut ranges: Vec<Range<usize>>,
    ) -> Result<Vec<Registered>, DeviceError> {
        ranges.retain(|range| !range.is_empty());
        ranges.sort_unstable_by_key(|range| range.start);
        let mut all: Vec<Range<usize>> = Vec::new();
        for range in ranges {
            // Only the end of the very last page of the address space overflows.
            let end = range.end.checked_next_multiple_of(PAGE).unwrap_or(usize::MAX);
            let pages = range.start / PAGE * PAGE..end;
            match all.last_mut() {
                Some(before) if pages.start < before.end => before.end = before.end.max(end),
                _ => all.push(pages),
            }
        }
        all.into_iter().map(|pages| Registered::new(context, pages)).collect()
    }

    fn new(context: &Arc<Context>, pages: Range<usize>) -> Result<Registered, DeviceError> {
        context.enter()?;
        let mut all = locked();
        let Parted { used, missing } = parted(&all, &pages);
        // From here on, `its` unpins pages if something fails.
        let mut its =
            Registered { context: Arc::clone(context), pages, stretches: used, address: 0 };
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

    /// Returns the device's address of the first byte. All stretches have the same distance to the
    /// host's addresses.
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
        // SAFETY: the byte is in pinned memory; the driver writes its address.
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

    /// Whether the pages have a byte.
    pub fn contains(&self, byte: usize) -> bool {
        self.pages.contains(&byte)
    }

    /// Returns the device's address of a byte of the pages.
    pub fn address_of(&self, byte: usize) -> CUdeviceptr {
        self.address + (byte - self.pages.start) as u64
    }

    /// Divides a range of bytes at the bounds of stretches, as one copy must not cross them.
    pub fn parts_of(&self, bytes: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let bounds = self.stretches.iter().copied().filter({
            let bytes = bytes.clone();
            move |bound| bytes.start < *bound && *bound < bytes.end
        });
        let starts = std::iter::once(bytes.start).chain(bounds.clone());
        starts.zip(bounds.chain([bytes.end])).map(|(start, end)| start..end)
    }
}

/// Pins pages that are not pinned.
fn lock(driver: &Driver, pages: &Range<usize>) -> Result<(), DeviceError> {
    let start: *mut c_void = ptr::with_exposed_provenance_mut(pages.start);
    let lock = |flags| {
        // SAFETY: the context is current; the pages exist as long as their owner lends them, and
        // are not written to.
        unsafe { (driver.cuMemHostRegister_v2)(start, pages.len(), flags) }
    };
    let flags = CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE;
    // Read-only pages, such as those of a mapped file, can only be pinned as read-only; not all
    // systems can do this.
    let code = match lock(flags | CU_MEMHOSTREGISTER_READ_ONLY) {
        SUCCESS => SUCCESS,
        _ => lock(flags),
    };
    driver.check(code, &format!("locking {} bytes of the host's memory", pages.len()))
}

impl Drop for Registered {
    fn drop(&mut self) {
        // Running work may read the memory. If the device is lost, nothing runs, so the error is
        // ignored.
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
                // SAFETY: pinned in this process, without another user, and unpinned once.
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
