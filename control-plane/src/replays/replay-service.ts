/** Replays of a policy, as administrators start, see and cancel them. */

import { hash } from 'node:crypto';
import type { PolicySource, RegoCompiler } from '@governance/policies/contract';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import { isUniqueViolation } from '../platform/database/database.ts';
import type { Page } from '../platform/database/page.ts';
import type {
  TenantDatabase,
  TenantScope,
  TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { changeRequestStore } from '../policies/change-requests/change-request-store.ts';
import type { Policy } from '../policies/policy.ts';
import { doesNotCompile } from '../policies/policy-errors.ts';
import { policyStore, readActivePolicies } from '../policies/policy-store.ts';
import { candidateSet, type Replay, setDigestOf, type Tried } from './replay.ts';
import { emptyResult } from './replay-result.ts';
import type { NewReplayBody } from './replay-schemas.ts';
import { replayStore } from './replay-store.ts';

export interface ReplayServiceDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  compiler: Pick<RegoCompiler, 'compile'>;
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  now: () => Date;
}

export type ReplayService = ReturnType<typeof createReplayService>;

export function createReplayService({ db, compiler, readSettings, now }: ReplayServiceDeps) {
  /** @param field of the request's body that names the text */
  async function compile(
    scope: TenantScope,
    active: PolicySource[],
    tried: Tried,
    field: keyof NewReplayBody,
  ) {
    const compiled = await compiler.compile(candidateSet(active, tried), scope.tenantId);
    if (!compiled.ok) throw doesNotCompile(compiled.diagnostics, tried.policyId, field);
    return compiled.digest;
  }

  return {
    /**
     * @throws AppError POLICY_NOT_FOUND, CHANGE_REQUEST_NOT_FOUND, POLICY_DOES_NOT_COMPILE,
     * REPLAY_RUNNING
     */
    start: async (scope: TenantScope, policyId: string, body: NewReplayBody): Promise<Replay> => {
      const { tried, active, settings } = await db.inTenant(scope, async (tx) => ({
        tried: await findTried(tx, policyId, body),
        active: await readActivePolicies(tx),
        settings: await readSettings(tx),
      }));
      const field = body.change_request_id === undefined ? 'rego' : 'change_request_id';
      const digest = await compile(scope, active, tried, field);
      const at = now();
      const work = async (tx: TenantTransaction): Promise<Replay> => {
        const store = replayStore(tx);
        const untilPosition = await store.newestPosition();
        const { from, to } = body;
        const opensEncrypted = await store.hasEncryptedPayloads();
        const replay: Replay = {
          ...{ id: uuidv7(at.getTime()), ...tried, status: 'queued' },
          ...{ fromTime: from, toTime: to, untilPosition, position: 0 },
          changeRequestId: body.change_request_id ?? null,
          regoSha256: hash('sha256', tried.regoContent, 'hex'),
          setDigest: setDigestOf(digest, settings),
          ...{ opensEncrypted, result: emptyResult(), reason: null, attempts: 0 },
          decisionsTotal: await store.countDecisions({ from, to, untilPosition }),
          requestedBy: scope.actor.username,
          ...{ leaseUntil: at, createdAt: at, finishedAt: null },
        };
        await store.insert(replay);
        await store.prune(policyId);
        tx.audit.append(startedRecord(replay));
        if (opensEncrypted) tx.audit.append(decryptedRecord(replay));
        return replay;
      };
      return db.inTenant(scope, work).catch((error) => {
        if (!isUniqueViolation(error)) throw error;
        throw new AppError('REPLAY_RUNNING', undefined, { cause: error });
      });
    },

    get: (scope: TenantScope, policyId: string, id: string): Promise<Replay> =>
      db.inTenant(scope, (tx) => getReplay(tx, policyId, id)),

    list: (scope: TenantScope, policyId: string, page: Page) =>
      db.inTenant(scope, async (tx) => {
        await getPolicy(tx, policyId);
        return replayStore(tx).list(policyId, page);
      }),

    /** @throws AppError REPLAY_ENDED */
    cancel: (scope: TenantScope, policyId: string, id: string): Promise<void> =>
      db.inTenant(scope, async (tx) => {
        await getReplay(tx, policyId, id);
        if (!(await replayStore(tx).cancel(id, now()))) throw new AppError('REPLAY_ENDED');
        tx.audit.append({
          action: 'policy_replay_cancelled',
          target: `policy/${policyId}`,
          details: { replay_id: id },
        });
      }),
  };
}

async function getPolicy(tx: TenantTransaction, id: string): Promise<Policy> {
  const policy = await policyStore(tx).find(id);
  if (!policy) throw new AppError('POLICY_NOT_FOUND');
  return policy;
}

async function getReplay(tx: TenantTransaction, policyId: string, id: string): Promise<Replay> {
  const replay = await replayStore(tx).find(policyId, id);
  if (!replay) throw new AppError('REPLAY_NOT_FOUND');
  return replay;
}

/** The text to try: a change request's, the given one, or the policy's own. */
async function findTried(
  tx: TenantTransaction,
  policyId: string,
  { rego, change_request_id: requestId }: NewReplayBody,
): Promise<Tried> {
  const policy = await getPolicy(tx, policyId);
  if (requestId === undefined) {
    const { name, regoContent } = policy;
    return { policyId, name, regoContent: rego ?? regoContent, isLeftOut: false };
  }
  const request = await changeRequestStore(tx).find(policyId, requestId);
  if (!request) throw new AppError('CHANGE_REQUEST_NOT_FOUND');
  const { base, proposed } = request;
  // A policy that would no longer decide is left out; a draft is tried as if active.
  const isLeftOut = base.status === 'active' && proposed.status !== 'active';
  return { policyId, name: proposed.name, regoContent: proposed.regoContent, isLeftOut };
}

function startedRecord(replay: Replay) {
  return {
    action: 'policy_replay_started',
    target: `policy/${replay.policyId}`,
    details: {
      replay_id: replay.id,
      ...{ from: replay.fromTime.toISOString(), to: replay.toTime.toISOString() },
      rego_sha256: replay.regoSha256,
      change_request_id: replay.changeRequestId,
    },
  };
}

/** One audit record for all payloads that the replay decrypts. */
function decryptedRecord({ id, policyId, fromTime, toTime }: Replay) {
  return {
    action: 'PAYLOAD_DECRYPTED',
    target: `policy/${policyId}`,
    details: {
      result: 'replayed',
      replay_id: id,
      ...{ from: fromTime.toISOString(), to: toTime.toISOString() },
    },
  };
}
