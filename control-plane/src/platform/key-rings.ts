/** The keys of each purpose in memory, as they were last read. */
import type { ServiceKeyPurpose } from './key-kinds.ts';
import type { KeyRing } from './opened-keys.ts';

export const REREAD_MS = 20_000;

interface Ring extends KeyRing {
  readAt: number;
}

export function createKeyRings(deps: {
  read(purpose: ServiceKeyPurpose): Promise<KeyRing>;
  /** A monotonic clock in milliseconds. */
  elapsed(): number;
}) {
  const { elapsed } = deps;
  const rings = new Map<ServiceKeyPurpose, Ring>();
  const reading = new Map<ServiceKeyPurpose, Promise<Ring>>();
  /** Counts calls of `forget`: what was read before one is not cached. */
  let generation = 0;

  async function read(purpose: ServiceKeyPurpose): Promise<Ring> {
    const begun = generation;
    const readAt = elapsed();
    const ring = { ...(await deps.read(purpose)), readAt };
    if (begun === generation) rings.set(purpose, ring);
    return ring;
  }

  return {
    async of(purpose: ServiceKeyPurpose): Promise<KeyRing> {
      const known = rings.get(purpose);
      if (known && elapsed() - known.readAt < REREAD_MS) return known;
      let ring = reading.get(purpose);
      if (!ring) {
        ring = read(purpose).finally(() => reading.delete(purpose));
        reading.set(purpose, ring);
      }
      if (!known) return ring;
      // The database is unavailable: the cached keys stay in use, and are read again a little later.
      return ring.catch(() => {
        known.readAt = elapsed() - REREAD_MS / 2;
        return known;
      });
    },

    /** Reads each purpose again before its next use. */
    forget(): void {
      generation++;
      reading.clear();
      // Kept in case the database is unavailable by then.
      for (const ring of rings.values()) ring.readAt = Number.NEGATIVE_INFINITY;
    },
  };
}
