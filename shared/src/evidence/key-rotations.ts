/**
 * The keys that follow from trusted keys: those that they name as their successors. An expired or
 * compromised key names none; a known key is not replaced; and another statement about a known key
 * can shorten its life but never lengthen it. Verifiers of packages and data planes follow keys by
 * these rules. Proven by shared/src/channel/follow-keys.test.ts.
 */
import {
  isRotationSigned,
  type KeyEntry,
  type KeyPurpose,
  type SignedRotation,
} from './evidence-keys.ts';

/** The facts about a key. Times are texts of one form, which sort as the times do. */
export interface LivingKey {
  jwk: KeyEntry['jwk'];
  validTo: string | null;
  revokedAt: string | null;
}

/** A key that a known one names. */
export interface Successor {
  kid: string;
  purpose: KeyPurpose;
  jwk: KeyEntry['jwk'];
  validFrom: string;
}

/** Identifies a key: one id may also be that of a key for another purpose. */
export const keyPlace = ({ purpose, kid }: { purpose: string; kid: string }): string =>
  `${purpose}/${kid}`;

/**
 * Adds what follows a known key, however the statements are ordered, and ends the key before it.
 *
 * @param keys by `keyPlace`; grows
 * @param make the entry of a successor
 */
export function followRotations<K extends LivingKey>(
  keys: Map<string, K>,
  rotations: readonly SignedRotation[],
  make: (next: Successor, before: K) => K,
): void {
  // Its holder writes the time of a statement: a retired key that was stolen would backdate it.
  const ended = new Set([...keys].flatMap(([place, key]) => (key.validTo === null ? [] : [place])));
  const left = new Set(rotations);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const rotation of left) {
      const { purpose, old_kid, new_key, valid_from, time } = rotation.statement;
      const oldPlace = keyPlace({ purpose, kid: old_kid });
      const old = keys.get(oldPlace);
      if (!old) continue;
      left.delete(rotation);
      const isLate = old.validTo !== null && time > old.validTo;
      const isOver = old.revokedAt !== null || ended.has(oldPlace) || isLate;
      const place = keyPlace({ purpose, kid: new_key.kid });
      if (isOver || keys.has(place) || !isRotationSigned(old.jwk, rotation)) continue;
      old.validTo = earlier(old.validTo, valid_from);
      const { kid, jwk } = new_key;
      keys.set(place, make({ kid, purpose, jwk, validFrom: valid_from }, old));
    }
  }
}

/** Applies a statement about a known key: it may end sooner. */
export function shortenLife(
  known: LivingKey,
  entry: Pick<KeyEntry, 'valid_to' | 'revoked_at'>,
): void {
  known.validTo = earlier(known.validTo, entry.valid_to);
  known.revokedAt = earlier(known.revokedAt, entry.revoked_at);
}

function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}
