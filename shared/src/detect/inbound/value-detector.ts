/**
 * The detector over a JSON value: each of its strings, and its members' names. Everything is read,
 * however much was found before: only the gravest findings, all that a report holds, end it.
 */
import { pointerStep } from '../../json/json-pointer.ts';
import type { InboundFinding } from '../findings.ts';
import { addGravest, isFullOfGravest, rankOf } from '../gravest.ts';
import { atOnce, type Portioned } from '../portions.ts';
import { type DetectionOptions, detectInjection, type TextFinding } from './detector.ts';
import { isBase64 } from './disguises.ts';

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
  /** The rank of the gravest finding in its own texts; `NONE` without any. */
  gravest: number;
}

/** A text to be read. */
interface Part {
  readonly text: string;
  readonly place: Place;
  /** The rank of what is known of it: only graver findings are new. */
  readonly known: number;
}

/** Lower than the rank of any finding. */
const NONE = -1;

/**
 * @param value foreign JSON (no cycles); strings in a list are also read in sequence
 * @returns the 50 gravest findings by place, a JSON Pointer, '' for the value itself
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
  long: Part | null = null;
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
    if (this.#isDecided()) return false;
    if (this.long !== null) return true;
    const container = this.#open.at(-1);
    if (container !== undefined) this.#readMember(container);
    else if (this.#rest.length > 0) {
      const text = this.#rest.join('\n');
      this.#rest = [];
      this.#look({ text, place: null, known: NONE });
    } else return false;
    return true;
  }

  enter(part: unknown, place: Place): void {
    this.read += PART;
    if (typeof part === 'string') this.#lookAtPart({ text: part, place, known: NONE });
    else if (typeof part === 'object' && part !== null) {
      if (this.#open.length >= MAX_DEPTH) this.#rest.push(JSON.stringify(part));
      else {
        const names = Array.isArray(part) ? null : Object.keys(part);
        this.#open.push({ part, names, place, at: 0, gravest: NONE });
      }
    }
  }

  #readMember(container: Container): void {
    const { part, names, place, at } = container;
    container.at += 1;
    if (names === null) {
      const items = part as readonly unknown[];
      if (at < items.length) this.enter(items[at], { name: String(at), within: place });
      else this.#endList(items, container);
      return;
    }
    const name = names[at >> 1];
    if (name === undefined) this.#open.pop();
    else if (at % 2 === 1) {
      this.enter((part as Record<string, unknown>)[name], { name, within: place });
    } else if (name.length >= MIN_NAME) {
      this.#lookAtPart({ text: name, place: { name, within: place }, known: NONE });
    }
  }

  /**
   * A sentence may be split over a list's items: it is found here even if no single item contains
   * it. A lesser finding in an item does not excuse the whole.
   */
  #endList(items: readonly unknown[], { place, gravest }: Container): void {
    this.#open.pop();
    if (items.length < 2 || !items.every((item) => typeof item === 'string')) return;
    this.#lookAtPart({ text: items.join(' '), place, known: gravest });
  }

  #lookAtPart(part: Part): void {
    this.#looked += 1;
    if (this.#looked > MAX_PARTS) this.#rest.push(part.text);
    else this.#look(part);
  }

  #look(part: Part): void {
    const { text } = part;
    if (text.length > STRETCH) {
      this.long = part;
      return;
    }
    this.read += text.length;
    for (const one of detectInjection(text, this.#options).findings) this.#add(one, part);
  }

  *readLong(): Portioned<void> {
    if (this.long === null) return;
    const { long } = this;
    const { text } = long;
    this.long = null;
    let tail = NONE;
    for (const at of stretchStarts(text)) {
      const stretch = text.slice(at, at + STRETCH);
      const found = detectInjection(stretch, this.#options).findings;
      for (const one of found) {
        // The stretch before had what ends within the overlap, unless it is graver now.
        const isNew = one.start + one.length > OVERLAP || rankOf(one) > tail;
        if (isNew) this.#add(one, long);
      }
      if (this.#isDecided()) return;
      const inTail = found.filter(({ start }) => start >= STRETCH - OVERLAP);
      tail = Math.max(NONE, ...inTail.map(rankOf));
      yield stretch.length;
    }
  }

  #add(found: TextFinding, { place, known }: Part): void {
    const { class: kind, severity, length, score } = found;
    const rank = rankOf(found);
    if (rank <= known) return;
    const container = this.#open.at(-1);
    if (container !== undefined) container.gravest = Math.max(container.gravest, rank);
    const at = longPointer(place).slice(0, MAX_PLACE);
    addGravest(this.findings, { class: kind, severity, place: at, length, score }, MAX_FINDINGS);
  }

  #isDecided(): boolean {
    return isFullOfGravest(this.findings, MAX_FINDINGS);
  }
}

/** The starts of a text's stretches; within a run of base64, at a multiple of four of it. */
function* stretchStarts(text: string): Generator<number> {
  yield 0;
  const step = STRETCH - OVERLAP;
  let run = 0;
  for (let at = step; at + OVERLAP < text.length; at += step) {
    let start = at;
    while (start > at - step && isBase64(text.charCodeAt(start - 1))) start -= 1;
    // A run that fills the whole step began with an earlier one.
    if (start > at - step) run = start;
    yield at - ((at - run) % 4);
  }
}

/** A place as a JSON Pointer, cut early: it never exceeds what a finding holds. */
function longPointer(place: Place): string {
  if (place === null) return '';
  const within = longPointer(place.within);
  if (within.length >= MAX_PLACE) return within;
  return within + pointerStep(place.name.slice(0, MAX_PLACE));
}
