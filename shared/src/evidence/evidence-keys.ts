/**
 * The keys behind evidence, and the signed statements about them: that one succeeds another, whose
 * stream a writer's key is for, and where the log continued after a restore.
 */
import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../json/canonical-json.ts';
import { Id, Text, Timestamp } from '../text.ts';
import { LogPlace } from './checkpoint.ts';
import { isSignedBy, type PublicJwk, signValue } from './ed25519.ts';
import { isSignedByKind, signValueByKind } from './jwk-signature.ts';

export const KeyPurpose = z.enum(['evidence', 'checkpoint', 'bundle', 'feed', 'token', 'batch']);
export type KeyPurpose = z.infer<typeof KeyPurpose>;

export const Kid = Text.min(1).max(200);
const Signature = z.string().max(200);
/** A rotation may be signed by a token's RSA key, of up to 16,384 bits. */
const RotationSignature = z.string().max(2_800);

/** A public key as JWK. A private one is refused: nobody publishes it on purpose. */
export const EvidenceJwk = z
  .looseObject({ kty: z.string().max(20) })
  .refine((jwk) => !('d' in jwk), 'must not be a private key');

/** A service's key: what it signs, and when its signatures are valid. */
export const KeyEntry = z.strictObject({
  kid: Kid,
  purpose: KeyPurpose,
  jwk: EvidenceJwk,
  valid_from: Timestamp,
  /** Signatures up to then stay valid; null for the current key. */
  valid_to: Timestamp.nullable(),
  /** Compromised: its holder can sign with any time, so none of its signatures is valid. */
  revoked_at: Timestamp.nullable(),
});
export type KeyEntry = z.infer<typeof KeyEntry>;

export const KeyRotation = z.strictObject({
  type: z.literal('key_rotation'),
  v: z.literal(1),
  purpose: KeyPurpose,
  old_kid: Kid,
  new_key: z.strictObject({ kid: Kid, jwk: EvidenceJwk }),
  valid_from: Timestamp,
  time: Timestamp,
});
export type KeyRotation = z.infer<typeof KeyRotation>;

const KeySignature = z.strictObject({ kid: Kid, signature: RotationSignature });

/** Signed by the previous key, then by the new one. */
export const SignedRotation = z.strictObject({
  statement: KeyRotation,
  signatures: z.tuple([KeySignature, KeySignature]),
});
export type SignedRotation = z.infer<typeof SignedRotation>;

/** `SignedRotation` for OpenAPI, many of whose readers take the `items: false` of a tuple for an empty array. */
export const SignedRotationView = SignedRotation.extend({
  signatures: z.array(KeySignature).length(2),
});

const signed = <T extends z.ZodType>(statement: T) =>
  z.strictObject({ statement, kid: Kid, signature: Signature });

/** The stream that a writer's key signs. */
export const WriterKey = z.strictObject({
  type: z.literal('writer_key'),
  v: z.literal(1),
  tenant_id: Id,
  stream: Id,
  deployment_id: Id.nullable(),
  kid: Kid,
  jwk: EvidenceJwk,
  registered_at: Timestamp,
  revoked_at: Timestamp.nullable(),
});
export type WriterKey = z.infer<typeof WriterKey>;

/** By an `evidence` key. */
export const SignedWriterKey = signed(WriterKey);
export type SignedWriterKey = z.infer<typeof SignedWriterKey>;

/** A restore lost the end of the log: which tree continues, and the largest one known before. */
export const LogEpoch = z.strictObject({
  type: z.literal('log_epoch'),
  v: z.literal(1),
  tenant_id: Id,
  epoch: z.int().min(2),
  time: Timestamp,
  restored: LogPlace,
  highest_lost: LogPlace.nullable(),
});
export type LogEpoch = z.infer<typeof LogEpoch>;

/** By a `checkpoint` key. */
export const SignedLogEpoch = signed(LogEpoch);
export type SignedLogEpoch = z.infer<typeof SignedLogEpoch>;

/** Log epochs that a package can name. */
export const MAX_LOG_EPOCHS = 1_000;

/** keys.json. */
export const EvidenceKeys = z.strictObject({
  keys: z.array(KeyEntry).max(1_000),
  rotations: z.array(SignedRotation).max(1_000),
  writers: z.array(SignedWriterKey).max(10_000),
  log_epochs: z.array(SignedLogEpoch).max(MAX_LOG_EPOCHS),
});
export type EvidenceKeys = z.infer<typeof EvidenceKeys>;

/** A private key with the id of its public half. */
export interface EvidenceSigner {
  kid: string;
  key: KeyObject;
}

/**
 * Signs a statement of one key: about a writer's key or a log epoch.
 *
 * @throws TypeError when the statement has no canonical form
 */
export function signEvidenceStatement<T extends WriterKey | LogEpoch>(
  { kid, key }: EvidenceSigner,
  statement: T,
): { statement: T; kid: string; signature: string } {
  return { statement, kid, signature: signValue(key, statement) };
}

/** Whether a statement was signed with this key. Never throws. */
export function isStatementSignedBy(
  jwk: PublicJwk,
  { statement, signature }: SignedWriterKey | SignedLogEpoch,
): boolean {
  return isSignedBy(jwk, Buffer.from(canonicalize(statement)), signature);
}

/**
 * Signs that a key follows another, with both: each by the algorithm of its kind.
 *
 * @throws TypeError when the statement has no canonical form, or a key is of no kind that signs
 */
export function signRotation(
  statement: KeyRotation,
  before: EvidenceSigner,
  next: EvidenceSigner,
): SignedRotation {
  const by = ({ kid, key }: EvidenceSigner) => ({
    kid,
    signature: signValueByKind(key, statement),
  });
  return { statement, signatures: [by(before), by(next)] };
}

/**
 * Whether both keys signed a rotation. The caller checks that the previous one is trusted. Never throws.
 *
 * @param before the public key with the id `old_kid`
 */
export function isRotationSigned(before: PublicJwk, rotation: SignedRotation): boolean {
  const { statement, signatures } = rotation;
  const [first, second] = signatures;
  if (first.kid !== statement.old_kid || second.kid !== statement.new_key.kid) return false;
  const bytes = Buffer.from(canonicalize(statement));
  return (
    isSignedByKind(before, bytes, first.signature) &&
    isSignedByKind(statement.new_key.jwk, bytes, second.signature)
  );
}
