/**
 * Makes requested packages, one at a time, volume by volume. Progress is stored, so that another
 * replica continues a run whose process died. Proven by export.pg.test.ts.
 */
import type { Logger } from 'pino';
import { type DataKeys, encryptUnder } from '../../key-management/data-keys.ts';
import { KeyProviderError } from '../../key-management/key-provider.ts';
import { readProtectionPolicy } from '../../payloads/protection-policy.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
} from '../../platform/database/tenant-scope.ts';
import { inTurn } from '../../platform/in-turn.ts';
import type { ServiceKeys } from '../../platform/keys/keys.ts';
import type { LeaderTask } from '../../platform/replicas/leader.ts';
import type { LogGrowth } from '../log-growth.ts';
import type { TrustAnchors } from '../trust-anchor.ts';
import type { WitnessTask } from '../witnesses/witness-task.ts';
import { checkUnread, type ExportPlan, ExportRefused } from './evidence-request.ts';
import { planExport } from './export-plan.ts';
import { type MadeVolume, makeVolume } from './make-volume.ts';
import { packVolume } from './pack-volume.ts';
import { packageStore, type StoredPackage } from './package-store.ts';
import { createPayloadReader } from './payload-lines.ts';

const EVERY_MS = 1_000;
/** A run without a heartbeat for this long has died with its process. */
const DEAD_AFTER_MS = 120_000;
/** The limit of runs per package: one that crashes its process each time is given up. */
const MAX_ATTEMPTS = 3;

export const EVIDENCE_PURPOSE = 'evidence';

/**
 * The encryption context of a stored piece of a volume, which does not decrypt in any other place.
 */
export const chunkContext = (tenantId: string, packageId: string, volume: number, n: number) => ({
  tenant_id: tenantId,
  purpose: EVIDENCE_PURPOSE,
  piece: `${packageId}/${volume}/${n}`,
});

export interface ExportTaskDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  serviceKeys: Pick<ServiceKeys, 'evidenceKey'>;
  dataKeys: DataKeys;
  growth: Pick<LogGrowth, 'grow'>;
  witnesses: Pick<WitnessTask, 'cosignNow'>;
  anchors: Pick<TrustAnchors, 'describe'>;
  retentionMs: number;
  log: Pick<Logger, 'error'>;
  now: () => Date;
  /** By which keys begin and end: it dates what they sign. */
  keyNow: () => Date;
  settledNow: () => Date;
}

/** Thrown when the package was deleted, or another replica is making it. */
class Superseded extends Error {}

export function createExportTask(deps: ExportTaskDeps): LeaderTask {
  const { db, now } = deps;

  async function makeNext(tenantId: string, signal: AbortSignal): Promise<void> {
    const claimed = await db.inTenant(systemScope(tenantId), async (tx) => {
      const at = now();
      const store = packageStore(tx);
      const id = await store.claim(at, DEAD_AFTER_MS);
      return id === undefined ? undefined : store.find(id);
    });
    if (!claimed) return;
    try {
      if (claimed.attempts > MAX_ATTEMPTS) throw new ExportRefused('it failed too often');
      await make(deps, tenantId, claimed, signal);
    } catch (error) {
      // The package is left unchanged, so that another replica can continue it.
      if (signal.aborted || error instanceof Superseded) return;
      const isRefused = error instanceof ExportRefused;
      if (!isRefused) {
        deps.log.error({ err: error, tenantId, id: claimed.id }, 'an evidence package failed');
      }
      await finish(deps, tenantId, claimed, reasonOf(error));
    }
  }

  return {
    name: 'evidence_exports',
    everyMs: EVERY_MS,
    run: async (signal) => {
      const tenants = await db.inPlatform(
        SYSTEM_ACTOR,
        (tx) => tx.db.$queryRaw<{ id: string; is_expiry: boolean }[]>`
          SELECT tenant_id::text AS id, is_expiry FROM find_evidence_work()`,
      );
      await inTurn(tenants, signal, ({ id, is_expiry }) =>
        is_expiry ? expire(deps, id) : makeNext(id, signal),
      );
    },
  };
}

async function make(
  deps: ExportTaskDeps,
  tenantId: string,
  claimed: StoredPackage,
  signal: AbortSignal,
): Promise<void> {
  const plan = claimed.plan ?? (await makePlan(deps, tenantId, claimed, signal));
  let previous = claimed.volumes.at(-1)?.manifestDigest ?? null;
  let unread = claimed.volumes.reduce((sum, volume) => sum + volume.unread, 0);
  /** A volume is packed while the next one is read. */
  let storing = Promise.resolve();
  try {
    for (let number = claimed.volumes.length + 1; number <= plan.ends.length; number++) {
      signal.throwIfAborted();
      const volume = { claimed, plan, number, previous };
      const made = await readOne(deps, tenantId, volume);
      unread += made.unread;
      // The plan counts only records in quarantine; earlier versions also stored unreadable records
      // outside of it.
      checkUnread(unread);
      await storing;
      storing = storeOne(deps, tenantId, volume, made);
      // It is awaited later; this prevents an unhandled rejection until then.
      storing.catch(() => undefined);
      previous = made.manifestDigest;
    }
  } finally {
    // No volume is stored after the run has ended.
    await storing;
  }
  await finish(deps, tenantId, claimed, null);
}

async function makePlan(
  { db, dataKeys, growth, witnesses }: ExportTaskDeps,
  tenantId: string,
  claimed: StoredPackage,
  signal: AbortSignal,
): Promise<ExportPlan> {
  // So that the package contains what was recorded before the request.
  await growth.grow(tenantId, signal);
  // So that a package of recent records has the witnesses' cosignatures too.
  await witnesses.cosignNow(tenantId, signal);
  signal.throwIfAborted();
  const scope = systemScope(tenantId);
  const cut = await db.inTenant(scope, (tx) => planExport(tx, claimed));
  const plan: ExportPlan = { ...cut, data_key_id: null };
  if (claimed.includePayloads) {
    const { kmsProvider, kmsKeyId } = await db.inTenant(scope, readProtectionPolicy);
    const key = await dataKeys.current(scope, {
      purpose: EVIDENCE_PURPOSE,
      provider: kmsProvider ?? 'local',
      keyId: kmsKeyId ?? '',
    });
    plan.data_key_id = key.id;
  }
  const isOurs = await db.inTenant(scope, (tx) =>
    packageStore(tx).setPlan(claimed.id, claimed.attempts, plan),
  );
  if (!isOurs) throw new Superseded();
  return plan;
}

interface Volume {
  claimed: StoredPackage;
  plan: ExportPlan;
  number: number;
  previous: string | null;
}

async function readOne(
  deps: ExportTaskDeps,
  tenantId: string,
  { claimed, plan, number, previous }: Volume,
): Promise<MadeVolume> {
  const { db, serviceKeys, dataKeys, keyNow } = deps;
  const { id, attempts } = claimed;
  const anchor = await deps.anchors.describe(tenantId);
  const signers = {
    evidence: await serviceKeys.evidenceKey('evidence'),
    checkpoint: await serviceKeys.evidenceKey('checkpoint'),
  };
  const readPayloads = claimed.includePayloads ? createPayloadReader(dataKeys) : undefined;
  return db.inTenant(systemScope(tenantId), async (tx) => {
    if (!(await packageStore(tx).isRunning(id, attempts))) throw new Superseded();
    const given = { request: claimed, plan, number, previous, anchor, signers, readPayloads };
    return makeVolume(tx, { ...given, now: keyNow() });
  });
}

async function storeOne(
  { db, dataKeys, now }: ExportTaskDeps,
  tenantId: string,
  { claimed: { id, attempts }, plan, number }: Volume,
  made: MadeVolume,
): Promise<void> {
  const scope = systemScope(tenantId);
  const key =
    plan.data_key_id === null
      ? undefined
      : await dataKeys.find(scope, plan.data_key_id, EVIDENCE_PURPOSE);
  await db.inTenant(scope, async (tx) => {
    const store = packageStore(tx);
    // Locks the row, so that no piece remains of a package deleted meanwhile.
    if (!(await store.touch(id, attempts, now()))) throw new Superseded();
    await store.dropChunks(id, number);
    const packed = await packVolume(made.members, (n, bytes) => {
      const context = chunkContext(tenantId, id, number, n);
      const kept = key ? Buffer.from(encryptUnder(key, bytes, context)) : bytes;
      return store.insertChunk(id, number, n, kept);
    });
    const { id: volumeId, events, unread, manifestDigest } = made;
    const row = { number, id: volumeId, events, unread, manifestDigest, madeAt: now(), ...packed };
    await store.insertVolume(id, row);
    if (made.payloads > 0) {
      tx.audit.append({
        action: 'PAYLOAD_DECRYPTED',
        target: `evidence_package/${id}`,
        details: { result: 'packed', volume: number, payloads: made.payloads },
      });
    }
  });
}

function reasonOf(error: unknown): string {
  if (error instanceof ExportRefused) return error.message;
  if (!(error instanceof KeyProviderError)) return 'an internal error';
  return `the package's key is not to be had: ${error.message}`;
}

async function finish(
  { db, retentionMs, now }: ExportTaskDeps,
  tenantId: string,
  { id, attempts, requestedBy }: StoredPackage,
  failure: string | null,
): Promise<void> {
  await db.inTenant(systemScope(tenantId), async (tx) => {
    const at = now();
    const status = failure === null ? 'ready' : 'failed';
    const end = { status, failure, at, expiresAt: new Date(at.getTime() + retentionMs) } as const;
    const store = packageStore(tx);
    if (!(await store.finish(id, attempts, end))) return;
    const volumes = (await store.find(id))?.volumes ?? [];
    tx.audit.append({
      action: failure === null ? 'evidence_exported' : 'evidence_export_failed',
      target: `evidence_package/${id}`,
      details: {
        requested_by: requestedBy,
        volumes: volumes.map(({ number, sha256 }) => ({ number, sha256 })),
        ...(failure === null ? {} : { failure }),
      },
    });
  });
}

async function expire({ db, settledNow }: ExportTaskDeps, tenantId: string): Promise<void> {
  await db.inTenant(systemScope(tenantId), async (tx) => {
    const store = packageStore(tx);
    for (const id of await store.listExpired(settledNow())) {
      await store.remove(id);
      tx.audit.append({ action: 'evidence_expired', target: `evidence_package/${id}` });
    }
  });
}
