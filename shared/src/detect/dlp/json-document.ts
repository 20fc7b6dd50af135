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

/** Between two leaves. A line separator, which no pattern crosses and no JSON text holds bare. */
export const LEAF_END = '\n\u2028\n';

/** A document is closed at this length; a leaf that is longer stands alone. */
const MAX_DOCUMENT = 1_000_000;
/** Deeper values than the parsers of the product let through. */
const MAX_DEPTH = 200;

/**
 * The documents of a value; most have one.
 *
 * @throws RangeError for a value that is nested too deeply
 */
export function jsonDocuments(value: unknown): JsonDocument[] {
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
  const write = (text: string): void => {
    pieces.push(text);
    length += text.length;
  };
  const scalar = (leaf: Omit<Leaf, 'start'>, label: string): void => {
    if (label !== '') write(`${label}: `);
    const isQuoted = label !== '' && leaf.kind === 'string';
    if (isQuoted) write('"');
    leaves.push({ ...leaf, start: length });
    write(leaf.value);
    write(isQuoted ? `"${LEAF_END}` : LEAF_END);
    if (length > MAX_DOCUMENT) close();
  };
  const visit = (
    node: unknown,
    pointer: string,
    key: string,
    parent: number,
    depth: number,
  ): void => {
    if (depth > MAX_DEPTH) throw new RangeError('The value is nested too deeply');
    if (typeof node === 'string')
      scalar({ pointer, key, kind: 'string', value: node, parent }, key);
    else if (typeof node === 'number' || typeof node === 'bigint') {
      scalar({ pointer, key, kind: 'number', value: String(node), parent }, key);
    } else if (Array.isArray(node)) {
      const own = ++parents;
      for (const [i, item] of node.entries()) visit(item, `${pointer}/${i}`, key, own, depth + 1);
    } else if (typeof node === 'object' && node !== null) {
      const own = ++parents;
      for (const [name, item] of Object.entries(node)) {
        const below = `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
        if (isTelling(name)) {
          scalar({ pointer: below, key: name, kind: 'key', value: name, parent: -own }, '');
        }
        visit(item, below, name, own, depth + 1);
      }
    }
  };
  visit(value, '', '', 0, 0);
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
