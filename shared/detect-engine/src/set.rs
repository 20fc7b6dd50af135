//! A compiled set. Its gates say which patterns a text may match; each of those is then asked
//! alone, by an automaton that is made when it is first needed.

use crate::compile::{Failure, Kind, parse};
use crate::find::{Finder, Found, Fuel, GaveUp};
use crate::gate::{LazyGate, LiteralGate, build_gates, search_all};
use regex_automata::PatternSet;
use regex_syntax::hir::Hir;

pub struct Set {
    kind: Kind,
    hirs: Vec<Hir>,
    literal_gate: LiteralGate,
    lazy_gates: Vec<LazyGate>,
    candidates: PatternSet,
    finders: Vec<Option<Finder>>,
}

/// What the finders of a tenant's set may hold from one text to the next.
const KEPT_FINDER_BYTES: usize = 1024 * 1024;

impl Set {
    pub fn new(patterns: &[&str], kind: Kind) -> Result<Set, Failure> {
        let hirs = parse(patterns)?;
        let (literal_gate, lazy_gates) = build_gates(&hirs, kind)?;
        let candidates = PatternSet::new(hirs.len());
        let finders = hirs.iter().map(|_| None).collect();
        Ok(Set {
            kind,
            hirs,
            literal_gate,
            lazy_gates,
            candidates,
            finders,
        })
    }

    /// The patterns that match.
    pub fn hits(&mut self, text: &[u8]) -> Result<Vec<usize>, GaveUp> {
        let candidates = self.find_candidates(text)?;
        match self.kind {
            // Unrelaxed, the gate is exact.
            Kind::Tenant => Ok(candidates),
            Kind::Builtin => {
                let mut fuel = Fuel::new(self.kind, text.len());
                let mut hits = Vec::with_capacity(candidates.len());
                for pattern in candidates {
                    if self.finder(pattern).is_match(text, &mut fuel)? {
                        hits.push(pattern);
                    }
                }
                Ok(hits)
            }
        }
    }

    /// Every match of every pattern, sorted by start.
    pub fn find(&mut self, text: &[u8]) -> Result<Vec<Found>, GaveUp> {
        let candidates = self.find_candidates(text)?;
        let mut fuel = Fuel::new(self.kind, text.len());
        let mut matches = Vec::new();
        let mut result = Ok(());
        for pattern in candidates {
            let finder = self.finder(pattern);
            result = finder.find(text, pattern as u32, &mut fuel, &mut matches);
            if result.is_err() {
                break;
            }
        }
        self.drop_finders();
        matches.sort_by_key(|one| (one.start, one.pattern));
        result.map(|()| matches)
    }

    fn find_candidates(&mut self, text: &[u8]) -> Result<Vec<usize>, GaveUp> {
        self.candidates.clear();
        let mut beginnings = Vec::new();
        search_all(
            &self.literal_gate,
            &mut self.lazy_gates,
            text,
            &mut beginnings,
            &mut self.candidates,
        )?;
        for (pattern, start) in beginnings {
            if !self.candidates.contains(pattern)
                && self.finder(pattern.as_usize()).may_begin_at(text, start)?
            {
                self.candidates.insert(pattern);
            }
        }
        Ok(self
            .candidates
            .iter()
            .map(|pattern| pattern.as_usize())
            .collect())
    }

    fn finder(&mut self, pattern: usize) -> &mut Finder {
        let hir = &self.hirs[pattern];
        self.finders[pattern].get_or_insert_with(|| Finder::new(hir, self.kind))
    }

    fn drop_finders(&mut self) {
        let bytes: usize = self
            .finders
            .iter()
            .flatten()
            .map(Finder::memory_usage)
            .sum();
        if self.kind == Kind::Tenant && bytes > KEPT_FINDER_BYTES {
            self.finders.fill_with(|| None);
        }
    }
}
