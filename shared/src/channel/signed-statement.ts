/**
 * A control plane's signed statements about the present, so that a data plane can distinguish
 * "nothing changed" from "somebody withholds changes" (TUF's freeze attack): the freshness
 * statement with every answer of the feed, and the end of a snapshot. Also the head of the tenant's
 * admin chain, so that cutting the chain contradicts what data planes remember, and for which
 * deployment an answer is. Proven by signed-statement.test.ts.
 */
import { createPublicKey, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { CodedError } from '../coded-error.ts';
import { canonicalize } from '../json/canonical-json.ts';
import type { PublicJwk } from '../keys/public-jwk.ts';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from '../text.ts';

/** The state of a tenant's rules and facts at `time`. */
export const FreshnessStatement = z.strictObject({
  type: z.literal('freshness'),
  v: z.literal(1),
  tenant_id: Id,
  /** The newest bundle; null while none was built. */
  bundle: z.strictObject({ revision: z.int().positive(), digest: Sha256Hex }).nullable(),
  feed_seq: z.int().nonnegative(),
  /** The feed's digest at `feed_seq` (feed-chain.ts). */
  feed_digest: Sha256Hex,
  time: Timestamp,
});
export type FreshnessStatement = z.infer<typeof FreshnessStatement>;

/** The end of a snapshot: the entries before it are all that is valid at `feed_seq`. */
export const SnapshotEnd = z.strictObject({
  type: z.literal('snapshot_end'),
  v: z.literal(1),
  tenant_id: Id,
  feed_seq: z.int().nonnegative(),
  feed_digest: Sha256Hex,
  count: z.int().nonnegative(),
  /** The digest of the entries in the order sent (`createSnapshotDigest`). */
  entries_digest: Sha256Hex,
  time: Timestamp,
});
export type SnapshotEnd = z.infer<typeof SnapshotEnd>;

/**
 * The head of the tenant's admin chain at `time`. A statement of its own beside the freshness
 * statement, since older readers accept no additional member there.
 */
export const AdminHead = z.strictObject({
  type: z.literal('admin_head'),
  v: z.literal(1),
  tenant_id: Id,
  stream: Id,
  epoch: Epoch,
  seq: z.int().positive(),
  /** The hash of the record with that seq. */
  hash: Sha256Hex,
  time: Timestamp,
});
export type AdminHead = z.infer<typeof AdminHead>;

/**
 * At `time` the control plane recognised this deployment: its token was good. The other statements
 * are the same for all data planes of a tenant. One of its own, since older readers accept no
 * additional member there.
 */
export const Recognition = z.strictObject({
  type: z.literal('recognition'),
  v: z.literal(1),
  tenant_id: Id,
  deployment_id: Id,
  time: Timestamp,
});
export type Recognition = z.infer<typeof Recognition>;

/** A control plane's statement about the present. */
export type SignedPresent = FreshnessStatement | SnapshotEnd | AdminHead | Recognition;

/** A statement on the wire. */
export const Signed = <T extends z.ZodType>(statement: T) =>
  z.strictObject({
    statement,
    kid: Text.max(200),
    /** Ed25519 over the statement's RFC 8785 bytes, base64url. */
    signature: Text.max(200),
  });
export const SignedFreshness = Signed(FreshnessStatement);
export type SignedFreshness = z.infer<typeof SignedFreshness>;
export const SignedSnapshotEnd = Signed(SnapshotEnd);
export type SignedSnapshotEnd = z.infer<typeof SignedSnapshotEnd>;
export const SignedAdminHead = Signed(AdminHead);
export type SignedAdminHead = z.infer<typeof SignedAdminHead>;
export const SignedRecognition = Signed(Recognition);
export type SignedRecognition = z.infer<typeof SignedRecognition>;

/** A public Ed25519 JWK with its id. */
export type StatementKey = PublicJwk & { kid: string };

/** Why a statement is refused. */
type StatementFault = `statement_${'unsigned' | 'unknown_key' | 'bad_signature' | 'wrong_tenant'}`;

export class StatementError extends CodedError<StatementFault> {}

/**
 * Signs a statement.
 *
 * @param key the Ed25519 private key, and the id by which its public half is known
 */
export function signStatement<T extends SignedPresent>(
  { key, kid }: { key: KeyObject; kid: string },
  statement: T,
): { statement: T; kid: string; signature: string } {
  const signature = sign(null, Buffer.from(canonicalize(statement)), key).toString('base64url');
  return { statement, kid, signature };
}

/**
 * Verifies a statement's signer and tenant. The caller checks its age.
 *
 * @param trust the tenant it must be for, and the public keys that may sign
 * @throws StatementError
 */
export function verifyStatement<T extends SignedPresent>(
  signed: { statement: T; kid: string; signature: string },
  trust: { tenantId: string; keys: readonly StatementKey[] },
): T {
  const { statement, kid, signature } = signed;
  if (signature === '') {
    throw new StatementError('statement_unsigned', 'the statement has no signature');
  }
  const jwk = trust.keys.find((key) => key.kid === kid);
  if (!jwk) {
    throw new StatementError('statement_unknown_key', 'the statement is signed by an unknown key');
  }
  if (!isSignedBy(jwk, statement, signature)) {
    throw new StatementError('statement_bad_signature', 'the signature of the statement is wrong');
  }
  if (statement.tenant_id !== trust.tenantId) {
    throw new StatementError('statement_wrong_tenant', 'the statement is for another tenant');
  }
  return statement;
}

function isSignedBy(jwk: StatementKey, statement: unknown, signature: string): boolean {
  try {
    const key = createPublicKey({ key: jwk as JsonWebKey, format: 'jwk' });
    if (key.asymmetricKeyType !== 'ed25519') return false;
    const bytes = Buffer.from(canonicalize(statement));
    return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
  } catch {
    return false;
  }
}
