/** DLP_CROSS_SESSION on what two data planes ship: once, over restarts, replicas and late records. */
import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { anAlert } from '@governance/shared/testing/test-records';
import { beforeEach, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, anOutcome } from '../../../tests/support/a-data-plane.ts';
import { anAgent } from '../../../tests/support/an-agent.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { listBuiltins } from '../dlp/dlp-pattern.ts';
import { createDispositionFlush } from './disposition-flush.ts';
import { MAX_SIGHTINGS } from './dlp-sightings.ts';

const MINUTE = 60_000;
const TYPE = 'DLP_CROSS_SESSION';
let time = Date.now();
const now = () => new Date(time);
const { call, test, controlPlane, aTenantAdmin } = await testControlPlane({ now });
const { superuser } = test;

type Decision = Partial<Extract<UnchainedRecord, { type: 'decision' }>>;
type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

let admin: Admin;
let agent: string;
let planes: Awaited<ReturnType<typeof aDataPlane>>[];
let shipped: number[];

beforeEach(() => enter());

/** Begins with a new tenant, which has an agent and two data planes. */
async function enter(): Promise<void> {
  admin = await aTenantAdmin();
  agent = (await anAgent(test, admin.scope)).id;
  planes = [await aDataPlane(test, admin.scope), await aDataPlane(test, admin.scope)];
  for (const plane of planes) plane.boot();
  shipped = [0, 0];
}

/** 25 patterns. */
const OTHERS = listBuiltins({})
  .map(({ name }) => name)
  .filter((name) => name !== 'iban');

const found = (pattern: unknown = 'iban', severity: 'high' | 'low' = 'high') => ({
  ...{ pattern, severity, place: '/arguments/text', length: 20 },
});

/** A decision about a call in which something was found. */
function send(which: 0 | 1, minutesAgo: number, over: Decision): string {
  const timestamp = new Date(time - minutesAgo * MINUTE).toISOString();
  const dlp: Decision = {
    dlp_action: 'warned',
    dlp_findings_count: 1,
    dlp_findings: [found()],
  };
  const decision = aDecision({ timestamp, agent_id: agent, ...dlp, ...over });
  planes[which]?.append(decision);
  return decision.id;
}
const session = (name: string): Decision => ({ session_id: name });

async function ship(times = 1): Promise<void> {
  for (const [which, plane] of planes.entries()) {
    const from = shipped[which] ?? 0;
    if (plane.records.length === from) continue;
    shipped[which] = plane.records.length;
    const batch = plane.batch(from);
    for (let time = 0; time < times; time++) {
      await controlPlane.ingest.ingestBatch(admin.scope.tenantId, plane.deploymentId, batch);
    }
  }
}

/** A run of the detectors; each has a memory of its own, as after a restart. */
const detect = () =>
  createDispositionFlush({
    db: controlPlane.db,
    now,
    tokenNow: now,
    settledNow: now,
    everyMs: MINUTE,
  }).run(new AbortController().signal);

interface Alert {
  id: string;
  alert_type: string;
  details: Record<string, unknown>;
}

async function raised(): Promise<Alert[]> {
  const answer = await call('/api/v1/monitor/alerts', { token: admin.token });
  const all = answer.json().alerts as Alert[];
  return all.filter(({ alert_type }) => alert_type === TYPE);
}

async function told(): Promise<Alert[]> {
  await ship();
  await detect();
  return raised();
}

async function resolveAll(): Promise<void> {
  for (const { id } of await raised()) {
    const body = { status: 'resolved' };
    await call(`/api/v1/monitor/alerts/${id}`, { token: admin.token, method: 'PATCH', body });
  }
}

const rowsOf = async () => {
  const { rows } = await superuser.query<{ pattern: string; seen_at: Date }>(
    'SELECT pattern, seen_at FROM dlp_sightings WHERE tenant_id = $1 ORDER BY seen_at',
    [admin.scope.tenantId],
  );
  return rows;
};

describe(TYPE, () => {
  it('is raised at the third session within an hour, over both planes and restarts', async () => {
    send(0, 71, session('0'));
    send(0, 50, session('1'));
    send(0, 50, session('1'));
    expect(await told()).toEqual([]);
    send(1, 10, session('2'));
    expect(await told()).toEqual([]);
    const last = send(1, 5, {
      ...session('3'),
      dlp_findings: [found('iban', 'low'), found('jwt')],
      requester_id: 'ann',
    });
    expect(await told()).toMatchObject([
      {
        severity: 'low',
        status: 'open',
        agent_id: agent,
        details: {
          pattern: 'iban',
          sessions: 3,
          event_id: last,
          mcp_server: 'files',
          tool_name: 'read_file',
          requester_id: 'ann',
        },
      },
    ]);
  });

  it('is raised whichever of them comes last, by the times of the records', async () => {
    send(0, 300, session('1'));
    send(0, 250, session('2'));
    expect(await told()).toEqual([]);
    send(1, 275, session('3'));
    expect(await told()).toMatchObject([{ details: { sessions: 3 } }]);
  });

  it('takes a time that is still to come for that of its receipt', async () => {
    for (const [ahead, name] of [
      [600, '1'],
      [300, '2'],
      [0, '3'],
    ] as const) {
      send(0, -ahead, session(name));
    }
    expect(await told()).toHaveLength(1);
  });

  it('is raised once for what is shipped twice, and by two replicas at once', async () => {
    for (const name of ['1', '2', '3']) send(0, 5, session(name));
    await ship(2);
    await Promise.all([detect(), detect()]);
    await detect();
    expect(await raised()).toHaveLength(1);
    expect(await rowsOf()).toHaveLength(3);
  });

  it('is raised again after five minutes, for an agent and a pattern', async () => {
    const other = (await anAgent(test, admin.scope)).id;
    for (const name of ['1', '2', '3']) send(0, 1, session(name));
    expect(await told()).toHaveLength(1);
    await resolveAll();
    time += 4 * MINUTE;
    send(0, 0, session('4'));
    expect(await told()).toHaveLength(1);
    for (const name of ['1', '2', '3']) {
      send(1, 0, { ...session(name), dlp_findings: [found('jwt')] });
      send(1, 0, { ...session(name), agent_id: other });
    }
    expect(await told()).toHaveLength(3);
    time += MINUTE;
    send(0, 0, session('4'));
    const four = await told();
    expect(four).toHaveLength(4);
    expect(four[0]).toMatchObject({ details: { pattern: 'iban', sessions: 4 } });
  });

  it('is raised for a requester whose client has no session, and goes on', async () => {
    for (const minutes of [62, 50, 33]) send(0, minutes, { requester_id: 'ann' });
    send(1, 31, { requester_id: 'ann' });
    expect(await told()).toEqual([]);
    send(1, 0, { requester_id: 'ann' });
    expect(await told()).toMatchObject([{ details: { sessions: 3, requester_id: 'ann' } }]);
  });

  it('is raised for requesters of a client without sessions, and the agent itself', async () => {
    for (const requester_id of ['ann', 'bob']) send(0, 5, { requester_id });
    expect(await told()).toEqual([]);
    send(1, 4, { requester_id: null });
    expect(await told()).toHaveLength(1);
  });

  it('counts what clients answer to servers, and not what servers ask', async () => {
    const asked = { method: 'elicitation/create', tool_name: 'mcp:elicitation/create' };
    const inspection = (pattern: string) => ({
      ...{
        step: null,
        inbound_findings: [],
        dlp_findings_count: 1,
        dlp_findings: [found(pattern)],
      },
      ...{ replacement_digest: null, escalation_id: null },
    });
    const nothing = { dlp_action: null, dlp_findings_count: 0, dlp_findings: [] };
    for (const name of ['1', '2', '3']) {
      const question = send(0, 5, { ...session(name), ...asked });
      const result = send(0, 5, { ...session(name), ...nothing });
      expect(await told()).toEqual([]);
      planes[0]?.append(anOutcome(result, { inspection: inspection('jwt') }));
      // In a run of its own, without a decision.
      const answered = new Date(time - 4 * MINUTE).toISOString();
      planes[0]?.append(
        anOutcome(question, { timestamp: answered, inspection: inspection('email_address') }),
      );
    }
    expect(await told()).toMatchObject([
      { details: { pattern: 'email_address', sessions: 3, tool_name: 'mcp:elicitation/create' } },
    ]);
    expect((await rowsOf()).map(({ pattern }) => pattern)).toEqual(Array(3).fill('email_address'));
  });

  it('is not raised while the tenant has it switched off', async () => {
    const turn = (cross_session: boolean) =>
      call('/api/v1/dlp/settings', {
        token: admin.token,
        method: 'PATCH',
        body: { cross_session },
      });
    expect((await turn(false)).statusCode).toBe(200);
    for (const name of ['1', '2', '3']) send(0, 5, session(name));
    expect(await told()).toEqual([]);
    expect(await rowsOf()).toEqual([]);
    await turn(true);
    for (const name of ['1', '2', '3']) send(0, 5, session(name));
    expect(await told()).toHaveLength(1);
  });

  it('is not raised a second time by a data plane of an earlier version', async () => {
    for (const name of ['1', '2', '3']) send(0, 5, session(name));
    const dedupe_key = `dlp-cross-session:${agent}:iban`;
    planes[0]?.append(anAlert({ alert_type: TYPE, agent_id: agent, dedupe_key }));
    expect(await told()).toMatchObject([{ details: { pattern: 'iban', sessions: 3 } }]);
  });

  it('reads findings that name no pattern, or something else', async () => {
    const { pattern: _, ...nameless } = found();
    // Canonical JSON has no lone surrogate.
    const findings = [7, null, '', 'x'.repeat(101), 'a\u0000b'].map((name) => found(name));
    for (const name of ['1', '2', '3']) {
      send(0, 5, { ...session(name), dlp_findings: [nameless, ...findings, found('jwt')] });
    }
    expect(await told()).toMatchObject([{ details: { pattern: 'jwt' } }]);
  });

  it('is another tenant’s business nowhere', async () => {
    for (const name of ['1', '2']) send(0, 5, session(name));
    expect(await told()).toEqual([]);
    const [first, same] = [admin, agent];
    await enter();
    // Its agent has the id of theirs.
    await superuser.query('UPDATE agents SET id = $1 WHERE tenant_id = $2 AND id = $3', [
      same,
      admin.scope.tenantId,
      agent,
    ]);
    agent = same;
    send(0, 5, session('3'));
    expect(await told()).toEqual([]);
    expect(await rowsOf()).toHaveLength(1);
    admin = first;
    expect(await raised()).toEqual([]);
    expect(await rowsOf()).toHaveLength(2);
  });
});

describe('what is remembered', () => {
  it('is nothing of patterns that the tenant does not have, and some alerts of a run', async () => {
    const names = [...OTHERS, 'iban', ...Array.from({ length: 24 }, (_, n) => `made up ${n}`)];
    for (const name of ['1', '2', '3']) {
      send(0, 5, { ...session(name), dlp_findings: names.map((pattern) => found(pattern)) });
    }
    expect(await told()).toHaveLength(20);
    expect(new Set((await rowsOf()).map(({ pattern }) => pattern))).toEqual(
      new Set([...OTHERS, 'iban']),
    );
  });

  it('is the newest 200 sightings of an agent', async () => {
    send(0, 59, session('1'));
    send(0, 58, session('2'));
    for (const minutes of [50, 49, 48, 47, 46, 45, 44, 43]) {
      send(0, minutes, { ...session('1'), dlp_findings: OTHERS.map((name) => found(name)) });
    }
    expect(await told()).toEqual([]);
    const rows = await rowsOf();
    expect(rows).toHaveLength(MAX_SIGHTINGS);
    expect(rows[0]?.seen_at).toEqual(new Date(time - 50 * MINUTE));
    send(0, 5, session('3'));
    expect(await told()).toEqual([]);
    expect(await rowsOf()).toHaveLength(MAX_SIGHTINGS);
  });

  it('is forgotten after a day', async () => {
    for (const name of ['1', '2']) {
      time += 24 * 60 * MINUTE + 1;
      send(0, 0, session(name));
      await ship();
      await detect();
    }
    expect((await rowsOf()).map(({ seen_at }) => seen_at)).toEqual([new Date(time)]);
  });

  it('is bounded for the tenant, by what was written last', async () => {
    await superuser.query(
      `INSERT INTO dlp_sightings (tenant_id, agent_id, seen_at, event_id, pattern, session_key,
         updated_at)
       SELECT $1, gen_random_uuid(), $2, gen_random_uuid(), '', gen_random_uuid(), $2
       FROM generate_series(1, 100000)`,
      [admin.scope.tenantId, new Date(time - 60 * MINUTE)],
    );
    send(0, 5, session('1'));
    await told();
    const { rows } = await superuser.query(
      `SELECT count(*)::int AS count, count(*) FILTER (WHERE agent_id = $2)::int AS own
       FROM dlp_sightings WHERE tenant_id = $1`,
      [admin.scope.tenantId, agent],
    );
    expect(rows).toEqual([{ count: 100_000, own: 1 }]);
  });
});
