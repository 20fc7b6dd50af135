//! Where one pattern matches.

use crate::compile::{Kind, build_each_way};
use regex_automata::MatchKind;
use regex_automata::hybrid::dfa::{Config, DFA};
use regex_automata::hybrid::regex::{Cache, Regex};
use regex_automata::{Anchored, Input};
use regex_syntax::hir::Hir;

/// A match, in bytes until offsets.rs has made them UTF-16 units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub pattern: u32,
    pub start: u32,
    pub end: u32,
}

/// MAX_MATCHES_PER_PATTERN of pattern-contract.ts. Finding all matches is quadratic for some
/// patterns, since each search may read to the end of the text.
const MAX_MATCHES: usize = 100;

const MAX_BYTES_OF_BEGINNING: usize = 256;

/// What all searches of one call may cost, counted in bytes that are read.
pub struct Fuel(u64);

/// What one byte of a new state costs, compared with reading a byte of the text.
const STATE_BYTE_COST: u64 = 10;

impl Fuel {
    pub fn new(kind: Kind, text_bytes: usize) -> Fuel {
        match kind {
            Kind::Builtin => Fuel(u64::MAX),
            Kind::Tenant => Fuel(4 * 1024 * 1024 + 64 * text_bytes as u64),
        }
    }

    fn burn(&mut self, cost: u64) -> Result<(), GaveUp> {
        self.0 = self.0.checked_sub(cost).ok_or(GaveUp)?;
        Ok(())
    }
}

/// A search would cost more than its kind may.
#[derive(Debug)]
pub struct GaveUp;

/// A match's start and end, if there is another.
type Next = Option<(usize, usize)>;

/// So far: bytes read, bytes of states, and how often the caches were emptied.
struct Spent {
    read: u64,
    built: u64,
    clears: usize,
}

pub struct Finder {
    regex: Regex,
    cache: Cache,
}

impl Finder {
    pub fn new(hir: &Hir, kind: Kind) -> Finder {
        let (forward, backward) =
            build_each_way(hir, kind).expect("it is part of a set that was built");
        let config = |match_kind| {
            Config::new()
                .match_kind(match_kind)
                .prefilter(None)
                .cache_capacity(kind.pattern_cache_bytes())
                .skip_cache_capacity_check(true)
                .minimum_cache_clear_count(kind.clears())
                .minimum_bytes_per_state(None)
        };
        let build = |nfa, match_kind| {
            let dfa = DFA::builder()
                .configure(config(match_kind))
                .build_from_nfa(nfa);
            dfa.expect("its capacity is not checked and no byte quits")
        };
        let regex = Regex::builder().build_from_dfas(
            build(forward, MatchKind::LeftmostFirst),
            build(backward, MatchKind::All),
        );
        let cache = regex.create_cache();
        Finder { regex, cache }
    }

    /// Adds the matches, leftmost first.
    pub fn find(
        &mut self,
        text: &[u8],
        pattern: u32,
        fuel: &mut Fuel,
        matches: &mut Vec<Found>,
    ) -> Result<(), GaveUp> {
        let mut at = 0;
        for _ in 0..MAX_MATCHES {
            let Some((start, end)) = self.find_next(text, at, fuel)? else {
                break;
            };
            matches.push(Found {
                pattern,
                start: start as u32,
                end: end as u32,
            });
            at = end;
        }
        Ok(())
    }

    /// Whether a match begins here, as far as a few bytes tell.
    pub fn may_begin_at(&mut self, text: &[u8], start: usize) -> Result<bool, GaveUp> {
        let dfa = self.regex.forward();
        let cache = self.cache.forward_mut();
        let input = Input::new(text).range(start..).anchored(Anchored::Yes);
        let mut state = dfa.start_state_forward(cache, &input).map_err(|_| GaveUp)?;
        for &byte in text[start..].iter().take(MAX_BYTES_OF_BEGINNING) {
            state = dfa.next_state(cache, state, byte).map_err(|_| GaveUp)?;
            if state.is_match() || state.is_dead() {
                return Ok(state.is_match());
            }
        }
        Ok(true)
    }

    pub fn is_match(&mut self, text: &[u8], fuel: &mut Fuel) -> Result<bool, GaveUp> {
        Ok(self.find_next(text, 0, fuel)?.is_some())
    }

    /// A cache that is full of other texts is no reason to give up: only a fresh one is.
    fn find_next(&mut self, text: &[u8], at: usize, fuel: &mut Fuel) -> Result<Next, GaveUp> {
        let is_fresh = self.clear_count() == 0;
        let found = self.try_find_next(text, at, fuel)?;
        if let Ok(next) = found {
            return Ok(next);
        }
        self.cache.reset(&self.regex);
        if is_fresh {
            Err(GaveUp)
        } else {
            self.try_find_next(text, at, fuel)?
        }
    }

    /// Outside: whether there was fuel. Inside: whether the cache was large enough.
    fn try_find_next(
        &mut self,
        text: &[u8],
        at: usize,
        fuel: &mut Fuel,
    ) -> Result<Result<Next, GaveUp>, GaveUp> {
        let before = self.spent();
        let input = Input::new(text).range(at..);
        let found = self.regex.try_search(&mut self.cache, &input);
        let after = self.spent();
        fuel.burn(if after.clears == before.clears {
            (after.read - before.read) + STATE_BYTE_COST * after.built.saturating_sub(before.built)
        } else {
            // An emptied cache forgets what was read and built.
            (2 * (text.len() - at)) as u64 + STATE_BYTE_COST * (before.built + after.built)
        })?;
        Ok(found
            .map(|found| found.map(|one| (one.start(), one.end())))
            .map_err(|_| GaveUp))
    }

    fn spent(&mut self) -> Spent {
        Spent {
            read: self.cache.forward().search_total_len() as u64
                + self.cache.reverse().search_total_len() as u64,
            built: self.cache.memory_usage() as u64,
            clears: self.clear_count(),
        }
    }

    fn clear_count(&mut self) -> usize {
        self.cache.forward().clear_count() + self.cache.reverse().clear_count()
    }

    pub fn memory_usage(&self) -> usize {
        self.regex.forward().memory_usage()
            + self.regex.reverse().memory_usage()
            + self.cache.memory_usage()
    }
}
