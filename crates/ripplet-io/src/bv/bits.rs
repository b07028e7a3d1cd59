//! Bit reader, most significant bit first, and the codes of integers.
//!
//! ```text
//! unary   n zeros, 1                           0: 1      3: 0001
//! γ       length of n + 1 in unary, its bits   0: 1      3: 00100
//! δ       like γ, with the length in γ         0: 1      3: 01100
//! ζₖ      h in unary, then where n + 1 is in 2^hk … 2^(h+1)k − 1, in hk + k − 1 bits or one more
//! ```

/// Code of non-negative integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Unary,
    /// Elias' γ.
    Gamma,
    /// Elias' δ.
    Delta,
    /// Boldi's and Vigna's ζₖ.
    Zeta(u32),
}

/// Error of the bit reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BadBits {
    /// The bits end within a number.
    End,
    /// A number has more than 63 bits, which no valid file contains.
    TooLong,
}

/// Bit reader.
pub(super) struct Bits<'a> {
    bytes: &'a [u8],
    /// Position of the next bit, from 0.
    at: u64,
}

impl<'a> Bits<'a> {
    pub fn new(bytes: &'a [u8]) -> Bits<'a> {
        Bits { bytes, at: 0 }
    }

    /// Returns the byte of the next bit.
    pub fn byte(&self) -> u64 {
        self.at / 8
    }

    /// Returns the number of bits that are left.
    pub fn left(&self) -> u64 {
        self.bytes.len() as u64 * 8 - self.at
    }

    /// Reads a number.
    #[inline]
    pub fn read(&mut self, code: Code) -> Result<u64, BadBits> {
        match code {
            Code::Unary => self.unary(),
            Code::Gamma => self.unary().and_then(|length| self.after_one(length)),
            Code::Delta => self.read(Code::Gamma).and_then(|length| self.after_one(length)),
            Code::Zeta(k) => self.zeta(k),
        }
    }

    /// Returns the next 57 bits or more; zeros after the last.
    #[inline]
    fn peek(&self) -> u64 {
        let rest = &self.bytes[(self.at / 8) as usize..];
        let word = match rest.first_chunk() {
            Some(&eight) => u64::from_be_bytes(eight),
            None => {
                let mut eight = [0; 8];
                eight[..rest.len()].copy_from_slice(rest);
                u64::from_be_bytes(eight)
            }
        };
        word << (self.at % 8)
    }

    #[inline]
    fn skip(&mut self, count: u64) -> Result<(), BadBits> {
        if count > self.left() {
            return Err(BadBits::End);
        }
        self.at += count;
        Ok(())
    }

    #[inline]
    fn unary(&mut self) -> Result<u64, BadBits> {
        let mut zeros = 0;
        loop {
            let bits = self.peek();
            if bits != 0 {
                let more = u64::from(bits.leading_zeros());
                self.skip(more + 1)?;
                return Ok(zeros + more);
            }
            self.skip(57)?;
            zeros += 57;
        }
    }

    /// Reads the given number of bits, at most 63, as a number.
    #[inline]
    fn bits(&mut self, count: u32) -> Result<u64, BadBits> {
        if count > 56 {
            let high = self.bits(count - 32)?;
            return Ok(high << 32 | self.bits(32)?);
        }
        let number = (self.peek() >> 1) >> (63 - count);
        self.skip(count.into())?;
        Ok(number)
    }

    /// Decodes the number n whose successor n + 1 is written as a one followed by `length` bits.
    #[inline]
    fn after_one(&mut self, length: u64) -> Result<u64, BadBits> {
        let length = u32::try_from(length).ok().filter(|length| *length < 63);
        let length = length.ok_or(BadBits::TooLong)?;
        Ok((1 << length | self.bits(length)?) - 1)
    }

    #[inline]
    fn zeta(&mut self, k: u32) -> Result<u64, BadBits> {
        let shells = self.unary()?;
        let length = shells.checked_mul(k.into()).filter(|length| length + u64::from(k) < 63);
        let length = length.ok_or(BadBits::TooLong)? as u32;
        let least = 1 << length;
        let number = self.bits(length + k - 1)?;
        if number < least {
            return Ok(number + least - 1);
        }
        Ok((number << 1 | self.bits(1)?) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs `0` and `1` into bits; other characters are skipped.
    fn packed(bits: &str) -> Vec<u8> {
        let bits: Vec<u8> = bits.bytes().filter(|b| b"01".contains(b)).map(|b| b - b'0').collect();
        let byte = |eight: &[u8]| eight.iter().enumerate().map(|(at, bit)| bit << (7 - at)).sum();
        bits.chunks(8).map(byte).collect()
    }

    fn read(code: Code, bits: &str, count: usize) -> Vec<u64> {
        let bytes = packed(bits);
        let mut bits = Bits::new(&bytes);
        (0..count).map(|_| bits.read(code).unwrap()).collect()
    }

    /// The codes agree with the tables of the papers.
    #[test]
    fn numbers_from_0() {
        assert_eq!(read(Code::Unary, "1 01 001 0001", 4), [0, 1, 2, 3]);
        assert_eq!(
            read(Code::Gamma, "1 010 011 00100 00101 00110 00111 0001000", 8),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(
            read(Code::Delta, "1 0100 0101 01100 01101 01110 01111 00100000", 8),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(read(Code::Zeta(1), "1 010 011 00100", 4), [0, 1, 2, 3]);
        assert_eq!(
            read(Code::Zeta(2), "10 110 111 01000 01001 01010 01011 011000", 8),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
        assert_eq!(
            read(Code::Zeta(3), "100 1010 1011 1100 1101 1110 1111 0100000", 8),
            [0, 1, 2, 3, 4, 5, 6, 7]
        );
    }

    /// Across words: long runs of zeros, many bits.
    #[test]
    fn long_numbers() {
        let zeros = "0".repeat(200);
        assert_eq!(read(Code::Unary, &format!("{zeros}1"), 1), [200]);
        let gamma = format!("{}1{}", "0".repeat(62), "1".repeat(62));
        assert_eq!(read(Code::Gamma, &format!("{gamma}{gamma}"), 2), [(1 << 63) - 2; 2]);
        for shift in 0..8 {
            let bits = format!("{}1 {gamma} 011", "0".repeat(shift));
            let bytes = packed(&bits);
            let mut bits = Bits::new(&bytes);
            assert_eq!(bits.read(Code::Unary), Ok(shift as u64));
            assert_eq!(bits.read(Code::Gamma), Ok((1 << 63) - 2));
            assert_eq!(bits.read(Code::Gamma), Ok(2));
        }
    }

    #[test]
    fn damage() {
        let codes = [Code::Unary, Code::Gamma, Code::Delta, Code::Zeta(1), Code::Zeta(32)];
        for code in codes {
            assert_eq!(Bits::new(&[]).read(code), Err(BadBits::End));
            assert_eq!(Bits::new(&[0; 40]).read(code), Err(BadBits::End));
        }
        let mut long = [0; 40];
        long[39] = 1;
        for code in &codes[1..] {
            assert_eq!(Bits::new(&long).read(*code), Err(BadBits::TooLong));
        }
        assert_eq!(Bits::new(&[0b0001_0000]).read(Code::Gamma), Ok(7));
        assert_eq!(Bits::new(&[0b0000_1000]).read(Code::Gamma), Err(BadBits::End));
    }
}
