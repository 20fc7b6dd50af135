/**
 * Which keys may have signed. With an anchor only its keys are trusted, and those that follow them
 * by rotation statements of both keys; what the package itself says of a trusted key can shorten its
 * life, never lengthen it. Keys that only the package names are known, so that the other checks can
 * go on, and are not anchored.
 */
import type { KeyObject } from 'node:crypto';
import { canonicalize } from '../../canonical-json.ts';
import { readEd25519Key } from '../ed25519.ts';
import {
  type EvidenceKeys,
  isRotationSigned,
  isStatementSignedBy,
  type KeyEntry,
  type KeyPurpose,
  type SignedRotation,
  type SignedWriterKey,
} from '../evidence-keys.ts';
import type { Location } from './location.ts';

export interface KnownKey {
  kid: string;
  /** `writer`: of a data plane's stream. */
  purpose: KeyPurpose | 'writer';
  jwk: KeyEntry['jwk'];
  validFrom: string | null;
  validTo: string | null;
  revokedAt: string | null;
  isAnchored: boolean;
}

/** A signature that counted, and the times at which its key had to be good. */
export interface KeyUse {
  key: KnownKey;
  /** Signed then or later; null where that is not known. */
  notBefore: string | null;
  /** Signed at about then; null where that is not known. */
  signedAt: string | null;
  /** What it vouches for happened then: null, any revocation counts. */
  vouchesFor: string | null;
  location: Location;
}

export interface WriterEntry {
  key: KnownKey;
  /** Who says whose key it is; undefined where no known key signed the statement. */
  vouchedBy: KnownKey | undefined;
  statement: SignedWriterKey['statement'];
  location: Location;
}

export interface Keyset {
  find(purpose: KeyPurpose, kid: string): KnownKey | undefined;
  all(purpose: KeyPurpose): KnownKey[];
  writers(stream: string): WriterEntry[];
  /** The Ed25519 key of it; undefined for one that is none. */
  publicKey(key: KnownKey): KeyObject | undefined;
}

/**
 * @param trusted the anchor's or a configured issuer's keys; null: none are
 * @param own what the package says
 */
export function createKeyset(trusted: readonly KeyEntry[] | null, own: EvidenceKeys): Keyset {
  const keys = new Map<string, KnownKey>();
  for (const entry of trusted ?? []) keys.set(idOf(entry), knownKey(entry, true));
  if (trusted) followRotations(keys, own.rotations);
  for (const entry of own.keys) {
    const known = keys.get(idOf(entry));
    if (!known) keys.set(idOf(entry), knownKey(entry, false));
    else if (isSameKey(known.jwk, entry.jwk)) shorten(known, entry);
  }
  // Where nothing is trusted, rotations show nothing, but their keys are known.
  if (!trusted) followRotations(keys, own.rotations);
  const find = (purpose: KeyPurpose, kid: string) => keys.get(`${purpose}/${kid}`);
  const writers = readWriters(own.writers, find);
  const parsed = new Map<KnownKey, KeyObject | undefined>();
  return {
    find,
    all: (purpose) => [...keys.values()].filter((key) => key.purpose === purpose),
    writers: (stream) => writers.get(stream) ?? [],
    publicKey: (key) => {
      if (!parsed.has(key)) parsed.set(key, tryReadKey(key.jwk));
      return parsed.get(key);
    },
  };
}

const idOf = ({ purpose, kid }: { purpose: string; kid: string }) => `${purpose}/${kid}`;

function knownKey(entry: KeyEntry, isAnchored: boolean): KnownKey {
  const { kid, purpose, jwk, valid_from, valid_to, revoked_at } = entry;
  return {
    kid,
    purpose,
    jwk,
    validFrom: valid_from,
    validTo: valid_to,
    revokedAt: revoked_at,
    isAnchored,
  };
}

/** Adds what follows a known key, however the statements are ordered. */
function followRotations(keys: Map<string, KnownKey>, rotations: readonly SignedRotation[]): void {
  const left = new Set(rotations);
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    for (const rotation of left) {
      const { purpose, old_kid, new_key, valid_from, time } = rotation.statement;
      const old = keys.get(idOf({ purpose, kid: old_kid }));
      if (!old) continue;
      left.delete(rotation);
      // A key that was over, or is in the wrong hands, names no successor.
      const isOver = old.revokedAt !== null || (old.validTo !== null && time > old.validTo);
      const id = idOf({ purpose, kid: new_key.kid });
      if (isOver || keys.has(id) || !isRotationSigned(old.jwk, rotation)) continue;
      old.validTo = earlier(old.validTo, valid_from);
      keys.set(id, {
        kid: new_key.kid,
        purpose,
        jwk: new_key.jwk,
        validFrom: valid_from,
        validTo: null,
        revokedAt: null,
        isAnchored: old.isAnchored,
      });
    }
  }
}

function shorten(known: KnownKey, entry: KeyEntry): void {
  known.validTo = earlier(known.validTo, entry.valid_to);
  known.revokedAt = earlier(known.revokedAt, entry.revoked_at);
}

/** Times are texts of one form, which sort as the times do. */
function earlier(a: string | null, b: string | null): string | null {
  if (a === null || b === null) return a ?? b;
  return a < b ? a : b;
}

function isSameKey(a: KeyEntry['jwk'], b: KeyEntry['jwk']): boolean {
  const { kty, crv, x, y, n, e } = a;
  return (
    canonicalize({ kty, crv, x, y, n, e }) ===
    canonicalize({ kty: b.kty, crv: b.crv, x: b.x, y: b.y, n: b.n, e: b.e })
  );
}

function readWriters(
  statements: readonly SignedWriterKey[],
  find: Keyset['find'],
): Map<string, WriterEntry[]> {
  const writers = new Map<string, WriterEntry[]>();
  for (const [i, signed] of statements.entries()) {
    const { statement, kid } = signed;
    const signer = find('evidence', kid);
    const vouchedBy = signer && isStatementSignedBy(signer.jwk, signed) ? signer : undefined;
    const key: KnownKey = {
      kid: statement.kid,
      purpose: 'writer',
      jwk: statement.jwk,
      validFrom: null,
      validTo: null,
      revokedAt: statement.revoked_at,
      isAnchored: vouchedBy?.isAnchored ?? false,
    };
    const location = { member: 'keys.json', path: `writers/${i}` };
    const entry = { key, vouchedBy, statement, location };
    writers.set(statement.stream, [...(writers.get(statement.stream) ?? []), entry]);
  }
  return writers;
}

function tryReadKey(jwk: KeyEntry['jwk']): KeyObject | undefined {
  try {
    return readEd25519Key(jwk);
  } catch {
    return undefined;
  }
}
