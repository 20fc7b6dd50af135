/** A JSON value laid out as one text, so that one scan reads it and a key precedes its value. */
import { pointerStep } from '../../json/json-pointer.ts';

export interface Leaf {
  /** The complete JSON Pointer. */
  readonly pointer: string;
  readonly key: string;
  /** The name of the object in which it is a field; '' if that has none. */
  readonly outer: string;
  readonly kind: 'string' | 'number' | 'key';
  readonly value: string;
  /** Where the value stands in its document. */
  readonly start: number;
  /** The container's number: leaves of one object or array are neighbours. */
  readonly parent: number;
  /**
   * Of a text in an object of an array, such as an item of a result's content: the array's number.
   * 0 for all others.
   */
  readonly list: number;
}

export interface JsonDocument {
  readonly text: string;
  /** By their start. */
  readonly leaves: readonly Leaf[];
}

/** Where a value stands: the last step to it, and the place of its container. */
type Place = { readonly within: Place; readonly step: string | number } | null;

/** The pointer is only built on request, which is rare. */
class PlacedLeaf implements Leaf {
  readonly kind: Leaf['kind'];
  readonly value: string;
  readonly key: string;
  readonly start: number;
  readonly parent: number;
  readonly list: number;
  readonly #within: Place;
  readonly #step: string | number | null;

  /** @param step null for a value that is a leaf itself */
  constructor(
    kind: Leaf['kind'],
    value: string,
    key: string,
    start: number,
    parent: number,
    list: number,
    within: Place,
    step: string | number | null,
  ) {
    this.kind = kind;
    this.value = value;
    this.key = key;
    this.start = start;
    this.parent = parent;
    this.list = list;
    this.#within = within;
    this.#step = step;
  }

  get outer(): string {
    const step = this.#within?.step;
    return typeof step === 'string' ? step : '';
  }

  get pointer(): string {
    let pointer = this.#step === null ? '' : pointerStep(this.#step);
    for (let place = this.#within; place !== null; place = place.within) {
      pointer = pointerStep(place.step) + pointer;
    }
    return pointer;
  }
}

/** Between two leaves. A line separator, which no pattern crosses and which JSON text escapes. */
export const LEAF_END = '\n\u2028\n';

const QUOTED_END = `"${LEAF_END}`;

/** A document ends at this length; a longer leaf gets its own. */
const MAX_DOCUMENT = 1_000_000;
/** Values nested deeper than the product's parsers allow. */
const MAX_DEPTH = 200;
/** Members that hold the text of an item: a value may go on in the next item. */
const TEXT_OF_ITEM: ReadonlySet<string> = new Set([
  ...['text', 'content', 'body', 'message', 'data', 'value', 'line'],
  ...['chunk', 'part', 'piece', 'fragment', 'segment'],
]);

/**
 * The documents of a value; most have one.
 *
 * @param hasAllKeys whether every key may be a value; each short one is then included once
 * @throws RangeError for a value that is nested too deeply
 */
export function jsonDocuments(value: unknown, hasAllKeys = false): readonly JsonDocument[] {
  const writer = new DocumentWriter(hasAllKeys);
  writer.write(value, null, null, '', 0, 0, 0);
  writer.close();
  return writer.documents;
}

class DocumentWriter {
  readonly documents: JsonDocument[] = [];
  /** The names of keys already in a document. */
  readonly #seen: Set<string> | null;
  #pieces: string[] = [];
  #leaves: Leaf[] = [];
  #length = 0;
  #parents = 0;

  constructor(hasAllKeys: boolean) {
    this.#seen = hasAllKeys ? new Set() : null;
  }

  close(): void {
    if (this.#pieces.length === 0) return;
    this.documents.push({ text: this.#pieces.join(''), leaves: this.#leaves });
    this.#pieces = [];
    this.#leaves = [];
    this.#length = 0;
  }

  /** @param step to it from its container's place */
  write(
    node: unknown,
    within: Place,
    step: string | number | null,
    key: string,
    parent: number,
    list: number,
    depth: number,
  ): void {
    if (depth > MAX_DEPTH) throw new RangeError('The value is nested too deeply');
    if (typeof node === 'string') {
      this.#leaf('string', node, within, step, key, parent, parent === list ? 0 : list);
    } else if (typeof node === 'number' || typeof node === 'bigint') {
      this.#leaf('number', String(node), within, step, key, parent, 0);
    } else if (typeof node === 'object' && node !== null) {
      const own = ++this.#parents;
      const place = step === null ? null : { within, step };
      if (Array.isArray(node)) {
        for (let i = 0; i < node.length; i++)
          this.write(node[i], place, i, key, own, own, depth + 1);
      } else this.#members(node as Record<string, unknown>, place, own, list, depth + 1);
    }
  }

  /** @param list the number of the array whose item the object is; 0 for none */
  #members(
    node: Record<string, unknown>,
    place: Place,
    parent: number,
    list: number,
    depth: number,
  ): void {
    for (const name of Object.keys(node)) {
      if (isTelling(name) || (this.#seen !== null && !this.#seen.has(name))) {
        this.#seen?.add(name);
        this.#leaf('key', name, place, name, '', -parent, 0);
      }
      const member = node[name];
      const listed = list !== 0 && typeof member === 'string' && TEXT_OF_ITEM.has(name) ? list : 0;
      if (name === 'value' && typeof member === 'string') this.#labelOfValue(node, place);
      this.write(member, place, name, name, parent, listed, depth);
    }
  }

  /** Writes what a value is: `{"client_secret": {"value": "…"}}`, `{"value": "…", "sensitive": true}`. */
  #labelOfValue(node: Record<string, unknown>, place: Place): void {
    const owner = place?.step;
    const isSecret = typeof owner === 'string' && OF_A_SECRET.test(owner);
    // A parser's token has a type of its own.
    const isTyped = typeof node.type === 'string' && !OF_A_TEXT.test(node.type);
    if (node.sensitive !== true && (!isSecret || isTyped)) return;
    const label = isSecret && !OF_A_PASSWORD.test(owner) ? 'secret_' : 'password_';
    this.#pieces.push(label);
    this.#length += label.length;
  }

  /** Writes the name of an object whose members are parts of its value. */
  #ownerOfPart(within: Place): void {
    const owner = within?.step;
    if (typeof owner !== 'string' || !IN_PARTS.test(owner)) return;
    this.#pieces.push(owner, '_');
    this.#length += owner.length + 1;
  }

  #leaf(
    kind: Leaf['kind'],
    text: string,
    within: Place,
    step: string | number | null,
    label: string,
    parent: number,
    list: number,
  ): void {
    const isQuoted = label !== '' && kind === 'string';
    if (label !== '') {
      if (PARTS.has(label)) this.#ownerOfPart(within);
      const before = isQuoted ? ': "' : ': ';
      this.#pieces.push(label, before);
      this.#length += label.length + before.length;
    }
    const key = kind === 'key' ? text : label;
    this.#leaves.push(new PlacedLeaf(kind, text, key, this.#length, parent, list, within, step));
    const after = isQuoted ? QUOTED_END : LEAF_END;
    this.#pieces.push(text, after);
    this.#length += text.length + after.length;
    if (this.#length > MAX_DOCUMENT) this.close();
  }
}

/** Members that are parts of their object's value: `{"dob": {"year": …, "month": …, "day": …}}`. */
const PARTS: ReadonlySet<string> = new Set(['year', 'month', 'day', 'area', 'group', 'serial']);
const IN_PARTS = /^(?:.*[_-])?(?:birth(?:_?date|day)?|dob|date_?of_?birth|geburtsdatum|ssn)$/i;

const OF_A_SECRET =
  /^.{0,60}(?:secret|passwo?r?d|passphrase|token|api_?key|access_?key|private_?key|account_?key|master_?key|credential|(?:^|_)pw|pwd)s?$/i;
const OF_A_TEXT = /^(?:string|text|secret|secure|password|plain)/i;
const OF_A_PASSWORD = /pass|pwd?s?$/i;

/** Whether a key could itself hold a value; field names are short and without digits. */
function isTelling(name: string): boolean {
  return name.length >= 8 && (name.length >= 16 || /[\d@]|[\u0080-\uffff]/.test(name));
}

/** The leaf at a place of the document. */
export function leafAt(leaves: readonly Leaf[], at: number): Leaf | undefined {
  let low = 0;
  let high = leaves.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((leaves[middle]?.start ?? 0) <= at) low = middle;
    else high = middle - 1;
  }
  const leaf = leaves[low];
  return leaf && leaf.start <= at ? leaf : undefined;
}
