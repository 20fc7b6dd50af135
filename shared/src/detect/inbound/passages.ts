/**
 * Reads a text once, from left to right, into passages (sentences, or their equivalents in lists,
 * tables and code) with the concepts that each speaks of. Foreign text: the cost is linear in its
 * length, whatever it contains.
 */
import {
  AT_SIGN,
  BACKSLASH,
  COLON,
  FIRST_ODD,
  HIGH_SURROGATE,
  IDEOGRAPH,
  IGNORED,
  isOdd,
  JOINER,
  KIND_OF,
  kindOfAstral,
  LETTER,
  LETTER_END,
  LINE_END,
  LOW_SURROGATE,
  OTHER_LETTER,
  QUOTE,
  SENTENCE_END,
  WIDE_END,
} from './characters.ts';
import { CONCEPTS, conceptNumber } from './concepts.ts';
import { PassageWords } from './passage-words.ts';
import { listOfLookalikes, PhraseWalk, table } from './phrase-walk.ts';
import {
  APOSTROPHE,
  BAR,
  CLOSING_MARKS,
  CURLY_APOSTROPHE,
  DOUBLE_QUOTE,
  ENDS_OF_OPENED,
  FULL_STOP,
  isOneOf,
  isValueAt,
  LINE_FEED,
  linkEnd,
  OPENING_MARKS,
  QUESTION_MARK,
  RETURN,
  SLASH,
  WIDE_QUESTION_MARK,
} from './punctuation.ts';
import type { Passage, Reading } from './reading.ts';
import { NO_CONCEPTS, NOTHING_READ, ORDERS, REQUESTS } from './reading.ts';
import { CodeNumbers, SpelledLetters } from './spelled-letters.ts';
import { isToolVerb } from './tool-verbs.ts';
import { ROOT, stepFrom } from './word-trie.ts';
import { MIN_WORDS, STEM_LETTERS } from './wording.ts';

/** A longer sentence is cut here, so that a text without full stops is read in parts. */
const MAX_PASSAGE = 420;
/** An instruction is among the first words of its sentence. */
const OPENING_WORDS = 2;
/** After this length, a quotation mark was not the start of a quotation. */
const MAX_QUOTATION = 600;

const { steps, whole, started, ideographs } = table;
/** The alphabets that occur in a word, and the last kinds of the first two. */
const [LATIN, DIGITS, OTHERS] = [1, 2, 4];
const [LAST_LATIN, LAST_DIGIT] = [26, 36];
const BACKWARDS = conceptNumber('backwards');
const ROT13 = conceptNumber('rot13');
const QUOTED = conceptNumber('quoted');
const LINK = conceptNumber('link');
const ADDRESS = conceptNumber('address');
const IDENTIFIER = conceptNumber('identifier');
const TOOL_NAME = conceptNumber('tool-name');
const DISGUISED = conceptNumber('disguised');
const OPENS = conceptNumber('opens-with-order');
const QUESTION = conceptNumber('question');

/** Called before a text and its disguised texts are read: earlier wording is discarded. */
export const forgetWording = (): void => reader.forget();

/** @param units of the text (../units.ts) */
export const readPassages = (text: string, units: Uint16Array): Reading => reader.read(text, units);

/** One reader for all texts, one after another: its buffers are allocated once. */
class Reader {
  #text = '';
  /** A 0 follows the text, which continues nothing. */
  #units: Uint16Array = new Uint16Array(1);
  #passages: Passage[] = [];
  /** By concept: the number of the passage that last had it. */
  readonly #seen = new Int32Array(CONCEPTS.length);
  #concepts: number[] = [];
  readonly #hashes = new PassageWords();
  #start = -1;
  #words = 0;
  readonly #walk = new PhraseWalk((concept) => this.#note(concept));
  #quotedFrom = -1;
  #quotedUntil = '';
  #requests = 0;
  #quotedRequests = 0;
  readonly #alone = new SpelledLetters();
  readonly #codes = new CodeNumbers();
  #isOdd = false;

  read(text: string, units: Uint16Array): Reading {
    this.#begin(text, units);
    const { length } = text;
    let at = 0;
    while (at < length) {
      const kind = KIND_OF[units[at] as number] as number;
      if (kind === 0) at += 1;
      else if (kind <= OTHER_LETTER) at = this.#readWord(at);
      else at = this.#readOther(at, kind);
    }
    this.#alone.end();
    this.#endPassage(length);
    this.#text = '';
    const { rows: spelled } = this.#alone;
    const isBackwards = (this.#seen[BACKWARDS] as number) >= 0;
    const isRot13 = (this.#seen[ROT13] as number) >= 0;
    const isOdd = this.#isOdd || (this.#seen[DISGUISED] as number) >= 0;
    const { areMany: holdsCodes } = this.#codes;
    // A concept makes a passage.
    if (this.#passages.length === 0 && spelled.length === 0 && !isOdd && !holdsCodes) {
      return NOTHING_READ;
    }
    return { passages: this.#passages, spelled, isBackwards, isRot13, isOdd, holdsCodes };
  }

  forget = (): void => this.#hashes.forget();

  #begin(text: string, units: Uint16Array): void {
    this.#text = text;
    this.#units = units;
    if (this.#passages.length > 0) this.#passages = [];
    this.#alone.begin();
    this.#codes.begin();
    this.#isOdd = false;
    this.#seen.fill(-1);
    if (this.#concepts.length > 0) this.#concepts = [];
    this.#hashes.drop();
    this.#start = this.#quotedFrom = -1;
    this.#words = this.#requests = this.#quotedRequests = 0;
    this.#walk.reset();
  }

  #readWord(from: number): number {
    const units = this.#units;
    const { length } = this.#text;
    if (this.#start < 0) this.#start = from;
    else if (from - this.#start > MAX_PASSAGE) this.#endPassage(from, from);
    let node = ROOT;
    let lastNode = ROOT;
    let at = from;
    let letters = 0;
    let others = 0;
    let alphabets = 0;
    let ignored = false;
    let hash = 0;
    let stem = 0;
    for (; at < length; at += 1) {
      let kind = KIND_OF[units[at] as number] as number;
      if (kind > OTHER_LETTER) {
        if (kind === IGNORED) {
          ignored = true;
          continue;
        }
        if (kind !== HIGH_SURROGATE) break;
        kind = kindOfAstral(this.#text.codePointAt(at) ?? 0);
        if (kind !== IGNORED && (kind < LETTER || kind >= LETTER_END)) break;
        at += 1;
        ignored = true;
        if (kind === IGNORED) continue;
      } else if (kind < LETTER) break;
      letters += 1;
      const letter = kind === OTHER_LETTER ? (units[at] as number) : kind;
      hash = (Math.imul(hash ^ letter, 0x01000193) + 1) | 0;
      if (letters === STEM_LETTERS) stem = hash;
      if (kind > LAST_LATIN) {
        others += 1;
        alphabets |= kind <= LAST_DIGIT ? DIGITS : OTHERS;
      }
      if (node !== 0) {
        node = stepFrom(steps, node, kind);
        if (node !== 0) lastNode = node;
      }
    }
    if (others < letters) alphabets |= LATIN;
    this.#hashes.add(hash, stem === 0 ? hash : stem);
    if (KIND_OF[units[at] as number] === JOINER && this.#isLetterAt(at + 1)) {
      return this.#readIdentifier(hash, at);
    }
    this.#words += 1;
    if (letters === 1) this.#alone.take(from, at);
    else if (this.#alone.count > 0) this.#alone.end();
    if (alphabets !== LATIN) this.#codes.take(letters, (alphabets & DIGITS) !== 0);
    else if (this.#codes.row > 0) this.#codes.take(letters, false);
    const first = units[from] as number;
    if (ignored || (first >= FIRST_ODD && isOdd(first))) this.#isOdd = true;
    let list = (node !== 0 ? whole[node] : started[lastNode]) as number;
    // More than one bit.
    if (list === 0 && letters > 3 && (alphabets & (alphabets - 1)) !== 0) {
      list = listOfLookalikes(units, from, at);
      if (list !== 0) this.#note(DISGUISED);
    } else if (ignored && list !== 0 && letters > 3) this.#note(DISGUISED);
    this.#walk.take(list);
    return at;
  }

  /** `send_email`: one name, whose parts say little about the sentence. */
  #readIdentifier(first: number, joiner: number): number {
    const units = this.#units;
    const { length } = this.#text;
    let at = joiner;
    let [hash, stem, letters] = [0, 0, 0];
    let isTool = isToolVerb(first);
    while (at < length) {
      const kind = KIND_OF[units[at] as number] as number;
      if (kind !== JOINER && kind !== IGNORED && (kind < LETTER || kind > OTHER_LETTER)) break;
      if (kind === JOINER) {
        if (letters > 0) this.#hashes.add(hash, stem === 0 ? hash : stem);
        isTool ||= isToolVerb(hash);
        hash = stem = letters = 0;
      } else if (kind !== IGNORED) {
        letters += 1;
        hash = (Math.imul(hash ^ kind, 0x01000193) + 1) | 0;
        if (letters === STEM_LETTERS) stem = hash;
      }
      at += 1;
    }
    if (letters > 0) this.#hashes.add(hash, stem === 0 ? hash : stem);
    this.#words += 1;
    this.#note(IDENTIFIER);
    if (isTool || isToolVerb(hash)) this.#note(TOOL_NAME);
    this.#walk.reset();
    return at;
  }

  #readOther(at: number, kind: number): number {
    const units = this.#units;
    switch (kind) {
      case IDEOGRAPH:
        if (this.#start < 0) this.#start = at;
        else if (at - this.#start > MAX_PASSAGE / 2) this.#endPassage(at, at);
        this.#words += 1;
        this.#hashes.add(units[at] as number, units[at] as number);
        this.#walk.take(ideographs[units[at] as number] as number);
        return at + 1;
      case SENTENCE_END:
        return this.#readSentenceEnd(at);
      case WIDE_END:
        if (units[at] === WIDE_QUESTION_MARK) this.#note(QUESTION);
        this.#endPassage(at + 1);
        return at + 1;
      case LINE_END:
        return this.#readLineEnd(at);
      case QUOTE:
        return this.#readQuote(at);
      case COLON:
        return this.#readColon(at);
      case AT_SIGN:
        return this.#readAddress(at);
      case BACKSLASH:
        // An escape within a string: its letter is not part of a word.
        return isOneOf('nrt', units[at + 1] as number) ? at + 2 : at + 1;
      case HIGH_SURROGATE: {
        const inner = kindOfAstral(this.#text.codePointAt(at) ?? 0);
        return inner >= LETTER && inner < LETTER_END ? this.#readWord(at) : at + 2;
      }
      default:
        return at + 1;
    }
  }

  #readSentenceEnd(at: number): number {
    const after = KIND_OF[this.#units[at + 1] as number] as number;
    // `example.com`, `3.5` and `a.b` continue.
    if ((after >= LETTER && after <= OTHER_LETTER) || after === HIGH_SURROGATE) return at + 1;
    if (this.#units[at] === QUESTION_MARK) this.#note(QUESTION);
    if (this.#alone.count === 0) this.#endPassage(at + 1);
    return at + 1;
  }

  /** A wrapped line continues with a small letter. */
  #readLineEnd(at: number): number {
    const units = this.#units;
    const mark = units[at] as number;
    let after = at + 1;
    let lines = mark === LINE_FEED ? 1 : 0;
    while (isOneOf(' \n\r\t', units[after] as number)) {
      if (units[after] === LINE_FEED) lines += 1;
      after += 1;
    }
    const unit = units[after] as number;
    const isWrapped = lines === 1 && mark !== BAR && unit >= 0x61 && unit <= 0x7a;
    const isWrappedWide = lines === 1 && KIND_OF[unit] === IDEOGRAPH && this.#words > 24;
    if (!isWrapped && !isWrappedWide && mark !== RETURN) this.#endPassage(at);
    if (lines > 1) this.#quotedFrom = -1;
    return after;
  }

  #readQuote(at: number): number {
    const mark = this.#units[at] as number;
    const [before, after] = [this.#isLetterAt(at - 1), this.#isLetterAt(at + 1)];
    if (this.#quotedFrom >= 0 && at - this.#quotedFrom > MAX_QUOTATION) this.#quotedFrom = -1;
    if (this.#quotedFrom >= 0 && isOneOf(this.#quotedUntil, mark)) {
      if (mark !== APOSTROPHE || !after) {
        this.#quotedFrom = -1;
        // The end of a value in a list or a table ends its statement.
        if (mark === DOUBLE_QUOTE && isOneOf(',]}', this.#units[at + 1] as number))
          this.#endPassage(at);
      }
    } else if (
      this.#quotedFrom < 0 &&
      !(before && (after || mark === APOSTROPHE || mark === CURLY_APOSTROPHE))
    ) {
      const isOpening = isOneOf(OPENING_MARKS, mark);
      // `="…">` ends an attribute; what follows is not a quotation.
      const isOfTag = before && isOneOf('>/', this.#units[at + 1] as number);
      if (isOpening || (!isOfTag && !isOneOf(CLOSING_MARKS, mark))) {
        if (mark === DOUBLE_QUOTE && isValueAt(this.#units, at)) this.#endPassage(at);
        else {
          this.#quotedFrom = at;
          this.#quotedUntil = isOpening ? ENDS_OF_OPENED : (this.#text[at] as string);
        }
      }
    }
    return at + 1;
  }

  #readColon(at: number): number {
    const units = this.#units;
    if (units[at + 1] !== SLASH || units[at + 2] !== SLASH) return at + 1;
    this.#note(LINK);
    return linkEnd(units, at + 3, this.#text.length);
  }

  /** The words of an address's domain say nothing about the sentence. */
  #readAddress(at: number): number {
    if (!this.#isLetterAt(at - 1) || !this.#isLetterAt(at + 1)) return at + 1;
    this.#note(ADDRESS);
    let end = at + 1;
    while (this.#isLetterAt(end) || (this.#units[end] === FULL_STOP && this.#isLetterAt(end + 1)))
      end += 1;
    return end;
  }

  #isLetterAt(at: number): boolean {
    if (at < 0) return false;
    const kind = KIND_OF[this.#units[at] as number] as number;
    return (kind >= LETTER && kind <= IGNORED) || kind === HIGH_SURROGATE || kind === LOW_SURROGATE;
  }

  #note(concept: number): void {
    if (REQUESTS[concept] === 1) {
      this.#requests += 1;
      if (this.#quotedFrom >= 0) this.#quotedRequests += 1;
    }
    if (ORDERS[concept] === 1 && this.#words <= OPENING_WORDS) this.#note(OPENS);
    if (this.#seen[concept] === this.#passages.length) return;
    this.#seen[concept] = this.#passages.length;
    this.#concepts.push(concept);
  }

  #endPassage(end: number, next = -1): void {
    if (this.#quotedRequests > 0 && this.#quotedRequests * 2 >= this.#requests) this.#note(QUOTED);
    if (this.#concepts.length > 0 || this.#hashes.count >= MIN_WORDS) {
      const start = Math.max(this.#start, 0);
      const concepts = this.#concepts.length > 0 ? this.#concepts : NO_CONCEPTS;
      this.#passages.push({ start, end, concepts, wording: this.#hashes.take() });
      if (concepts === this.#concepts) this.#concepts = [];
    } else this.#hashes.drop();
    this.#start = next;
    this.#words = 0;
    this.#requests = 0;
    this.#quotedRequests = 0;
    this.#walk.reset();
  }
}

const reader = new Reader();
