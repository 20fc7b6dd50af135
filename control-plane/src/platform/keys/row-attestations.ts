/**
 * The service's word that a row is what it made of it: a signature over what the row says and the
 * admin record of the change, kept in the row. Whoever owns the database can write any row, and
 * chain a record for it too, since no key is needed for that; but not this. Proven by
 * row-attestations.pg.test.ts.
 */

import { isSignedBy, signValue } from '@governance/shared/evidence/ed25519';
import { canonicalize } from '@governance/shared/json/canonical-json';
import type { PublicJwk, ServiceKeys } from './keys.ts';

/** What is attested of a row. */
export interface RowStatement {
  tenantId: string;
  /** The target of its admin record, such as `policy/<id>`. */
  about: string;
  /** What the row says; JSON values. */
  states: Record<string, unknown>;
  /** The admin record of the transaction that wrote it. */
  recordId: string;
}

/** What a row keeps of it. */
export interface Attestation {
  recordId: string;
  attestation: string;
}

/** Attests a row, within its transaction. */
export type Attest = (row: RowStatement) => Attestation;
/**
 * `unsigned`: it is none, or of a key that was revoked or never there. `revoked`: it is of a key that
 * was revoked less than ROLL_OUT_MS ago, as far as this process saw.
 */
export type Verdict = 'attested' | 'revoked' | 'unsigned' | 'wrong';
export type Judge = (row: RowStatement, attestation: string | null) => Verdict;

/**
 * How long after its start a replica takes rows without an attestation, if their records agree: one
 * of an earlier version may still write some while an upgrade is rolled out.
 */
export const ROLL_OUT_MS = 60 * 60 * 1000;

export interface RowAttestations {
  /** Reads the key, before the transaction. The admin chain's batches are signed with it, too. */
  prepare(): Promise<Attest>;
  /** Reads the keys; those that were revoked attest nothing. */
  verifier(): Promise<Judge>;
  /** The ids of keys by which a row is judged as `revoked`. */
  listRevoked(): Promise<string[]>;
  /** Has the keys read again: another replica may attest with one that is not known here. */
  forget(): void;
}

/** @param elapsed a monotonic clock in milliseconds */
export function createRowAttestations(
  serviceKeys: Pick<ServiceKeys, 'evidenceKey' | 'verificationKeys' | 'revokedKeys' | 'forget'>,
  elapsed: () => number = () => performance.now(),
): RowAttestations {
  /** When each was first seen as revoked: its date is in the database, where others may write. */
  const seen = new Map<string, number>();

  async function readRevoked(): Promise<PublicJwk[]> {
    const revoked = await serviceKeys.revokedKeys('batch-signing');
    const at = elapsed();
    for (const { kid } of revoked) if (!seen.has(kid)) seen.set(kid, at);
    return revoked.filter(({ kid }) => at - (seen.get(kid) ?? at) < ROLL_OUT_MS);
  }

  return {
    prepare: async () => {
      const { key, kid } = await serviceKeys.evidenceKey('batch');
      return (row) => ({
        recordId: row.recordId,
        attestation: `${kid}.${signValue(key, toSigned(row))}`,
      });
    },
    verifier: async () => {
      const keys = await serviceKeys.verificationKeys('batch-signing');
      const revoked = await readRevoked();
      return (row, attestation) => {
        const [kid, signature = ''] = attestation?.split('.') ?? [];
        const isOwn = (key: PublicJwk) => key.kid === kid;
        const jwk = keys.find(isOwn) ?? revoked.find(isOwn);
        if (!jwk) return 'unsigned';
        const bytes = Buffer.from(canonicalize(toSigned(row)));
        const isSigned = isSignedBy(jwk, bytes, signature);
        if (keys.includes(jwk)) return isSigned ? 'attested' : 'wrong';
        return isSigned ? 'revoked' : 'unsigned';
      };
    },
    listRevoked: async () => (await readRevoked()).map(({ kid }) => kid),
    forget: serviceKeys.forget,
  };
}

/** `key_revoked`: it is as it was attested, by a key that was revoked a short while ago. */
export type AttestationFault = 'not_attested' | 'attestation_wrong' | 'key_revoked';

/**
 * @param row what it should say, of the newest record about it
 * @param kept what it names and carries
 */
export function attestationFault(
  judge: Judge,
  row: RowStatement,
  { recordId, attestation }: { recordId: string | null; attestation: string | null },
): AttestationFault | undefined {
  const verdict = judge(row, attestation);
  if (verdict === 'attested' && recordId === row.recordId) return undefined;
  if (verdict === 'revoked' && recordId === row.recordId) return 'key_revoked';
  return verdict === 'unsigned' ? 'not_attested' : 'attestation_wrong';
}

/**
 * Its record agrees. An older replica attests nothing, and leaves the attestation of what was in
 * the row before: that is no better than none.
 */
export const isUnattested = (fault: string): fault is AttestationFault =>
  fault === 'not_attested' || fault === 'attestation_wrong' || fault === 'key_revoked';

/** The type keeps it apart from whatever else the key signs. */
const toSigned = ({ tenantId, about, states, recordId }: RowStatement) => ({
  type: 'row_attestation',
  v: 1,
  tenant_id: tenantId,
  about,
  states,
  record_id: recordId,
});
