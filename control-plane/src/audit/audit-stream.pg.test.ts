import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createParser } from 'eventsource-parser';
import { afterEach, describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  anOutcome,
  aPolicyAlert,
} from '../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { raiseAlert } from '../alerts/raise-alert.ts';
import { createAuditStream, MAX_STREAMS_PER_TENANT } from './audit-stream.ts';

const cp = await testControlPlane({ env: { SERVICE_SSE_KEEPALIVE_SECONDS: '1' } });
const { app, test, controlPlane, aTenantAdmin, call } = cp;
await app.listen({ port: 0, host: '127.0.0.1' });
const { port } = app.server.address() as AddressInfo;
const now = () => new Date();
const url = `http://127.0.0.1:${port}/api/v1/audit/stream`;

interface Listener {
  status: number;
  headers: Headers;
  events: { id: string | undefined; data: Record<string, unknown> }[];
  comments: string[];
  /** Resolves when the service ended the stream. */
  ended: Promise<void>;
  until(condition: () => boolean): Promise<void>;
  close(): void;
}

const open: Listener[] = [];
afterEach(() => {
  for (const listener of open.splice(0)) listener.close();
});

async function listen(token: string, headers: Record<string, string> = {}): Promise<Listener> {
  const controller = new AbortController();
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${token}`, accept: 'text/event-stream', ...headers },
    signal: controller.signal,
  });
  const listener: Listener = {
    status: response.status,
    headers: response.headers,
    events: [],
    comments: [],
    ended: Promise.resolve(),
    until: async (condition) => {
      for (let i = 0; i < 1_500 && !condition(); i++) await sleep(10);
      expect(condition()).toBe(true);
    },
    close: () => controller.abort(),
  };
  const parser = createParser({
    onEvent: ({ id, data }) => void listener.events.push({ id, data: JSON.parse(data) }),
    onComment: (comment) => void listener.comments.push(comment),
  });
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? [])
      parser.feed(decoder.decode(chunk, { stream: true }));
  };
  if (response.ok) listener.ended = read().catch(() => undefined);
  open.push(listener);
  return listener;
}

async function aSetting() {
  const { scope, token } = await aTenantAdmin();
  const plane = await aDataPlane(test, scope);
  plane.boot();
  let shipped = 0;
  const ship = async () => {
    await controlPlane.ingest.ingestBatch(scope.tenantId, plane.deploymentId, plane.batch(shipped));
    shipped = plane.records.length;
  };
  await ship();
  return { scope, token, plane, ship };
}

describe('GET /api/v1/audit/stream', () => {
  it('leaves out what calls say about themselves if the tenant wants that', async () => {
    const { token, plane, ship } = await aSetting();
    const changed = await call('/api/v1/admin/data-protection', {
      token,
      method: 'PATCH',
      body: { strip_payload_from_stream: true },
    });
    expect(changed.statusCode, changed.body).toBe(200);
    const listener = await listen(token);
    await listener.until(() => listener.comments.length > 0);
    plane.append(aDecision({ target: '/secret', policy_reason: 'says /secret' }));
    plane.append(aPolicyAlert({ details: { requester_id: 'secret', policy: 'named' } }));
    await ship();
    await listener.until(() => listener.events.length >= 2);
    const [decision, alert] = listener.events.map(({ data }) => data);
    expect(decision).toMatchObject({ event_type: 'tool_call', tool_name: 'read_file' });
    expect(decision).not.toHaveProperty('result_payload_digest');
    expect(alert).toMatchObject({ event_type: 'alert', details: { policy: 'named' } });
    expect(JSON.stringify(listener.events)).not.toContain('secret');
  });

  it('shows decisions as they are recorded, alerts and the kill switch, under their type', async () => {
    const { scope, token, plane, ship } = await aSetting();
    plane.append(aDecision({ target: '/before' }));
    await ship();
    const listener = await listen(token);
    expect(listener.status).toBe(200);
    expect(listener.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(listener.headers.get('x-content-type-options')).toBe('nosniff');
    // Only once it stands at the newest record does it miss nothing that follows.
    await listener.until(() => listener.comments.length > 0);

    const allowed = aDecision({ target: 'line\nbreak\u2028' });
    plane.append(allowed);
    plane.append(anOutcome(allowed.id));
    plane.append(aDecision({ policy_result: 'deny' }));
    plane.append(aDecision({ policy_result: 'dlp_block' }));
    plane.append(aDecision({ policy_result: 'escalate' }));
    await ship();
    await controlPlane.db.inTenant(scope, async (tx) => {
      await raiseAlert(tx, {
        alertType: 'CHAIN_BREAK',
        severity: 'critical',
        agentId: null,
        title: 'A chain is broken',
        details: { stream: 'x' },
        dedupeKey: null,
        now: new Date(),
      });
    });
    await call('/api/v1/admin/killswitch', { token, method: 'POST' });
    await listener.until(() => listener.events.length >= 6);
    expect(listener.events.map(({ data }) => data.event_type)).toEqual([
      'tool_call',
      'policy_deny',
      'policy_deny',
      'policy_escalate',
      'alert',
      'system_notification',
    ]);
    expect(listener.events[0]?.data).toMatchObject({
      id: allowed.id,
      target: 'line\nbreak\u2028',
      tool_name: 'read_file',
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      seq: 3,
    });
    expect(listener.events[4]?.data).toMatchObject({
      alert_type: 'CHAIN_BREAK',
      severity: 'critical',
      title: 'A chain is broken',
      details: { stream: 'x' },
    });
    const ids = listener.events.map(({ id }) => Number(id));
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
  });

  it('shows the alerts that come from a data plane', async () => {
    const { token, plane, ship } = await aSetting();
    const listener = await listen(token);
    await listener.until(() => listener.comments.length > 0);
    plane.append({
      type: 'alert',
      id: '0190aaaa-0000-7000-8000-00000000000b',
      timestamp: new Date().toISOString(),
      bundle_revision: 1,
      alert_type: 'POLICY_OUT_OF_FUEL',
      severity: 'high',
      agent_id: null,
      title: 'A policy ran out of fuel',
      details: {},
      dedupe_key: 'fuel',
    });
    await ship();
    await listener.until(() => listener.events.length === 1);
    expect(listener.events[0]?.data).toMatchObject({
      event_type: 'alert',
      id: '0190aaaa-0000-7000-8000-00000000000b',
      alert_type: 'POLICY_OUT_OF_FUEL',
    });
  });

  it('resumes after the last event that was seen, without a gap or a duplicate', async () => {
    const { token, plane, ship } = await aSetting();
    const first = await listen(token);
    await first.until(() => first.comments.length > 0);
    for (let i = 0; i < 3; i++) plane.append(aDecision({ target: `/${i}` }));
    await ship();
    await first.until(() => first.events.length === 3);
    first.close();
    // More than two pages are missed meanwhile.
    for (let i = 3; i < 130; i++) {
      const decision = aDecision({ target: `/${i}` });
      plane.append(decision);
      plane.append(anOutcome(decision.id));
    }
    await ship();
    const second = await listen(token, { 'last-event-id': first.events[1]?.id ?? '' });
    await second.until(() => second.events.length >= 128);
    plane.append(aDecision({ target: '/130' }));
    await ship();
    await second.until(() => second.events.length >= 129);
    const targets = second.events.map(({ data }) => data.target);
    expect(targets).toEqual(Array.from({ length: 129 }, (_, i) => `/${i + 2}`));
    const all = await listen(token, { 'last-event-id': '0' });
    await all.until(() => all.events.length >= 131);
    expect(all.events[0]?.data.target).toBe('/0');
  });

  it('takes an id from beyond the end for the end', async () => {
    const { token, plane, ship } = await aSetting();
    const listener = await listen(token, { 'last-event-id': '999999999' });
    await listener.until(() => listener.comments.length > 0);
    plane.append(aDecision());
    await ship();
    await listener.until(() => listener.events.length === 1);
  });

  it('keeps the connection alive', async () => {
    const { token } = await aTenantAdmin();
    const listener = await listen(token);
    const started = Date.now();
    await listener.until(() => listener.comments.length >= 2);
    expect(listener.comments).toEqual(['keepalive', 'keepalive']);
    expect(Date.now() - started).toBeGreaterThan(1_500);
  });

  it('shows nothing of another tenant', async () => {
    const { plane, ship } = await aSetting();
    const stranger = await aTenantAdmin();
    const listener = await listen(stranger.token, { 'last-event-id': '0' });
    plane.append(aDecision());
    await ship();
    await listener.until(() => listener.comments.length > 0);
    expect(listener.events).toEqual([]);
  });

  it('ends when the token is no longer valid', async () => {
    const { scope, token } = await aTenantAdmin();
    const listener = await listen(token);
    await listener.until(() => listener.comments.length > 0);
    await test.superuser.query('UPDATE administrators SET token_version = 2 WHERE id = $1', [
      scope.actor.id,
    ]);
    await listener.ended;
    expect(listener.events.at(-1)?.data).toMatchObject({
      event_type: 'system_notification',
      message: 'The token is no longer valid.',
    });
    expect((await listen(token)).status).toBe(401);
  });

  it('ends also when the reader is far behind, before another page is sent', async () => {
    const { scope, plane, ship } = await aSetting();
    for (let i = 0; i < 200; i++) plane.append(aDecision());
    await ship();
    const { db } = controlPlane;
    const stream = createAuditStream({ db, changes: test.changes, keepaliveMs: 20, now });
    let isValid = true;
    const chunks = stream.open({
      ...{ scope, lastEventId: 0, signal: new AbortController().signal, drop: () => {} },
      authorize: async () => {
        if (!isValid) throw new Error('disabled');
      },
    });
    const next = async () => (await chunks.next()).value;
    expect(await next()).toContain('retry');
    expect(await next()).toContain('"event_type":"tool_call"');
    isValid = false;
    await sleep(25);
    const rest: unknown[] = [];
    for (let chunk = await next(); chunk !== undefined; chunk = await next()) rest.push(chunk);
    expect(rest.filter((chunk) => chunk !== ':keepalive\n\n')).toEqual([
      expect.stringContaining('The token is no longer valid.'),
    ]);
  });

  it.each([
    [{ 'last-event-id': 'x' }, 422],
    [{ 'last-event-id': '-1' }, 422],
    [{ 'last-event-id': '1'.repeat(40) }, 422],
    [{ accept: 'application/json' }, 406],
    [{ authorization: 'Bearer nothing' }, 401],
  ])('refuses %j with %i', async (headers, status) => {
    const { token } = await aTenantAdmin();
    const listener = await listen(token, headers);
    expect(listener.status).toBe(status);
  });

  it('has a limit of open streams a tenant', async () => {
    const { token } = await aTenantAdmin();
    const all: Listener[] = [];
    for (let i = 0; i < MAX_STREAMS_PER_TENANT; i++) all.push(await listen(token));
    expect(all.every((listener) => listener.status === 200)).toBe(true);
    expect((await listen(token)).status).toBe(429);
    const other = await aTenantAdmin();
    expect((await listen(other.token)).status).toBe(200);
    for (const listener of all) listener.close();
    for (let i = 0; i < 100; i++) {
      const again = await listen(token);
      if (again.status === 200) return;
      await sleep(20);
    }
    expect.unreachable('a closed stream still counts');
  });

  it('drops a reader that does not read, and gives the others everything', async () => {
    const { scope, token, plane, ship } = await aSetting();
    let drop = () => {};
    const dropped = new Promise<void>((resolve) => {
      drop = resolve;
    });
    const stream = createAuditStream({
      db: controlPlane.db,
      changes: test.changes,
      keepaliveMs: 1_000,
      stalledAfterMs: 50,
      now,
    });
    const chunks = stream.open({
      scope,
      lastEventId: 0,
      signal: new AbortController().signal,
      drop,
      authorize: async () => {},
    });
    await chunks.next();
    await dropped;
    await chunks.return(undefined);

    // Over a socket: a client that never reads does not hold up, or fill, anything.
    const socket = connect(port, '127.0.0.1');
    socket.pause();
    socket.write(
      `GET /api/v1/audit/stream HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nLast-Event-ID: 0\r\n\r\n`,
    );
    const reader = await listen(token);
    await reader.until(() => reader.comments.length > 0);
    for (let batch = 0; batch < 10; batch++) {
      for (let i = 0; i < 400; i++) plane.append(aDecision({ target: 'x'.repeat(1_000) }));
      await ship();
    }
    await reader.until(() => reader.events.length === 4_000);
    socket.destroy();
  });
});

describe('a stop of the service', () => {
  it('is announced after the recorded events, ends the streams and refuses new ones', async () => {
    const stopping = await testControlPlane();
    await stopping.app.listen({ port: 0, host: '127.0.0.1' });
    const own = await stopping.aTenantAdmin();
    const { port: ownPort } = stopping.app.server.address() as AddressInfo;
    const response = await fetch(`http://127.0.0.1:${ownPort}/api/v1/audit/stream`, {
      headers: { authorization: `Bearer ${own.token}` },
    });
    const text = response.text();
    await sleep(50);
    await stopping.call('/api/v1/admin/killswitch', { token: own.token, method: 'POST' });
    await stopping.app.close();
    const events = (await text).match(/^data: .*$/gm)?.map((line) => JSON.parse(line.slice(6)));
    expect(events).toMatchObject([
      { event_type: 'system_notification', message: 'kill_switch_engaged' },
      { event_type: 'system_notification', message: expect.stringMatching(/stopping/) },
    ]);
  });
});
