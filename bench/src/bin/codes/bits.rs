//! A stream of bits, and the codes of the published formats in it.
//!
//! Bits fill a word from the highest on. Elias' γ writes x ≥ 1 as the unary length of its binary form
//! and the form without its highest bit; ζ_k (Boldi and Vigna, *Codes for the World-Wide Web*, 2005)
//! counts that length in steps of k bits.

/// Writes bits; what is written can be read by [`Reader`].
#[derive(Default)]
pub struct Writer {
    words: Vec<u64>,
    bits: u64,
}

impl Writer {
    pub fn bits(&self) -> u64 {
        self.bits
    }

    /// The lowest `width` bits of a value, whose other bits are zeros; at most 57.
    pub fn put(&mut self, value: u64, width: u32) {
        if width == 0 {
            return;
        }
        let (word, at) = ((self.bits / 64) as usize, self.bits % 64);
        self.words.resize(word + 2, 0);
        let value = value << (64 - width);
        self.words[word] |= value >> at;
        self.words[word + 1] |= (value << 1) << (63 - at);
        self.bits += u64::from(width);
    }

    /// `code` of a value from 0 on.
    pub fn code(&mut self, code: Code, value: u64) {
        let Form { steps, rest, width } = code.form(value);
        self.put(1, steps + 1);
        self.put(rest, width);
    }

    pub fn finish(mut self) -> Vec<u64> {
        self.words.resize(self.bits.div_ceil(64) as usize + 2, 0);
        self.words
    }
}

/// ζ_k; ζ₁ is γ.
#[derive(Clone, Copy)]
pub struct Code(pub u32);

/// A codeword: `steps` zeros, a one, then `rest` in `width` bits.
struct Form {
    steps: u32,
    rest: u64,
    width: u32,
}

impl Code {
    fn form(self, value: u64) -> Form {
        let (x, Code(k)) = (value + 1, self);
        let steps = (63 - x.leading_zeros()) / k;
        // The minimal binary form of x from 2^(steps·k) on, below 2^((steps + 1)·k).
        let (low, high) = (1u64 << (steps * k), 1u64 << ((steps + 1) * k));
        let (rest, count) = (x - low, high - low);
        let width = 64 - (count - 1).leading_zeros();
        match (1u64 << width) - count {
            _ if width == 0 => Form { steps, rest, width },
            short if rest < short => Form { steps, rest, width: width - 1 },
            short => Form { steps, rest: rest + short, width },
        }
    }

    /// Bits of a value from 0 on.
    pub fn length(self, value: u64) -> u64 {
        let Form { steps, width, .. } = self.form(value);
        u64::from(steps + 1 + width)
    }
}

/// Reads what [`Writer`] wrote.
#[derive(Clone)]
pub struct Reader<'a> {
    words: &'a [u64],
    at: u64,
}

impl<'a> Reader<'a> {
    pub fn new(words: &'a [u64], at: u64) -> Reader<'a> {
        Reader { words, at }
    }

    /// Returns the next 64 bits, which stay unread.
    #[inline]
    fn peek(&self) -> u64 {
        let (word, at) = ((self.at / 64) as usize, self.at % 64);
        let pair = &self.words[word..word + 2];
        pair[0] << at | (pair[1] >> 1) >> (63 - at)
    }

    /// Returns a value of a width from 1 to 57.
    #[inline]
    pub fn take(&mut self, width: u32) -> u64 {
        let value = self.peek() >> (64 - width);
        self.at += u64::from(width);
        value
    }

    #[inline]
    pub fn code(&mut self, code: Code) -> u64 {
        let Code(k) = code;
        let ahead = self.peek();
        let steps = ahead.leading_zeros();
        self.at += u64::from(steps + 1);
        let low = 1u64 << (steps * k);
        let count = (low << k) - low;
        let width = 64 - (count - 1).leading_zeros();
        if width == 0 {
            return low - 1;
        }
        let short = (1u64 << width) - count;
        let form = self.peek() >> (64 - width);
        let (rest, used) = match form >> 1 < short {
            true => (form >> 1, width - 1),
            false => (form - short, width),
        };
        self.at += u64::from(used);
        low + rest - 1
    }
}

/// Returns a difference as a number from 0 on: 2x, or 2x − 1 below zero.
pub fn folded(difference: i64) -> u64 {
    ((difference << 1) ^ (difference >> 63)) as u64
}

/// Returns the difference of [`folded`].
#[inline]
pub fn unfolded(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}
