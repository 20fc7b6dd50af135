/**
 * Which keys may have signed. With an anchor, only its keys are trusted, and those that follow from
 * them by rotation statements that both keys signed. What the package says about a trusted key can
 * shorten its life, never lengthen it. Keys that only the package names are known, so that the
 * other checks can continue, but are not anchored.
 */
import type { KeyObject } from 'node:crypto';
import { canonicalize } from '../../json/canonical-json.ts';
import { readEd25519Key } from '../ed25519.ts';
import {
  type EvidenceKeys,
  isStatementSignedBy,
  type KeyEntry,
  type KeyPurpose,
  type SignedWriterKey,
} from '../evidence-keys.ts';
import {
  followRotations,
  keyPlace,
  type LivingKey,
  type Successor,
  shortenLife,
} from '../key-rotations.ts';
import type { Location } from './location.ts';

export interface KnownKey extends LivingKey {
  kid: string;
  /** `writer`: of a data plane's stream. */
  purpose: KeyPurpose | 'writer';
  validFrom: string | null;
  isAnchored: boolean;
}

/** A signature that holds, and the times at which its key had to be valid. */
export interface KeyUse {
  key: KnownKey;
  /** Signed at this time or later; null when unknown. */
  notBefore: string | null;
  /** Signed at about this time; null when unknown. */
  signedAt: string | null;
  /** When what it vouches for happened; null: any revocation counts; empty: none does. */
  vouchesFor: string | null;
  /** For a bundle's signature: the stream of the first decision under that bundle. */
  decidedBy?: string;
  location: Location;
}

export interface WriterEntry {
  key: KnownKey;
  /** Who vouches for the key's owner; undefined when no known key signed the statement. */
  vouchedBy: KnownKey | undefined;
  statement: SignedWriterKey['statement'];
  location: Location;
}

export type Keyset = ReturnType<typeof createKeyset>;

type FindKey = (purpose: KeyPurpose, kid: string) => KnownKey | undefined;

/**
 * @param trusted the keys of the anchor or of a configured issuer; null: none are
 * @param own what the package says
 */
export function createKeyset(trusted: readonly KeyEntry[] | null, own: EvidenceKeys) {
  const keys = new Map<string, KnownKey>();
  for (const entry of trusted ?? []) keys.set(keyPlace(entry), knownKey(entry, true));
  if (trusted) followRotations(keys, own.rotations, successorKey);
  for (const entry of own.keys) {
    const known = keys.get(keyPlace(entry));
    if (!known) keys.set(keyPlace(entry), knownKey(entry, false));
    else if (isSameKey(known.jwk, entry.jwk)) shortenLife(known, entry);
  }
  // Where nothing is trusted, rotations prove nothing, but their keys become known.
  if (!trusted) followRotations(keys, own.rotations, successorKey);
  const find: FindKey = (purpose, kid) => keys.get(keyPlace({ purpose, kid }));
  const writers = readWriters(own.writers, find);
  const parsed = new Map<KnownKey, KeyObject | undefined>();
  return {
    find,
    all: (purpose: KeyPurpose) => [...keys.values()].filter((key) => key.purpose === purpose),
    writers: (stream: string) => writers.get(stream) ?? [],
    /** Its Ed25519 key; undefined when it is not one. */
    publicKey: (key: KnownKey): KeyObject | undefined => {
      if (!parsed.has(key)) parsed.set(key, tryReadKey(key.jwk));
      return parsed.get(key);
    },
  };
}

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

function successorKey({ kid, purpose, jwk, validFrom }: Successor, old: KnownKey): KnownKey {
  const life = { validFrom, validTo: null, revokedAt: null };
  return { kid, purpose, jwk, ...life, isAnchored: old.isAnchored };
}

function isSameKey(a: KeyEntry['jwk'], b: KeyEntry['jwk']): boolean {
  const textOf = ({ kty, crv, x, y, n, e }: KeyEntry['jwk']) =>
    canonicalize({ kty, crv, x, y, n, e });
  return textOf(a) === textOf(b);
}

function readWriters(
  statements: readonly SignedWriterKey[],
  find: FindKey,
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
