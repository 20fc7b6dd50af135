/**
 * Results of calls that a person has to release: sealed to this data plane's own key and kept in a
 * file beside the ledger as long as their hold. A result that is lost, or cannot be opened, is
 * never handed over. This module stores results; it does not release them. Proven by
 * held-results.test.ts.
 */
import { Id } from '@governance/shared/text';
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import { openPrepared } from '../storage/durable-database.ts';
import { prepareTables } from '../storage/file-version.ts';
import type { Hold } from './hold.ts';

export const HELD_RESULTS_FILE = 'held-results.db';

/** Limits on held results at a time, in bytes before sealing. */
export const MAX_HELD_RESULTS = {
  one: 1024 * 1024,
  ofAgent: 4 * 1024 * 1024,
  ofTenant: 64 * 1024 * 1024,
  ofAll: 512 * 1024 * 1024,
} as const;

/** The sealed text names its tenant and id, so that one row cannot replace another. */
const Sealed = z.strictObject({
  tenant_id: Id,
  id: Id,
  kind: z.enum(['result', 'error']),
  raw: z.string(),
});
/** The result of a call, as text. */
type HeldResult = Readonly<Pick<z.infer<typeof Sealed>, 'kind' | 'raw'>>;

type Place = Pick<Hold, 'id' | 'tenantId'>;
type Size = Pick<Hold, 'tenantId' | 'agentId'> & { bytes: number };

export type HeldResults = ReturnType<typeof openHeldResults>;

/**
 * @param deps.seal seals a text so that only this data plane can open it
 * @param deps.open opens a sealed text
 * @throws when the file is no database or of a newer version, or another process has it open
 */
export function openHeldResults(path: string, deps: HeldResultsDeps) {
  return openPrepared(path, { exclusive: true }, (db) => prepareHeldResults(db, deps));
}

interface HeldResultsDeps {
  seal(text: string): Promise<string>;
  open(sealed: string): string;
}

function prepareHeldResults(db: Database, deps: HeldResultsDeps) {
  prepareTables(db, { version: 1, what: HELD_RESULTS_FILE }, () =>
    db.exec(`CREATE TABLE IF NOT EXISTS held_results (
      tenant_id TEXT NOT NULL, id TEXT NOT NULL, agent_id TEXT NOT NULL, bytes INTEGER NOT NULL,
      sealed TEXT NOT NULL, PRIMARY KEY (tenant_id, id)) STRICT`),
  );
  // Released or blocked results must not survive in free pages.
  db.pragma('secure_delete = ON');
  const sum = db.prepare<
    { tenantId: string; agentId: string },
    { all: number; tenant: number; agent: number }
  >(
    `SELECT coalesce(sum(bytes), 0) AS "all",
       coalesce(sum(bytes) FILTER (WHERE tenant_id = @tenantId), 0) AS tenant,
       coalesce(sum(bytes) FILTER (WHERE tenant_id = @tenantId AND agent_id = @agentId), 0) AS agent
     FROM held_results`,
  );
  const put = db.prepare<[string, string, string, number, string]>(
    'INSERT OR REPLACE INTO held_results VALUES (?, ?, ?, ?, ?)',
  );
  const find = db
    .prepare<[string, string], string>(
      'SELECT sealed FROM held_results WHERE tenant_id = ? AND id = ?',
    )
    .pluck();
  const remove = db.prepare<[string, string]>(
    'DELETE FROM held_results WHERE tenant_id = ? AND id = ?',
  );
  const list = db
    .prepare<[string], string>('SELECT id FROM held_results WHERE tenant_id = ?')
    .pluck();

  /** Those that are being sealed: several may arrive before one of them is written. */
  const sealing = new Set<Size>();
  const sizeOf = (is: (one: Size) => boolean) =>
    [...sealing].reduce((bytes, one) => (is(one) ? bytes + one.bytes : bytes), 0);

  return {
    /** Why one more result of this size may not be kept; undefined when it may. */
    findExcess: (tenantId: string, agentId: string, bytes: number) => {
      const limits = MAX_HELD_RESULTS;
      if (bytes > limits.one) return 'too_large_to_hold';
      const held = sum.get({ tenantId, agentId }) ?? { all: 0, tenant: 0, agent: 0 };
      const isOfTenant = (one: Size) => one.tenantId === tenantId;
      const isOfAgent = (one: Size) => isOfTenant(one) && one.agentId === agentId;
      const isFull =
        held.agent + sizeOf(isOfAgent) + bytes > limits.ofAgent ||
        held.tenant + sizeOf(isOfTenant) + bytes > limits.ofTenant ||
        held.all + sizeOf(() => true) + bytes > limits.ofAll;
      return isFull ? 'too_many_held' : undefined;
    },
    /** Stores a result: on disk when this resolves. @throws when it could not be written */
    keep: async (
      { id, tenantId, agentId }: Pick<Hold, 'id' | 'tenantId' | 'agentId'>,
      { kind, raw }: HeldResult,
    ): Promise<void> => {
      const size = { tenantId, agentId, bytes: Buffer.byteLength(raw) };
      sealing.add(size);
      try {
        const sealed = await deps.seal(JSON.stringify({ tenant_id: tenantId, id, kind, raw }));
        put.run(tenantId, id, agentId, size.bytes, sealed);
      } finally {
        sealing.delete(size);
      }
    },
    /** @returns undefined where the result is gone, or is not what was stored */
    read: ({ id, tenantId }: Place): HeldResult | undefined => {
      try {
        const sealed = find.get(tenantId, id);
        if (sealed === undefined) return undefined;
        const kept = Sealed.parse(JSON.parse(deps.open(sealed)));
        if (kept.tenant_id !== tenantId || kept.id !== id) return undefined;
        return { kind: kept.kind, raw: kept.raw };
      } catch {
        return undefined;
      }
    },
    remove: ({ id, tenantId }: Place): void => {
      try {
        remove.run(tenantId, id);
      } catch {
        // The row stays sealed and counts towards the limits; `keepOnly` removes it at the next
        // start.
      }
    },
    /** Removes a tenant's results whose hold is gone. */
    keepOnly: (tenantId: string, ids: ReadonlySet<string>): void => {
      for (const id of list.all(tenantId)) if (!ids.has(id)) remove.run(tenantId, id);
    },
    close: (): void => void db.close(),
  };
}
