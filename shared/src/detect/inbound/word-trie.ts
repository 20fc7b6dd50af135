/**
 * A trie in one number a step, so that all of it fits in the caches of a processor. A node is the
 * place from which its steps are counted: the step by a symbol stands at node + symbol, and names
 * the node that it belongs to, since places of several nodes lie between one another.
 */

/** The node before the first symbol. */
export const ROOT = 1;

export interface Trie {
  /** By place: the node that the step belongs to (0 for none), and in the low 16 bits the one after it. */
  readonly steps: Uint32Array;
  /** The node of each number that `add` gave. */
  readonly nodes: Int32Array;
}

const MAX_NODE = 0xffff;

/** The node behind one and a symbol; 0 for none. */
export function stepFrom(steps: Uint32Array, node: number, symbol: number): number {
  const step = steps[node + symbol] as number;
  return step >>> 16 === node ? step & 0xffff : 0;
}

/** Symbols are whole numbers from 0, below `symbols`. */
export class TrieBuilder {
  readonly #symbols: number;
  /** Of each node, what follows it: symbols and numbers of nodes in turns. */
  readonly #children: number[][] = [[]];

  constructor(symbols: number) {
    this.#symbols = symbols;
  }

  /** How many nodes there are: numbers are below. */
  get size(): number {
    return this.#children.length;
  }

  /** @returns the number of the node behind a word; numbers of shorter ones are lower */
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

  /** The numbers of the nodes that follow one. */
  childrenOf(node: number): number[] {
    return (this.#children[node] as number[]).filter((_, at) => at % 2 === 1);
  }

  build(): Trie {
    const nodes = new Int32Array(this.size);
    const taken: boolean[] = [];
    const isNode: boolean[] = [true];
    let firstFree = ROOT;
    const place = (number: number, children: readonly number[]) => {
      while (taken[firstFree]) firstFree += 1;
      const lowest = Math.min(...children.filter((_, at) => at % 2 === 0));
      let node = Math.max(ROOT, firstFree - lowest);
      while (isNode[node] || !isFree(taken, node, children)) node += 1;
      nodes[number] = node;
      isNode[node] = true;
      for (let at = 0; at < children.length; at += 2) {
        taken[node + (children[at] as number)] = true;
      }
    };
    // The root comes first; one without steps may be any that is no node yet.
    for (const [number, children] of this.#children.entries()) {
      if (children.length > 0 || number === 0) place(number, children);
    }
    let next = ROOT;
    for (const [number, children] of this.#children.entries()) {
      if (children.length > 0 || number === 0) continue;
      while (isNode[next]) next += 1;
      nodes[number] = next;
      isNode[next] = true;
    }
    if (isNode.length > MAX_NODE) throw new Error('too many words');
    const steps = new Uint32Array(isNode.length + this.#symbols);
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

function isFree(taken: readonly boolean[], node: number, children: readonly number[]): boolean {
  for (let at = 0; at < children.length; at += 2) {
    if (taken[node + (children[at] as number)]) return false;
  }
  return true;
}
