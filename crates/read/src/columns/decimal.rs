//! Integers, such as ids and ranks, as decimal text. Numbers from 0 to 10¹⁶ − 1 are written eight
//! digits at a time, without a loop; other numbers are rare, and are written digit by digit.

/// The most bytes that an integer of 64 bits takes: 20 digits, or a minus sign and 19 digits.
pub const LONGEST: usize = 20;

/// An integer of at most 64 bits, such as an id: its sign and its magnitude.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Integer {
    pub negative: bool,
    pub magnitude: u64,
}

/// Returns the eight decimal digits of a number below 10⁸, leading zeros included. Each byte has
/// the value of a digit, 0 to 9; the lowest byte has the first digit.
///
/// The number is split into two halves of four digits, the halves into pairs, and the pairs into
/// digits. Multiplication and shift divide all parts at once: · 10,486 / 2²⁰ divides by 100 below
/// 10⁴, and · 103 / 2¹⁰ divides by 10 below 100.
#[inline(always)]
fn eight_digits(number: u32) -> u64 {
    let fours = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | (fours - hundreds * 100) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (twos - tens * 10) << 8
}

/// Eight characters `0`. Combined by OR, they turn the values of eight digits into characters.
const ZEROS: u64 = u64::from_ne_bytes([b'0'; 8]);

impl Integer {
    /// Writes the integer as decimal digits at the start of `text`, and returns the number of
    /// written bytes. The bytes of `text` behind the digits may change too.
    #[inline(always)]
    pub fn write(self, text: &mut [u8; LONGEST]) -> usize {
        const HALF: u64 = 100_000_000;
        let magnitude = self.magnitude;
        if self.negative || magnitude >= HALF * HALF {
            return self.write_any(text);
        }
        if magnitude < HALF {
            let digits = eight_digits(magnitude as u32);
            // `zeros` is the number of bits in leading zeros, which are shifted out. A bit is set
            // in the last digit, so that the last digit stays even if the number is 0.
            let zeros = (digits | 1 << 56).trailing_zeros() & !7;
            text[..8].copy_from_slice(&((digits | ZEROS) >> zeros).to_le_bytes());
            return 8 - zeros as usize / 8;
        }
        let (high, low) =
            (eight_digits((magnitude / HALF) as u32), eight_digits((magnitude % HALF) as u32));
        let zeros = high.trailing_zeros() & !7;
        let digits = u128::from(low | ZEROS) << 64 | u128::from(high | ZEROS);
        text[..16].copy_from_slice(&(digits >> zeros).to_le_bytes());
        16 - zeros as usize / 8
    }

    /// Does what [`Integer::write`] does, for an integer of any sign and size. Writes the digits
    /// from the last to the first at the end of `text`, and then moves the digits to the start.
    #[cold]
    fn write_any(self, text: &mut [u8; LONGEST]) -> usize {
        let (mut start, mut rest) = (LONGEST, self.magnitude);
        loop {
            start -= 1;
            text[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        if self.negative {
            start -= 1;
            text[start] = b'-';
        }
        text.copy_within(start.., 0);
        LONGEST - start
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn written(negative: bool, magnitude: u64) -> String {
        let mut text = [b'x'; LONGEST];
        let length = Integer { negative, magnitude }.write(&mut text);
        String::from_utf8(text[..length].to_vec()).unwrap()
    }

    #[test]
    fn integers_are_written_as_everywhere() {
        let near =
            |power: u32| (0..3).map(move |n| 10u64.pow(power).wrapping_add(n).wrapping_sub(1));
        for number in (0..20).flat_map(near).chain(0..100_000).chain([u64::MAX, u64::MAX - 1]) {
            assert_eq!(written(false, number), number.to_string());
        }
        assert_eq!(written(true, i64::MIN.unsigned_abs()), i64::MIN.to_string());
        assert_eq!(written(true, 1), "-1");
    }

    proptest! {
        #[test]
        fn any_integer_is_written_as_everywhere(number: i64, shift in 0u32..64) {
            let number = number >> shift;
            prop_assert_eq!(written(number < 0, number.unsigned_abs()), number.to_string());
        }
    }
}
