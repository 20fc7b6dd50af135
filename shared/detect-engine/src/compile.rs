//! From expressions to automata, within the limits of their kind.

use crate::ascii::make_ascii;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_syntax::ast::parse::ParserBuilder;
use regex_syntax::hir::{Hir, translate::TranslatorBuilder};

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Our own patterns: they have what they need.
    Builtin,
    /// Foreign patterns: "linear" is not "cheap", so they are small and give up.
    Tenant,
}

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

impl Kind {
    /// Bytes of one automaton before it runs, whether of all patterns or of one.
    pub fn nfa_bytes(self) -> usize {
        match self {
            Kind::Builtin => 8 * MIB,
            Kind::Tenant => 256 * KIB,
        }
    }

    /// Bytes of the states that a gate has met: of ours there are four, a tenant's has all patterns.
    pub fn gate_cache_bytes(self) -> usize {
        match self {
            Kind::Builtin => 2 * MIB,
            Kind::Tenant => MIB,
        }
    }

    /// Bytes of the states that the automaton of one pattern has met, each way.
    pub fn pattern_cache_bytes(self) -> usize {
        match self {
            Kind::Builtin => 2 * MIB,
            Kind::Tenant => 256 * KIB,
        }
    }

    /// How often a full cache is emptied before the search gives up.
    pub fn clears(self) -> Option<usize> {
        match self {
            Kind::Builtin => None,
            Kind::Tenant => Some(1),
        }
    }
}

/// The numbers are read by pattern-set.ts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    Syntax = 1,
    /// All patterns together; no one of them alone.
    TooLarge = 2,
}

#[derive(Debug)]
pub struct Failure {
    pub reason: Reason,
    pub pattern: usize,
    /// A byte of the pattern.
    pub offset: usize,
    pub message: String,
}

/// Below regex-syntax's own 250: the stack of WebAssembly has one megabyte.
const MAX_NESTING: u32 = 100;

pub fn read_patterns(mut bytes: &[u8]) -> Vec<&str> {
    let mut patterns = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<4>() {
        let (pattern, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        patterns.push(std::str::from_utf8(pattern).expect("JavaScript wrote UTF-8"));
        bytes = rest;
    }
    patterns
}

pub fn parse(patterns: &[&str]) -> Result<Vec<Hir>, Failure> {
    let parse = |(i, pattern): (usize, &&str)| {
        parse_one(pattern).map_err(|(offset, message)| syntax(i, offset, message))
    };
    patterns.iter().enumerate().map(parse).collect()
}

fn parse_one(pattern: &str) -> Result<Hir, (usize, String)> {
    let mut ast = ParserBuilder::new()
        .nest_limit(MAX_NESTING)
        .build()
        .parse(pattern)
        .map_err(|error| (error.span().start.offset, error.kind().to_string()))?;
    make_ascii(&mut ast);
    let hir = TranslatorBuilder::new()
        .build()
        .translate(pattern, &ast)
        .map_err(|error| (error.span().start.offset, error.kind().to_string()))?;
    match hir.properties().minimum_len() {
        Some(0) => Err((0, "the expression matches the empty text".to_owned())),
        _ => Ok(hir),
    }
}

/// One automaton for all the patterns.
pub fn build_nfa(hirs: &[Hir], kind: Kind) -> Result<NFA, Failure> {
    match build(hirs, kind, false) {
        Ok(nfa) => Ok(nfa),
        Err(_) => {
            for (i, hir) in hirs.iter().enumerate() {
                build_each_way(hir, kind).map_err(|message| syntax(i, 0, message))?;
            }
            Err(Failure {
                reason: Reason::TooLarge,
                pattern: 0,
                offset: 0,
                message: "the expressions together are too large".to_owned(),
            })
        }
    }
}

/// One pattern's automata, forwards and backwards.
pub fn build_each_way(hir: &Hir, kind: Kind) -> Result<(NFA, NFA), String> {
    let one = std::slice::from_ref(hir);
    let too_large =
        |_| "the expression is too large once its repetitions are written out".to_owned();
    Ok((
        build(one, kind, false).map_err(too_large)?,
        build(one, kind, true).map_err(too_large)?,
    ))
}

fn build(hirs: &[Hir], kind: Kind, reverse: bool) -> Result<NFA, thompson::BuildError> {
    let config = thompson::Config::new()
        .reverse(reverse)
        // Texts are UTF-8 and no match is empty: none begins or ends inside a character.
        .utf8(false)
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(kind.nfa_bytes()));
    thompson::Compiler::new()
        .configure(config)
        .build_many_from_hir(hirs)
}

fn syntax(pattern: usize, offset: usize, message: String) -> Failure {
    Failure {
        reason: Reason::Syntax,
        pattern,
        offset,
        message,
    }
}
