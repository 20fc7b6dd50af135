/** A JSON value laid out as one text, so that one scan reads it and a key stands before its value. */

export interface Leaf {
  /** JSON Pointer, whole. */
  readonly pointer: string;
  readonly key: string;
  readonly kind: 'string' | 'number' | 'key';
  readonly value: string;
  /** Where the value stands in its document. */
  readonly start: number;
  /** The container's number: leaves of one object or array are neighbours. */
  readonly parent: number;
}

export interface JsonDocument {
  readonly text: string;
  /** By their start. */
  readonly leaves: readonly Leaf[];
}

/** Where a value stands: the last step to it, and the place of what it is in. */
type Place = { readonly within: Place; readonly step: string | number } | null;

/** Its pointer is written when somebody asks: nearly nobody does. */
class PlacedLeaf implements Leaf {
  readonly kind: Leaf['kind'];
  readonly value: string;
  readonly key: string;
  readonly start: number;
  readonly parent: number;
  readonly #place: Place;

  constructor(
    kind: Leaf['kind'],
    value: string,
    key: string,
    start: number,
    parent: number,
    place: Place,
  ) {
    this.kind = kind;
    this.value = value;
    this.key = key;
    this.start = start;
    this.parent = parent;
    this.#place = place;
  }

  get pointer(): string {
    let pointer = '';
    for (let place = this.#place; place !== null; place = place.within) {
      const step = String(place.step).replaceAll('~', '~0').replaceAll('/', '~1');
      pointer = `/${step}${pointer}`;
    }
    return pointer;
  }
}

/** Between two leaves. A line separator, which no pattern crosses and no JSON text holds bare. */
export const LEAF_END = '\n\u2028\n';

const QUOTED_END = `"${LEAF_END}`;

/** A document is closed at this length; a leaf that is longer stands alone. */
const MAX_DOCUMENT = 1_000_000;
/** Deeper values than the parsers of the product let through. */
const MAX_DEPTH = 200;

/**
 * The documents of a value; most have one.
 *
 * @param hasAllKeys whether each key may be a value: of the short ones each name once
 * @throws RangeError for a value that is nested too deeply
 */
export function jsonDocuments(value: unknown, hasAllKeys = false): JsonDocument[] {
  const seen = new Set<string>();
  const documents: JsonDocument[] = [];
  let pieces: string[] = [];
  let leaves: Leaf[] = [];
  let length = 0;
  let parents = 0;
  const close = (): void => {
    if (pieces.length > 0) documents.push({ text: pieces.join(''), leaves });
    pieces = [];
    leaves = [];
    length = 0;
  };
  const scalar = (
    kind: Leaf['kind'],
    text: string,
    place: Place,
    label: string,
    parent: number,
  ) => {
    if (label !== '') {
      const before = kind === 'string' ? ': "' : ': ';
      pieces.push(label, before);
      length += label.length + before.length;
    }
    leaves.push(new PlacedLeaf(kind, text, kind === 'key' ? text : label, length, parent, place));
    const after = label !== '' && kind === 'string' ? QUOTED_END : LEAF_END;
    pieces.push(text, after);
    length += text.length + after.length;
    if (length > MAX_DOCUMENT) close();
  };
  const visit = (node: unknown, place: Place, key: string, parent: number, depth: number): void => {
    if (depth > MAX_DEPTH) throw new RangeError('The value is nested too deeply');
    if (typeof node === 'string') scalar('string', node, place, key, parent);
    else if (typeof node === 'number' || typeof node === 'bigint') {
      scalar('number', String(node), place, key, parent);
    } else if (Array.isArray(node)) {
      const own = ++parents;
      for (let i = 0; i < node.length; i++) {
        visit(node[i], { within: place, step: i }, key, own, depth + 1);
      }
    } else if (typeof node === 'object' && node !== null) {
      const own = ++parents;
      for (const name of Object.keys(node)) {
        const below = { within: place, step: name };
        const isShown = isTelling(name) || (hasAllKeys && !seen.has(name));
        if (isShown) {
          if (hasAllKeys) seen.add(name);
          scalar('key', name, below, '', -own);
        }
        visit((node as Record<string, unknown>)[name], below, name, own, depth + 1);
      }
    }
  };
  visit(value, null, '', 0, 0);
  close();
  return documents;
}

/** Whether a key could hold a value itself; names of fields are short and without digits. */
function isTelling(name: string): boolean {
  return name.length >= 8 && (name.length >= 16 || /[\d@]|[\u0080-\uffff]/.test(name));
}

/** The leaf that a place of the document belongs to. */
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
