//! Where the signs stand that open or separate a disguise: quotes before strings, and signs at
//! regular places. A text is read window by window, in UTF-16 units that JavaScript writes; what is
//! done with the places is in shared/src/detect/dlp/decode. The window and the answers have fixed
//! places in memory. Proven against plain loops by shared/src/detect/engine/sign-finder.test.ts.

/// Units of a window whose signs are reported together.
pub const WINDOW: usize = 4096;
/// Units behind it that are looked at, too.
pub const AHEAD: usize = 16;
/// Numbers per row: a step, where the sign stood first and last (-1 while unknown), and where the
/// last digit stood (-1 if there was none).
const ROW: usize = 4;
/// Units that are read at once.
const BLOCK: usize = 64;

/// Separators in a row that words and tables rarely have.
const MIN_SIGNS: usize = 6;
const MIN_SIGNS_OF_GROUPS: i32 = 4;
/// Characters between two signs, at most.
const MAX_GROUP: i32 = 8;
/// From this step on, two separators between groups of encoded text are enough.
const ENCODED: i32 = 5;

pub struct Signs {
    pub window: [u16; WINDOW + AHEAD],
    /// At most two rows for each unit.
    pub rows: [i32; 2 * ROW * WINDOW],
    pub places: [u16; WINDOW],
    /// For the text being read, by sign: where it stood last, at which step, and where its run
    /// began.
    lasts: [i32; 128],
    steps: [i32; 128],
    firsts: [i32; 128],
    last_digit: i32,
}

/// One bit for each unit of a block.
struct Classes {
    /// ASCII signs: neither letters nor digits.
    signs: u64,
    digits: u64,
    /// Neither letters nor digits, with the same unit two or three places on, and five times as far.
    repeated: u64,
}

impl Signs {
    pub const fn new() -> Signs {
        Signs {
            window: [0; WINDOW + AHEAD],
            rows: [0; 2 * ROW * WINDOW],
            places: [0; WINDOW],
            lasts: [0; 128],
            steps: [0; 128],
            firsts: [0; 128],
            last_digit: 0,
        }
    }

    /// Before the first window of a text.
    pub fn begin(&mut self) {
        self.lasts.fill(-MAX_GROUP - 2);
        self.steps.fill(0);
        self.firsts.fill(0);
        self.last_digit = -1;
    }

    /// The signs among the first `count` units of the window that deserve a closer look.
    ///
    /// `from` is where the window begins in its text, `available` how many units of the text it
    /// holds, those behind it included. Answers how many numbers of `rows` are in use.
    pub fn rows(&mut self, from: usize, count: usize, available: usize) -> usize {
        let (count, available) = (count.min(WINDOW), available.min(WINDOW + AHEAD));
        let mut end = 0;
        for base in (0..count).step_by(BLOCK) {
            let Classes {
                signs,
                digits,
                repeated,
            } = classes(&self.window, base);
            let valid = first_bits(count - base);
            let mut left = (signs | repeated) & valid;
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                left &= left - 1;
                let place = base + bit;
                if signs >> bit & 1 != 0 {
                    let before = digits & first_bits(bit);
                    let last = from + base + 63 - before.leading_zeros() as usize % 64;
                    let digit = if before == 0 { self.last_digit } else { last as i32 };
                    end = self.end_step((from + place) as i32, place, digit, end);
                }
                if repeated >> bit & 1 != 0 {
                    end = self.begin_run(from, place, available, end);
                }
            }
            let digits = digits & valid;
            if digits != 0 {
                self.last_digit = (from + base + 63 - digits.leading_zeros() as usize) as i32;
            }
        }
        end
    }

    /// What is left behind the last window: the steps that the text ended with.
    pub fn last_rows(&mut self) -> usize {
        let mut end = 0;
        for sign in 0..128 {
            let step = self.steps[sign];
            if is_step_of_groups(step) {
                let row = [step, self.firsts[sign], self.lasts[sign], self.last_digit];
                end = self.push(row, end);
            }
        }
        end
    }

    /// Notes where a sign stands, and reports the step that ends there.
    #[inline(always)]
    fn end_step(&mut self, at: i32, place: usize, digit: i32, end: usize) -> usize {
        let sign = self.window[place] as usize % 128;
        let before = self.lasts[sign];
        let step = at - before;
        let run = self.steps[sign];
        self.lasts[sign] = at;
        if step == run {
            return end;
        }
        let first = self.firsts[sign];
        self.steps[sign] = step;
        self.firsts[sign] = before;
        // In most words, only two spaces happen to be at a step.
        let is_more = before - first >= (MIN_SIGNS_OF_GROUPS - 1) * run
            || (run >= ENCODED && digit > first - run);
        if is_more && is_step_of_groups(run) {
            return self.push([run, first, before, digit], end);
        }
        end
    }

    /// Reports a sign that recurs at a short step.
    #[cold]
    fn begin_run(&mut self, from: usize, place: usize, available: usize, end: usize) -> usize {
        let sign = self.window[place];
        let is_next = self.window[place + 1] == sign;
        // Characters beyond the first plane have two units; a sign may be doubled.
        let is_second = self.window[place + 2] == sign;
        if !is_second && sign < 128 && !is_next {
            return end;
        }
        // Indentation.
        if sign <= 0x20 && is_next {
            return end;
        }
        let step = if is_second { 2 } else { 3 };
        // Most are just two or three dots or brackets: a run that is long enough also has the sign
        // here.
        let enough = place + (MIN_SIGNS - 1) * step;
        if enough >= available || self.window[place + step] != sign || self.window[enough] != sign {
            return end;
        }
        self.push([step as i32, (from + place) as i32, -1, -1], end)
    }

    fn push(&mut self, row: [i32; ROW], end: usize) -> usize {
        self.rows[end..end + ROW].copy_from_slice(&row);
        end + ROW
    }

    /// Where the double quotes, `=` and `:` stand among the first `count` units of the window, or
    /// the other quotes. Answers how many of `places` are in use.
    pub fn marks(&mut self, count: usize, others: bool) -> usize {
        let count = count.min(WINDOW);
        let mut end = 0;
        for base in (0..count).step_by(BLOCK) {
            let found = if others {
                marks(&self.window, base, [b'\'', b'`', b'`'])
            } else {
                marks(&self.window, base, [b'"', b'=', b':'])
            };
            let mut left = found & first_bits(count - base);
            while left != 0 {
                self.places[end] = (base + left.trailing_zeros() as usize) as u16;
                end += 1;
                left &= left - 1;
            }
        }
        end
    }
}

/// Shorter steps are handled as they are found.
fn is_step_of_groups(step: i32) -> bool {
    step > 2 && step <= MAX_GROUP + 1
}

/// As many ones as that, from the lowest bit.
fn first_bits(count: usize) -> u64 {
    if count >= BLOCK { u64::MAX } else { (1 << count) - 1 }
}

type Window = [u16; WINDOW + AHEAD];

/// The classes of the units from `base` on, a multiple of 64 within the window.
#[cfg(target_arch = "wasm32")]
#[target_feature(enable = "simd128")]
fn classes(window: &Window, base: usize) -> Classes {
    use core::arch::wasm32::*;
    assert!(base + BLOCK <= WINDOW);
    let load = |at: usize| unsafe { v128_load(window.as_ptr().add(base + at).cast()) };
    let (mut signs, mut digits, mut repeated) = (0, 0, 0);
    for at in (0..BLOCK).step_by(16) {
        let units = [load(at), load(at + 8)];
        let repeats = |i: usize| {
            let same = |by: usize| u16x8_eq(units[i], load(at + 8 * i + by));
            let second = v128_and(same(2), same(10));
            v128_or(second, v128_and(same(3), same(15)))
        };
        let again = i8x16_narrow_i16x8(repeats(0), repeats(1));
        // A unit beyond a byte becomes 0 or 255, which are no letters and no digits.
        let bytes = u8x16_narrow_i16x8(units[0], units[1]);
        let beyond = |i: usize| u16x8_gt(units[i], u16x8_splat(0x7f));
        let foreign = i8x16_narrow_i16x8(beyond(0), beyond(1));
        let small = v128_or(bytes, u8x16_splat(0x20));
        let letter = u8x16_lt(u8x16_sub(small, u8x16_splat(b'a')), u8x16_splat(26));
        let digit = u8x16_lt(u8x16_sub(bytes, u8x16_splat(b'0')), u8x16_splat(10));
        let named = v128_or(letter, digit);
        let sign = v128_not(v128_or(named, foreign));
        signs |= (i8x16_bitmask(sign) as u64) << at;
        digits |= (i8x16_bitmask(digit) as u64) << at;
        repeated |= (i8x16_bitmask(v128_andnot(again, named)) as u64) << at;
    }
    Classes {
        signs,
        digits,
        repeated,
    }
}

#[cfg(target_arch = "wasm32")]
#[target_feature(enable = "simd128")]
fn marks(window: &Window, base: usize, marks: [u8; 3]) -> u64 {
    use core::arch::wasm32::*;
    assert!(base + BLOCK <= WINDOW);
    let load = |at: usize| unsafe { v128_load(window.as_ptr().add(base + at).cast()) };
    let [one, two, three] = marks.map(|mark| u8x16_splat(mark));
    let mut found = 0;
    for at in (0..BLOCK).step_by(16) {
        // A unit beyond a byte becomes 0 or 255, which are no marks.
        let bytes = u8x16_narrow_i16x8(load(at), load(at + 8));
        let either = v128_or(u8x16_eq(bytes, one), u8x16_eq(bytes, two));
        let any = v128_or(either, u8x16_eq(bytes, three));
        found |= (i8x16_bitmask(any) as u64) << at;
    }
    found
}

/// The same, unit by unit, where the crate's own tests run.
#[cfg(not(target_arch = "wasm32"))]
fn classes(window: &Window, base: usize) -> Classes {
    let mut classes = Classes {
        signs: 0,
        digits: 0,
        repeated: 0,
    };
    for bit in 0..BLOCK {
        let at = base + bit;
        let unit = window[at];
        let named = u8::try_from(unit).is_ok_and(|byte| byte.is_ascii_alphanumeric());
        let digit = unit >= 0x30 && unit < 0x3a;
        let same = |by: usize| unit == window[at + by];
        let again = (same(2) && same(10)) || (same(3) && same(15));
        classes.signs |= u64::from(!named && unit < 128) << bit;
        classes.digits |= u64::from(digit) << bit;
        classes.repeated |= u64::from(!named && again) << bit;
    }
    classes
}

#[cfg(not(target_arch = "wasm32"))]
fn marks(window: &Window, base: usize, marks: [u8; 3]) -> u64 {
    (0..BLOCK)
        .filter(|bit| marks.iter().any(|&mark| u16::from(mark) == window[base + bit]))
        .fold(0, |found, bit| found | 1 << bit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signs_of(text: &str) -> (Signs, usize) {
        let mut signs = Signs::new();
        let units: Vec<u16> = text.encode_utf16().collect();
        signs.window[..units.len()].copy_from_slice(&units);
        (signs, units.len())
    }

    #[test]
    fn finds_signs_at_short_steps() {
        let (mut signs, length) = signs_of("see p*a*s*s*w*o*r*d");
        signs.begin();
        let end = signs.rows(0, length, length);
        assert_eq!(signs.rows[..end].chunks(ROW).map(|row| (row[0], row[1])).next(), Some((2, 5)));
        assert_eq!(signs.last_rows(), 0);
    }

    #[test]
    fn finds_groups_of_one_length() {
        let (mut signs, length) = signs_of("QUtJ-QVE3-TVoz-abcd-efgh and");
        signs.begin();
        let end = signs.rows(0, length, length);
        assert_eq!(end, 0);
        let end = signs.last_rows();
        assert_eq!(signs.rows[..end], [5, 4, 19, 8]);
    }

    #[test]
    fn finds_marks_of_strings() {
        let (mut signs, length) = signs_of("a=\"b\" 'c' \u{3d00}`");
        assert_eq!(signs.marks(length, false), 3);
        assert_eq!(signs.places[..3], [1, 2, 4]);
        assert_eq!(signs.marks(length, true), 3);
        assert_eq!(signs.places[..3], [6, 8, 11]);
    }
}
