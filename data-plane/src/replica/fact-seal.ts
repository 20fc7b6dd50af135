import { hash } from 'node:crypto';

const DIGEST_BYTES = 32;

/** The digest of one stored fact. */
export function factDigest(tenantId: string, kind: string, key: string, value: string): Buffer {
  return hash('sha256', `${tenantId}\n${kind}\n${key}\n${value}`, 'buffer');
}

/**
 * A set of digests as one value that a change updates in constant time: their exclusive or. It is
 * there for disks that lie, not against someone who writes the file: that one owns the machine.
 */
export class DigestSet {
  readonly #sum: Buffer;

  constructor(sum: Buffer = Buffer.alloc(DIGEST_BYTES)) {
    this.#sum = Buffer.from(sum);
  }

  copy(): DigestSet {
    return new DigestSet(this.#sum);
  }

  /** Adds a digest, or takes it away where it was in. */
  toggle(digest: Buffer): void {
    for (let i = 0; i < DIGEST_BYTES; i++) {
      this.#sum[i] = (this.#sum[i] ?? 0) ^ (digest[i] ?? 0);
    }
  }

  /** What is stored beside the facts: changes with any of them and with the cursor. */
  seal(tenantId: string, cursor: number): Buffer {
    return hash('sha256', `${tenantId}\n${cursor}\n${this.#sum.toString('hex')}`, 'buffer');
  }
}
