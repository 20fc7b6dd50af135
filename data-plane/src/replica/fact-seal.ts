import { hash } from 'node:crypto';

const DIGEST_BYTES = 32;

/** A tenant's position in its feed, and the age of its facts. */
export interface FeedPlace {
  cursor: number;
  /** The feed's digest at the cursor (shared/src/channel/feed-chain.ts). */
  digest: string;
  /** Time of the newest verified statement, Unix milliseconds; 0 before the first. */
  statementMs: number;
}

/** How far a tenant's facts are, and the digest of all of them. */
export interface TenantState {
  place: FeedPlace;
  sum: DigestSet;
}

/** The digest of one stored fact. */
export function factDigest(tenantId: string, kind: string, key: string, value: string): Buffer {
  return hash('sha256', `${tenantId}\n${kind}\n${key}\n${value}`, 'buffer');
}

/** The digest of the stored generation of the control plane's clock. */
export function clockDigest(tenantId: string, generation: number): Buffer {
  return hash('sha256', `${tenantId}\n${generation}`, 'buffer');
}

/**
 * A set of digests as one value that a change updates in constant time: their exclusive or. It
 * protects against faulty disks, not against someone who writes the file: they own the machine.
 */
export class DigestSet {
  readonly #sum: Buffer;

  constructor(sum: Buffer = Buffer.alloc(DIGEST_BYTES)) {
    this.#sum = Buffer.from(sum);
  }

  copy(): DigestSet {
    return new DigestSet(this.#sum);
  }

  /** Adds a digest, or removes it if it was in. */
  toggle(digest: Buffer): void {
    for (let i = 0; i < DIGEST_BYTES; i++) {
      this.#sum[i] = (this.#sum[i] ?? 0) ^ (digest[i] ?? 0);
    }
  }

  /** The seal stored beside the facts: it changes with any of them and with the feed's position. */
  seal(tenantId: string, { cursor, digest, statementMs }: FeedPlace): Buffer {
    const facts = this.#sum.toString('hex');
    return hash('sha256', [tenantId, cursor, digest, statementMs, facts].join('\n'), 'buffer');
  }
}
