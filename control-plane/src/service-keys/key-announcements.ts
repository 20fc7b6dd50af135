/**
 * Announces a rotation to every tenant: its admin chain records it, and its feed carries the keys.
 * The rotation is committed before any announcement; each tenant records every rotation once, in
 * order, in its own transaction. So nothing is lost when a replica dies in between: the leader
 * announces the rest. Proven by key-routes.pg.test.ts.
 */

import type { NewFact } from '@governance/shared/channel/facts';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { Facts } from '../platform/feature.ts';
import { keyStore } from '../platform/keys/key-store.ts';
import type { RecordedRotation, ServiceKeys } from '../platform/keys/keys.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { appendNewFacts, formOf } from './key-facts.ts';
import { purposeName, UNKNOWN_PURPOSE } from './key-purpose.ts';

const EVERY_MS = 2_000;
const PARALLEL_TENANTS = 4;
/** Tenants found per query. */
const PAGE = 500;

export interface KeyAnnouncementsDeps {
  db: TenantDatabase;
  serviceKeys: Pick<ServiceKeys, 'forget' | 'listRecordedRotations'>;
  readFacts(): Promise<NewFact[]>;
}

export type KeyAnnouncements = ReturnType<typeof createKeyAnnouncements>;

export function createKeyAnnouncements({ db, serviceKeys, readFacts }: KeyAnnouncementsDeps) {
  /** The facts as of this replica's last run, in canonical form; undefined before the first. */
  let published: string | undefined;

  const findLast = () => db.inPlatform(SYSTEM_ACTOR, (tx) => keyStore(tx).lastNumber());

  const findBehind = (number: number): Promise<string[]> =>
    db.inPlatform(SYSTEM_ACTOR, async (tx) => {
      const rows = await tx.db.$queryRaw<{ id: string }[]>`
        SELECT t.id::text AS id FROM tenants t
        LEFT JOIN key_announcements a ON a.tenant_id = t.id
        WHERE coalesce(a.number, 0) < ${number} ORDER BY t.id LIMIT ${PAGE}`;
      return rows.map(({ id }) => id);
    });

  /** Announces one rotation to one tenant. Does nothing if another replica already did. */
  async function announce(tenantId: string, rotation: RecordedRotation, facts: readonly NewFact[]) {
    const { actor, requestId, number } = rotation;
    const scope = {
      tenantId,
      actor: { ...actor, role: 'super_admin' as const },
      requestId,
      breakGlass: true,
    };
    await db.inTenant(scope, async (tx) => {
      // Numbers of missing rows are skipped; this is safe, since every replica reads the other rows
      // in order.
      if ((await lockNumber(tx)) >= number) return;
      tx.audit.append(toAction(rotation));
      await appendNewFacts(tx, facts);
      await tx.db.keyAnnouncement.update({ where: { tenantId }, data: { number } });
    });
  }

  async function announceAll(signal?: AbortSignal): Promise<void> {
    const last = await findLast();
    if (last === 0) return;
    let behind = await findBehind(last);
    if (behind.length === 0) return;
    // The keys that this replica caches may be older than the rotation.
    serviceKeys.forget();
    const [rotations, facts] = await Promise.all([
      serviceKeys.listRecordedRotations(),
      readFacts(),
    ]);
    const failures: unknown[] = [];
    while (behind.length > 0 && failures.length === 0) {
      const waiting = [...behind];
      const work = async () => {
        for (let id = waiting.shift(); id; id = waiting.shift()) {
          if (signal?.aborted) return;
          try {
            const from = await readNumber(db, id);
            for (const rotation of rotations.filter(({ number }) => number > from)) {
              await announce(id, rotation, facts);
            }
          } catch (error) {
            failures.push(error);
          }
        }
      };
      await Promise.all(Array.from({ length: PARALLEL_TENANTS }, work));
      if (signal?.aborted) return;
      behind = behind.length < PAGE ? [] : await findBehind(last);
    }
    if (failures.length > 0) throw failures[0];
  }

  const publishTo = (tenantId: string, facts: readonly NewFact[]) =>
    db.inTenant(systemScope(tenantId), (tx) => appendNewFacts(tx, facts));

  /**
   * Publishes the facts when they have changed, for example without a key whose last token has
   * expired.
   */
  async function publishChanges(signal: AbortSignal): Promise<void> {
    const facts = await readFacts();
    const form = canonicalize(facts.map(({ kind, key, value }) => [kind, key, formOf(value)]));
    if (published !== undefined && published !== form) {
      await forEachTenant(db, signal, async (id) => void (await publishTo(id, facts)));
    }
    if (!signal.aborted) published = form;
  }

  const task: LeaderTask = {
    name: 'key_announcements',
    everyMs: EVERY_MS,
    run: async (signal) => {
      await announceAll(signal);
      await publishChanges(signal);
    },
  };

  const facts: Facts = {
    begin: async (tx) => {
      const { tenantId } = tx.scope;
      // Read first, so that a rotation in between is announced again and not missed.
      const number = await keyStore(tx).lastNumber();
      serviceKeys.forget();
      for (const fact of await readFacts()) tx.feed.append(fact);
      await tx.db.keyAnnouncement.create({ data: { tenantId, number } });
    },
    publish: async () => {
      const all = await readFacts();
      const { signal } = new AbortController();
      await forEachTenant(db, signal, async (id) => void (await publishTo(id, all)));
    },
  };

  return { announceAll, task, facts };
}

function toAction({ number, purpose, signed, ...rotation }: RecordedRotation) {
  return {
    action: rotation.revokes ? 'service_key_revoked' : 'service_key_rotated',
    target: `service_key/${rotation.oldKid}`,
    details: {
      number,
      purpose: purpose === null ? UNKNOWN_PURPOSE : purposeName(purpose),
      new_key: rotation.newKid,
      // A rotation with a damaged statement has no such time.
      ...(signed && { valid_from: signed.statement.valid_from }),
      // A key that was to follow the old one, and never does.
      ...(signed &&
        signed.statement.old_kid !== rotation.oldKid && { superseded: signed.statement.old_kid }),
      ...(rotation.reason === null ? {} : { reason: rotation.reason }),
    },
  };
}

const readNumber = (db: KeyAnnouncementsDeps['db'], tenantId: string): Promise<number> =>
  db.inTenant(systemScope(tenantId), async (tx) => {
    const row = await tx.db.keyAnnouncement.findUnique({ where: { tenantId } });
    return row?.number ?? 0;
  });

/** The number of the last rotation announced to the tenant, locked until the transaction ends. */
async function lockNumber({ db, scope: { tenantId } }: TenantTransaction): Promise<number> {
  await db.$executeRaw`
    INSERT INTO key_announcements (tenant_id, number) VALUES (${tenantId}::uuid, 0)
    ON CONFLICT DO NOTHING`;
  const rows = await db.$queryRaw<{ number: number }[]>`
    SELECT number FROM key_announcements WHERE tenant_id = ${tenantId}::uuid FOR UPDATE`;
  return rows[0]?.number ?? 0;
}
