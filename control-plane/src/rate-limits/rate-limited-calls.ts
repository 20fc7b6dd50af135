/**
 * Calls that rate limits refused, by agent and hour. Data planes record a count at most once per
 * second and agent; ingest adds the counts up here. Proven by rate-limited-calls.pg.test.ts.
 */

import type { LedgerRecord } from '@governance/shared/ledger/ledger-record';
import { DAY_MS, HOUR_MS } from '@governance/shared/time/durations';
import { forEachTenant } from '../platform/database/each-tenant.ts';
import { type Page, rowsOf } from '../platform/database/page.ts';
import {
  systemScope,
  type TenantDatabase,
  type TenantScope,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { ProjectedRecord, Projection } from '../platform/feature.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';

/** Older counts are deleted; the records themselves stay in the ledger. */
export const KEPT_DAYS = 30;
/** Limits per record and per hour: a data plane may claim any number. */
const MOST = Number.MAX_SAFE_INTEGER;

type RateLimited = Extract<LedgerRecord, { type: 'rate_limited' }>;

export interface RefusedHour {
  agentId: string;
  hour: Date;
  refused: bigint;
  lastAt: Date;
  requests: bigint;
  windowSeconds: bigint;
  riskTier: string;
}

export interface RefusedFilter {
  agentId?: string | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
}

/** @param now the time at which records from the future, or older than KEPT_DAYS, are counted */
export function rateLimitedProjection(now: () => Date): Projection {
  return {
    types: ['rate_limited'],
    store: async (client, tenantId, records) => {
      const hours = [...addedUp(records, now().getTime()).values()];
      if (hours.length === 0) return [];
      await client.query(
        `INSERT INTO rate_limited_calls AS known (tenant_id, agent_id, hour, refused, last_at, requests,
           window_seconds, risk_tier)
         SELECT $1, * FROM unnest($2::uuid[], $3::timestamptz[], $4::bigint[], $5::timestamptz[],
           $6::bigint[], $7::bigint[], $8::text[])
         ON CONFLICT (tenant_id, agent_id, hour) DO UPDATE
         SET refused = LEAST(known.refused + excluded.refused, $9),
           last_at = GREATEST(known.last_at, excluded.last_at), requests = excluded.requests,
           window_seconds = excluded.window_seconds, risk_tier = excluded.risk_tier`,
        [
          tenantId,
          hours.map((one) => one.agentId),
          hours.map((one) => new Date(one.hour)),
          hours.map((one) => one.refused),
          hours.map((one) => new Date(one.lastAt)),
          hours.map((one) => one.record.limit),
          hours.map((one) => one.record.window_seconds),
          hours.map((one) => one.record.risk_tier),
          MOST,
        ],
      );
      return [];
    },
  };
}

interface Added {
  agentId: string;
  /** Unix milliseconds, as `lastAt`. */
  hour: number;
  refused: number;
  lastAt: number;
  /** The last record of the hour. */
  record: RateLimited;
}

function addedUp(records: readonly ProjectedRecord[], now: number): Map<string, Added> {
  const hours = new Map<string, Added>();
  for (const { record, agentId } of records) {
    // Not counted for an agent that the tenant never had, since nobody would look for it.
    if (record.type !== 'rate_limited' || agentId === null) continue;
    const until = Date.parse(record.until);
    const at = until > now || until < now - KEPT_DAYS * DAY_MS ? now : until;
    const hour = at - (at % HOUR_MS);
    const key = `${agentId} ${hour}`;
    const { refused = 0, lastAt = 0 } = hours.get(key) ?? {};
    hours.set(key, {
      agentId,
      hour,
      refused: Math.min(refused + record.refused, MOST),
      lastAt: Math.max(lastAt, at),
      record,
    });
  }
  return hours;
}

function refusedStore({ db, scope: { tenantId } }: TenantTransaction) {
  return {
    list: async ({ agentId, from, to }: RefusedFilter, page: Page) => {
      const where = {
        tenantId,
        ...(agentId !== undefined && { agentId }),
        hour: { ...(from && { gte: from }), ...(to && { lt: to }) },
      };
      const hours: RefusedHour[] = await db.rateLimitedCalls.findMany({
        where,
        orderBy: [{ hour: 'desc' }, { agentId: 'asc' }],
        ...rowsOf(page),
      });
      return { hours, total: await db.rateLimitedCalls.count({ where }) };
    },
    deleteBefore: (hour: Date) =>
      db.rateLimitedCalls.deleteMany({ where: { tenantId, hour: { lt: hour } } }),
  };
}

/** The newest hours first. @param filter `from` and `to` apply to the beginning of hours */
export const listRefused = (
  db: Pick<TenantDatabase, 'inTenant'>,
  scope: TenantScope,
  filter: RefusedFilter,
  page: Page,
) => db.inTenant(scope, (tx) => refusedStore(tx).list(filter, page));

/** The leader's task that deletes old hours. */
export function createRefusedPurge(deps: {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}): LeaderTask {
  return {
    name: 'rate_limited_purge',
    everyMs: HOUR_MS,
    run: (signal) =>
      forEachTenant(deps.db, signal, async (tenantId) => {
        const before = new Date(deps.now().getTime() - KEPT_DAYS * DAY_MS);
        await deps.db.inTenant(systemScope(tenantId), (tx) =>
          refusedStore(tx).deleteBefore(before),
        );
      }),
  };
}
