/** How exceptions end: with the server that they name, or when their time is over. */
import { DAY_MS } from '@governance/shared/time/durations';
import {
  SYSTEM_ACTOR,
  systemScope,
  type TenantDatabase,
  type TenantTransaction,
} from '../platform/database/tenant-scope.ts';
import type { LeaderTask } from '../platform/replicas/leader.ts';
import { type StandingException, targetOf, toTombstone } from './exception.ts';
import { exceptionStore } from './exception-store.ts';

const EVERY_MS = 10_000;
/** How long ended exceptions stay listed. */
const KEPT_DAYS = 90;

/** Revokes a locked exception, with its fact and its record. */
export async function revokeException(
  tx: TenantTransaction,
  exception: StandingException,
  at: Date,
  details: Record<string, unknown> = {},
): Promise<void> {
  await exceptionStore(tx).update({
    ...exception,
    ...{ status: 'revoked', revokedBy: tx.scope.actor.username, revokedAt: at, updatedAt: at },
  });
  if (exception.status === 'active') tx.feed.append(toTombstone(exception));
  tx.audit.append({
    action: 'exception_revoked',
    target: `exception/${exception.id}`,
    details: { ...targetOf(exception), ...details },
  });
}

/** Revokes exceptions for a deleted server: its id may be given to another server. */
export async function revokeExceptionsOfServer(
  tx: TenantTransaction,
  serverId: string,
  at: Date,
): Promise<void> {
  for (const exception of await exceptionStore(tx).lockOfServer(serverId)) {
    await revokeException(tx, exception, at, { because_of: `mcp_server/${serverId}` });
  }
}

/**
 * Marks exceptions whose time is over and withdraws their facts. Data planes do not wait for this,
 * since they apply the expiry time in the fact.
 */
export function createExceptionExpiry(deps: {
  db: Pick<TenantDatabase, 'inTenant' | 'inPlatform'>;
  now: () => Date;
}): LeaderTask {
  const { db, now } = deps;

  async function run(signal: AbortSignal): Promise<void> {
    const at = now();
    const tenants = await db.inPlatform(
      SYSTEM_ACTOR,
      (tx) =>
        tx.db.$queryRaw<{ id: string }[]>`
          SELECT tenant_id::text AS id
          FROM find_ended_exceptions(${at}, ${`${KEPT_DAYS} days`}::interval)`,
    );
    for (const { id } of tenants) {
      if (signal.aborted) return;
      await db.inTenant(systemScope(id), (tx) => end(tx, at));
    }
  }

  return { name: 'exception_expiry', everyMs: EVERY_MS, run };
}

async function end(tx: TenantTransaction, at: Date): Promise<void> {
  const store = exceptionStore(tx);
  for (const exception of await store.lockOverdue(at)) {
    await store.update({ ...exception, status: 'expired', updatedAt: at });
    if (exception.status === 'active') tx.feed.append(toTombstone(exception));
    tx.audit.append({
      action: 'exception_expired',
      target: `exception/${exception.id}`,
      details: { ...targetOf(exception), was: exception.status },
    });
  }
  await store.prune(new Date(at.getTime() - KEPT_DAYS * DAY_MS));
}
