/**
 * Whether policies are what their admin records say. The next bundle is signed by the service, so
 * whatever is in the table would be signed: a policy that differs from what the last signed bundle
 * carried has to agree with the newest record about it, and with the service's attestation of both
 * (ADR 104). Proven by policy-records.pg.test.ts and policy-replays.pg.test.ts.
 */
import type { PolicySource, RegoCompiler } from '@governance/policies/contract';
import {
  type BundleKey,
  type Carried,
  policyDigest,
  readCarried,
} from '../bundles/carried-policies.ts';
import type {
  CheckedPolicies,
  FindUnrecorded,
  RecordFault,
  UnrecordedPolicy,
} from '../bundles/unrecorded-policies.ts';
import { findNewestRecords, type NewestRecord } from '../platform/database/newest-records.ts';
import type { TenantTransaction } from '../platform/database/tenant-scope.ts';
import {
  attestationFault,
  isUnattested,
  type Judge,
  ROLL_OUT_MS,
  type RowAttestations,
} from '../platform/keys/row-attestations.ts';
import { POLICY_CHANGES } from './newest-records.ts';
import { type Recorded, recordedOf, targetOf } from './policy.ts';
import { findNewestSaved, latestRecordId } from './policy-store.ts';

export interface PolicyRecordsDeps {
  compiler: Pick<RegoCompiler, 'sourcesDigest'>;
  attestations: Pick<RowAttestations, 'verifier'>;
  /** Every key that ever signed bundles: what one of them signed was carried. */
  findBundleKeys: () => Promise<readonly BundleKey[]>;
  /** Milliseconds since the start. */
  elapsed?: () => number;
}

export interface PolicyRecords {
  /** Reads the keys, before the transaction: inside it would take a second connection. */
  prepareBuild(): Promise<FindUnrecorded>;
  /** The same, for those who save. */
  prepareSave(): Promise<SavedCheck>;
}

export interface SavedCheck {
  /** Whether a stored policy is what was saved last, and by this service. */
  isAsRecorded(tx: TenantTransaction, id: string): Promise<boolean>;
  /** Whether somebody wrote into a stored policy; what earlier versions saved counts as saved. */
  isByHand(tx: TenantTransaction, id: string): Promise<boolean>;
}

/** A policy as its row has it. */
interface Stored extends Recorded {
  id: string;
  /** What a bundle would carry of it. */
  digest: string;
  recordId: string | null;
  attestation: string | null;
}

export function createPolicyRecords(deps: PolicyRecordsDeps): PolicyRecords {
  const began = performance.now();
  const elapsed = deps.elapsed ?? (() => performance.now() - began);

  async function findUnrecorded(
    tx: TenantTransaction,
    policies: PolicySource[],
    { verify, bundleKeys, newest }: BuildCheck,
  ): Promise<CheckedPolicies> {
    const carried = await readCarried(tx, bundleKeys);
    const savedUntil = ifPlausible(carried?.savedUntil);
    const asCarried = { unrecorded: [], savedUntil };
    const isOfEarlier = carried !== undefined && carried.digests === undefined;
    if (isOfEarlier && carried.sourcesDigest === deps.compiler.sourcesDigest(policies)) {
      return asCarried;
    }
    const { changed, dropped } = differencesOf(carried, policies);
    if (changed.length + dropped.length === 0) return asCarried;

    const rows = await readStored(tx, [...changed.map(({ id }) => id), ...dropped]);
    // What will be compiled is judged, whatever its row has become since it was read.
    const active = changed.map((policy) => ({
      ...marksOf(rows.get(policy.id)),
      ...{ id: policy.id, digest: policyDigest(policy) },
      ...recordedOf({ name: policy.name, regoContent: policy.rego, status: 'active' }),
    }));
    const left = dropped.flatMap((id) => rows.get(id) ?? []);
    const gone = dropped.filter((id) => !rows.has(id));
    const isRollOut = elapsed() < ROLL_OUT_MS;
    const judged = await judgeAll(tx, [...active, ...left], { verify, savedUntil });
    const found = judged.flatMap(({ policy: { id, name }, fault }) => {
      // The records of earlier versions vouch for what these saved.
      if (!fault || (isOfEarlier && isUnattested(fault))) return [];
      const isDoubtful =
        isRollOut && (isUnattested(fault) || (isOfEarlier && fault === 'no_record'));
      return [{ id, name, fault, isDoubtful }];
    });
    const saved = judged.flatMap(({ policy, fault }) => (fault ? [] : (policy.recordId ?? [])));
    const isLenient = isOfEarlier || isRollOut;
    return {
      unrecorded: [...found, ...(await findGone(tx, gone, { verify, isLenient }))],
      savedUntil: latest([savedUntil, ...saved], newest),
    };
  }

  return {
    prepareBuild: async () => {
      const verify = await deps.attestations.verifier();
      const bundleKeys = await deps.findBundleKeys();
      return async (tx) => {
        const newest = await findNewestSaved(tx);
        return (policies) => findUnrecorded(tx, policies, { verify, bundleKeys, newest });
      };
    },
    prepareSave: async () => {
      const verify = await deps.attestations.verifier();
      const bundleKeys = await deps.findBundleKeys();
      const by = { verify, bundleKeys };
      return {
        isAsRecorded: async (tx, id) => (await judgeOne(tx, id, by)) === undefined,
        isByHand: async (tx, id) => {
          const fault = await judgeOne(tx, id, by);
          return fault !== undefined && !isUnattested(fault);
        },
      };
    },
  };
}

interface BuildCheck {
  verify: Judge;
  bundleKeys: readonly BundleKey[];
  /** The newest record that a policy named before the policies were read. */
  newest: string | undefined;
}

interface Judging {
  verify: Judge;
  /** What is judged was saved later than this record. */
  savedUntil?: string | undefined;
}

async function judgeAll(tx: TenantTransaction, policies: readonly Stored[], by: Judging) {
  const ids = policies.map(({ id }) => id);
  const newest = await findNewestRecords(
    tx,
    POLICY_CHANGES,
    ids,
    policies.map(({ recordId }) => recordId),
  );
  const { tenantId } = tx.scope;
  return policies.map((policy) => {
    const record = newest.get(policy.id);
    return { policy, record, fault: judge(policy, record, { tenantId, ...by }) };
  });
}

async function judgeOne(
  tx: TenantTransaction,
  id: string,
  { bundleKeys, ...by }: Judging & { bundleKeys: readonly BundleKey[] },
): Promise<RecordFault | undefined> {
  const stored = (await readStored(tx, [id])).get(id);
  if (!stored) return 'no_record';
  const carried = await readCarried(tx, bundleKeys);
  const digest = stored.status === 'active' ? stored.digest : undefined;
  const isCarried = carried?.digests?.get(id) === digest;
  const savedUntil = isCarried ? undefined : ifPlausible(carried?.savedUntil);
  const [judged] = await judgeAll(tx, [stored], { ...by, savedUntil });
  return judged?.fault;
}

/** A policy whose row is gone was replaced where a later one has its name: people meant it. */
async function findGone(
  tx: TenantTransaction,
  ids: readonly string[],
  { verify, isLenient }: { verify: Judge; isLenient: boolean },
): Promise<UnrecordedPolicy[]> {
  if (ids.length === 0) return [];
  const newest = await findNewestRecords(tx, POLICY_CHANGES, ids, [null]);
  const gone = ids.map((id) => {
    const name = newest.get(id)?.record?.details.name;
    return { id, name: typeof name === 'string' ? name : id };
  });
  const namesakes = await readStoredByName(
    tx,
    gone.map(({ name }) => name),
  );
  const judged = await judgeAll(tx, namesakes, { verify });
  const isReplaced = ({ id, name }: { id: string; name: string }) =>
    judged.some(
      ({ policy, record, fault }) =>
        policy.name === name &&
        (fault === undefined || (isLenient && isUnattested(fault))) &&
        (record?.position ?? 0n) > (newest.get(id)?.position ?? 0n),
    );
  return gone
    .filter((one) => !isReplaced(one))
    .map((one) => ({ ...one, fault: 'gone', isDoubtful: false }));
}

/** What the next bundle has otherwise than the last one, and what it no longer has. */
function differencesOf(carried: Carried | undefined, policies: readonly PolicySource[]) {
  const digests = carried?.digests ?? new Map<string, string>();
  const changed = policies.filter((policy) => digests.get(policy.id) !== policyDigest(policy));
  const active = new Set(policies.map(({ id }) => id));
  return { changed, dropped: [...digests.keys()].filter((id) => !active.has(id)) };
}

/** A record of a clock that was far ahead bounds nothing. */
const ifPlausible = (savedUntil: string | undefined) =>
  savedUntil !== undefined && savedUntil < latestRecordId() ? savedUntil : undefined;

/** The newest of the records, as far as what was saved until `newest` was surely read. */
const latest = (recordIds: readonly (string | undefined)[], newest: string | undefined) =>
  recordIds
    .filter((id) => id !== undefined && newest !== undefined && id <= newest)
    .sort()
    .at(-1);

function judge(
  policy: Stored,
  newest: NewestRecord | undefined,
  { tenantId, verify, savedUntil = '' }: Judging & { tenantId: string },
): RecordFault | undefined {
  const fault = findRecordFault(policy, newest);
  if (fault || !newest) return fault ?? 'no_record';
  const { id, recordId, attestation, name, status, rego_sha256 } = policy;
  const about = targetOf(id);
  const states = { name, status, rego_sha256 };
  const statement = { tenantId, about, states, recordId: newest.id };
  const unattested = attestationFault(verify, statement, { recordId, attestation });
  return unattested ?? (newest.id > savedUntil ? undefined : 'put_back');
}

function findRecordFault(
  states: Stored,
  newest: NewestRecord | undefined,
): RecordFault | undefined {
  if (!newest) return 'no_record';
  if (newest.record?.target !== targetOf(states.id)) return 'record_damaged';
  const { name, status, rego_sha256 } = newest.record.details;
  const isSame =
    name === states.name && status === states.status && rego_sha256 === states.rego_sha256;
  return isSame ? undefined : 'record_differs';
}

const SELECT = {
  ...{ id: true, name: true, regoContent: true, status: true },
  ...{ recordId: true, attestation: true },
} as const;

type Row = Parameters<typeof recordedOf>[0] & Omit<Stored, keyof Recorded | 'digest'>;

const toStored = (row: Row): Stored => ({
  id: row.id,
  digest: policyDigest({ name: row.name, rego: row.regoContent }),
  ...marksOf(row),
  ...recordedOf(row),
});

const marksOf = (row: Pick<Stored, 'recordId' | 'attestation'> | undefined) => ({
  recordId: row?.recordId ?? null,
  attestation: row?.attestation ?? null,
});

async function readStored(
  { db, scope: { tenantId } }: TenantTransaction,
  ids: readonly string[],
): Promise<Map<string, Stored>> {
  const where = { tenantId, id: { in: [...ids] } };
  const rows = await db.policy.findMany({ where, select: SELECT });
  return new Map(rows.map((row) => [row.id, toStored(row)]));
}

async function readStoredByName(
  { db, scope: { tenantId } }: TenantTransaction,
  names: readonly string[],
): Promise<Stored[]> {
  const where = { tenantId, name: { in: [...names] } };
  return (await db.policy.findMany({ where, select: SELECT })).map(toStored);
}
