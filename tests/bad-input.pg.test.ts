/**
 * Every route against input that nobody should send: always 4xx with a `detail`, never 5xx, and the
 * service goes on. The routes come from the route table, so that a new one is attacked too; one
 * with a body has to say here what a good body is, since only its neighbours make a good attack.
 */
import type { RouteEntry } from '@governance/control-plane/platform/http/route-table';
import { PAYLOAD_LIMITS } from '@governance/shared/evidence/event-payload';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { aRegistration } from './support/a-registration.ts';
import { ENDLESS_ROUTE, productRoutes, routeName, routePath } from './support/route-paths.ts';
import { type CallOptions, testControlPlane } from './support/test-control-plane.ts';

const plane = await testControlPlane({ env: { SERVICE_METRICS_TOKEN: 'metrics-token' } });
const { call, controlPlane, logged } = plane;
const admin = await plane.aTenantAdmin();
const superToken = await plane.superAdminToken();
// Somebody else's sessions end by these.
const other = await plane.aColleague(admin.scope, 'admin');
const OTHERS_TOKEN: Record<string, string> = { 'POST /api/v1/auth/logout': other.token };
const deploymentId = uuidv7();
const issued = await call('/api/v1/admin/data-plane-tokens', {
  token: admin.token,
  body: { label: 'attacked', region: 'eu' },
});

/** A body that each route's schema accepts, whether or not what it names exists. */
const GOOD_BODIES: Record<string, object> = {
  'POST /api/v1/auth/admin/login': { username: 'nobody', password: 'wrong password' },
  'POST /api/v1/auth/token': {
    grant_type: 'client_credentials',
    client_id: 'nobody',
    client_secret: 'wrong',
  },
  'POST /api/v1/signup': {
    organization: 'signed up',
    admin: { username: 'signed.up@example.com', password: 'long enough' },
  },
  'POST /api/v1/enroll': {
    enrollment_token: 'enr_none',
    ...{ name: 'n', agent_type: 't', owner: 'o', description: 'd' },
  },
  'POST /api/v1/enroll/installer': { installer_token: 'ins_none', client: 'cursor' },
  'POST /api/v1/agents/:id/credentials': { label: 'l', client: 'cursor' },
  'POST /api/v1/agents/:id/installer-tokens': { label: 'l', client: 'vscode' },
  'POST /api/v1/admin/enrollment-tokens': {
    ...{ label: 'l', role_ids: [], max_uses: 2, expires_in_hours: 2 },
  },
  'POST /api/v1/auth/password': { current_password: 'wrong', new_password: 'long enough' },
  'POST /api/v1/admin/users': {
    username: 'attacked.user@example.com',
    password: 'long enough',
    role: 'auditor',
  },
  'PATCH /api/v1/admin/users/:id': { role: 'admin', status: 'active', password: 'long enough' },
  'POST /api/v1/tenants': {
    name: 'attacked',
    admin: { username: 'attacked@example.com', password: 'long enough a password' },
  },
  'POST /api/v1/agents': { name: 'a', agent_type: 't', owner: 'o', description: 'd' },
  'PATCH /api/v1/agents/:id': { name: 'a', description: 'd', status: 'suspended' },
  'POST /api/v1/agents/:id/roles': { role_id: uuidv7() },
  'POST /api/v1/roles': {
    name: 'r',
    description: 'd',
    permissions: ['files:read'],
    resource_scopes: ['/srv'],
  },
  'POST /api/v1/policies': {
    name: 'p',
    description: 'd',
    rego_content: 'package p\n\nallow := false\n',
    status: 'draft',
  },
  'PATCH /api/v1/policies/:id': { name: 'p', description: 'd', status: 'archived' },
  'POST /api/v1/policies/:id/evaluate': {
    agent: { id: 'a', roles: [], permissions: ['files:read'], risk_tier: 'low' },
    request: {
      tool_name: 'read_file',
      action: 'read',
      resource: '/srv',
      parameters: {},
      mcp_server: 'files',
    },
    dlp: { findings_count: 1, max_severity: 'low', patterns: ['p'] },
    context: { region: 'eu', model: 'm' },
    workflow: null,
    delegation: null,
  },
  'POST /api/v1/policies/:id/replay': {
    from: '2026-01-01T00:00:00Z',
    to: '2026-02-01T00:00:00Z',
    rego: 'package p\n\nallow := false\n',
  },
  'POST /api/v1/policies/:id/change-requests': {
    proposed_rego_content: 'package p\n\nallow := false\n',
    proposed_name: 'p',
    proposed_description: 'd',
    proposed_status: 'active',
    summary: 's',
  },
  'POST /api/v1/policies/:id/change-requests/:req_id/approve': {
    notes: 'n',
    digest: 'a'.repeat(64),
  },
  'POST /api/v1/policies/:id/change-requests/:req_id/reject': { notes: 'n' },
  'POST /api/v1/mcp-servers': {
    server_id: 'attacked',
    transport: 'streamable-http',
    url: 'https://mcp.example/mcp',
    enabled: true,
  },
  'PATCH /api/v1/mcp-servers/:server_id': { url: 'https://mcp.example/mcp', enabled: false },
  'POST /api/v1/dlp/patterns': {
    name: 'n',
    regex: 'a{2}b',
    severity: 'low',
    description: 'd',
    enabled: true,
  },
  'PATCH /api/v1/dlp/patterns/:pattern_id': { name: 'n', regex: 'a', severity: 'low' },
  'POST /api/v1/dlp/patterns/test': { regex: 'a{2}b', text: 'aab' },
  'PATCH /api/v1/dlp/settings': { outbound: { high: 'block' }, cross_session: false },
  'POST /api/v1/inbound/rules': {
    source_pattern: 'https://docs.example/*',
    rule_type: 'untrusted',
    expires_in: '24h',
    notes: 'n',
  },
  'POST /api/v1/mcp-servers/:server_id/tools/:tool/approve': { hash: 'a'.repeat(64) },
  'PATCH /api/v1/admin/settings': {
    inbound: { actions: { high: 'substitute' }, untrusted_actions: { low: 'hold' } },
    pinned_tools: { require_approval: false },
    policies: { require_change_requests: false },
    holds: { timeout_minutes: { low: 60 } },
    sessions: { idle_minutes: 30, cycling_sessions: 5 },
  },
  'POST /api/v1/escalations/:id/approve': { notes: 'n', create_exception: false },
  'POST /api/v1/escalations/:id/deny': { notes: 'n' },
  'POST /api/v1/exceptions': {
    justification: 'the nightly clean-up',
    expires_in_hours: 24,
    lifts: 'escalation',
    agent_id: uuidv7(),
    mcp_server: 'files',
    tool_name: 'delete_file',
    resource: '/srv/tmp/**',
    policy_id: 'blast_radius',
    max_extensions: 4,
  },
  'PATCH /api/v1/exceptions/:id/extend': { hours: 24 },
  'POST /api/v1/exceptions/:id/approve': { notes: 'n' },
  'POST /api/v1/exceptions/:id/reject': { notes: 'n' },
  'POST /api/v1/inbound/holds/:id/resolve': { resolution: 'block', notes: 'n' },
  'PATCH /api/v1/admin/blast-radius': {
    email_recipient_limit: 5,
    min_delete_depth: 2,
    bulk_action_threshold: 50,
    config_path_prefixes: ['/etc'],
    protected_file_patterns: ['*.pem'],
  },
  'PATCH /api/v1/admin/rate-limits': {
    enabled: true,
    limits: { low: { requests: 600_000, window_seconds: 60 }, critical: { requests: 10 } },
  },
  'PATCH /api/v1/admin/data-protection': {
    payload_mode: 'metadata_only',
    redact_dlp_matches: true,
    redact_fields: ['password'],
    encryption_enabled: false,
    kms_provider: 'local',
    kms_key_id: 'key-1',
    payload_retention_days: 30,
    strip_payload_from_stream: true,
    test_kms_connectivity: false,
  },
  'POST /api/v1/data-planes/:deployment_id/payloads': {
    payloads: [{ event_id: uuidv7(), part: 'input', jwe: 'a..b.c.d' }],
  },
  'PATCH /api/v1/monitor/alerts/:id': { status: 'resolved', resolved_by: 'somebody' },
  'POST /api/v1/audit/chain/breaks/:id/acknowledge': { notes: 'seen' },
  'POST /api/v1/admin/data-plane-tokens': { label: 'l', region: 'eu', expires_days: 1 },
  'POST /api/v1/data-planes/register': aRegistration({ region: 'eu' }).provenWith(
    issued.json().token,
  ),
  'POST /api/v1/data-planes/:deployment_id/heartbeat': {
    deployment_id: deploymentId,
    active_agent_count: 0,
    proxy_rpm_1m: 0.5,
    escalations_pending: 0,
    opa_bundle_version: '1',
    uptime_seconds: 1.5,
    mcp_servers: { resting: ['a'], failing: [], ok: ['b'] },
  },
  'POST /api/v1/workflows': {
    name: 'w',
    owner_agent_id: uuidv7(),
    max_depth: 3,
    max_participants: 4,
    participants: [{ agent_id: uuidv7(), role: 'r', allowed_actions: ['read'] }],
  },
  'PUT /api/v1/workflows/:id': { name: 'w', max_depth: 3, status: 'active' },
  'POST /api/v1/workflows/:id/sessions': {
    initiated_by: 'somebody',
    metadata: {},
    expires_in_seconds: 600,
  },
  'POST /api/v1/delegations': {
    workflow_session_id: uuidv7(),
    delegator_agent_id: uuidv7(),
    delegatee_agent_id: uuidv7(),
    scope: { tools: ['files/read_file'], resources: ['/srv/**'] },
    reason: 'r',
    requester: 'somebody',
  },
  'POST /api/v1/evidence/packages': {
    from: '2026-01-01T00:00:00Z',
    to: '2026-02-01T00:00:00Z',
    agent_ids: [uuidv7()],
    workflow_session_id: uuidv7(),
    include_payloads: false,
  },
  'POST /api/v1/admin/keys/:purpose/rotate': { reason: 'r', revoke: false },
  'POST /api/v1/admin/killswitch': { scope: 'tenant', reason: 'r', lift: true },
};

/** Bytes of what is too large for a route that takes more than others. */
const LARGE_BODIES: Record<string, number> = {
  'POST /api/v1/data-planes/:deployment_id/payloads': PAYLOAD_LIMITS.bytes,
};

// The stream's answer does not end; it has tests of its own.
const routes = productRoutes(controlPlane.routes).filter(({ url }) => url !== ENDLESS_ROUTE);
const named = (chosen: RouteEntry[]) => chosen.map((route) => [routeName(route), route] as const);

const { paths } = (await call('/docs/json')).json();
const documentedPath = (url: string) => paths[url.replace(/:(\w+)/g, '{$1}')];
const takesBody = ({ method, url }: RouteEntry) =>
  documentedPath(url)[method.toLowerCase()].requestBody?.content['application/json'] !== undefined;
const routesWithBody = routes.filter(takesBody);

const TOKENS: Record<RouteEntry['guard'], string | undefined> = {
  public: undefined,
  admin: admin.token,
  'admin-or-platform': admin.token,
  'tenant-admin': admin.token,
  'super-admin': superToken,
  'data-plane': issued.json().token,
  'data-plane-backlog': issued.json().token,
  metrics: 'metrics-token',
};

const pathOf = (route: RouteEntry) =>
  routePath(route, { tenantId: admin.scope.tenantId, deploymentId });

function ask(route: RouteEntry, options: CallOptions & { path?: string } = {}) {
  const { path, ...rest } = options;
  const token = OTHERS_TOKEN[routeName(route)] ?? TOKENS[route.guard];
  return call(path ?? pathOf(route), {
    method: route.method as CallOptions['method'],
    ...(token === undefined ? {} : { token }),
    ...rest,
  });
}

const JSON_TYPE = { 'content-type': 'application/json' };
const send = (route: RouteEntry, body: string | Buffer, headers = JSON_TYPE) =>
  ask(route, { body, headers });

type Answer = Awaited<ReturnType<typeof ask>>;

function expectRefused(answer: Answer, about: string): void {
  expect(answer.statusCode, `${about}: ${answer.body}`).toBeGreaterThanOrEqual(400);
  expectHarmless(answer, about);
}

/** It may be fine, but an error is the caller's, and says what is wrong. */
function expectHarmless(answer: Answer, about: string): void {
  expect(answer.statusCode, `${about}: ${answer.body}`).toBeLessThan(500);
  if (answer.statusCode < 400) return;
  const { detail } = answer.json();
  expect(detail, about).toEqual(expect.any(String));
  expect(detail).not.toBe('');
}

describe('each route that takes a body', () => {
  it('is listed here with a valid example', () => {
    expect(routesWithBody.map(routeName).sort()).toEqual(Object.keys(GOOD_BODIES).sort());
  });

  it.each(named(routesWithBody))('%s accepts its valid example', async (name, route) => {
    const answer = await send(route, JSON.stringify(GOOD_BODIES[name]));
    // What it names does not exist, but nothing is wrong with its form.
    expect([200, 201, 202, 401, 404], answer.body).toContain(answer.statusCode);
  });

  it.each(named(routesWithBody))('%s refuses what is not JSON', async (name, route) => {
    const good = JSON.stringify(GOOD_BODIES[name]);
    const [field] = Object.keys(GOOD_BODIES[name] ?? {});
    const attacks: [string, string | Buffer][] = [
      ['cut short', good.slice(0, -1)],
      ['twice', `${good}${good}`],
      ['a key twice', `{"${field}":1,"${field}":1}`],
      ['__proto__', `{"__proto__":{"${field}":1}}`],
      ['a comment', `/* */${good}`],
      ['single quotes', good.replaceAll('"', "'")],
      ['NaN', `{"${field}":NaN}`],
      ['a number no double holds', `{"${field}":1e400}`],
      ['no UTF-8', Buffer.from(good.replace(/"/, '"\xff'), 'latin1')],
      ['a lone surrogate', `{"${field}":"\\ud800"}`],
      ['a lone surrogate as a key', '{"\\udc00":1}'],
      ['deep nesting', `{"${field}":${'['.repeat(10_000)}`],
      ['depth 40', `{"${field}":${'['.repeat(40)}${']'.repeat(40)}}`],
      ['UTF-16', Buffer.from(good, 'utf16le')],
    ];
    for (const [about, body] of attacks) {
      const answer = await send(route, body);
      expectRefused(answer, about);
      expect(answer.statusCode, about).toBe(400);
    }
  });

  it.each(named(routesWithBody))('%s refuses another form of body', async (name, route) => {
    const good = JSON.stringify(GOOD_BODIES[name]);
    for (const body of ['[]', `[${good}]`, '"text"', '5', 'true', JSON.stringify(good)]) {
      const answer = await send(route, body);
      expectRefused(answer, body);
      expect(answer.statusCode, body).toBe(422);
    }
    const bytes = LARGE_BODIES[name] ?? 2_000_000;
    const huge = await send(route, JSON.stringify({ name: 'x'.repeat(bytes) }));
    expectRefused(huge, 'huge');
    expect(huge.statusCode).toBe(413);
    for (const type of ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', '//']) {
      const answer = await send(route, good, { 'content-type': type });
      expectRefused(answer, type);
      expect(answer.statusCode, type).toBe(415);
    }
  });

  it.each(named(routesWithBody))('%s refuses each field of another type', async (name, route) => {
    for (const { about, body } of mutations(GOOD_BODIES[name] ?? {})) {
      const answer = await send(route, JSON.stringify(body));
      expectRefused(answer, about);
      expect(answer.statusCode, about).toBe(422);
      expect(answer.json().errors?.length, about).toBeGreaterThan(0);
    }
  });

  it.each(named(routesWithBody))('%s survives any JSON at all', async (_, route) => {
    await fc.assert(
      fc.asyncProperty(fc.json({ maxDepth: 3 }), async (text) => {
        expectHarmless(await send(route, text), text);
      }),
      { numRuns: 25 },
    );
  });
});

describe('each route that takes none', () => {
  const bare = routes.filter((route) => route.method !== 'GET' && !takesBody(route));

  it.each(named(bare))('%s refuses malformed JSON nevertheless', async (_, route) => {
    expectRefused(await send(route, '{"a":'), 'malformed');
    expectHarmless(await send(route, '[]'), 'unasked');
    expectHarmless(await send(route, ''), 'empty');
  });
});

describe('each path with parameters', () => {
  const withParams = routes.filter(({ url }) => url.includes(':'));
  const ATTACKS = ['x', '%00', '%2e%2e%2f', '%ED%A0%80', "'--", '{}', 'a'.repeat(300), '%25', '-1'];

  it.each(named(withParams))('%s refuses an invalid id', async (name, route) => {
    for (const attack of ATTACKS) {
      const path = route.url.replace(/:\w+/g, attack);
      const body = GOOD_BODIES[name];
      const answer = await ask(route, {
        path,
        ...(body ? { body: JSON.stringify(body), headers: JSON_TYPE } : {}),
      });
      // Other methods' answers to the same path are this route's affair too.
      expectRefused(answer, path);
    }
  });
});

describe('each query', () => {
  const VALUES = [
    '',
    'x',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '99999999999999999999',
    '9007199254740991',
    'NaN',
    '%00',
    'a%00b',
    '%ED%A0%80',
    '%F0%9F%92',
    '9999-12-31T23:59:59.999Z',
    '-000001-01-01T00:00:00.000Z',
    "'%20OR%201=1--",
    'x'.repeat(5_000),
  ];
  const readers = routes.filter((route) => route.method === 'GET');
  const fieldsOf = ({ url }: RouteEntry): string[] => {
    const { parameters = [] } = documentedPath(url).get;
    const known = parameters.filter((one: { in: string }) => one.in === 'query');
    return [...known.map(({ name }: { name: string }) => name), 'unknown'];
  };

  it.each(named(readers))('%s survives any', async (_, route) => {
    const path = pathOf(route);
    for (const field of fieldsOf(route)) {
      for (const value of VALUES) {
        const about = `${field}=${value.slice(0, 40)}`;
        expectHarmless(await ask(route, { path: `${path}?${field}=${value}` }), about);
      }
    }
    for (const query of ['limit=1&limit=2', 'limit[]=1', '__proto__=1', '&&=', '%', 'a=%zz']) {
      expectHarmless(await ask(route, { path: `${path}?${query}` }), query);
    }
  });
});

describe('each header that is read', () => {
  const guarded = routes.filter(({ guard }) => guard !== 'public');

  it.each(named(guarded))('%s refuses an invalid token', async (_, route) => {
    const headers = ['', 'Bearer', 'Bearer ', 'Basic YTpi', `Bearer ${'x'.repeat(8_000)}`];
    headers.push('Bearer a.b.c', 'Bearer é', 'bearer null', `Bearer ${uuidv7()}`);
    for (const authorization of headers) {
      const answer = await call(pathOf(route), {
        method: route.method as CallOptions['method'],
        headers: { authorization },
      });
      expectRefused(answer, authorization);
      expect(answer.statusCode, authorization).toBe(401);
    }
  });

  const byTenant = routes.filter(({ guard }) => guard === 'admin' || guard === 'admin-or-platform');

  it.each(named(byTenant))('%s refuses an invalid X-Tenant-Id', async (_, route) => {
    for (const tenant of ['', 'x', '*', uuidv7(), `${admin.scope.tenantId},${uuidv7()}`]) {
      const headers = { 'x-tenant-id': tenant };
      expectRefused(await ask(route, { headers }), `administrator: ${tenant}`);
      expectRefused(await ask(route, { token: superToken, headers }), `super-admin: ${tenant}`);
    }
  });
});

/** Copies of a body with one field, at any depth, of a type that it never is. */
function mutations(good: object): { about: string; body: unknown }[] {
  return Object.entries(good).flatMap(([key, value]) => {
    const wrong = wrongValues(value).map((bad) => ({
      about: `${key}: ${JSON.stringify(bad)}`,
      body: { ...good, [key]: bad },
    }));
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const inside = isObject
      ? mutations(value).map(({ about, body }) => ({
          about: `${key}.${about}`,
          body: { ...good, [key]: body },
        }))
      : [];
    return [...wrong, ...inside];
  });
}

function wrongValues(value: unknown): unknown[] {
  if (typeof value === 'string') return [5, true, {}, [], ['x'], `${value}\u0000`];
  if (typeof value === 'number') return ['5', true, {}, [], -1];
  if (typeof value === 'boolean') return ['true', 1, {}, []];
  if (Array.isArray(value)) return ['x', 5, {}, [5], [{}], [null], ['a\u0000:b']];
  return ['x', 5, true, []];
}

afterAll(async () => {
  expect(logged.filter((line) => line.includes('unexpected error'))).toEqual([]);
  // The ledger went on: whatever was recorded meanwhile still chains.
  const verified = await call('/api/v1/audit/verify?fresh=true', { token: admin.token });
  expect(verified.json()).toMatchObject({ valid: true, breaks: [] });
});
