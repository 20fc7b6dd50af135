/**
 * Runs one claimed replay to its end, its cancellation or this replica's stop. Decisions are
 * evaluated in a separate thread, a step at a time, while the next step is read. The counts are
 * stored with the position that they reach, so that another replica continues from there. Proven by
 * replay-routes.pg.test.ts.
 */
import type { RegoCompiler } from '@governance/policies/contract';
import { type PolicyJudge, startPolicyJudge } from '@governance/policies/evaluator/policy-judge';
import type { BundleSettings } from '@governance/shared/bundle/bundle-format';
import type { DataKey, DataKeys } from '../key-management/data-keys.ts';
import { KeyProviderError } from '../key-management/key-provider.ts';
import { PAYLOAD_PURPOSE } from '../payloads/payload-ingest.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { readActivePolicies } from '../policies/policy-store.ts';
import { openInput, readDecision } from './recorded-input.ts';
import { candidateSet, type Replay, setDigestOf } from './replay.ts';
import { countJudged, countSkipped, type Recorded } from './replay-result.ts';
import { type DecisionRow, replayStore } from './replay-store.ts';

export interface ReplayRunDeps {
  db: Pick<TenantDatabase, 'inTenant'>;
  compiler: Pick<RegoCompiler, 'compile'>;
  readSettings(tx: TenantTransaction): Promise<BundleSettings>;
  dataKeys: Pick<DataKeys, 'find'>;
  now: () => Date;
  /** Decisions read at once. Default 500. */
  step?: number;
  /** How long it keeps others waiting. Default TURN_MS. */
  turnMs?: number;
}

/** How long a replay's lease lasts after it was taken or renewed. */
export const LEASE_MS = 30_000;
/** After so long it is set aside for replays that wait, and goes on later. */
export const TURN_MS = 30_000;
/** Progress is stored no more often. */
const SAVE_EVERY_MS = 1_000;
const STEP = 500;

/** A replay that cannot be continued, and why. */
class ReplayFailure extends Error {}

/**
 * @param replay claimed by this replica
 * @param signal aborted when this replica stops; another one continues then
 * @param areOthersWaiting whether a replay that nobody runs is due
 */
export async function runReplay(
  deps: ReplayRunDeps,
  tenantId: string,
  replay: Replay,
  signal: AbortSignal,
  areOthersWaiting: () => Promise<boolean>,
): Promise<void> {
  const scope = systemScope(tenantId);
  const held = createHolder(deps, scope, replay);
  let judge: PolicyJudge | undefined;
  try {
    judge = await loadJudge(deps, scope, replay);
    const end = await judgeAll(deps, { scope, replay, judge, signal, held, areOthersWaiting });
    if (end === 'stopped') await held.release();
    else if (end === 'turn over') await held.passOn();
    else if (end === 'done') await held.finish('completed', null);
  } catch (error) {
    if (!(error instanceof ReplayFailure)) throw error;
    await held.finish('failed', error.message);
  } finally {
    await judge?.close();
  }
}

async function loadJudge(
  { db, compiler, readSettings }: ReplayRunDeps,
  scope: TenantScope,
  replay: Replay,
): Promise<PolicyJudge> {
  const { active, settings } = await db.inTenant(scope, async (tx) => ({
    active: await readActivePolicies(tx),
    settings: await readSettings(tx),
  }));
  const compiled = await compiler.compile(candidateSet(active, replay), scope.tenantId);
  if (!compiled.ok) throw new ReplayFailure('The policies do not compile together any more.');
  if (setDigestOf(compiled.digest, settings) !== replay.setDigest) {
    throw new ReplayFailure(
      'The active policies or the settings have changed since it was started: start it again.',
    );
  }
  try {
    return await startPolicyJudge(compiled.wasm, { settings });
  } catch (cause) {
    throw new ReplayFailure('The policies cannot be loaded.', { cause });
  }
}

type Holder = ReturnType<typeof createHolder>;

/** This replica's writes to the replay, while it holds the lease. */
function createHolder({ db, now }: ReplayRunDeps, scope: TenantScope, replay: Replay) {
  const { id, result } = replay;
  let { leaseUntil } = replay;
  let savedAt = performance.now();
  const save = async (
    data: Parameters<ReturnType<typeof replayStore>['save']>[1],
    alsoWrite?: (tx: TenantTransaction) => void,
  ) => {
    const isOurs = await db.inTenant(scope, async (tx) => {
      const saved = await replayStore(tx).save({ id, leaseUntil }, data);
      if (saved) alsoWrite?.(tx);
      return saved;
    });
    if (data.leaseUntil) leaseUntil = data.leaseUntil;
    savedAt = performance.now();
    return isOurs;
  };
  const progress = () => ({ position: replay.position, result });
  return {
    /** @returns false when this replica no longer holds the lease */
    keep: async (): Promise<boolean> => {
      if (performance.now() - savedAt < SAVE_EVERY_MS) return true;
      return save({ ...progress(), leaseUntil: new Date(now().getTime() + LEASE_MS) });
    },
    /** Releases the replay for another replica. */
    release: () => save({ ...progress(), leaseUntil: now() }),
    /** Releases it after its turn: it waits behind the others, and this counts as no interruption. */
    passOn: () => save({ ...progress(), leaseUntil: now(), attempts: replay.attempts - 1 }),
    finish: (status: 'completed' | 'failed', reason: string | null) =>
      save({ ...progress(), status, reason, finishedAt: now() }, (tx) =>
        tx.audit.append({
          action: 'policy_replay_ended',
          target: `policy/${replay.policyId}`,
          details: {
            ...{ replay_id: id, status, reason, rego_sha256: replay.regoSha256 },
            ...{ judged: result.judged, changed: result.changed },
          },
        }),
      ),
  };
}

interface Run {
  scope: TenantScope;
  replay: Replay;
  judge: PolicyJudge;
  signal: AbortSignal;
  held: Holder;
  areOthersWaiting(): Promise<boolean>;
}

type RunEnd = 'done' | 'stopped' | 'turn over' | 'lost';

async function judgeAll(deps: ReplayRunDeps, run: Run): Promise<RunEnd> {
  const { replay, scope, signal, held, areOthersWaiting } = run;
  const { step: limit = STEP, turnMs = TURN_MS } = deps;
  let turnBegan = performance.now();
  const { fromTime: from, toTime: to, untilPosition } = replay;
  const read = (after: number) =>
    deps.db.inTenant(scope, (tx) =>
      replayStore(tx).readDecisions({ from, to, untilPosition }, after, limit),
    );
  let rows = await read(replay.position);
  while (rows.length > 0) {
    if (signal.aborted) return 'stopped';
    const last = Number(rows.at(-1)?.position);
    const [next] = await Promise.all([read(last), judgeStep(deps, run, rows)]);
    replay.position = last;
    rows = next;
    if (!(await held.keep())) return 'lost';
    if (performance.now() - turnBegan < turnMs) continue;
    if (rows.length > 0 && (await areOthersWaiting())) return 'turn over';
    turnBegan = performance.now();
  }
  return 'done';
}

async function judgeStep(deps: ReplayRunDeps, run: Run, rows: DecisionRow[]): Promise<void> {
  const { replay, judge } = run;
  const asked: { recorded: Recorded; input: string; at: number }[] = [];
  const { result } = replay;
  const keys = new Map<string, DataKey | undefined>();
  for (const row of rows) {
    const found = readDecision(row);
    if (found.kind === 'skip') {
      countSkipped(result, found.why);
      continue;
    }
    const opened = await open(deps, run, { row, digest: found.digest, keys });
    if (opened.kind === 'skip') countSkipped(result, opened.why);
    else asked.push({ ...found, input: opened.text, at: row.event_time.getTime() });
  }
  if (asked.length === 0) return;
  const judged = await judge.judge(asked.map(({ input, at }) => ({ input, at })));
  for (const [n, { recorded }] of asked.entries()) {
    const one = judged[n];
    if (one) countJudged(result, recorded, one);
  }
}

async function open(
  { dataKeys }: ReplayRunDeps,
  { scope, replay }: Run,
  asked: { row: DecisionRow; digest: string; keys: Map<string, DataKey | undefined> },
): Promise<ReturnType<typeof openInput>> {
  const { row, digest, keys } = asked;
  // Stored since the replay started: no audit record covers the decryption of such payloads.
  if (row.is_encrypted && !replay.opensEncrypted) return { kind: 'skip', why: 'no_input' };
  const id = row.data_key_id ?? '';
  if (!keys.has(id)) {
    keys.set(id, await findKey(dataKeys, scope, id));
  }
  return openInput(row, { tenantId: scope.tenantId, key: keys.get(id), digest });
}

/**
 * @returns undefined when the provider does not return the key: its payloads count as unreadable
 */
async function findKey(
  dataKeys: Pick<DataKeys, 'find'>,
  scope: TenantScope,
  id: string,
): Promise<DataKey | undefined> {
  try {
    return await dataKeys.find(scope, id, PAYLOAD_PURPOSE);
  } catch (error) {
    if (error instanceof KeyProviderError) return undefined;
    throw error;
  }
}
