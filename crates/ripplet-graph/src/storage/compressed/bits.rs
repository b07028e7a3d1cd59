//! Bit fields in 32-bit words: bit `at` is bit `at % 32` of word `at / 32`.

/// Returns a mask of the lowest `width` bits; at most 32.
#[inline]
fn mask(width: u32) -> u32 {
    ((1u64 << width) - 1) as u32
}

/// Returns the value of `width` bits, at most 32, from bit `at` on; 0 if it is not within the
/// words.
///
/// It also reads the word after the value's first: arrays end with an extra word.
#[inline]
pub(super) fn take(words: &[u32], at: u64, width: u32) -> u32 {
    let word = (at / 32) as usize;
    let Some(&[low, high]) = words.get(word..word + 2) else { return 0 };
    let pair = u64::from(low) | u64::from(high) << 32;
    (pair >> (at % 32)) as u32 & mask(width)
}

/// Returns the value of `width` bits, at most 63, from bit `at` on; see [`take`].
#[inline]
pub(super) fn take_long(words: &[u32], at: u64, width: u32) -> u64 {
    let low = u64::from(take(words, at, width.min(32)));
    match width {
        0..=32 => low,
        _ => low | u64::from(take(words, at.wrapping_add(32), width - 32)) << 32,
    }
}

/// Returns the number of bits of a value's binary representation; 0 has none.
#[inline]
pub(super) fn length(value: u64) -> u32 {
    64 - value.leading_zeros()
}

/// Appends values to words that are initially 0.
pub(super) struct Writer<'a> {
    words: &'a mut [u32],
    at: u64,
}

impl Writer<'_> {
    pub(super) fn new(words: &mut [u32]) -> Writer<'_> {
        Writer { words, at: 0 }
    }

    /// Appends a value of at most `width` bits; `width` is at most 32.
    #[inline]
    pub(super) fn put(&mut self, value: u32, width: u32) {
        if width == 0 {
            return;
        }
        let (word, shifted) = ((self.at / 32) as usize, u64::from(value) << (self.at % 32));
        self.words[word] |= shifted as u32;
        // The last value of all may end with the words.
        if let Some(next) = self.words.get_mut(word + 1) {
            *next |= (shifted >> 32) as u32;
        }
        self.at += u64::from(width);
    }

    pub(super) fn put_long(&mut self, value: u64, width: u32) {
        self.put(value as u32, width.min(32));
        self.put((value >> 32) as u32, width.saturating_sub(32));
    }

    /// Returns the number of bits written.
    pub(super) fn bits(&self) -> u64 {
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_taken_at_every_place_and_width() {
        for before in 0..32 {
            for width in 0..=63 {
                let value = 0x5bd1_e995_9e37_79b9u64 & ((1 << width) - 1);
                let mut words = [0u32; 5];
                let mut writer = Writer::new(&mut words);
                writer.put(mask(before), before);
                writer.put_long(value, width);
                writer.put(1, 1);
                assert_eq!(writer.bits(), u64::from(before + width + 1));
                assert_eq!(take(&words, 0, before), mask(before));
                assert_eq!(take_long(&words, before.into(), width), value);
                assert_eq!(take(&words, u64::from(before + width), 1), 1);
            }
        }
    }

    #[test]
    fn outside_are_zeros() {
        assert_eq!(take(&[u32::MAX; 2], 0, 32), u32::MAX);
        assert_eq!(take(&[u32::MAX; 2], 32, 1), 0, "no word after it");
        assert_eq!(take(&[], u64::MAX, 32), 0);
        assert_eq!(take_long(&[u32::MAX; 2], 1 << 60, 63), 0);
    }
}
