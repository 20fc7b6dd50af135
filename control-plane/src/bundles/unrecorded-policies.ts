/** Policies that are not what their admin records say, and how that is told. */
import type { PolicySource } from '@governance/policies/contract';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';

export type RecordFault =
  | 'no_record'
  | 'record_damaged'
  | 'record_differs'
  | 'not_attested'
  | 'attestation_wrong'
  | 'key_revoked'
  | 'put_back'
  | 'gone';

/** A policy that the next bundle would carry, or drop, without a record that says so. */
export interface UnrecordedPolicy {
  id: string;
  name: string;
  fault: RecordFault;
  /**
   * It may be of a version that kept less: it is told, and goes into the bundle. False: the last
   * bundle stays.
   */
  isDoubtful: boolean;
}

/** Begins before the transaction reads the active policies, which it then judges. */
export type FindUnrecorded = (
  tx: TenantTransaction,
) => Promise<(policies: PolicySource[]) => Promise<CheckedPolicies>>;

export interface CheckedPolicies {
  /** Those that may not go into the next bundle, or leave it, as they stand. */
  unrecorded: UnrecordedPolicy[];
  /** The newest record of a change that this bundle, or an earlier one, has; for its manifest. */
  savedUntil: string | undefined;
}

const FAULTS: Record<RecordFault, string> = {
  no_record: 'the audit trail has no record of it',
  record_damaged: 'the newest record of it was changed in the database',
  record_differs: 'its source, name or status is not what the newest record of it says',
  not_attested: 'this service did not save it',
  attestation_wrong: 'this service did not save it as it stands, or not last',
  key_revoked: 'the key by which this service vouched for it was revoked',
  put_back: 'it is what it was before a change that a bundle had',
  gone: 'its row was deleted, which the API never does',
};

/** Names told in one message; more are counted. */
const NAMED = 5;

export function describeUnrecorded(policies: readonly UnrecordedPolicy[]): string {
  const named = policies
    .slice(0, NAMED)
    .map(({ id, name, fault }) => `${JSON.stringify(name)} (${id}): ${FAULTS[fault]}`);
  const left = policies.length - named.length;
  return [...named, ...(left > 0 ? [`and ${left} more`] : [])].join('; ');
}

/** What an administrator does about it. */
export const UNRECORDED_REMEDY =
  'Save each of them again (PATCH /api/v1/policies/{id} with the source that you mean, or with status archived), and create one that is gone anew under its name; each makes a record. Find out who wrote to the database.';

/** The last good bundle stays. */
export class UnrecordedPoliciesError extends Error {
  readonly policies: readonly UnrecordedPolicy[];

  constructor(policies: readonly UnrecordedPolicy[]) {
    super(`policies are not what was recorded: ${describeUnrecorded(policies)}`);
    this.policies = policies;
  }
}
