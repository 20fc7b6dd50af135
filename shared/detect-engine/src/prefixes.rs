//! The literals that a match of an expression must begin with, where there are such.

use regex_syntax::hir::{Capture, Class, Hir, HirKind, Repetition};

/// A beginning, in lower case where it is ASCII.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Prefix {
    bytes: Vec<u8>,
    /// Nothing is missing: what follows in the expression can be added.
    is_whole: bool,
}

/// Shorter ones stand in too many texts.
const MIN_BYTES: usize = 2;
/// Longer ones distinguish no better.
const MAX_BYTES: usize = 8;
/// Of one expression.
const MAX_PREFIXES: usize = 2000;
/// Characters of a class that are written out.
const MAX_CLASS: usize = 8;

/// Texts of which one stands at the beginning of every match, once ASCII letters are folded.
pub fn find_prefixes(hir: &Hir) -> Option<Vec<Vec<u8>>> {
    let mut prefixes = prefixes_of(hir);
    if prefixes.len() > MAX_PREFIXES || prefixes.iter().any(|one| one.bytes.len() < MIN_BYTES) {
        return None;
    }
    prefixes.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    prefixes.dedup_by(|later, kept| later.bytes.starts_with(&kept.bytes));
    Some(prefixes.into_iter().map(|one| one.bytes).collect())
}

fn prefixes_of(hir: &Hir) -> Vec<Prefix> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => vec![Prefix {
            bytes: Vec::new(),
            is_whole: true,
        }],
        HirKind::Literal(literal) => vec![whole(&literal.0)],
        HirKind::Class(class) => of_class(class),
        HirKind::Capture(Capture { sub, .. }) => prefixes_of(sub),
        HirKind::Concat(parts) => parts.iter().fold(prefixes_of(&Hir::empty()), append),
        HirKind::Alternation(parts) => of_alternation(parts),
        HirKind::Repetition(repetition) => of_repetition(repetition),
    }
}

fn whole(bytes: &[u8]) -> Prefix {
    let is_whole = bytes.len() <= MAX_BYTES;
    let bytes = bytes[..bytes.len().min(MAX_BYTES)].to_ascii_lowercase();
    Prefix { bytes, is_whole }
}

fn anything() -> Vec<Prefix> {
    vec![Prefix {
        bytes: Vec::new(),
        is_whole: false,
    }]
}

fn of_class(class: &Class) -> Vec<Prefix> {
    let Class::Unicode(class) = class else {
        return anything();
    };
    let count: usize = class.ranges().iter().map(|range| range.len()).sum();
    if count > MAX_CLASS {
        return anything();
    }
    let characters = class
        .ranges()
        .iter()
        .flat_map(|range| range.start()..=range.end());
    let mut buffer = [0; 4];
    let mut prefixes: Vec<Prefix> = characters
        .map(|character| whole(character.encode_utf8(&mut buffer).as_bytes()))
        .collect();
    prefixes.sort_by(|a, b| a.bytes.cmp(&b.bytes));
    prefixes.dedup();
    prefixes
}

fn of_alternation(parts: &[Hir]) -> Vec<Prefix> {
    let mut all = Vec::new();
    for part in parts {
        all.extend(prefixes_of(part));
        if all.len() > MAX_PREFIXES {
            return anything();
        }
    }
    all
}

fn of_repetition(repetition: &Repetition) -> Vec<Prefix> {
    let mut prefixes = prefixes_of(&repetition.sub);
    if repetition.max != Some(1) {
        prefixes.iter_mut().for_each(|one| one.is_whole = false);
    }
    if repetition.min == 0 {
        prefixes.extend(prefixes_of(&Hir::empty()));
    }
    prefixes
}

/// Every whole beginning goes on with every one of the next part; where that were too many, all
/// end here.
fn append(before: Vec<Prefix>, part: &Hir) -> Vec<Prefix> {
    if !before.iter().any(|one| one.is_whole) {
        return before;
    }
    let after = prefixes_of(part);
    if before.len() * after.len() > MAX_PREFIXES {
        return before
            .into_iter()
            .map(|one| Prefix {
                is_whole: false,
                ..one
            })
            .collect();
    }
    before
        .into_iter()
        .flat_map(|one| {
            if !one.is_whole {
                return vec![one];
            }
            let join = |next: &Prefix| {
                let joined = whole(&[&one.bytes[..], &next.bytes[..]].concat());
                Prefix {
                    is_whole: joined.is_whole && next.is_whole,
                    ..joined
                }
            };
            after.iter().map(join).collect()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(regex: &str) -> Option<Vec<String>> {
        let hir = crate::compile::parse(&[regex]).unwrap().remove(0);
        let texts = |all: Vec<Vec<u8>>| all.into_iter().map(|one| String::from_utf8(one).unwrap());
        find_prefixes(&hir).map(|all| texts(all).collect())
    }

    fn are(regex: &str, prefixes: &[&str]) {
        assert_eq!(found(regex).expect(regex), prefixes, "{regex}");
    }

    #[test]
    fn are_what_every_match_begins_with() {
        are(r"\bghp_[A-Za-z0-9]{36}\b", &["ghp_"]);
        are(r"(?:AKIA|ASIA)[A-Z0-9]{16}", &["akia", "asia"]);
        are(r"ab?c+d", &["abc", "ac"]);
        are(r"(?i)born", &["born"]);
        are("a longer literal", &["a longer"]);
        are("id|ident|idea", &["id"]);
        are("(?:ab){2}c", &["ab"]);
    }

    #[test]
    fn are_none_where_a_match_may_begin_with_much() {
        for regex in [r"\d{4}", "a|bcd", "[a-z]+@", "(?:abc)?z", "x?y", "xa*"] {
            assert_eq!(found(regex), None, "{regex}");
        }
    }
}
