/**
 * Proofs over RFC 6962's Merkle tree: that a leaf is in it (section 2.1.1), that a later tree
 * continues an earlier one (2.1.2), and that a run of leaves is all there is between two sizes. They
 * are made from the roots of whole subtrees, which never change once they are full, so that whoever
 * stores those reads O(log n) of them for a proof. Verification follows RFC 9162 (2.1.3.2, 2.1.4.2).
 * Proven by merkle-proofs.test.ts, on the known vectors and for any size.
 */
import { hash as digest } from 'node:crypto';
import { nodeHash } from '../ledger/merkle.ts';

/** Leaves `start` to before `end`. */
export interface LeafRange {
  start: number;
  end: number;
}

/** A full subtree: the `index`th of 2^`level` leaves. */
export interface SubtreeAt {
  level: number;
  index: number;
}

/** The root of the empty tree: SHA-256 of nothing. */
export const EMPTY_ROOT = digest('sha256', '', 'hex');

/**
 * The full subtrees whose roots give the root of a range, from left to right.
 *
 * @param range as a proof's plan names it: it begins at a multiple of a power of two that is not
 *   smaller than it
 */
export function subtreesOf({ start, end }: LeafRange): SubtreeAt[] {
  const subtrees: SubtreeAt[] = [];
  for (let at = start; at < end; ) {
    let level = 0;
    while (at % 2 ** (level + 1) === 0 && at + 2 ** (level + 1) <= end) level++;
    subtrees.push({ level, index: at / 2 ** level });
    at += 2 ** level;
  }
  return subtrees;
}

/**
 * The root over full subtrees, as `subtreesOf` names them.
 *
 * @param roots lower-case hexadecimal, from left to right
 */
export function foldSubtrees(roots: readonly string[]): string {
  const last = roots.at(-1);
  if (last === undefined) return EMPTY_ROOT;
  return roots.slice(0, -1).reduceRight((right, left) => nodeHash(left, right), last);
}

/**
 * The full subtrees that a leaf completes when it is appended: the nodes that a store adds with it.
 */
export function subtreesCompletedBy(leafIndex: number): SubtreeAt[] {
  const completed: SubtreeAt[] = [];
  for (let level = 1; (leafIndex + 1) % 2 ** level === 0; level++) {
    completed.push({ level, index: (leafIndex + 1) / 2 ** level - 1 });
  }
  return completed;
}

/**
 * The ranges whose roots are the inclusion proof of a leaf, in the proof's order (RFC 6962, PATH).
 *
 * @throws RangeError when the tree has no such leaf
 */
export function planInclusion(leafIndex: number, size: number): LeafRange[] {
  if (!(leafIndex >= 0 && leafIndex < size)) throw new RangeError('the tree has no such leaf');
  const plan: LeafRange[] = [];
  let [start, end] = [0, size];
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (leafIndex < middle) {
      plan.push({ start: middle, end });
      end = middle;
    } else {
      plan.push({ start, end: middle });
      start = middle;
    }
  }
  return plan.reverse();
}

/**
 * The ranges whose roots are the consistency proof between two sizes (RFC 6962, PROOF).
 *
 * @throws RangeError when the first is larger than the second
 */
export function planConsistency(from: number, to: number): LeafRange[] {
  if (!(from >= 0 && from <= to)) throw new RangeError('the first tree is larger than the second');
  if (from === 0 || from === to) return [];
  const plan: LeafRange[] = [];
  let [start, end] = [0, to];
  let isWhole = true;
  while (end !== from) {
    const middle = start + splitOf(end - start);
    if (from <= middle) {
      plan.push({ start: middle, end });
      end = middle;
    } else {
      plan.push({ start, end: middle });
      start = middle;
      isWhole = false;
    }
  }
  if (!isWhole) plan.push({ start, end });
  return plan.reverse();
}

/** The largest power of two that is smaller than n > 1. */
function splitOf(n: number): number {
  let split = 1;
  while (split * 2 < n) split *= 2;
  return split;
}

/**
 * The root that an inclusion proof leads to (RFC 9162 section 2.1.3.2).
 *
 * @param proof the leaf's hash and place, the tree's size and the path from the leaf upwards
 * @returns undefined when the path is not one of such a leaf in such a tree
 */
export function rootOfInclusion(proof: {
  leaf: string;
  index: number;
  size: number;
  path: readonly string[];
}): string | undefined {
  const { leaf, index, size, path } = proof;
  if (!(Number.isSafeInteger(index) && index >= 0 && index < size)) return undefined;
  let fn = index;
  let sn = size - 1;
  let root = leaf;
  for (const node of path) {
    if (sn === 0) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      root = nodeHash(node, root);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      root = nodeHash(root, node);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? root : undefined;
}

/** Two sizes of one tree, their claimed roots, and the nodes between. */
export interface ConsistencyProof {
  from: number;
  to: number;
  fromRoot: string;
  toRoot: string;
  path: readonly string[];
}

/**
 * Whether the larger tree continues the smaller one (RFC 9162 section 2.1.4.2). Never throws.
 * The empty tree is continued by every tree.
 */
export function isConsistent({ from, to, fromRoot, toRoot, path }: ConsistencyProof): boolean {
  if (!(Number.isSafeInteger(from) && Number.isSafeInteger(to))) return false;
  if (from < 0 || from > to) return false;
  if (from === 0) return path.length === 0 && fromRoot === EMPTY_ROOT;
  if (from === to) return path.length === 0 && fromRoot === toRoot;
  const isPower = Number.isInteger(Math.log2(from)) && 2 ** Math.log2(from) === from;
  const nodes = isPower ? [fromRoot, ...path] : [...path];
  try {
    const roots = foldConsistency(from, to, nodes);
    return roots !== undefined && roots[0] === fromRoot && roots[1] === toRoot;
  } catch {
    return false;
  }
}

function foldConsistency(
  from: number,
  to: number,
  nodes: readonly string[],
): [string, string] | undefined {
  const [seed, ...rest] = nodes;
  if (seed === undefined) return undefined;
  let fn = from - 1;
  let sn = to - 1;
  while (fn % 2 === 1) {
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  let fr = seed;
  let sr = seed;
  for (const node of rest) {
    if (sn === 0) return undefined;
    if (fn % 2 === 1 || fn === sn) {
      fr = nodeHash(node, fr);
      sr = nodeHash(node, sr);
      while (fn % 2 === 0 && fn !== 0) {
        fn = Math.floor(fn / 2);
        sn = Math.floor(sn / 2);
      }
    } else {
      sr = nodeHash(sr, node);
    }
    fn = Math.floor(fn / 2);
    sn = Math.floor(sn / 2);
  }
  return sn === 0 ? [fr, sr] : undefined;
}

export type MerkleTree = ReturnType<typeof createMerkleTree>;

/**
 * A tree to which leaves are appended; it holds only the roots of its full subtrees. It continues
 * from another one's frontier, so that leaves from `size` on yield its root.
 *
 * @param size leaves of the tree so far
 * @param frontier roots of `subtreesOf({ start: 0, end: size })`
 * @throws RangeError when these are not as many as that size has
 */
export function createMerkleTree(size = 0, frontier: readonly string[] = []) {
  const stack = subtreesOf({ start: 0, end: size }).map(({ level }, i) => ({
    level,
    hash: frontier[i] ?? '',
  }));
  if (stack.length !== frontier.length) throw new RangeError('the frontier is of another size');
  let leaves = size;
  return {
    get size(): number {
      return leaves;
    },
    add: (leaf: string): void => {
      let top = { level: 0, hash: leaf };
      for (let last = stack.at(-1); last?.level === top.level; last = stack.at(-1)) {
        stack.pop();
        top = { level: top.level + 1, hash: nodeHash(last.hash, top.hash) };
      }
      stack.push(top);
      leaves++;
    },
    root: (): string => foldSubtrees(stack.map(({ hash }) => hash)),
    /** The roots of the full subtrees, from left to right: `createMerkleTree` continues from them. */
    frontier: (): string[] => stack.map(({ hash }) => hash),
  };
}
