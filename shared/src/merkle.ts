import { createHash } from 'node:crypto';

/**
 * The Merkle Tree Hash over record hashes (RFC 6962 section 2.1): the leaves are already
 * SHA-256(0x00 || record), see `recordHash`.
 *
 * @param leaves lower-case hexadecimal leaf hashes, in order
 * @returns the root in lower-case hexadecimal; SHA-256 of nothing for no leaves
 */
export function merkleRoot(leaves: readonly string[]): string {
  if (leaves.length === 0) return createHash('sha256').digest('hex');
  // Joining neighbours level by level, an odd last node rising unchanged, gives RFC 6962's tree.
  let level: Buffer[] = leaves.map((leaf) => Buffer.from(leaf, 'hex'));
  while (level.length > 1) {
    const next: Buffer[] = [];
    for (let i = 0; i < level.length; i += 2) {
      const left = level[i] as Buffer;
      const right = level[i + 1];
      next.push(right ? node(left, right) : left);
    }
    level = next;
  }
  return (level[0] as Buffer).toString('hex');
}

function node(left: Buffer, right: Buffer): Buffer {
  return createHash('sha256').update(NODE_PREFIX).update(left).update(right).digest();
}

const NODE_PREFIX = Buffer.from([0x01]);
