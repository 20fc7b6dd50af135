/**
 * A control plane's signed statements about the present, so that a data plane can distinguish
 * "nothing changed" from "somebody withholds changes" (TUF's freeze attack): the freshness
 * statement with every answer of the feed, and the end of a snapshot. Also the head of the tenant's
 * admin chain, so that cutting the chain contradicts what data planes remember, and for which
 * deployment an answer is. Proven by signed-statement.test.ts.
 */
import { createPublicKey, hash, type JsonWebKey, type KeyObject, sign, verify } from 'node:crypto';
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

/**
 * By which of its clocks the control plane dated another statement: the generation rises each time
 * that the operator accepts an earlier clock (ADR 118). It names the statement, since old ones would
 * count as of now beside a newer generation. One of its own, since older readers accept no additional
 * member there; a statement without it is of generation 0.
 */
const ClockStatement = z.strictObject({
  type: z.literal('clock'),
  v: z.literal(1),
  tenant_id: Id,
  generation: z.int().positive(),
  /** SHA-256 of the other statement's RFC 8785 bytes. */
  statement_digest: Sha256Hex,
});
export type ClockStatement = z.infer<typeof ClockStatement>;

/** A control plane's statement about the present. */
export type SignedPresent =
  | FreshnessStatement
  | SnapshotEnd
  | AdminHead
  | Recognition
  | ClockStatement;

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
export const SignedClock = Signed(ClockStatement);
export type SignedClock = z.infer<typeof SignedClock>;

/** A snapshot's end, and by which clock it is dated. */
export type DatedSnapshotEnd = SignedSnapshotEnd & { clock?: SignedClock | undefined };

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

/**
 * The generation of the clock by which a statement is dated; 0 where nothing says so.
 *
 * @param statement one that was verified
 * @throws StatementError where `clock` is not signed, or is about another statement
 */
export function readGeneration(
  statement: SignedPresent,
  clock: SignedClock | undefined,
  trust: { tenantId: string; keys: readonly StatementKey[] },
): number {
  if (!clock) return 0;
  const { generation, statement_digest } = verifyStatement(clock, trust);
  if (statement_digest === digestStatement(statement)) return generation;
  throw new StatementError('statement_bad_signature', 'the clock is that of another statement');
}

/** By which a clock's statement names another. */
export function digestStatement(statement: SignedPresent): string {
  return hash('sha256', canonicalize(statement));
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
