//! From bytes of UTF-8 to units of UTF-16, which is how JavaScript counts.

use crate::find::Found;

/// Changes the offsets of all matches, in one pass over the text. A character of four bytes has
/// two units, every other has one. Matches begin and end between characters.
pub fn to_utf16(text: &[u8], matches: &mut [Found]) {
    let mut places: Vec<u32> = matches
        .iter()
        .flat_map(|one| [one.start, one.end])
        .collect();
    places.sort_unstable();
    places.dedup();
    let mut units = Vec::with_capacity(places.len());
    let mut counted = 0;
    let mut at = 0;
    for &place in &places {
        counted += count_units(&text[at..place as usize]);
        at = place as usize;
        units.push(counted);
    }
    let unit_of = |place: u32| units[places.partition_point(|&other| other < place)];
    for one in matches {
        one.start = unit_of(one.start);
        one.end = unit_of(one.end);
    }
}

fn count_units(bytes: &[u8]) -> u32 {
    let is_first = |byte: u8| (byte & 0xC0 != 0x80) as u32;
    let is_first_of_four = |byte: u8| (byte >= 0xF0) as u32;
    bytes
        .iter()
        .map(|&byte| is_first(byte) + is_first_of_four(byte))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_javascript_does() {
        for text in ["", "a", "é", "€", "😀", "a😀é€b"] {
            assert_eq!(
                count_units(text.as_bytes()) as usize,
                text.encode_utf16().count()
            );
        }
    }

    #[test]
    fn maps_matches_of_several_patterns() {
        let text = "a😀é€b".as_bytes();
        let mut matches = [
            Found {
                pattern: 0,
                start: 1,
                end: 5,
            },
            Found {
                pattern: 1,
                start: 0,
                end: text.len() as u32,
            },
            Found {
                pattern: 2,
                start: 5,
                end: 7,
            },
        ];
        to_utf16(text, &mut matches);
        assert_eq!(
            matches.map(|one| (one.start, one.end)),
            [(1, 3), (0, 6), (3, 4)]
        );
    }
}
