/**
 * Whether policies are what their admin records say. The next bundle is signed by the service, so
 * whatever is in the table would be signed: a policy that differs from what the last signed bundle
 * carried has to agree with the newest record about it, and with the service's attestation of both
 * (ADR 104). Proven by policy-records.pg.test.ts.
 */
import type { PolicySource, RegoCompiler } from '@governance/policies/contract';
import {
  type BundleKey,
  type Carried,
  policyDigest,
  readCarried,
} from '../bundles/carried-policies.ts';
import type {
  FindUnrecorded,
  RecordFault,
  UnrecordedPolicy,
} from '../bundles/unrecorded-policies.ts';
import { type Judge, ROLL_OUT_MS, type RowAttestations } from '../platform/row-attestations.ts';
import type { TenantTransaction } from '../platform/tenant-scope.ts';
import { findNewestRecords, type NewestRecord } from './newest-records.ts';
import { type Recorded, recordedOf, targetOf } from './policy.ts';

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
  recordId: string | null;
  attestation: string | null;
}

export function createPolicyRecords(deps: PolicyRecordsDeps): PolicyRecords {
  const began = performance.now();
  const elapsed = deps.elapsed ?? (() => performance.now() - began);

  async function findUnrecorded(
    tx: TenantTransaction,
    policies: PolicySource[],
    { verify, bundleKeys }: { verify: Judge; bundleKeys: readonly BundleKey[] },
  ): Promise<UnrecordedPolicy[]> {
    const carried = await readCarried(tx, bundleKeys);
    const isOfEarlier = carried !== undefined && carried.digests === undefined;
    if (isOfEarlier && carried.sourcesDigest === deps.compiler.sourcesDigest(policies)) return [];
    const { changed, dropped } = differencesOf(carried, policies);
    if (changed.length + dropped.length === 0) return [];

    const rows = await readStored(tx, [...changed.map(({ id }) => id), ...dropped]);
    // What will be compiled is judged, whatever its row has become since it was read.
    const active = changed.map((policy) => ({
      ...marksOf(rows.get(policy.id)),
      id: policy.id,
      ...recordedOf({ name: policy.name, regoContent: policy.rego, status: 'active' }),
    }));
    const left = dropped.flatMap((id) => rows.get(id) ?? []);
    const gone = dropped.filter((id) => !rows.has(id));
    const isRollOut = elapsed() < ROLL_OUT_MS;
    const isLenient = isOfEarlier || isRollOut;
    const isDoubtful = isOfEarlier && isRollOut;
    const judged = await judgeAll(tx, [...active, ...left], { verify, isLenient });
    const found = judged.flatMap(({ policy: { id, name }, fault }) =>
      fault ? [{ id, name, fault, isDoubtful: isDoubtful && fault === 'no_record' }] : [],
    );
    return [...found, ...(await findGone(tx, gone, { verify, isLenient }))];
  }

  return {
    prepareBuild: async () => {
      const verify = await deps.attestations.verifier();
      const bundleKeys = await deps.findBundleKeys();
      return (tx, policies) => findUnrecorded(tx, policies, { verify, bundleKeys });
    },
    prepareSave: async () => {
      const verify = await deps.attestations.verifier();
      return {
        isAsRecorded: async (tx, id) => !(await judgeOne(tx, id, { verify, isLenient: false })),
        isByHand: async (tx, id) => !!(await judgeOne(tx, id, { verify, isLenient: true })),
      };
    },
  };
}

interface Judging {
  verify: Judge;
  isLenient: boolean;
}

async function judgeAll(tx: TenantTransaction, policies: readonly Stored[], by: Judging) {
  const ids = policies.map(({ id }) => id);
  const newest = await findNewestRecords(
    tx,
    ids,
    policies.map(({ recordId }) => recordId),
  );
  const { tenantId } = tx.scope;
  return policies.map((policy) => {
    const record = newest.get(policy.id);
    return { policy, record, fault: judge(policy, record, { tenantId, ...by }) };
  });
}

async function judgeOne(tx: TenantTransaction, id: string, by: Judging) {
  const stored = [...(await readStored(tx, [id])).values()];
  const [judged] = await judgeAll(tx, stored, by);
  return judged ? judged.fault : 'no_record';
}

/** A policy whose row is gone was replaced where a later one has its name: people meant it. */
async function findGone(
  tx: TenantTransaction,
  ids: readonly string[],
  by: Judging,
): Promise<UnrecordedPolicy[]> {
  if (ids.length === 0) return [];
  const newest = await findNewestRecords(tx, ids, [null]);
  const gone = ids.map((id) => {
    const name = newest.get(id)?.record?.details.name;
    return { id, name: typeof name === 'string' ? name : id };
  });
  const namesakes = await readStoredByName(
    tx,
    gone.map(({ name }) => name),
  );
  const judged = await judgeAll(tx, namesakes, by);
  const isReplaced = ({ id, name }: { id: string; name: string }) =>
    judged.some(
      ({ policy, record, fault }) =>
        policy.name === name &&
        fault === undefined &&
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

function judge(
  policy: Stored,
  newest: NewestRecord | undefined,
  { tenantId, verify, isLenient }: Judging & { tenantId: string },
): RecordFault | undefined {
  const { id, recordId, attestation, ...states } = policy;
  if (!newest) return 'no_record';
  const about = targetOf(id);
  if (newest.record?.target !== about) return 'record_damaged';
  const { name, status, rego_sha256 } = newest.record.details;
  const isSame =
    name === states.name && status === states.status && rego_sha256 === states.rego_sha256;
  if (!isSame) return 'record_differs';
  const verdict = verify({ tenantId, about, states, recordId: newest.id }, attestation);
  if (verdict === 'unsigned') return isLenient ? undefined : 'not_attested';
  return verdict === 'attested' && recordId === newest.id ? undefined : 'attestation_wrong';
}

const SELECT = {
  ...{ id: true, name: true, regoContent: true, status: true },
  ...{ recordId: true, attestation: true },
} as const;

type Row = Parameters<typeof recordedOf>[0] & Omit<Stored, keyof Recorded>;

const toStored = (row: Row): Stored => ({ id: row.id, ...marksOf(row), ...recordedOf(row) });

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
