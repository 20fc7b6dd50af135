//! Which patterns a text may match, asked of few automata for all patterns.

use crate::compile::{Failure, Kind, Reason, build_nfa};
use crate::find::GaveUp;
use crate::prefixes::find_prefixes;
use crate::relax::relax;
use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton, StateID};
use aho_corasick::dfa;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::{Input, MatchKind, PatternID, PatternSet};
use regex_syntax::hir::Hir;

/// Patterns whose matches must begin with one of a few literals. The automaton is whole from the
/// beginning: no text makes it grow.
pub struct LiteralGate {
    automaton: dfa::DFA,
    /// The pattern of each literal.
    patterns: Vec<PatternID>,
}

/// Places that are told of any text, and of a long one: one for so many bytes, of which ordinary
/// text has one in sixty. Beyond them each pattern is searched for in the whole text, which is dear.
const MIN_BEGINNINGS: usize = 128;
const BYTES_A_BEGINNING: usize = 32;

fn most_beginnings(text: &[u8]) -> usize {
    MIN_BEGINNINGS.max(text.len() / BYTES_A_BEGINNING)
}

/// Among which our own other patterns are dealt out. The states of an automaton are what texts make
/// of all its patterns together, so that several small ones meet far fewer of them than a large one.
const LAZY_GATES: usize = 4;

/// Some of the other patterns. The automaton grows as texts lead it to new states.
pub struct LazyGate {
    dfa: DFA,
    cache: Cache,
    hit: PatternSet,
    /// The set's pattern by the automaton's.
    patterns: Vec<PatternID>,
}

/// Our own patterns share all gates. A tenant's all stand in one lazy gate, as they are, so that its
/// limits hold for all of them.
pub fn build_gates(hirs: &[Hir], kind: Kind) -> Result<(LiteralGate, Vec<LazyGate>), Failure> {
    let (mut literals, mut literals_of) = (Vec::new(), Vec::new());
    let (mut others, mut others_of) = (Vec::new(), Vec::new());
    for (i, hir) in hirs.iter().enumerate() {
        let pattern = PatternID::must(i);
        let prefixes = if kind == Kind::Builtin {
            find_prefixes(hir)
        } else {
            None
        };
        if let Some(prefixes) = prefixes {
            literals_of.extend(prefixes.iter().map(|_| pattern));
            literals.extend(prefixes);
        } else {
            others_of.push(pattern);
            others.push(if kind == Kind::Builtin {
                relax(hir)
            } else {
                hir.clone()
            });
        }
    }
    // Neighbours in the list have more states in common than others.
    let each = match kind {
        Kind::Builtin => others.len().div_ceil(LAZY_GATES).max(1),
        Kind::Tenant => others.len().max(1),
    };
    let lazy = others
        .chunks(each)
        .zip(others_of.chunks(each))
        .map(|(hirs, patterns)| LazyGate::new(hirs, patterns.to_vec(), kind))
        .collect::<Result<Vec<_>, _>>()?;
    Ok((LiteralGate::new(&literals, literals_of)?, lazy))
}

impl LiteralGate {
    fn new(literals: &[Vec<u8>], patterns: Vec<PatternID>) -> Result<LiteralGate, Failure> {
        let automaton = dfa::DFA::builder()
            .ascii_case_insensitive(true)
            .prefilter(false)
            .build(literals)
            .map_err(|error| Failure {
                reason: Reason::TooLarge,
                pattern: 0,
                offset: 0,
                message: error.to_string(),
            })?;
        Ok(LiteralGate {
            automaton,
            patterns,
        })
    }

    /// Where matches may begin. Patterns with too many such places are candidates at once.
    pub fn search(
        &self,
        text: &[u8],
        beginnings: &mut Vec<(PatternID, usize)>,
        candidates: &mut PatternSet,
    ) {
        if self.patterns.is_empty() {
            return;
        }
        let most = most_beginnings(text);
        let mut state = self.start_state();
        for (at, &byte) in text.iter().enumerate() {
            state = self.automaton.next_state(Anchored::No, state, byte);
            if self.automaton.is_match(state) {
                self.take(state, at, most, beginnings, candidates);
            }
        }
    }

    fn start_state(&self) -> StateID {
        self.automaton
            .start_state(Anchored::No)
            .expect("it is built for searches from anywhere")
    }

    /// What ends with the byte at this place.
    #[cold]
    fn take(
        &self,
        state: StateID,
        at: usize,
        most: usize,
        beginnings: &mut Vec<(PatternID, usize)>,
        candidates: &mut PatternSet,
    ) {
        for i in 0..self.automaton.match_len(state) {
            let literal = self.automaton.match_pattern(state, i);
            let pattern = self.patterns[literal];
            if beginnings.len() < most {
                beginnings.push((pattern, at + 1 - self.automaton.pattern_len(literal)));
            } else {
                candidates.insert(pattern);
            }
        }
    }
}

/// Asks all gates in one pass where there are as many as usual: each waits for its memory at every
/// byte, and all wait together.
pub fn search_all(
    literal: &LiteralGate,
    lazy: &mut [LazyGate],
    text: &[u8],
    beginnings: &mut Vec<(PatternID, usize)>,
    candidates: &mut PatternSet,
) -> Result<(), GaveUp> {
    if let Ok(gates) = <&mut [LazyGate; LAZY_GATES]>::try_from(&mut *lazy) {
        if !literal.patterns.is_empty()
            && try_search_all(literal, gates, text, beginnings, candidates).is_ok()
        {
            gates.iter().for_each(|gate| gate.tell(candidates));
            return Ok(());
        }
        beginnings.clear();
        candidates.clear();
    }
    literal.search(text, beginnings, candidates);
    for gate in lazy {
        gate.search(text, candidates)?;
    }
    Ok(())
}

fn try_search_all(
    literal: &LiteralGate,
    lazy: &mut [LazyGate; LAZY_GATES],
    text: &[u8],
    beginnings: &mut Vec<(PatternID, usize)>,
    candidates: &mut PatternSet,
) -> Result<(), GaveUp> {
    let most = most_beginnings(text);
    let mut literal_state = literal.start_state();
    let mut states = [LazyStateID::default(); LAZY_GATES];
    for (state, gate) in states.iter_mut().zip(lazy.iter_mut()) {
        gate.hit.clear();
        *state = gate
            .dfa
            .start_state_forward(&mut gate.cache, &Input::new(text))
            .map_err(|_| GaveUp)?;
    }
    for (at, &byte) in text.iter().enumerate() {
        literal_state = literal
            .automaton
            .next_state(Anchored::No, literal_state, byte);
        for (state, gate) in states.iter_mut().zip(lazy.iter_mut()) {
            *state = gate
                .dfa
                .next_state(&mut gate.cache, *state, byte)
                .map_err(|_| GaveUp)?;
            if state.is_match() {
                insert_matches(&gate.dfa, &gate.cache, *state, &mut gate.hit);
            }
        }
        if literal.automaton.is_match(literal_state) {
            literal.take(literal_state, at, most, beginnings, candidates);
        }
    }
    for (state, gate) in states.into_iter().zip(lazy.iter_mut()) {
        let state = gate
            .dfa
            .next_eoi_state(&mut gate.cache, state)
            .map_err(|_| GaveUp)?;
        if state.is_match() {
            insert_matches(&gate.dfa, &gate.cache, state, &mut gate.hit);
        }
    }
    Ok(())
}

#[cold]
fn insert_matches(dfa: &DFA, cache: &Cache, state: LazyStateID, hit: &mut PatternSet) {
    for i in 0..dfa.match_len(cache, state) {
        hit.insert(dfa.match_pattern(cache, state, i));
    }
}

impl LazyGate {
    fn new(hirs: &[Hir], patterns: Vec<PatternID>, kind: Kind) -> Result<LazyGate, Failure> {
        let nfa = build_nfa(hirs, kind)?;
        let config = Config::new()
            .match_kind(MatchKind::All)
            .prefilter(None)
            .cache_capacity(kind.gate_cache_bytes())
            .skip_cache_capacity_check(true)
            .minimum_cache_clear_count(kind.clears())
            .minimum_bytes_per_state(None);
        let dfa = DFA::builder()
            .configure(config)
            .build_from_nfa(nfa)
            .expect("its capacity is not checked and no byte quits");
        let cache = dfa.create_cache();
        Ok(LazyGate {
            dfa,
            cache,
            hit: PatternSet::new(hirs.len()),
            patterns,
        })
    }

    /// A cache that is full of other texts is no reason to give up: only a fresh one is.
    pub fn search(&mut self, text: &[u8], candidates: &mut PatternSet) -> Result<(), GaveUp> {
        if self.patterns.is_empty() {
            return Ok(());
        }
        let is_fresh = self.cache.clear_count() == 0;
        if self.try_search(text).is_err() {
            self.cache.reset(&self.dfa);
            if is_fresh {
                return Err(GaveUp);
            }
            self.try_search(text)?;
        }
        self.tell(candidates);
        Ok(())
    }

    fn tell(&self, candidates: &mut PatternSet) {
        for hit in self.hit.iter() {
            candidates.insert(self.patterns[hit]);
        }
    }

    fn try_search(&mut self, text: &[u8]) -> Result<(), GaveUp> {
        self.hit.clear();
        let input = Input::new(text);
        self.dfa
            .try_which_overlapping_matches(&mut self.cache, &input, &mut self.hit)
            .map_err(|_| GaveUp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many places are told, and whether the pattern is a candidate at once.
    fn told(text: &str) -> (usize, bool) {
        let hirs = crate::compile::parse(&["ab[0-9]{2}"]).unwrap();
        let (gate, _) = build_gates(&hirs, Kind::Builtin).ok().unwrap();
        let mut candidates = PatternSet::new(1);
        let mut beginnings = Vec::new();
        gate.search(text.as_bytes(), &mut beginnings, &mut candidates);
        (beginnings.len(), !candidates.is_empty())
    }

    #[test]
    fn tells_more_beginnings_of_a_longer_text() {
        let line = format!("ab{}", "-".repeat(38));
        assert_eq!(told(&line.repeat(1000)), (1000, false));
    }

    #[test]
    fn tells_a_bounded_number_of_beginnings() {
        assert_eq!(told(&"ab".repeat(128)), (128, false));
        assert_eq!(told(&"ab".repeat(8000)), (16_000 / BYTES_A_BEGINNING, true));
    }
}
