/** The health of MCP servers as seen by this process: for heartbeats, metrics and callers. */
import type { ServerReport } from '@governance/shared/channel/channels';
import {
  CircuitBreaker,
  type CircuitBreakerDeps,
  type ServerHealth,
  type WatchedPlace,
} from './circuit-breaker.ts';
import { ServerNotes } from './server-notes.ts';
import { type ServerFinding, toServerReport } from './server-report.ts';

export type UpstreamHealth = ReturnType<typeof createUpstreamHealth>;

/** Tracks the health of all servers. */
export function createUpstreamHealth(deps: CircuitBreakerDeps) {
  const breakers = new Map<string, { place: WatchedPlace; breaker: CircuitBreaker }>();
  const notes = new ServerNotes((tenantId) => deps.onChanged?.(tenantId));

  return {
    /** Adds a note on a server to reports; null removes it. */
    note: notes.put.bind(notes),

    /** The circuit breaker of a place, which all sessions with it share. */
    breakerOf(place: WatchedPlace): CircuitBreaker {
      const key = `${place.tenantId} ${place.serverId} ${place.agentId}`;
      let known = breakers.get(key);
      if (known === undefined || known.place.address !== place.address) {
        known = { place, breaker: new CircuitBreaker(place, deps) };
        breakers.set(key, known);
      }
      return known.breaker;
    },

    /**
     * The health of a tenant's servers, with reasons; of several processes of one, the worst counts.
     *
     * @param known what is known without asking them
     */
    report(tenantId: string, known: Iterable<ServerFinding> = []): ServerReport {
      const found: ServerFinding[] = [...known, ...notes.of(tenantId)];
      for (const { place, breaker } of breakers.values()) {
        const health = place.tenantId === tenantId ? breaker.reported() : undefined;
        if (health !== undefined) found.push([place.serverId, health, breaker.reason]);
      }
      return toServerReport(found);
    },

    /** The number of servers (for stdio: processes) in each state. */
    counts(): Record<ServerHealth, number> {
      const counts = { ok: 0, failing: 0, resting: 0, probing: 0 };
      for (const { breaker } of breakers.values()) counts[breaker.state()]++;
      return counts;
    },

    /** Forgets servers that left the registry, and those that were not asked for long. */
    forget(isRegistered: (tenantId: string, serverId: string) => boolean, idleMs: number): void {
      const before = deps.elapsed() - idleMs;
      for (const [key, { place, breaker }] of breakers) {
        const isKept = breaker.usedAt >= before && isRegistered(place.tenantId, place.serverId);
        if (!isKept) breakers.delete(key);
      }
      notes.forget(isRegistered);
    },
  };
}
