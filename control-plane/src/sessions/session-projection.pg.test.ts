/** What data planes ship becomes sessions: over several of them, out of order, repeated, at once. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, anOutcome } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { createChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createIngestService } from '../ingest/ingest-service.ts';
import { createViolationAlerts } from '../ingest/violations.ts';
import type { TenantScope } from '../platform/database/tenant-scope.ts';
import { createSessionClosing } from './session-closing.ts';
import { sessionProjection } from './session-projection.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
let time = Date.parse('2026-03-01T12:00:00.000Z');
const now = () => new Date(time);
const test = await testDatabase();
const { db, superuser, changes } = test;
const ingest = createIngestService({
  projections: [sessionProjection(now)],
  ingestPool: test.connections.ingestPool,
  changes,
  breaks: createChainBreakRecorder({ db, now }),
  violations: createViolationAlerts({ db, now }),
  markForked: async () => expect.unreachable(),
});

interface Given {
  at: number;
  agent: string;
  requester: string | null;
  session: string | null;
  method: string;
  findings: number;
}

async function aPlane(scope: TenantScope) {
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const ingestBatch = (from: number, to: number) =>
    ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(from, to));
  return {
    plane,
    write: (given: Partial<Given>) => {
      const decision = aDecision({
        timestamp: new Date(given.at ?? time).toISOString(),
        ...(given.agent !== undefined && { agent_id: given.agent }),
        requester_id: given.requester ?? null,
        session_id: given.session ?? null,
        method: given.method ?? 'tools/call',
        dlp_findings_count: given.findings ?? 0,
      });
      plane.append(decision);
      return decision.id;
    },
    /** What was written since, and once more. */
    ship: async () => {
      const from = shipped;
      shipped = plane.records.length;
      await ingestBatch(from, shipped);
      await ingestBatch(from, shipped);
    },
  };
}

interface Stored {
  agent_id: string;
  requester_id: string | null;
  started_at: Date;
  last_event_at: Date;
  expires_at: Date;
  event_count: string;
  tool_call_count: string;
  dlp_hit_count: string;
  listed: string;
}

async function sessionsOf({ tenantId }: TenantScope) {
  const { rows } = await superuser.query<Stored>(
    `SELECT s.*, (SELECT count(*) FROM session_events e JOIN agent_sessions p
         ON p.tenant_id = e.tenant_id AND p.id = e.session_id
       WHERE e.tenant_id = s.tenant_id AND coalesce(p.merged_into, p.id) = s.id) AS listed
     FROM agent_sessions s WHERE tenant_id = $1 AND merged_into IS NULL
     ORDER BY started_at, agent_id, requester_id NULLS FIRST`,
    [tenantId],
  );
  return rows;
}

describe('a session', () => {
  it('opens at the first call, counts, and is one over several data planes', async () => {
    const scope = await aTenant(test);
    const agent = (await anAgent(test, scope)).id;
    const [first, second] = [await aPlane(scope), await aPlane(scope)];
    const at = (minutes: number) => time - DAY + minutes * MINUTE;
    first.write({ agent, requester: 'ann', at: at(0) });
    first.plane.append(anOutcome(first.write({ agent, requester: 'ann', at: at(20) })));
    first.write({ agent, requester: 'ann', at: at(21), method: 'tools/list' });
    second.write({ agent, requester: 'ann', at: at(50), findings: 2 });
    // Another requester, another session of the protocol, and one after the idle time.
    second.write({ agent, requester: 'bob', at: at(50) });
    second.write({ agent, requester: 'ann', session: 'mcp-1', at: at(50) });
    second.write({ agent, requester: 'ann', at: at(81) });
    await first.ship();
    await second.ship();
    const sessions = await sessionsOf(scope);
    expect(sessions).toHaveLength(4);
    expect(sessions[0]).toMatchObject({
      agent_id: agent,
      requester_id: 'ann',
      started_at: new Date(at(0)),
      last_event_at: new Date(at(50)),
      expires_at: new Date(at(80)),
      event_count: '4',
      tool_call_count: '3',
      dlp_hit_count: '1',
      listed: '4',
    });
  });

  it('has what comes late, and is joined to another by it', async () => {
    const scope = await aTenant(test);
    const agent = (await anAgent(test, scope)).id;
    const [first, second] = [await aPlane(scope), await aPlane(scope)];
    const at = (minutes: number) => time - DAY + minutes * MINUTE;
    for (const minutes of [0, 40, 80]) {
      first.write({ agent, at: at(minutes) });
      await first.ship();
    }
    expect(await sessionsOf(scope)).toHaveLength(3);
    second.write({ agent, at: at(60) });
    await second.ship();
    expect(await sessionsOf(scope)).toMatchObject([
      { event_count: '1' },
      { event_count: '3', listed: '3', expires_at: new Date(at(110)) },
    ]);
    second.write({ agent, at: at(20) });
    await second.ship();
    expect(await sessionsOf(scope)).toMatchObject([
      { event_count: '5', tool_call_count: '5', listed: '5', started_at: new Date(at(0)) },
    ]);
  });

  it('is idle for as long as the tenant says', async () => {
    const scope = await aTenant(test);
    await superuser.query(
      `INSERT INTO tenant_settings (tenant_id, settings) VALUES ($1, '{"sessions": {"idle_minutes": 5}}')`,
      [scope.tenantId],
    );
    const agent = (await anAgent(test, scope)).id;
    const plane = await aPlane(scope);
    for (const minutes of [0, 5, 11]) plane.write({ agent, at: time - DAY + minutes * MINUTE });
    await plane.ship();
    expect(await sessionsOf(scope)).toMatchObject([{ event_count: '2' }, { event_count: '1' }]);
  });

  it('is of now where its data plane’s clock is ahead, and nobody’s where the agent is unknown', async () => {
    const scope = await aTenant(test);
    const agent = (await anAgent(test, scope)).id;
    const plane = await aPlane(scope);
    plane.write({ agent, at: time + 30 * DAY });
    plane.write({ agent: '0190bbbb-0000-7000-8000-00000000000b' });
    await plane.ship();
    expect(await sessionsOf(scope)).toMatchObject([
      { agent_id: agent, started_at: now(), event_count: '1' },
    ]);
  });

  it('closes with its agent’s risk, and is open again where a late record keeps it', async () => {
    const scope = await aTenant(test);
    const agent = (await anAgent(test, scope)).id;
    const plane = await aPlane(scope);
    plane.write({ agent, at: time - 29 * MINUTE });
    await plane.ship();
    const { run } = createSessionClosing({ db, now });
    const close = async () => {
      await run(new AbortController().signal);
      const [session] = await sessionsOf(scope);
      return session;
    };
    expect(await close()).toMatchObject({ closed_at: null, risk_score_at_close: null });
    time += MINUTE;
    await superuser.query('UPDATE agents SET risk_score = 37 WHERE id = $1', [agent]);
    expect(await close()).toMatchObject({ closed_at: now(), risk_score_at_close: 37 });
    plane.write({ agent, at: time - MINUTE });
    await plane.ship();
    expect(await close()).toMatchObject({
      closed_at: null,
      risk_score_at_close: null,
      event_count: '2',
    });
  });
});

it('counts what was recorded, whatever the order of the batches and the planes', async () => {
  const scope = await aTenant(test);
  const agents = [(await anAgent(test, scope)).id, (await anAgent(test, scope)).id];
  const given = fc.record({
    at: fc.integer({ min: 0, max: 300 }).map((minutes) => minutes * MINUTE),
    agent: fc.constantFrom(...agents),
    requester: fc.constantFrom(null, 'ann', 'bob'),
    session: fc.constantFrom(null, 'mcp-1'),
    method: fc.constantFrom('tools/call', 'tools/list'),
    findings: fc.constantFrom(0, 0, 3),
  });
  const batches = fc.array(
    fc.tuple(fc.nat({ max: 2 }), fc.array(given, { minLength: 1, maxLength: 6 })),
    { minLength: 2, maxLength: 12 },
  );
  const planes = [await aPlane(scope), await aPlane(scope), await aPlane(scope)];
  for (const { plane } of planes) {
    await ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(0, 1));
  }
  let base = Date.parse('2020-01-01T00:00:00.000Z');
  await fc.assert(
    fc.asyncProperty(batches, fc.boolean(), async (all, atOnce) => {
      // A stretch of time of its own for each run.
      base += DAY;
      const start = base;
      const shipping: Promise<unknown>[] = [];
      for (const [which, events] of all) {
        const { plane, write } = planes[which] as (typeof planes)[number];
        const from = plane.records.length;
        for (const event of events) write({ ...event, at: start + event.at });
        const batch = plane.batch(from);
        const done = ingest.ingestBatch(scope.tenantId, plane.deploymentId, batch);
        if (atOnce) shipping.push(done.catch(() => undefined));
        else await done;
      }
      await Promise.all(shipping);
      // What came before its predecessor was refused, and comes again.
      for (const { plane } of planes) {
        const from = plane.records.length > 400 ? plane.records.length - 400 : 1;
        if (plane.records.length > from) {
          await ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(from));
        }
      }
      const stored = (await sessionsOf(scope)).filter(({ started_at: at }) => +at >= start);
      const model = expected(all.flatMap(([, events]) => events)).map(
        ({ from, to, ...counts }) => ({ ...counts, from: start + from, to: start + to }),
      );
      expect(sorted(stored.map(summaryOf))).toEqual(sorted(model));
      for (const one of stored) expect(one.listed).toBe(one.event_count);
    }),
    { numRuns: 40 },
  );
});

const summaryOf = (row: Stored) => ({
  agent: row.agent_id,
  requester: row.requester_id,
  from: +row.started_at,
  to: +row.last_event_at,
  events: Number(row.event_count),
  calls: Number(row.tool_call_count),
  hits: Number(row.dlp_hit_count),
});

/** The model: sort, and cut where more than the idle time lies between. */
function expected(events: Given[]) {
  const keys = new Map<string, Given[]>();
  for (const event of events) {
    const key = JSON.stringify([event.agent, event.requester, event.session]);
    keys.set(key, [...(keys.get(key) ?? []), event]);
  }
  return [...keys.values()].flatMap((own) => {
    const runs: Given[][] = [];
    for (const event of own.sort((a, b) => a.at - b.at)) {
      const last = runs.at(-1)?.at(-1);
      if (last !== undefined && event.at - last.at <= 30 * MINUTE) runs.at(-1)?.push(event);
      else runs.push([event]);
    }
    return runs.map((run) => ({
      agent: (run[0] as Given).agent,
      requester: (run[0] as Given).requester,
      from: (run[0] as Given).at,
      to: (run.at(-1) as Given).at,
      events: run.length,
      calls: run.filter(({ method }) => method === 'tools/call').length,
      hits: run.filter(({ findings }) => findings > 0).length,
    }));
  });
}

interface Summary {
  from: number;
}

/** Those that begin at the same moment, in any order. */
function sorted<S extends Summary>(sessions: S[]): S[] {
  const key = (one: S) => JSON.stringify(Object.entries(one).sort());
  return sessions.sort((a, b) => (key(a) < key(b) ? -1 : 1));
}
