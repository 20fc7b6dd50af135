/** The keys of each purpose in memory, as they were last read. Proven by key-rings.test.ts. */
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

  /** Whoever asks while a read is under way shares it. */
  function readOnce(purpose: ServiceKeyPurpose): Promise<Ring> {
    const underWay = reading.get(purpose);
    if (underWay) return underWay;
    const ring = read(purpose).finally(() => {
      // After `forget` another one may be under way.
      if (reading.get(purpose) === ring) reading.delete(purpose);
    });
    reading.set(purpose, ring);
    return ring;
  }

  return {
    async of(purpose: ServiceKeyPurpose): Promise<KeyRing> {
      const known = rings.get(purpose);
      if (known && elapsed() - known.readAt < REREAD_MS) return known;
      const begun = generation;
      const ring = readOnce(purpose);
      if (!known) return ring;
      // The database is unavailable: the cached keys stay in use, and are read again a little later.
      return ring.catch(() => {
        if (begun === generation) known.readAt = elapsed() - REREAD_MS / 2;
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
