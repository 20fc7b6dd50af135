/**
 * Ends sessions that are idle, refused, or with servers that left the registry. A session whose
 * listeners make no request gets a successor when its server has changed.
 */
import type { McpServerSetting } from '@governance/shared/bundle/bundle-format';
import type { createSessionNotifications } from './session-notifications.ts';
import { isOpenedFor } from './session-opener.ts';
import type { createSessionTable, OpenSession } from './session-table.ts';

export interface SessionSweepDeps {
  sessions: ReturnType<typeof createSessionTable>;
  notifications: Pick<ReturnType<typeof createSessionNotifications>, 'isListenedTo'>;
  idleMs: number;
  isRegistered(tenantId: string, serverId: string): boolean;
  /** The server as the tenant's registry has it. */
  findServer(tenantId: string, serverId: string): McpServerSetting | undefined;
  findSealedCredential(tenantId: string, serverId: string): string | undefined;
  /** Why a session must no longer be used. */
  findRefusal(entry: OpenSession): string | undefined;
  /** Opens the successor of a session. */
  reopen(entry: OpenSession, server: McpServerSetting): Promise<void>;
}

export function createSessionSweep(deps: SessionSweepDeps) {
  const { sessions, notifications, isRegistered } = deps;
  /** Those that somebody listens to, of servers that left the registry: some come back. */
  const awaited = new Map<string, OpenSession>();

  /** Whether the registry has the server as the session was opened for it, or not at all. */
  function isCurrent(entry: OpenSession): boolean {
    const { tenantId, serverId } = entry;
    const server = deps.findServer(tenantId, serverId);
    const sealed = deps.findSealedCredential(tenantId, serverId);
    return server === undefined || isOpenedFor(entry, server, sealed);
  }

  async function follow(entry: OpenSession): Promise<void> {
    const server = deps.findServer(entry.tenantId, entry.serverId);
    if (server === undefined) return;
    // The next request tries again.
    await deps.reopen(entry, server).catch(() => undefined);
  }

  return {
    sweep(): void {
      const before = performance.now() - deps.idleMs;
      for (const [key, entry] of [...sessions.open]) {
        if (deps.findRefusal(entry) !== undefined) {
          sessions.retire(key, entry);
          continue;
        }
        const isListenedTo = notifications.isListenedTo(entry);
        if (isListenedTo && !isCurrent(entry)) void follow(entry);
        if (entry.session.pending > 0) continue;
        const isGone = !isRegistered(entry.tenantId, entry.serverId);
        if (isGone && isListenedTo) awaited.set(key, entry);
        if (isGone || (!isListenedTo && entry.usedAt < before)) sessions.drop(key, entry);
      }
      for (const [key, entry] of [...awaited]) {
        if (notifications.isListenedTo(entry)) void follow(entry);
        else awaited.delete(key);
      }
    },

    /** @returns whether the session was awaited; it no longer is */
    takeAwaited: (key: string): boolean => awaited.delete(key),
  };
}
