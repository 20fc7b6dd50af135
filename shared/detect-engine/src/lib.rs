//! Finds which of many patterns match a text, and where, in time linear in the text. What
//! JavaScript calls is below; who calls it is shared/src/detect/engine/engine-instance.ts.
//!
//! One text is held at a time, in a buffer that JavaScript writes. Sets are known by a number.
//! Nothing here is fit to go on after a panic: it ends in a trap, and JavaScript then drops the
//! instance with all its sets.

mod ascii;
mod compile;
mod find;
mod gate;
mod offsets;
mod prefixes;
mod relax;
mod set;
mod signs;

use compile::{Failure, Kind};
use set::Set;
use signs::Signs;
use std::cell::RefCell;

#[derive(Default)]
struct Engine {
    /// The text, or the patterns that are to be compiled.
    text: Vec<u8>,
    /// Numbers that a call answers with.
    answer: Vec<u32>,
    /// What is wrong with a pattern.
    message: String,
    sets: Vec<Option<Set>>,
}

thread_local! {
    static ENGINE: RefCell<Engine> = RefCell::default();
}

fn with_engine<T>(work: impl FnOnce(&mut Engine) -> T) -> T {
    ENGINE.with_borrow_mut(work)
}

/// What `hits` and `find` answer when a set gave up.
const GAVE_UP: i32 = -1;

/// A buffer of at least this many bytes for the next text. It moves only here and in `shrink`.
#[unsafe(no_mangle)]
pub extern "C" fn text_buffer(capacity: usize) -> *mut u8 {
    with_engine(|engine| {
        if engine.text.len() < capacity {
            engine.text.resize(capacity, 0);
        }
        engine.text.as_mut_ptr()
    })
}

/// Gives back what a large text took.
#[unsafe(no_mangle)]
pub extern "C" fn shrink(capacity: usize) {
    with_engine(|engine| {
        engine.text.truncate(capacity);
        engine.text.shrink_to_fit();
    });
}

#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u32 {
    with_engine(|engine| engine.answer.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn message() -> *const u8 {
    with_engine(|engine| engine.message.as_ptr())
}

/// Compiles the patterns in the first `length` bytes of the buffer, each a length (32 bits, little
/// endian) and its bytes. Answers the set's number; or 0, with [reason, pattern, byte in the
/// pattern, bytes of the message] and the message.
#[unsafe(no_mangle)]
pub extern "C" fn compile(length: usize, tenant: bool) -> usize {
    with_engine(|engine| {
        let kind = if tenant { Kind::Tenant } else { Kind::Builtin };
        let patterns = compile::read_patterns(&engine.text[..length]);
        match Set::new(&patterns, kind) {
            Ok(set) => store(&mut engine.sets, set),
            Err(Failure {
                reason,
                pattern,
                offset,
                message,
            }) => {
                engine.answer.clear();
                engine
                    .answer
                    .extend([reason as u32, pattern as u32, offset as u32]);
                engine.answer.push(message.len() as u32);
                engine.message = message;
                0
            }
        }
    })
}

fn store(sets: &mut Vec<Option<Set>>, set: Set) -> usize {
    let place = match sets.iter().position(Option::is_none) {
        Some(place) => place,
        None => {
            sets.push(None);
            sets.len() - 1
        }
    };
    sets[place] = Some(set);
    place + 1
}

#[unsafe(no_mangle)]
pub extern "C" fn release(number: usize) {
    with_engine(|engine| engine.sets[number - 1] = None);
}

/// How many patterns match the first `length` bytes of the buffer; the answer holds which.
#[unsafe(no_mangle)]
pub extern "C" fn hits(number: usize, length: usize) -> i32 {
    with_engine(|engine| {
        let set = engine.sets[number - 1].as_mut().expect("a stored set");
        engine.answer.clear();
        match set.hits(&engine.text[..length]) {
            Ok(hits) => {
                engine
                    .answer
                    .extend(hits.iter().map(|&pattern| pattern as u32));
                engine.answer.len() as i32
            }
            Err(_) => GAVE_UP,
        }
    })
}

/// How many matches there are in the first `length` bytes of the buffer; the answer holds each as
/// (pattern, start, end) in UTF-16 units, sorted by start. `ascii`: no character has two bytes.
#[unsafe(no_mangle)]
pub extern "C" fn find(number: usize, length: usize, ascii: bool) -> i32 {
    with_engine(|engine| {
        let set = engine.sets[number - 1].as_mut().expect("a stored set");
        let text = &engine.text[..length];
        engine.answer.clear();
        let Ok(mut matches) = set.find(text) else {
            return GAVE_UP;
        };
        if !ascii {
            offsets::to_utf16(text, &mut matches);
        }
        engine.answer.extend(
            matches
                .iter()
                .flat_map(|one| [one.pattern, one.start, one.end]),
        );
        matches.len() as i32
    })
}

thread_local! {
    static SIGNS: RefCell<Signs> = const { RefCell::new(Signs::new()) };
}

fn with_signs<T>(work: impl FnOnce(&mut Signs) -> T) -> T {
    SIGNS.with_borrow_mut(work)
}

/// The window of UTF-16 units for the calls below. It never moves, and neither do their answers.
#[unsafe(no_mangle)]
pub extern "C" fn sign_window() -> *mut u16 {
    with_signs(|signs| signs.window.as_mut_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn sign_row_buffer() -> *const i32 {
    with_signs(|signs| signs.rows.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn sign_place_buffer() -> *const u16 {
    with_signs(|signs| signs.places.as_ptr())
}

#[unsafe(no_mangle)]
pub extern "C" fn begin_signs() {
    with_signs(Signs::begin);
}

/// See `Signs::rows`.
#[unsafe(no_mangle)]
pub extern "C" fn sign_rows(from: usize, count: usize, available: usize) -> usize {
    with_signs(|signs| signs.rows(from, count, available))
}

#[unsafe(no_mangle)]
pub extern "C" fn last_sign_rows() -> usize {
    with_signs(Signs::last_rows)
}

/// See `Signs::marks`.
#[unsafe(no_mangle)]
pub extern "C" fn sign_marks(count: usize, others: bool) -> usize {
    with_signs(|signs| signs.marks(count, others))
}
