/**
 * After a change of the master key, re-encrypts the ciphertexts under previous ones. Each batch is
 * its own transaction under row-level security, and a ciphertext is replaced by compare-and-set. So
 * a run continues after a crash, two replicas do not harm each other, and a credential that was
 * changed in the meantime is not overwritten. Proven by rewrap.pg.test.ts.
 */
import { Counter, Gauge, type Registry } from 'prom-client';
import { CIPHERTEXT_KINDS, type CiphertextKind } from '../platform/ciphertext-kinds.ts';
import type { LeaderTask } from '../platform/leader.ts';
import type { MasterKey } from '../platform/master-key.ts';
import { SYSTEM_ACTOR, systemScope, type TenantDatabase } from '../platform/tenant-scope.ts';
import {
  type CiphertextCounts,
  ciphertextStore,
  countCiphertexts,
  findTenantsUnder,
} from './ciphertext-store.ts';

const EVERY_MS = 60_000;
const BATCH = 100;
/** Tenants found per query. */
const PAGE = 500;

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

  function rewrapBatch(
    kind: CiphertextKind,
    tenantId: string | undefined,
    after: string,
  ): Promise<string | undefined> {
    const work = async (tx: Parameters<typeof ciphertextStore>[0]) => {
      const store = ciphertextStore(tx, kind, tenantId);
      const rows = await store.list(previousIds, { after, limit: batch });
      let exchanged = 0;
      for (const row of rows) {
        const context = kind.contextOf(row);
        let plaintext: Buffer;
        try {
          plaintext = masterKey.decrypt(row.ciphertext, context);
        } catch (error) {
          const fields = { err: error, table: kind.table, tenant_id: tenantId, id: row.id };
          log.warn(
            fields,
            'a ciphertext does not decrypt and stays as it is: it was tampered with',
          );
          continue;
        }
        if (await store.exchange(row, masterKey.encrypt(plaintext, context))) exchanged += 1;
        plaintext.fill(0);
      }
      return { exchanged, last: rows.length < batch ? undefined : rows.at(-1)?.id };
    };
    const done =
      tenantId === undefined
        ? db.inPlatform(SYSTEM_ACTOR, work)
        : db.inTenant(systemScope(tenantId), work);
    return done.then(({ exchanged, last }) => {
      metrics.rewrapped.inc(exchanged);
      metrics.ciphertexts.dec({ state: 'previous' }, exchanged);
      metrics.ciphertexts.inc({ state: 'current' }, exchanged);
      return last;
    });
  }

  async function rewrapAll(tenantId: string | undefined, signal: AbortSignal): Promise<void> {
    const owner = tenantId === undefined ? 'platform' : 'tenant';
    for (const kind of Object.values<CiphertextKind>(CIPHERTEXT_KINDS)) {
      if (kind.owner !== owner) continue;
      let after: string | undefined = '';
      while (after !== undefined && !signal.aborted) {
        after = await rewrapBatch(kind, tenantId, after);
      }
    }
  }

  async function rewrapTenants(signal: AbortSignal): Promise<void> {
    let after: string | undefined;
    for (;;) {
      const page = { after, limit: PAGE };
      const ids = await db.inPlatform(SYSTEM_ACTOR, (tx) =>
        findTenantsUnder(tx, previousIds, page),
      );
      for (const id of ids) {
        if (signal.aborted) return;
        await rewrapAll(id, signal);
      }
      after = ids.at(-1);
      if (ids.length < PAGE) return;
    }
  }

  const task: LeaderTask = {
    name: 'master_key_rewrap',
    everyMs: EVERY_MS,
    run: async (signal) => {
      if (previousIds.length === 0) return;
      if (sum((await readUse()).ciphertexts, 'previous') > 0) {
        isCompletionLogged = false;
        await rewrapAll(undefined, signal);
        await rewrapTenants(signal);
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
