import { randomUUID } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { LAST_MS } from '@governance/shared/time/iso-time';
import { describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, anOutcome } from '../../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';
import type { EventMetadata } from './event-metadata.ts';
import { exportStore } from './export-store.ts';

const cp = await testControlPlane();
const { call, test, controlPlane, aTenantAdmin, aColleague } = cp;
const minute = (n: number) => new Date(Date.UTC(2026, 0, 2, 3, n)).toISOString();
const ROUTE = '/api/v1/audit/export';

async function aSetting() {
  const { scope, token } = await aTenantAdmin();
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const ship = async () => {
    for (let end = shipped; end < plane.records.length; shipped = end) {
      end = Math.min(shipped + 500, plane.records.length);
      await controlPlane.ingest.ingestBatch(
        scope.tenantId,
        plane.deploymentId,
        plane.batch(shipped, end),
      );
    }
  };
  return { scope, token, plane, ship };
}

async function page(token: string, query = '') {
  const answer = await call(`${ROUTE}?${query}`, { token });
  expect(answer.statusCode, answer.body).toBe(200);
  const { events, total } = answer.json() as { events: EventMetadata[]; total: number };
  expect(answer.headers['x-total-events']).toBe(String(total));
  return { events, total, cursor: answer.headers['x-next-cursor'] as string | undefined };
}

async function readAll(token: string, query: string) {
  const events: EventMetadata[] = [];
  let next = '';
  for (;;) {
    const { cursor, ...got } = await page(token, `${query}${next}`);
    events.push(...got.events);
    expect(got.total).toBeGreaterThanOrEqual(events.length);
    if (cursor === undefined) return { events, total: got.total };
    next = `&cursor=${cursor}`;
  }
}

describe('GET /api/v1/audit/export', () => {
  it('shows the metadata of an event and nothing that the call carried', async () => {
    const { token, plane, ship } = await aSetting();
    const decision = aDecision({
      timestamp: minute(1),
      policy_result: 'deny',
      policy_reason: 'Freeze: not now',
      session_id: 's-1',
      requester_id: 'alice',
      target: '/secret/path',
      dlp_findings_count: 1,
      dlp_findings: [{ severity: 'high', pattern: 'email' }],
    });
    const alert = {
      type: 'alert',
      id: uuidv7(),
      timestamp: minute(2),
      bundle_revision: 1,
    } as const;
    plane.append(decision);
    plane.append(anOutcome(decision.id));
    plane.append({
      ...{ ...alert, alert_type: 'BLAST_RADIUS_ESCALATION', severity: 'high', agent_id: null },
      ...{ title: 't', details: {}, dedupe_key: null },
    });
    await ship();
    const { events } = await page(token, `from=${minute(0)}&to=${minute(3)}`);
    expect(events).toEqual([
      {
        event_id: decision.id,
        timestamp: minute(1),
        event_type: 'policy_deny',
        agent_id: decision.agent_id,
        session_id: 's-1',
        tool_name: 'read_file',
        mcp_server: 'files',
        action: 'read',
        policy_result: 'deny',
        policy_reason: 'Freeze: not now',
        behavioral_score: 0,
        risk_tier: 'low',
        dlp_findings_count: 1,
        causal_depth: 0,
        alert_type: null,
        severity: null,
      },
      expect.objectContaining({
        ...{ event_id: alert.id, event_type: 'alert', alert_type: 'BLAST_RADIUS_ESCALATION' },
        ...{ severity: 'high', tool_name: null },
      }),
    ]);
  });

  it('leaves out a reason that data protection has changed', async () => {
    const { token, plane, ship } = await aSetting();
    plane.append(
      aDecision({
        ...{ timestamp: minute(1), policy_reason: 'Freeze: [REDACTED]' },
        protected_fields: ['policy_reason'],
      }),
    );
    await ship();
    const { events } = await page(token, `from=${minute(0)}&to=${minute(3)}`);
    expect(events).toMatchObject([{ policy_reason: null }]);
  });

  it('continues from its cursor, in order of receipt, up to the end as of its beginning', async () => {
    const { token, plane, ship } = await aSetting();
    const ids = Array.from({ length: 250 }, (_, n) => {
      const decision = aDecision({ timestamp: minute(n % 50) });
      plane.append(decision);
      return decision.id;
    });
    await ship();
    const range = `from=${minute(0)}&to=${minute(55)}`;
    const first = await page(token, `${range}&limit=120`);
    expect(first.total).toBe(250);
    // What comes later is in a later export.
    plane.append(aDecision({ timestamp: minute(1) }));
    await ship();
    const second = await page(token, `limit=120&cursor=${first.cursor}`);
    const third = await page(token, `${range}&limit=120&cursor=${second.cursor}`);
    expect(third).toMatchObject({ total: 250, cursor: undefined });
    const all = [...first.events, ...second.events, ...third.events];
    expect(all.map(({ event_id }) => event_id)).toEqual(ids);
    expect((await page(token, range)).total).toBe(251);
  });

  it('counts more than the list does, and ends although it records itself', async () => {
    const { token, scope, plane, ship } = await aSetting();
    plane.append(aDecision());
    await ship();
    const copies = 12_000;
    // Copies that no chain holds: only their number matters here.
    await test.superuser.query(
      `INSERT INTO ledger_records SELECT tenant_id, received_at, position + n, stream, epoch, seq + n,
         type, gen_random_uuid(), subject_id, agent_id, policy_result, event_time, hash, prev_hash, bytes
       FROM ledger_records, generate_series(1, $2) n WHERE tenant_id = $1 AND type = 'decision'`,
      [scope.tenantId, copies],
    );
    await test.superuser.query(
      'UPDATE tenant_positions SET position = position + $2 WHERE tenant_id = $1',
      [scope.tenantId, copies],
    );
    const { events, total } = await readAll(token, 'limit=5000');
    expect(total).toBeGreaterThan(copies);
    expect(events).toHaveLength(total);
    expect(new Set(events.map(({ event_id }) => event_id)).size).toBe(total);
  });

  it.each([
    ['cef', /^CEF:0\|/],
    ['leef', /^LEEF:2\.0\|/],
  ] as const)('writes a line of %s for each event', async (format, begin) => {
    const { token, plane, ship } = await aSetting();
    plane.append(aDecision());
    await ship();
    const answer = await call(`${ROUTE}?format=${format}`, { token });
    expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    const lines = answer.body.split('\n');
    expect(lines.pop()).toBe('');
    expect(lines).toHaveLength(Number(answer.headers['x-total-events']));
    for (const line of lines) expect(line).toMatch(begin);
  });

  it('is open to auditors, and recorded with the user who took it', async () => {
    const { token, scope } = await aSetting();
    const auditor = await aColleague(scope, 'auditor');
    await page(auditor.token, 'limit=2');
    const { events } = (await call('/api/v1/audit/events', { token })).json();
    expect(events[0]).toMatchObject({
      action: 'audit_exported',
      actor: { username: auditor.scope.actor.username, role: 'auditor' },
      details: { format: 'json', events: 1, from: null, to: null },
    });
  });

  it('tells what data loss prevention blocked from what a policy denied', async () => {
    const { token, plane, ship } = await aSetting();
    const blocked = aDecision({ policy_result: 'deny', dlp_action: 'blocked' });
    const denied = aDecision({ policy_result: 'deny', dlp_action: 'warned' });
    plane.append(blocked);
    plane.append(denied);
    await ship();
    const { events } = await page(token);
    const resultOf = (id: string) => events.find(({ event_id }) => event_id === id);
    expect(resultOf(blocked.id)).toMatchObject({
      policy_result: 'dlp_block',
      event_type: 'policy_deny',
    });
    expect(resultOf(denied.id)).toMatchObject({ policy_result: 'deny' });
  });

  it('continues past a record that can no longer be read', async () => {
    const { token, plane, ship } = await aSetting();
    const decision = aDecision({ policy_result: 'deny' });
    plane.append(decision);
    await ship();
    await test.superuser.query(`UPDATE ledger_records SET bytes = '\\xff' WHERE id = $1`, [
      decision.id,
    ]);
    const { events } = await page(token);
    expect(events.find(({ event_id }) => event_id === decision.id)).toMatchObject({
      ...{ policy_result: 'deny', tool_name: null },
    });
  });

  it('is empty where there is nothing', async () => {
    const { token } = await aTenantAdmin();
    const nothing = await page(token, `to=${minute(0)}`);
    expect(nothing).toEqual({ events: [], total: 0, cursor: undefined });
  });

  it('shows nothing of another tenant, by no cursor', async () => {
    const { token, plane, ship } = await aSetting();
    const agent_id = randomUUID();
    plane.append(aDecision({ agent_id }));
    plane.append(aDecision({ agent_id }));
    await ship();
    const { cursor } = await page(token, 'limit=1');
    const stranger = await aTenantAdmin();
    const answer = await call(`${ROUTE}?cursor=${cursor}`, { token: stranger.token });
    expect(answer.statusCode).toBe(422);
    const theirs = await page(stranger.token);
    expect(theirs.events.filter((event) => event.agent_id === agent_id)).toEqual([]);
  });

  it('refuses a cursor of another range', async () => {
    const { token, plane, ship } = await aSetting();
    plane.append(aDecision());
    plane.append(aDecision());
    await ship();
    const { cursor } = await page(token, `limit=1&from=${minute(0)}`);
    const answer = await call(`${ROUTE}?cursor=${cursor}&from=${minute(1)}`, { token });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().errors[0].loc).toEqual(['query', 'cursor']);
  });

  it('refuses a cursor that was changed, or is another tenant’s', async () => {
    const { token, plane, ship } = await aSetting();
    plane.append(aDecision());
    plane.append(aDecision());
    await ship();
    const first = await page(token, 'limit=1');
    const cursor = first.cursor ?? '';
    const [text = '', tag = ''] = cursor.split('.');
    const content = JSON.parse(Buffer.from(text, 'base64url').toString());
    const forged = (change: object) =>
      Buffer.from(JSON.stringify({ ...content, ...change })).toString('base64url');
    const cursors = [
      text,
      `${text}.`,
      `${text}.${tag}.${tag}`,
      `${text}.${tag.slice(0, -1)}`,
      ...[{ after: 0 }, { total: 1 }, { from: 0 }, { to: LAST_MS + 1 }].map(
        (change) => `${forged(change)}.${tag}`,
      ),
    ];
    for (const one of cursors) {
      const answer = await call(`${ROUTE}?cursor=${one}`, { token });
      expect(answer.statusCode, one).toBe(422);
      expect(answer.json().errors[0].loc).toEqual(['query', 'cursor']);
    }
    // Even where both trails are as long.
    const stranger = await aSetting();
    stranger.plane.append(aDecision());
    stranger.plane.append(aDecision());
    await stranger.ship();
    await page(stranger.token, 'limit=1');
    const theirs = await call(`${ROUTE}?cursor=${cursor}`, { token: stranger.token });
    expect([theirs.statusCode, theirs.json().detail]).toEqual([
      422,
      'query.cursor: must be the X-Next-Cursor of an earlier page',
    ]);
    expect((await page(token, `cursor=${cursor}`)).total).toBe(first.total);
  });

  it.each([
    'format=xml',
    'limit=0',
    'limit=10001',
    'cursor=',
    'cursor=e30',
    'from=yesterday',
  ])('refuses ?%s with 422', async (query) => {
    const { token } = await aTenantAdmin();
    expect((await call(`${ROUTE}?${query}`, { token })).statusCode).toBe(422);
  });
});

it('a step is bounded by bytes, and has one record at least', async () => {
  const { scope, plane, ship } = await aSetting();
  for (let i = 0; i < 4; i++) plane.append(aDecision());
  await ship();
  const all = { after: 0, until: Number.MAX_SAFE_INTEGER };
  const range = { from: null, to: null };
  const read = (step: { limit: number; bytes: number }) =>
    test.db.inTenant(scope, (tx) => exportStore(tx).read(range, all, step));
  const whole = await read({ limit: 100, bytes: 1_000_000 });
  const sizes = whole.map(({ bytes }) => bytes.length);
  expect(sizes.length).toBeGreaterThan(4);
  expect(await read({ limit: 100, bytes: 1 })).toEqual(whole.slice(0, 1));
  expect(await read({ limit: 2, bytes: 1_000_000 })).toEqual(whole.slice(0, 2));
  const three = sizes.slice(0, 3).reduce((sum, size) => sum + size, 0);
  expect(await read({ limit: 100, bytes: three })).toEqual(whole.slice(0, 3));
});
