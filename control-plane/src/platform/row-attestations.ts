/**
 * The service's word that a row is what it made of it: a signature over what the row says and the
 * admin record of the change, kept in the row. Whoever owns the database can write any row, and
 * chain a record for it too, since no key is needed for that; but not this. Proven by
 * row-attestations.pg.test.ts.
 */

import { canonicalize } from '@governance/shared/canonical-json';
import { isSignedBy, signValue } from '@governance/shared/evidence/ed25519';
import type { ServiceKeys } from './keys.ts';

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
/** `unsigned`: it is none, or of a key that was revoked or never there. */
export type Verdict = 'attested' | 'unsigned' | 'wrong';
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
}

export function createRowAttestations(
  serviceKeys: Pick<ServiceKeys, 'evidenceKey' | 'verificationKeys'>,
): RowAttestations {
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
      return (row, attestation) => {
        const [kid, signature = ''] = attestation?.split('.') ?? [];
        const jwk = keys.find((key) => key.kid === kid);
        if (!jwk) return 'unsigned';
        const bytes = Buffer.from(canonicalize(toSigned(row)));
        return isSignedBy(jwk, bytes, signature) ? 'attested' : 'wrong';
      };
    },
  };
}

export type AttestationFault = 'not_attested' | 'attestation_wrong';

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
  return verdict === 'unsigned' ? 'not_attested' : 'attestation_wrong';
}

/**
 * Its record agrees. An older replica attests nothing, and leaves the attestation of what was in
 * the row before: that is no better than none.
 */
export const isUnattested = (fault: string): fault is AttestationFault =>
  fault === 'not_attested' || fault === 'attestation_wrong';

/** The type keeps it apart from whatever else the key signs. */
const toSigned = ({ tenantId, about, states, recordId }: RowStatement) => ({
  type: 'row_attestation',
  v: 1,
  tenant_id: tenantId,
  about,
  states,
  record_id: recordId,
});
