/** The detector over a JSON value: each of its strings, and its members' names. */
import { pointerStep } from '../../json-pointer.ts';
import type { InboundFinding } from '../findings.ts';
import { atOnce, type Portioned } from '../portions.ts';
import { type DetectionOptions, detectInjection, type TextFinding } from './detector.ts';

const MAX_FINDINGS = 50;
const MAX_PLACE = 256;
/** Strings and members inspected one by one; the rest is read as one text. */
const MAX_PARTS = 20_000;
const MAX_DEPTH = 64;
const MIN_NAME = 24;
/** A longer text is read in stretches, whose overlap is longer than any passage. */
const STRETCH = 65_536;
const OVERLAP = 4_096;
/** The minimum read between two pauses, in UTF-16 units, and what a part counts beside its text. */
const PORTION = 8_192;
const PART = 16;

/** Where a part of the value stands: the last step to it, and its container's place. */
type Place = { readonly name: string; readonly within: Place } | null;

/** An object or a list whose members are being read. */
interface Container {
  readonly part: object;
  /** Null for a list. */
  readonly names: readonly string[] | null;
  readonly place: Place;
  /** The next of its items, or of its names and members alternately. */
  at: number;
}

/**
 * @param value foreign JSON (no cycles); strings in a list are also read in sequence
 * @returns at most 50 findings by place; the place is a JSON Pointer, '' for the value itself
 */
export function detectInValue(value: unknown, options: DetectionOptions = {}): InboundFinding[] {
  return atOnce(detectInPortions(value, options));
}

/** The same in portions. */
export function* detectInPortions(
  value: unknown,
  options: DetectionOptions = {},
): Portioned<InboundFinding[]> {
  const reading = new ValueReading(options);
  reading.enter(value, null);
  while (reading.goesOn()) {
    if (reading.long !== null) yield* reading.readLong();
    if (reading.read >= PORTION) yield reading.take();
  }
  yield reading.take();
  return reading.findings;
}

class ValueReading {
  readonly findings: InboundFinding[] = [];
  /** UTF-16 units since the last pause. */
  read = 0;
  /** A text too long to be read at once. */
  long: { readonly text: string; readonly place: Place } | null = null;
  readonly #options: DetectionOptions;
  readonly #open: Container[] = [];
  #rest: string[] = [];
  #looked = 0;

  constructor(options: DetectionOptions) {
    this.#options = options;
  }

  take(): number {
    const { read } = this;
    this.read = 0;
    return read;
  }

  /** Reads one more part; false when there is none. */
  goesOn(): boolean {
    if (this.#isFull()) return false;
    if (this.long !== null) return true;
    const container = this.#open.at(-1);
    if (container !== undefined) this.#readMember(container);
    else if (this.#rest.length > 0) {
      const text = this.#rest.join('\n');
      this.#rest = [];
      this.#look(text, null);
    } else return false;
    return true;
  }

  enter(part: unknown, place: Place): void {
    this.read += PART;
    if (typeof part === 'string') this.#lookAtPart(part, place);
    else if (typeof part === 'object' && part !== null) {
      if (this.#open.length >= MAX_DEPTH) this.#rest.push(JSON.stringify(part));
      else {
        const names = Array.isArray(part) ? null : Object.keys(part);
        this.#open.push({ part, names, place, at: 0 });
      }
    }
  }

  #readMember(container: Container): void {
    const { part, names, place, at } = container;
    container.at += 1;
    if (names === null) {
      const items = part as readonly unknown[];
      if (at < items.length) this.enter(items[at], { name: String(at), within: place });
      else this.#endList(items, place);
      return;
    }
    const name = names[at >> 1];
    if (name === undefined) this.#open.pop();
    else if (at % 2 === 1) {
      this.enter((part as Record<string, unknown>)[name], { name, within: place });
    } else if (name.length >= MIN_NAME) this.#lookAtPart(name, { name, within: place });
  }

  /**
   * A sentence may be split over a list's items: it is found here even if no single item contains
   * it.
   */
  #endList(items: readonly unknown[], place: Place): void {
    this.#open.pop();
    if (items.length < 2 || !items.every((item) => typeof item === 'string')) return;
    const pointer = this.findings.length > 0 ? longPointer(place) : '';
    if (this.findings.some((finding) => finding.place.startsWith(pointer))) return;
    this.#lookAtPart(items.join(' '), place);
  }

  #lookAtPart(text: string, place: Place): void {
    this.#looked += 1;
    if (this.#looked > MAX_PARTS) this.#rest.push(text);
    else this.#look(text, place);
  }

  #look(text: string, place: Place): void {
    if (text.length > STRETCH) {
      this.long = { text, place };
      return;
    }
    this.read += text.length;
    for (const one of detectInjection(text, this.#options).findings) this.#add(one, place);
  }

  *readLong(): Portioned<void> {
    if (this.long === null) return;
    const { text, place } = this.long;
    this.long = null;
    let isKnownTail = false;
    for (const at of stretchStarts(text)) {
      const stretch = text.slice(at, at + STRETCH);
      const found = detectInjection(stretch, this.#options).findings;
      for (const one of found) if (!isKnownTail || one.start >= OVERLAP) this.#add(one, place);
      if (this.#isFull()) return;
      isKnownTail = found.some(({ start }) => start >= STRETCH - OVERLAP);
      yield stretch.length;
    }
  }

  #add({ class: kind, severity, length, score }: TextFinding, place: Place): void {
    if (this.#isFull()) return;
    const at = longPointer(place).slice(0, MAX_PLACE);
    this.findings.push({ class: kind, severity, place: at, length, score });
  }

  #isFull(): boolean {
    return this.findings.length >= MAX_FINDINGS;
  }
}

/** The starts of a text's stretches; within a run of letters, at a multiple of four of them. */
function* stretchStarts(text: string): Generator<number> {
  yield 0;
  const step = STRETCH - OVERLAP;
  for (let at = step; at + OVERLAP < text.length; at += step) {
    let start = at;
    while (start > at - STRETCH && text.charCodeAt(start - 1) > 0x20) start -= 1;
    yield at - ((at - start) % 4);
  }
}

/** A place as a JSON Pointer, cut early: it never exceeds what a finding holds. */
function longPointer(place: Place): string {
  if (place === null) return '';
  const within = longPointer(place.within);
  if (within.length >= MAX_PLACE) return within;
  return within + pointerStep(place.name.slice(0, MAX_PLACE));
}
