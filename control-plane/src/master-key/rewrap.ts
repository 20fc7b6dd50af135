/**
 * The leader's task after a change of the master key: has everything re-encrypted, and reports what
 * is under which key. Proven by rewrap.pg.test.ts.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { SYSTEM_ACTOR, type TenantDatabase } from '../platform/database/tenant-scope.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { type CiphertextCounts, countCiphertexts } from './ciphertext-store.ts';
import { createRewrapping } from './rewrapping.ts';

const EVERY_MS = 60_000;
const BATCH = 100;

export interface RewrapDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  masterKey: MasterKey;
  registry: Registry;
  log: { info(message: string): void; warn(fields: object, message: string): void };
  batch?: number;
}

/** The master keys under which the database has ciphertexts. */
export interface MasterKeyUse {
  keyId: string;
  previousIds: readonly string[];
  ciphertexts: { kind: string; keyId: string; state: KeyState; count: number }[];
}

type KeyState = 'current' | 'previous' | 'unknown';

export type Rewrap = ReturnType<typeof createRewrap>;

export function createRewrap({ db, masterKey, registry, log, batch = BATCH }: RewrapDeps) {
  const { keyId, previousIds } = masterKey;
  const metrics = createMetrics(registry);
  const rewrapping = createRewrapping({
    db,
    masterKey,
    log,
    batch,
    onExchanged: (count) => {
      metrics.rewrapped.inc(count);
      metrics.ciphertexts.dec({ state: 'previous' }, count);
      metrics.ciphertexts.inc({ state: 'current' }, count);
    },
  });
  /** Whether completion was already logged. */
  let isCompletionLogged = false;

  function stateOf(id: string): KeyState {
    if (id === keyId) return 'current';
    return previousIds.includes(id) ? 'previous' : 'unknown';
  }

  async function readUse(): Promise<MasterKeyUse> {
    const counts: CiphertextCounts = await db.inPlatform(SYSTEM_ACTOR, countCiphertexts);
    const ciphertexts = counts.map(({ kind, master_key, count }) => ({
      kind,
      keyId: master_key,
      state: stateOf(master_key),
      count,
    }));
    for (const state of ['current', 'previous', 'unknown'] as const) {
      metrics.ciphertexts.set({ state }, sum(ciphertexts, state));
    }
    return { keyId, previousIds, ciphertexts };
  }

  const task: LeaderTask = {
    name: 'master_key_rewrap',
    everyMs: EVERY_MS,
    run: async (signal) => {
      if (previousIds.length === 0) return;
      if (sum((await readUse()).ciphertexts, 'previous') > 0) {
        isCompletionLogged = false;
        await rewrapping.platform(signal);
        await rewrapping.tenants(signal);
      }
      if (signal.aborted) return;
      // Counted again, since a replica with the previous key may still write during a rolling
      // restart.
      const { ciphertexts } = await readUse();
      const isDone = ciphertexts.every(({ state }) => state === 'current');
      if (isDone && !isCompletionLogged) {
        log.info(
          'everything in the database is encrypted under SERVICE_MASTER_KEY: SERVICE_MASTER_KEY_PREVIOUS is no longer needed',
        );
      }
      const unknown = sum(ciphertexts, 'unknown');
      if (unknown > 0) {
        log.warn(
          { ciphertexts: unknown },
          'some ciphertexts are under a master key that was not given',
        );
      }
      isCompletionLogged = isDone;
    },
  };

  return { task, readUse };
}

const sum = (of: MasterKeyUse['ciphertexts'], wanted: KeyState): number =>
  of.reduce((total, { state, count }) => (state === wanted ? total + count : total), 0);

function createMetrics(registry: Registry) {
  const registers = [registry];
  return {
    ciphertexts: new Gauge({
      name: 'governance_master_key_ciphertexts',
      help: 'Ciphertexts under the current, a previous, or an unknown master key',
      labelNames: ['state'],
      registers,
    }),
    rewrapped: new Counter({
      name: 'governance_master_key_rewrapped_total',
      help: 'Ciphertexts that were encrypted anew under the current master key',
      registers,
    }),
  };
}
