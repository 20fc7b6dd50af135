/** What a real OPA never answers, from a fake server; the rest is in tests/opa-server.test.ts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { findTenantProblem, parseOpaAddress } from './opa-address.ts';
import { createOpaExchange } from './opa-exchange.ts';
import { createOpaServer, type OpaServerStatus } from './opa-server.ts';

const TENANT = '0190aaaa-0000-7000-8000-000000000001';
type Answer = (response: ServerResponse, request: IncomingMessage) => void;

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

const json =
  (value: unknown, status = 200): Answer =>
  (response) =>
    void response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify(value));
const provenance = { bundles: { governance: { revision: '7' } } };
const well = json({ provenance, result: TENANT });
const hang: Answer = () => undefined;
/** For a server that hangs; one that answers does so much sooner, even on a busy machine. */
const TIMEOUT_MS = 600;
const verdict = { decision: 'allow', reasons: [] };

async function anOpa(
  decision: Answer,
  probe: Answer = well,
  maxCalls = 10,
  findTenantProblem?: () => string | undefined,
) {
  const answers = { decision, probe };
  const asked = { decision: 0, probe: 0 };
  const http = createServer((request, response) => {
    const kind = request.url?.includes('/governance/decision?') ? 'decision' : 'probe';
    asked[kind]++;
    request.resume().once('end', () => answers[kind](response, request));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const base = new URL(`http://127.0.0.1:${(http.address() as AddressInfo).port}/`);
  const states: OpaServerStatus['state'][] = [];
  const server = createOpaServer({
    tenantId: TENANT,
    exchange: createOpaExchange(base, 'token', 4),
    probes: createOpaExchange(base, 'token', 1),
    timeoutMs: TIMEOUT_MS,
    ...(findTenantProblem && { findTenantProblem }),
    onState: ({ state }) => states.push(state),
    intervals: { well: 40, ill: 20 },
    maxAsked: { calls: maxCalls, bytes: 1_000 },
    atOnce: 2,
  });
  ends.push(async () => {
    await server.stop();
    http.closeAllConnections();
    await new Promise((resolve) => http.close(resolve));
  });
  return { server, answers, asked, states, ask: () => server.ask('agent', '{}', TIMEOUT_MS) };
}

const aReason = (rule: string) => ({ policy_id: 'p', policy: 'p', rule, message: 'm' });

describe('an answer', () => {
  it('is the verdict and the revision that it was made by', async () => {
    const { ask, states } = await anOpa(json({ provenance, result: verdict }));
    expect(await ask()).toEqual({ kind: 'judged', outcome: { ok: true, verdict }, revision: 7 });
    expect(states).toEqual(['ok']);
  });

  const text =
    (body: string): Answer =>
    (response) =>
      void response.end(body);
  it.each<[string, Answer, object]>([
    ['no JSON', text('allow'), { kind: 'failed', failure: 'opa_malformed' }],
    ['a key twice', text('{"result":1,"result":2}'), { failure: 'opa_malformed' }],
    ['no object', text('[]'), { failure: 'opa_malformed' }],
    ['too much', text(`{"x":"${'x'.repeat(2 ** 20)}"}`), { failure: 'opa_malformed' }],
    [
      'a redirect',
      (response) => void response.writeHead(307, { location: '/other' }).end(),
      { failure: 'opa_error' },
    ],
    ['401', json({ code: 'unauthorized', message: 'no' }, 401), { failure: 'opa_error' }],
    [
      'an error of its own',
      json({ code: 'internal_error', message: 'x' }, 500),
      { failure: 'opa_error' },
    ],
    [
      'a verdict with more in it',
      json({ provenance, result: { ...verdict, note: 1 } }),
      { kind: 'judged', outcome: { ok: false, fault: 'malformed_verdict' } },
    ],
    [
      'an allow beside a reason to deny',
      json({ provenance, result: { decision: 'allow', reasons: [aReason('deny')] } }),
      { outcome: { ok: false, fault: 'malformed_verdict' } },
    ],
    [
      'an escalation beside a reason to deny',
      json({
        provenance,
        result: { decision: 'escalate', reasons: [aReason('deny'), aReason('escalate')] },
      }),
      { outcome: { ok: false, fault: 'malformed_verdict' } },
    ],
    [
      'an escalation that asks nothing',
      json({ provenance, result: { decision: 'escalate', reasons: [] } }),
      { outcome: { ok: false, fault: 'malformed_verdict' } },
    ],
    ['nothing', json({ provenance }), { outcome: { ok: false, fault: 'undefined' }, revision: 7 }],
    ['no revision', json({ result: verdict }), { kind: 'judged', revision: null }],
    [
      'a revision that is no number',
      json({ result: verdict, provenance: { bundles: { x: { revision: '7x' } } } }),
      { revision: null },
    ],
    [
      'two bundles, neither ours',
      json({
        result: verdict,
        provenance: { bundles: { a: { revision: '7' }, b: { revision: '7' } } },
      }),
      { revision: null },
    ],
    ['silence, though it is healthy', hang, { kind: 'failed', failure: 'opa_timeout' }],
    ['empty', text(''), { failure: 'opa_malformed' }],
  ])('that is %s decides nothing', async (_what, decision, expected) => {
    const { ask } = await anOpa(decision);
    expect(await ask()).toMatchObject(expected);
  });

  it.each<[string, Answer]>([
    ['502', (response) => void response.writeHead(502).end('bad gateway')],
    ['a cut connection', (response) => void response.destroy()],
  ])('%s of a healthy server is no outage', async (_what, decision) => {
    const { ask, asked } = await anOpa(decision);
    expect(await ask()).toMatchObject({ kind: 'failed', failure: 'opa_unreachable' });
    // A kept connection may have died, so it is asked once more.
    expect(asked.decision).toBe(2);
  });
});

describe('the circuit', () => {
  it('makes no call wait once the server is known to be away, and closes by itself', async () => {
    const { ask, answers, asked } = await anOpa(json({ provenance, result: verdict }));
    expect(await ask()).toMatchObject({ kind: 'judged' });
    answers.decision = hang;
    answers.probe = hang;
    expect(await ask()).toMatchObject({ kind: 'unavailable' });
    const before = asked.decision;
    for (let i = 0; i < 50; i++) expect(await ask()).toMatchObject({ kind: 'unavailable' });
    // No request was sent, so nothing was waited for.
    expect(asked.decision).toBe(before);
    answers.decision = json({ provenance, result: verdict });
    answers.probe = well;
    await expect.poll(async () => (await ask()).kind, { timeout: 5_000 }).toBe('judged');
  });

  it('is opened by the probes alone, without a call', async () => {
    const { server, answers } = await anOpa(hang);
    await server.look();
    answers.probe = hang;
    await expect.poll(() => server.status().state, { timeout: 5_000 }).toBe('unreachable');
  });

  it.each<[string, Answer, string]>([
    ["another tenant's bundle", json({ provenance, result: 'other' }), 'opa_wrong_tenant'],
  ])('asks nothing of a server with %s', async (_what, probe, failure) => {
    const { ask, asked } = await anOpa(json({ provenance, result: verdict }), probe);
    expect(await ask()).toMatchObject({ kind: 'failed', failure });
    expect(asked.decision).toBe(0);
  });

  it('has a few questions of one agent at a time, and others pass them', async () => {
    const { ask, answers, asked, server } = await anOpa(hang);
    await server.look();
    // The last two give up while the first two have their turns.
    const costly = [TIMEOUT_MS, TIMEOUT_MS, TIMEOUT_MS / 2, TIMEOUT_MS / 2].map((ms) =>
      server.ask('agent', '{}', ms),
    );
    await expect.poll(() => asked.decision).toBe(2);
    answers.decision = json({ provenance, result: verdict });
    expect(await server.ask('other', '{}', TIMEOUT_MS)).toMatchObject({ kind: 'judged' });
    const ends = (await Promise.all(costly)).map((one) => one.kind);
    expect(ends).toEqual(['failed', 'failed', 'failed', 'failed']);
    expect(asked.decision).toBe(3);
    expect(await ask()).toMatchObject({ kind: 'judged' });
  });

  it('bounds what waits', async () => {
    const { ask, server } = await anOpa(hang, well, 2);
    await server.look();
    const all = await Promise.all([
      ask(),
      ask(),
      ask(),
      server.ask('agent', 'x'.repeat(2_000), TIMEOUT_MS),
    ]);
    const failures = all.map((one) => (one.kind === 'failed' ? one.failure : one.kind));
    expect(failures).toEqual(['opa_timeout', 'opa_timeout', 'opa_overloaded', 'opa_overloaded']);
  });
});

describe('one address of several tenants', () => {
  const shared = () => 'names one OPA server';
  const allow = json({ provenance, result: verdict });
  const noAddress = { kind: 'failed', failure: 'opa_no_address', message: 'names one OPA server' };

  it.each<[string, Answer]>([
    ['has the bundle of another tenant', json({ provenance, result: 'another' })],
    ['has no bundle', json({})],
    ['cannot be reached', hang],
    ['answers with an error', json({ code: 'internal_error', message: 'x' }, 500)],
  ])('is nobody’s for one whose bundle it was not found to have: it %s', async (_, probe) => {
    const { ask, asked, server } = await anOpa(allow, probe, 10, shared);
    // Not an outage either, which could be allowed: nothing of this tenant is there to be away.
    expect(await ask()).toEqual(noAddress);
    expect(server.findNoAddress()).toBe('names one OPA server');
    expect(asked.decision).toBe(0);
  });

  it('is the one’s whose bundle it has, also while it is away', async () => {
    const { ask, answers, server } = await anOpa(allow, well, 10, shared);
    expect(await ask()).toMatchObject({ kind: 'judged' });
    Object.assign(answers, { probe: hang, decision: hang });
    await expect.poll(() => server.status().state).toBe('unreachable');
    expect(await ask()).toMatchObject({ kind: 'unavailable' });
  });
});

it('one address serves one tenant', () => {
  const one = parseOpaAddress('http://opa:8181');
  expect(findTenantProblem(one, 1)).toBeUndefined();
  expect(findTenantProblem(one, 2)).toContain('{tenant_id}');
  const each = parseOpaAddress('http://{tenant_id}.opa/base');
  expect(findTenantProblem(each, 2)).toBeUndefined();
  expect(each.of(TENANT).href).toBe(`http://${TENANT}.opa/base/`);
});
