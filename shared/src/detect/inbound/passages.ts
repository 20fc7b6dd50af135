/**
 * Reads a text once, from left to right, into passages (sentences, or what stands for them in
 * lists, tables and code) with the concepts that each speaks of. Foreign text: the cost is linear
 * in its length, whatever stands in it.
 */
import {
  AT_SIGN,
  BACKSLASH,
  COLON,
  HIGH_SURROGATE,
  IDEOGRAPH,
  IGNORED,
  JOINER,
  KIND_OF,
  kindOfAstral,
  LETTER,
  LETTER_END,
  LINE_END,
  LOW_SURROGATE,
  lookalikeOf,
  OTHER_LETTER,
  QUOTE,
  SENTENCE_END,
  WIDE_END,
} from './characters.ts';
import { CONCEPTS, type Concept, conceptNumber } from './concepts.ts';
import { WIDTH } from './phrase-table.ts';
import { PhraseWalk, table } from './phrase-walk.ts';
import { MAX_WORDS, MIN_WORDS, STEM_LETTERS } from './wording.ts';

/** A longer sentence is cut here, so that a text without full stops is read in parts. */
const MAX_PASSAGE = 420;
/** An order stands among the first words of its sentence. */
const OPENING_WORDS = 2;
/** A quotation that goes on for longer is a quotation mark that was meant otherwise. */
const MAX_QUOTATION = 600;

export interface Passage {
  /** UTF-16 offsets in the text. */
  readonly start: number;
  readonly end: number;
  /** Numbers of concepts, each once, as they came. */
  readonly concepts: readonly number[];
  /** Hashes of its words and of their stems, in turns (wording.ts). */
  readonly wording: readonly number[];
}

export interface Reading {
  readonly passages: readonly Passage[];
  /** Where letters stood alone, one after the other: `i g n o r e`. */
  readonly spelled: readonly { readonly start: number; readonly end: number }[];
}

const { next, whole, started, ideographs } = table;
const ORDERS = new Uint8Array(CONCEPTS.length);
const REQUESTS = new Uint8Array(CONCEPTS.length);
const orders: readonly Concept[] = ['override', 'send', 'reveal', 'destroy', 'execute', 'grant'];
for (const name of [...orders, 'obey', 'secrecy', 'unconfirmed'] as const) {
  ORDERS[conceptNumber(name)] = 1;
}
for (const name of [...orders, 'role', 'persona', 'secrecy', 'system-prompt'] as const) {
  REQUESTS[conceptNumber(name)] = 1;
}
const QUOTED = conceptNumber('quoted');
const LINK = conceptNumber('link');
const ADDRESS = conceptNumber('address');
const IDENTIFIER = conceptNumber('identifier');
const TOOL_NAME = conceptNumber('tool-name');
const DISGUISED = conceptNumber('disguised');
const OPENS = conceptNumber('opens-with-order');
const QUESTION = conceptNumber('question');
const OPENING_MARKS = '“„‟«‹「『‘‚';
const CLOSING_MARKS = '”»›」』’';

/**
 * @param toolNames names of tools that the reader of the text has, in lower case
 */
export function readPassages(text: string, toolNames?: ReadonlySet<string>): Reading {
  return new Reader(text, toolNames).read();
}

class Reader {
  readonly #text: string;
  readonly #toolNames: ReadonlySet<string> | undefined;
  readonly #passages: Passage[] = [];
  readonly #spelled: { start: number; end: number }[] = [];
  /** By concept: the number of the passage that has it. */
  readonly #seen = new Int32Array(CONCEPTS.length).fill(-1);
  #concepts: number[] = [];
  #wording: number[] = [];
  #start = -1;
  #words = 0;
  readonly #walk = new PhraseWalk((concept) => this.#note(concept));
  #quotedFrom = -1;
  #quotedUntil = '';
  #requests = 0;
  #quotedRequests = 0;
  #aloneFrom = -1;
  #aloneEnd = -1;
  #alone = 0;

  constructor(text: string, toolNames: ReadonlySet<string> | undefined) {
    this.#text = text;
    this.#toolNames = toolNames;
  }

  read(): Reading {
    const text = this.#text;
    const length = text.length;
    let at = 0;
    while (at < length) {
      const kind = KIND_OF[text.charCodeAt(at)] as number;
      if (kind === 0) at += 1;
      else if (kind <= OTHER_LETTER) at = this.#readWord(at);
      else at = this.#readOther(at, kind);
    }
    this.#endAlone();
    this.#endPassage(length);
    return { passages: this.#passages, spelled: this.#spelled };
  }

  #readWord(from: number): number {
    const text = this.#text;
    if (this.#start < 0) this.#start = from;
    else if (from - this.#start > MAX_PASSAGE) this.#endPassage(from, from);
    let node = 1;
    let lastNode = 1;
    let at = from;
    let letters = 0;
    // Which alphabets took part: 1 Latin, 2 digits, 4 others.
    let alphabets = 0;
    let ignored = false;
    let hash = 0;
    let stem = 0;
    for (; at < text.length; at += 1) {
      let kind = KIND_OF[text.charCodeAt(at)] as number;
      if (kind === IGNORED) {
        ignored = true;
        continue;
      }
      if (kind === HIGH_SURROGATE) {
        kind = kindOfAstral(text.codePointAt(at) ?? 0);
        if (kind !== IGNORED && (kind < LETTER || kind >= LETTER_END)) break;
        at += 1;
        ignored = true;
        if (kind === IGNORED) continue;
      } else if (kind < LETTER || kind > OTHER_LETTER) break;
      letters += 1;
      hash = Math.imul(hash ^ (kind === OTHER_LETTER ? text.charCodeAt(at) : kind), 0x01000193) + 1;
      if (letters === STEM_LETTERS) stem = hash;
      alphabets |= kind <= 26 ? 1 : kind <= 36 ? 2 : 4;
      if (node !== 0) {
        node = kind < WIDTH ? (next[node * WIDTH + kind] as number) : 0;
        if (node !== 0) lastNode = node;
      }
    }
    this.#word(hash, stem === 0 ? hash : stem);
    if (KIND_OF[text.charCodeAt(at)] === JOINER && this.#isLetterAt(at + 1)) {
      return this.#readIdentifier(from, at);
    }
    this.#words += 1;
    if (letters === 1) this.#standsAlone(from, at);
    else if (this.#alone > 0) this.#endAlone();
    let list = (node !== 0 ? whole[node] : started[lastNode]) as number;
    if (list === 0 && letters > 3 && alphabets !== 1 && alphabets !== 4 && alphabets !== 2) {
      list = this.#readDisguised(from, at);
      if (list !== 0) this.#note(DISGUISED);
    } else if (ignored && list !== 0 && letters > 3) this.#note(DISGUISED);
    this.#walk.take(list);
    return at;
  }

  #word(hash: number, stem: number): void {
    if (this.#wording.length < 2 * MAX_WORDS) this.#wording.push(hash, stem);
  }

  /** A word of mixed alphabets, or with digits for letters, as the Latin word it looks like. */
  #readDisguised(from: number, to: number): number {
    if (to - from > 40) return 0;
    let node = 1;
    let lastNode = 1;
    for (let at = from; at < to && node !== 0; at += 1) {
      const unit = this.#text.charCodeAt(at);
      const plain = KIND_OF[unit] as number;
      if (plain === IGNORED) continue;
      const kind = plain <= 26 ? plain : lookalikeOf(unit);
      node = kind === 0 ? 0 : (next[node * WIDTH + kind] as number);
      if (node !== 0) lastNode = node;
    }
    if (node !== 0) return whole[node] as number;
    return started[lastNode] as number;
  }

  /** `send_email`: one name, whose parts say little of the sentence. */
  #readIdentifier(from: number, joiner: number): number {
    const text = this.#text;
    let at = joiner;
    let [hash, stem, letters] = [0, 0, 0];
    while (at < text.length) {
      const kind = KIND_OF[text.charCodeAt(at)] as number;
      if (kind !== JOINER && kind !== IGNORED && (kind < LETTER || kind > OTHER_LETTER)) break;
      if (kind === JOINER) {
        if (letters > 0) this.#word(hash, stem === 0 ? hash : stem);
        hash = stem = letters = 0;
      } else if (kind !== IGNORED) {
        letters += 1;
        hash = Math.imul(hash ^ kind, 0x01000193) + 1;
        if (letters === STEM_LETTERS) stem = hash;
      }
      at += 1;
    }
    if (letters > 0) this.#word(hash, stem === 0 ? hash : stem);
    this.#words += 1;
    this.#note(IDENTIFIER);
    if (this.#toolNames?.has(text.slice(from, Math.min(at, from + 128)).toLowerCase())) {
      this.#note(TOOL_NAME);
    }
    this.#walk.reset();
    return at;
  }

  #readOther(at: number, kind: number): number {
    const text = this.#text;
    switch (kind) {
      case IDEOGRAPH:
        if (this.#start < 0) this.#start = at;
        else if (at - this.#start > MAX_PASSAGE / 2) this.#endPassage(at, at);
        this.#words += 1;
        this.#word(text.charCodeAt(at), text.charCodeAt(at));
        this.#walk.take(ideographs[text.charCodeAt(at)] as number);
        return at + 1;
      case SENTENCE_END:
        return this.#readSentenceEnd(at);
      case WIDE_END:
        if (text[at] === '？') this.#note(QUESTION);
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
        // An escape of a text within a text: its letter belongs to no word.
        return 'nrt'.includes(text[at + 1] ?? ' ') ? at + 2 : at + 1;
      case HIGH_SURROGATE: {
        const inner = kindOfAstral(text.codePointAt(at) ?? 0);
        return inner >= LETTER && inner < LETTER_END ? this.#readWord(at) : at + 2;
      }
      default:
        return at + 1;
    }
  }

  #readSentenceEnd(at: number): number {
    const after = KIND_OF[this.#text.charCodeAt(at + 1)] as number;
    // `example.com`, `3.5` and `a.b` go on.
    if ((after >= LETTER && after <= OTHER_LETTER) || after === HIGH_SURROGATE) return at + 1;
    if (this.#text[at] === '?') this.#note(QUESTION);
    if (this.#alone === 0) this.#endPassage(at + 1);
    return at + 1;
  }

  /** A line that was only wrapped goes on with a small letter. */
  #readLineEnd(at: number): number {
    const text = this.#text;
    let after = at + 1;
    let lines = text[at] === '\n' ? 1 : 0;
    while (after < text.length && ' \n\r\t'.includes(text[after] as string)) {
      if (text[after] === '\n') lines += 1;
      after += 1;
    }
    const unit = text.charCodeAt(after);
    const isWrapped = lines === 1 && text[at] !== '|' && unit >= 0x61 && unit <= 0x7a;
    const isWrappedWide = lines === 1 && KIND_OF[unit] === IDEOGRAPH && this.#words > 24;
    if (!isWrapped && !isWrappedWide && text[at] !== '\r') this.#endPassage(at);
    if (lines > 1) this.#quotedFrom = -1;
    return after;
  }

  #readQuote(at: number): number {
    const text = this.#text;
    const mark = text[at] as string;
    const [before, after] = [this.#isLetterAt(at - 1), this.#isLetterAt(at + 1)];
    if (this.#quotedFrom >= 0 && at - this.#quotedFrom > MAX_QUOTATION) this.#quotedFrom = -1;
    if (this.#quotedFrom >= 0 && this.#quotedUntil.includes(mark)) {
      if (mark !== "'" || !after) {
        this.#quotedFrom = -1;
        // The end of a value in a list or a table is the end of what it says.
        if (mark === '"' && ',]}'.includes(text[at + 1] ?? ' ')) this.#endPassage(at);
      }
    } else if (this.#quotedFrom < 0 && !(before && (after || mark === "'" || mark === '’'))) {
      const isOpening = OPENING_MARKS.includes(mark);
      if (isOpening || !CLOSING_MARKS.includes(mark)) {
        if (mark === '"' && this.#isValueAt(at)) this.#endPassage(at);
        else {
          this.#quotedFrom = at;
          this.#quotedUntil = isOpening ? `${CLOSING_MARKS}"` : mark;
        }
      }
    }
    return at + 1;
  }

  /** Whether a quotation mark opens a value of JSON, of a table or of an attribute. */
  #isValueAt(at: number): boolean {
    let before = at - 1;
    while (before >= 0 && this.#text[before] === ' ' && at - before < 4) before -= 1;
    const mark = this.#text[before] ?? '\n';
    if (mark === ':') return '"\''.includes(this.#text[before - 1] ?? ' ');
    return mark === '=' || mark === '[' || mark === '{' || mark === ','
      ? before === at - 1 || mark !== ','
      : mark === '\n';
  }

  #readColon(at: number): number {
    const text = this.#text;
    if (text[at + 1] !== '/' || text[at + 2] !== '/') return at + 1;
    this.#note(LINK);
    let end = at + 3;
    while (end < text.length && !' \n\r\t"\'<>()[]{}'.includes(text[end] as string)) {
      if ((KIND_OF[text.charCodeAt(end)] as number) >= IDEOGRAPH && text.charCodeAt(end) > 0x7f)
        break;
      end += 1;
    }
    return end;
  }

  /** The words of an address's domain say nothing of the sentence. */
  #readAddress(at: number): number {
    if (!this.#isLetterAt(at - 1) || !this.#isLetterAt(at + 1)) return at + 1;
    this.#note(ADDRESS);
    let end = at + 1;
    while (this.#isLetterAt(end) || (this.#text[end] === '.' && this.#isLetterAt(end + 1)))
      end += 1;
    return end;
  }

  #isLetterAt(at: number): boolean {
    if (at < 0) return false;
    const kind = KIND_OF[this.#text.charCodeAt(at)] as number;
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
    if (this.#concepts.length > 0 || this.#wording.length >= 2 * MIN_WORDS) {
      const start = Math.max(this.#start, 0);
      this.#passages.push({ start, end, concepts: this.#concepts, wording: this.#wording });
      this.#concepts = [];
      this.#wording = [];
    } else this.#wording.length = 0;
    this.#start = next;
    this.#words = 0;
    this.#requests = 0;
    this.#quotedRequests = 0;
    this.#walk.reset();
  }

  #standsAlone(from: number, to: number): void {
    if (this.#alone > 0 && from - this.#aloneEnd > 3) this.#endAlone();
    if (this.#alone === 0) this.#aloneFrom = from;
    this.#alone += 1;
    this.#aloneEnd = to;
  }

  #endAlone(): void {
    if (this.#alone >= 6 && this.#spelled.length < 16) {
      this.#spelled.push({ start: this.#aloneFrom, end: this.#aloneEnd });
    }
    this.#alone = 0;
  }
}
