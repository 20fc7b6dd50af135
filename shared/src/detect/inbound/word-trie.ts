/**
 * A trie with one number per step, so that all of it fits in a processor's caches. A node is the
 * place from which its steps are counted: the step for a symbol is at node + symbol, and names the
 * node that it belongs to, since the places of several nodes are interleaved.
 */

/** The node before the first symbol. */
export const ROOT = 1;

export interface Trie {
  /**
   * By place: the node that the step belongs to (0 for none), and in the low 16 bits the next one.
   */
  readonly steps: Uint32Array;
  /** The node for each number that `add` returned. */
  readonly nodes: Int32Array;
}

const MAX_NODE = 0xffff;

/** The node after one and a symbol; 0 if there is none. */
export function stepFrom(steps: Uint32Array, node: number, symbol: number): number {
  const step = steps[node + symbol] as number;
  return step >>> 16 === node ? step & 0xffff : 0;
}

/** Symbols are integers from 0, below `symbols`. */
export class TrieBuilder {
  readonly #symbols: number;
  /** Each node's steps: symbols and numbers of nodes alternately. */
  readonly #children: number[][] = [[]];

  constructor(symbols: number) {
    this.#symbols = symbols;
  }

  /** The number of nodes; all node numbers are below it. */
  get size(): number {
    return this.#children.length;
  }

  /** @returns the number of the node at the end of a word; its prefixes have lower numbers */
  add(word: readonly number[]): number {
    let node = 0;
    for (const symbol of word) node = this.#childOf(node, symbol);
    return node;
  }

  #childOf(node: number, symbol: number): number {
    const children = this.#children[node] as number[];
    for (let at = 0; at < children.length; at += 2) {
      if (children[at] === symbol) return children[at + 1] as number;
    }
    const child = this.#children.push([]) - 1;
    children.push(symbol, child);
    return child;
  }

  /** The numbers of a node's successors. */
  childrenOf(node: number): number[] {
    return (this.#children[node] as number[]).filter((_, at) => at % 2 === 1);
  }

  build(): Trie {
    const nodes = new Int32Array(this.size);
    const size = MAX_NODE + this.#symbols + 2;
    const [places, bases] = [new FreePlaces(size), new FreePlaces(size)];
    const place = (number: number, children: readonly number[]) => {
      const lowest = Math.min(...children.filter((_, at) => at % 2 === 0));
      let node = ROOT;
      while (true) {
        node = bases.from(Math.max(node, places.from(node + lowest) - lowest));
        if (node > MAX_NODE) throw new Error('too many words');
        if (areFree(places, node, children)) break;
        if (places.isFree(node + lowest)) node += 1;
      }
      nodes[number] = node;
      bases.take(node);
      for (let at = 0; at < children.length; at += 2) places.take(node + (children[at] as number));
    };
    // The root comes first. Then those with the most steps, while there is room: a node with one
    // step fits into any gap, so that no search is long.
    const parents = [...this.#children.entries()].filter(([, steps]) => steps.length > 0);
    const [root = [0, []] as const, ...others] = parents;
    place(0, root[0] === 0 ? root[1] : []);
    others.sort(([, one], [, other]) => other.length - one.length);
    for (const [number, children] of others) place(number, children);
    for (const [number, children] of this.#children.entries()) {
      if (children.length > 0 || number === 0) continue;
      const node = bases.from(ROOT);
      if (node > MAX_NODE) throw new Error('too many words');
      nodes[number] = node;
      bases.take(node);
    }
    const steps = new Uint32Array(Math.max(...nodes) + 1 + this.#symbols);
    for (const [number, children] of this.#children.entries()) {
      const node = nodes[number] as number;
      for (let at = 0; at < children.length; at += 2) {
        const next = nodes[children[at + 1] as number] as number;
        steps[node + (children[at] as number)] = (node << 16) | next;
      }
    }
    return { steps, nodes };
  }
}

function areFree(places: FreePlaces, node: number, children: readonly number[]): boolean {
  for (let at = 0; at < children.length; at += 2) {
    if (!places.isFree(node + (children[at] as number))) return false;
  }
  return true;
}

/** Which places are free. A taken one leads to a later one, by ever longer leaps. */
class FreePlaces {
  readonly #next: Int32Array;

  constructor(size: number) {
    this.#next = new Int32Array(size).map((_, place) => place);
  }

  isFree(place: number): boolean {
    return this.#next[place] === place;
  }

  /** The first free place at or after one. */
  from(place: number): number {
    let at = place;
    while (this.#next[at] !== at) {
      const next = this.#next[at] as number;
      this.#next[at] = this.#next[next] as number;
      at = next;
    }
    return at;
  }

  take(place: number): void {
    this.#next[place] = place + 1;
  }
}
