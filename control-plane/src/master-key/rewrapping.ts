/**
 * Re-encrypts the ciphertexts under previous master keys. Each batch is its own transaction under
 * row-level security, and a ciphertext is replaced by compare-and-set. So a run continues after a
 * crash, two replicas do not harm each other, and a credential that was changed in the meantime is
 * not overwritten.
 */

import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import { CIPHERTEXT_KINDS, type CiphertextKind } from '../platform/keys/ciphertext-kinds.ts';
import type { MasterKey } from '../platform/keys/master-key.ts';
import { ciphertextStore, findTenantsUnder } from './ciphertext-store.ts';

/** Tenants found per query. */
const PAGE = 500;

export interface RewrappingDeps {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  masterKey: MasterKey;
  log: { warn(fields: object, message: string): void };
  /** Ciphertexts in one transaction. */
  batch: number;
  onExchanged(count: number): void;
}

export function createRewrapping(deps: RewrappingDeps) {
  const { db, masterKey, batch } = deps;
  const { previousIds } = masterKey;

  /** @returns false where the ciphertext has changed in the meantime, or does not decrypt */
  async function rewrapRow(
    store: ReturnType<typeof ciphertextStore>,
    kind: CiphertextKind,
    row: Awaited<ReturnType<typeof store.list>>[number],
    tenantId: string | undefined,
  ): Promise<boolean> {
    const context = kind.contextOf(row);
    let plaintext: Buffer;
    try {
      plaintext = masterKey.decrypt(row.ciphertext, context);
    } catch (error) {
      const fields = { err: error, table: kind.table, tenant_id: tenantId, id: row.id };
      deps.log.warn(
        fields,
        'a ciphertext does not decrypt and stays as it is: it was tampered with',
      );
      return false;
    }
    const isExchanged = await store.exchange(row, masterKey.encrypt(plaintext, context));
    plaintext.fill(0);
    return isExchanged;
  }

  /** @returns the last id of the batch; undefined where it was the last batch */
  async function rewrapBatch(
    kind: CiphertextKind,
    tenantId: string | undefined,
    after: string,
  ): Promise<string | undefined> {
    const work = async (tx: Pick<TenantTransaction, 'db'>) => {
      const store = ciphertextStore(tx, kind, tenantId);
      const rows = await store.list(previousIds, { after, limit: batch });
      let exchanged = 0;
      for (const row of rows) if (await rewrapRow(store, kind, row, tenantId)) exchanged++;
      return { exchanged, last: rows.length < batch ? undefined : rows.at(-1)?.id };
    };
    const { exchanged, last } =
      tenantId === undefined
        ? await db.inPlatform(SYSTEM_ACTOR, work)
        : await db.inTenant(systemScope(tenantId), work);
    deps.onExchanged(exchanged);
    return last;
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

  return {
    platform: (signal: AbortSignal): Promise<void> => rewrapAll(undefined, signal),

    tenants: async (signal: AbortSignal): Promise<void> => {
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
    },
  };
}
