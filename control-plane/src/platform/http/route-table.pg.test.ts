/**
 * Every route of the control plane × {no token, another class of token, expired, revoked, wrong
 * role, another tenant}, made from the route table: a route that is added is attacked here too.
 */
import { createHash } from 'node:crypto';
import { encodeBatch, NDJSON } from '@governance/shared/channel/channel-routes';
import { FEED_START } from '@governance/shared/channel/feed-chain';
import { uuidv7 } from '@governance/shared/ids';
import { DAY_MS } from '@governance/shared/time/durations';
import Fastify from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import {
  aDataPlane,
  aDecision,
  aHoldOpened,
  anOutcome,
  aResultHeld,
} from '../../../../tests/support/a-data-plane.ts';
import { aPayload } from '../../../../tests/support/a-payload.ts';
import { anAgent } from '../../../../tests/support/an-agent.ts';
import {
  type CallOptions,
  testControlPlane,
} from '../../../../tests/support/test-control-plane.ts';
import type { TestDatabase } from '../../../../tests/support/test-database.ts';
import { type GuardName, type Guards, guardRoutes, type RouteEntry } from './route-table.ts';

let time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_METRICS_TOKEN: 'metrics-token' },
  prepare: keepFromLeading,
});
const { call, controlPlane, test, aTenantAdmin, aColleague, superAdminToken } = plane;
const theirs = await aTenantAdmin();
const mine = await aTenantAdmin();
const superAdmin = await superAdminToken();
const routes = controlPlane.routes.filter(({ url }) => !url.startsWith('/docs'));
const guarded = routes.filter(({ guard }) => guard !== 'public');
const ofAdmins = guarded.filter(({ guard }) => guard.includes('admin'));
const keyOf = ({ method, url }: Pick<RouteEntry, 'method' | 'url'>) => `${method} ${url}`;

/** A row of each kind in the other tenant, made through the routes where there is one. */
const victim = await makeVictim();
const isOfDataPlanes = (guard: GuardName) =>
  guard === 'data-plane' || guard === 'data-plane-backlog';
const PERMIT = 'package p\n\nallow if true';

async function makeVictim() {
  const post = async (url: string, body: object) => {
    const answer = await call(url, { token: theirs.token, body });
    expect(answer.statusCode, `${url}: ${answer.body}`).toBeLessThan(300);
    return answer.json() as { id: string; token?: string };
  };
  const agent = await post('/api/v1/agents', {
    name: 'victim',
    agent_type: 'assistant',
    owner: 'them',
    description: '',
  });
  const role = await post('/api/v1/roles', {
    name: 'victim',
    description: '',
    permissions: ['*:*'],
    resource_scopes: [],
  });
  await post(`/api/v1/agents/${agent.id}/roles`, { role_id: role.id });
  const policy = await post('/api/v1/policies', {
    name: 'victim',
    description: '',
    rego_content: 'package victim\n\ndeny contains "no" if false',
  });
  const proposed = await post('/api/v1/policies', {
    name: 'proposed',
    rego_content: 'package victim\n\ndeny contains "no" if false',
  });
  const colleague = await aColleague(theirs.scope, 'admin');
  const propose = async (summary: string) => {
    const body = { proposed_description: summary, summary };
    const url = `/api/v1/policies/${proposed.id}/change-requests`;
    return (await call(url, { token: colleague.token, body })).json() as { id: string };
  };
  const [toReject, request] = [await propose('to reject'), await propose('victim')];
  await post('/api/v1/mcp-servers', {
    server_id: 'victim',
    transport: 'streamable-http',
    url: 'https://mcp.example/mcp',
  });
  const pattern = await post('/api/v1/dlp/patterns', {
    name: 'victim',
    regex: 'victim-[0-9]{4}',
    severity: 'low',
  });
  const rule = await post('/api/v1/inbound/rules', {
    source_pattern: 'victim',
    rule_type: 'untrusted',
  });
  const token = await post('/api/v1/admin/data-plane-tokens', { label: 'victim' });
  const user = await post('/api/v1/admin/users', {
    username: 'victim@example.com',
    password: 'long enough',
    role: 'approver',
  });
  const enrollment = await post('/api/v1/admin/enrollment-tokens', { label: 'victim' });
  const credential = await post(`/api/v1/agents/${agent.id}/credentials`, {
    ...{ label: 'victim', client: 'cursor' },
  });
  const installer = await post(`/api/v1/agents/${agent.id}/installer-tokens`, { client: 'cursor' });
  const workflow = await aWorkflow(post, agent.id, role.id);
  const { tenantId } = theirs.scope;
  const [alert, chainBreak] = [uuidv7(), uuidv7()];
  await test.superuser.query(
    `INSERT INTO alerts (tenant_id, id, alert_type, severity, title) VALUES ($1, $2, 'X', 'high', 'victim')`,
    [tenantId, alert],
  );
  await test.superuser.query(
    `INSERT INTO chain_breaks (tenant_id, id, stream, epoch, seq, kind) VALUES ($1, $2, $2, 1, 1, 'link')`,
    [tenantId, chainBreak],
  );
  await test.superuser.query(
    `INSERT INTO pinned_tools (tenant_id, server_id, tool_name, pinned_hash, seen_hash,
       first_seen_at, changed_at) VALUES ($1, 'victim', 'changed', $2, $3, now(), now())`,
    [tenantId, 'a'.repeat(64), 'b'.repeat(64)],
  );
  const { plane, escalation, another, heldResult } = await heldThings();
  const evidence = uuidv7();
  await test.superuser.query(
    `INSERT INTO evidence_packages (tenant_id, id, status, requested_by, requested_at, from_time,
       to_time, include_payloads, expires_at)
     VALUES ($1, $2, 'ready', 'them', now(), now() - interval '1 day', now(), false,
       now() + interval '1 day')`,
    [tenantId, evidence],
  );
  await test.superuser.query(
    `INSERT INTO evidence_volumes (tenant_id, package_id, number, id, events, size, sha256,
       manifest_digest, made_at) VALUES ($1, $2, 1, $2, 1, 1, $3, $3, now())`,
    [tenantId, evidence, 'a'.repeat(64)],
  );
  await test.superuser.query(
    `INSERT INTO evidence_chunks (tenant_id, package_id, volume, n, bytes)
     VALUES ($1, $2, 1, 0, 'x')`,
    [tenantId, evidence],
  );
  const session = uuidv7();
  await test.superuser.query(
    `INSERT INTO agent_sessions (tenant_id, id, session_key, agent_id, requester_key, started_at,
       last_event_at, expires_at, event_count, tool_call_count, dlp_hit_count)
     VALUES ($1, $2, $2, $3, $2, now(), now(), now() + interval '1 day', 1, 1, 0)`,
    [tenantId, session, agent.id],
  );
  const [exception, toApprove, toDecline] = [uuidv7(), uuidv7(), uuidv7()];
  await test.superuser.query(
    `INSERT INTO exceptions (tenant_id, id, status, lifts, agent_id, policy_id, justification,
       max_extensions, created_by_id, created_by, created_at, updated_at, expires_at)
     SELECT $1, id, CASE id WHEN $3 THEN 'active' ELSE 'pending' END, 'deny', $4, $5, 'victim', 4,
       'nobody', 'nobody', now(), now(), now() + interval '1 day' FROM unnest($2::uuid[]) AS id`,
    [tenantId, [exception, toApprove, toDecline], exception, agent.id, policy.id],
  );
  const place = { tenantId, deploymentId: plane };
  const encrypted = await aPayload(test, controlPlane, place, 'encrypted');
  const kept = await aPayload(test, controlPlane, place, 'full');
  const requests = `/api/v1/policies/${proposed.id}/change-requests`;
  const span = { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z' };
  const replay = await post(`/api/v1/policies/${policy.id}/replay`, span);
  const ofPolicies = { policy, request, requests, toReject, replay };
  const ofRoutes = { ...ofPolicies, agent, role, pattern, rule, token, user, workflow };
  const ofIngest = { session, encrypted, kept };
  const ofHolds = { evidence, escalation, another, heldResult };
  const ofDatabase = { alert, chainBreak, plane, ...ofHolds, tenantId, ...ofIngest };
  const exceptions = { exception, toApprove, toDecline };
  return { ...ofRoutes, enrollment, credential, installer, ...ofDatabase, ...exceptions };
}

/** A data plane of theirs that holds two calls and a result, by records of its own. */
async function heldThings() {
  const { scope } = theirs;
  const writer = await aDataPlane(test, scope);
  writer.boot();
  const timeout_at = new Date(Date.now() + DAY_MS).toISOString();
  const [escalation, another, heldResult] = [uuidv7(), uuidv7(), uuidv7()];
  for (const escalation_id of [escalation, another]) {
    const decision = aDecision({ policy_result: 'escalate', tool_name: 'delete_thing' });
    writer.append({ ...decision, escalation_id });
    writer.append(aHoldOpened(decision, { escalation_id, timeout_at }));
  }
  const read = aDecision({ tool_name: 'read_page' });
  writer.append(read);
  writer.append(aResultHeld(read, { escalation_id: heldResult, timeout_at }));
  writer.append(anOutcome(read.id, { outcome: 'held' }));
  const { deploymentId: plane } = writer;
  await controlPlane.ingest.ingestBatch(scope.tenantId, plane, writer.batch(0));
  return { plane, escalation, another, heldResult };
}

type Post = (url: string, body: object) => Promise<{ id: string }>;

/** Two workflows, sessions to end in each way, and a delegation. */
async function aWorkflow(post: Post, owner: string, roleId: string) {
  const worker = await post('/api/v1/agents', {
    name: 'victim’s worker',
    agent_type: 'assistant',
    owner: 'them',
    description: '',
  });
  await post(`/api/v1/agents/${worker.id}/roles`, { role_id: roleId });
  const make = () =>
    post('/api/v1/workflows', {
      name: 'victim',
      owner_agent_id: owner,
      participants: [{ agent_id: worker.id, role: 'worker', allowed_actions: ['*'] }],
    });
  const { id } = await make();
  const { id: other } = await make();
  const start = () => post(`/api/v1/workflows/${id}/sessions`, {});
  const [running, completed, aborted] = [await start(), await start(), await start()];
  const delegation = await post('/api/v1/delegations', {
    workflow_session_id: running.id,
    delegator_agent_id: owner,
    delegatee_agent_id: worker.id,
    scope: { tools: ['victim/*'], resources: [] },
    reason: 'victim',
  });
  return {
    id,
    other,
    path: `/api/v1/workflows/${id}`,
    session: `/api/v1/workflows/${id}/sessions/${running.id}`,
    completed: completed.id,
    aborted: aborted.id,
    delegation: delegation.id,
  };
}

/** Periodic work (a chain's verification, a silent data plane) would change the rows compared here. */
async function keepFromLeading({ superuser }: TestDatabase): Promise<void> {
  const leader = await superuser.connect();
  await leader.query(`SELECT pg_advisory_lock(hashtext('governance.leader'))`);
  afterAll(() => leader.release(true));
}

/** How to reach the victim through each route that names a row; a new route needs its line. */
const AT_VICTIM: Record<string, { path: string; body?: object; contentType?: string }> = {
  'GET /api/v1/agents/:id': { path: `/api/v1/agents/${victim.agent.id}` },
  'PATCH /api/v1/agents/:id': {
    path: `/api/v1/agents/${victim.agent.id}`,
    body: { status: 'suspended' },
  },
  'POST /api/v1/agents/:id/rotate': { path: `/api/v1/agents/${victim.agent.id}/rotate` },
  'GET /api/v1/agents/:id/credentials': { path: `/api/v1/agents/${victim.agent.id}/credentials` },
  'POST /api/v1/agents/:id/credentials': {
    path: `/api/v1/agents/${victim.agent.id}/credentials`,
    body: { label: 'taken over', client: 'other' },
  },
  'POST /api/v1/agents/:id/credentials/:credential_id/rotate': {
    path: `/api/v1/agents/${victim.agent.id}/credentials/${victim.credential.id}/rotate`,
  },
  'DELETE /api/v1/agents/:id/credentials/:credential_id': {
    path: `/api/v1/agents/${victim.agent.id}/credentials/${victim.credential.id}`,
  },
  'GET /api/v1/agents/:id/installer-tokens': {
    path: `/api/v1/agents/${victim.agent.id}/installer-tokens`,
  },
  'POST /api/v1/agents/:id/installer-tokens': {
    path: `/api/v1/agents/${victim.agent.id}/installer-tokens`,
    body: { client: 'cursor' },
  },
  'DELETE /api/v1/agents/:id/installer-tokens/:token_id': {
    path: `/api/v1/agents/${victim.agent.id}/installer-tokens/${victim.installer.id}`,
  },
  'POST /api/v1/agents/:id/roles': {
    path: `/api/v1/agents/${victim.agent.id}/roles`,
    body: { role_id: victim.role.id },
  },
  'DELETE /api/v1/agents/:id/roles/:role_id': {
    path: `/api/v1/agents/${victim.agent.id}/roles/${victim.role.id}`,
  },
  'GET /api/v1/policies/:id': { path: `/api/v1/policies/${victim.policy.id}` },
  'PATCH /api/v1/policies/:id': {
    path: `/api/v1/policies/${victim.policy.id}`,
    body: { rego_content: PERMIT, status: 'active' },
  },
  'POST /api/v1/policies/:id/evaluate': {
    path: `/api/v1/policies/${victim.policy.id}/evaluate`,
    body: {
      agent: { id: 'a', roles: [], permissions: [], risk_tier: 'low' },
      request: { tool_name: 't', action: 'read', resource: 'r', parameters: {}, mcp_server: 's' },
    },
  },
  'POST /api/v1/policies/:id/replay': {
    path: `/api/v1/policies/${victim.policy.id}/replay`,
    body: { from: '2026-01-01T00:00:00Z', to: '2026-02-01T00:00:00Z', rego: PERMIT },
  },
  'GET /api/v1/policies/:id/replays': { path: `/api/v1/policies/${victim.policy.id}/replays` },
  'GET /api/v1/policies/:id/replays/:replay_id': {
    path: `/api/v1/policies/${victim.policy.id}/replays/${victim.replay.id}`,
  },
  'DELETE /api/v1/policies/:id/replays/:replay_id': {
    path: `/api/v1/policies/${victim.policy.id}/replays/${victim.replay.id}`,
  },
  'GET /api/v1/policies/:id/change-requests': { path: victim.requests },
  'POST /api/v1/policies/:id/change-requests': {
    path: victim.requests,
    body: { proposed_name: 'taken over' },
  },
  'GET /api/v1/policies/:id/change-requests/:req_id': {
    path: `${victim.requests}/${victim.request.id}`,
  },
  'POST /api/v1/policies/:id/change-requests/:req_id/approve': {
    path: `${victim.requests}/${victim.request.id}/approve`,
    body: {},
  },
  'POST /api/v1/policies/:id/change-requests/:req_id/reject': {
    path: `${victim.requests}/${victim.toReject.id}/reject`,
    body: {},
  },
  'GET /api/v1/escalations/:id': { path: `/api/v1/escalations/${victim.escalation}` },
  'POST /api/v1/escalations/:id/approve': {
    path: `/api/v1/escalations/${victim.escalation}/approve`,
    body: {},
  },
  'POST /api/v1/escalations/:id/deny': {
    path: `/api/v1/escalations/${victim.another}/deny`,
    body: {},
  },
  'GET /api/v1/inbound/holds/:id': { path: `/api/v1/inbound/holds/${victim.heldResult}` },
  'POST /api/v1/inbound/holds/:id/resolve': {
    path: `/api/v1/inbound/holds/${victim.heldResult}/resolve`,
    body: { resolution: 'block' },
  },
  'GET /api/v1/mcp-servers/:server_id': { path: '/api/v1/mcp-servers/victim' },
  'PATCH /api/v1/mcp-servers/:server_id': {
    path: '/api/v1/mcp-servers/victim',
    body: { enabled: false },
  },
  'DELETE /api/v1/mcp-servers/:server_id': { path: '/api/v1/mcp-servers/victim' },
  'GET /api/v1/mcp-servers/:server_id/tools': { path: '/api/v1/mcp-servers/victim/tools' },
  'POST /api/v1/mcp-servers/:server_id/tools/:tool/approve': {
    path: '/api/v1/mcp-servers/victim/tools/changed/approve',
    body: {},
  },
  'PATCH /api/v1/dlp/patterns/:pattern_id': {
    path: `/api/v1/dlp/patterns/${victim.pattern.id}`,
    body: { enabled: false },
  },
  'DELETE /api/v1/dlp/patterns/:pattern_id': { path: `/api/v1/dlp/patterns/${victim.pattern.id}` },
  'DELETE /api/v1/inbound/rules/:rule_id': { path: `/api/v1/inbound/rules/${victim.rule.id}` },
  'DELETE /api/v1/admin/data-plane-tokens/:id': {
    path: `/api/v1/admin/data-plane-tokens/${victim.token.id}`,
  },
  'DELETE /api/v1/admin/enrollment-tokens/:id': {
    path: `/api/v1/admin/enrollment-tokens/${victim.enrollment.id}`,
  },
  'PATCH /api/v1/admin/users/:id': {
    path: `/api/v1/admin/users/${victim.user.id}`,
    body: { role: 'admin', password: 'taken over' },
  },
  'DELETE /api/v1/admin/users/:id': { path: `/api/v1/admin/users/${victim.user.id}` },
  'DELETE /api/v1/admin/users/:id/sessions': {
    path: `/api/v1/admin/users/${victim.user.id}/sessions`,
  },
  'POST /api/v1/data-planes/:deployment_id/heartbeat': {
    path: `/api/v1/data-planes/${victim.plane}/heartbeat`,
    body: {
      deployment_id: victim.plane,
      active_agent_count: 1,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: '1',
      uptime_seconds: 1,
    },
  },
  'POST /api/v1/data-planes/:deployment_id/token': {
    path: `/api/v1/data-planes/${victim.plane}/token`,
  },
  'POST /api/v1/data-planes/:deployment_id/audit-batches': {
    path: `/api/v1/data-planes/${victim.plane}/audit-batches`,
    body: aBatchAt(victim.plane),
    contentType: NDJSON,
  },
  'GET /api/v1/data-planes/:deployment_id/feed': {
    path: `/api/v1/data-planes/${victim.plane}/feed?cursor=0&digest=${FEED_START}`,
  },
  'GET /api/v1/data-planes/:deployment_id/feed/snapshot': {
    path: `/api/v1/data-planes/${victim.plane}/feed/snapshot`,
  },
  'GET /api/v1/data-planes/:deployment_id/log': { path: `/api/v1/data-planes/${victim.plane}/log` },
  'GET /api/v1/opa/bundle/:tenant_id': { path: `/api/v1/opa/bundle/${victim.tenantId}` },
  'POST /api/v1/data-planes/:deployment_id/payloads': {
    path: `/api/v1/data-planes/${victim.plane}/payloads`,
    body: { payloads: [{ event_id: victim.kept, part: 'input', jwe: 'a..b.c.d' }] },
  },
  'POST /api/v1/audit/events/:event_id/decrypt': {
    path: `/api/v1/audit/events/${victim.encrypted}/decrypt`,
  },
  'GET /api/v1/audit/events/:event_id/payload': {
    path: `/api/v1/audit/events/${victim.kept}/payload`,
  },
  'POST /api/v1/audit/chain/breaks/:id/acknowledge': {
    path: `/api/v1/audit/chain/breaks/${victim.chainBreak}/acknowledge`,
    body: { notes: 'x' },
  },
  'GET /api/v1/sessions/:id/events': { path: `/api/v1/sessions/${victim.session}/events` },
  'GET /api/v1/workflows/:id': { path: victim.workflow.path },
  'PUT /api/v1/workflows/:id': { path: victim.workflow.path, body: { max_depth: 7 } },
  'DELETE /api/v1/workflows/:id': { path: victim.workflow.path },
  'POST /api/v1/workflows/:id/suspend': {
    path: `/api/v1/workflows/${victim.workflow.other}/suspend`,
  },
  'POST /api/v1/workflows/:id/sessions': { path: `${victim.workflow.path}/sessions`, body: {} },
  'GET /api/v1/workflows/:id/sessions': { path: `${victim.workflow.path}/sessions` },
  'GET /api/v1/workflows/:id/sessions/:sid': { path: victim.workflow.session },
  'POST /api/v1/workflows/:id/sessions/:sid/complete': {
    path: `${victim.workflow.path}/sessions/${victim.workflow.completed}/complete`,
  },
  'POST /api/v1/workflows/:id/sessions/:sid/abort': {
    path: `${victim.workflow.path}/sessions/${victim.workflow.aborted}/abort`,
  },
  'GET /api/v1/workflows/:id/sessions/:sid/trace': { path: `${victim.workflow.session}/trace` },
  'GET /api/v1/workflows/:id/sessions/:sid/trace/export': {
    path: `${victim.workflow.session}/trace/export`,
  },
  'GET /api/v1/workflows/:id/sessions/:sid/delegations': {
    path: `${victim.workflow.session}/delegations`,
  },
  'GET /api/v1/exceptions/:id': { path: `/api/v1/exceptions/${victim.exception}` },
  'PATCH /api/v1/exceptions/:id/extend': {
    path: `/api/v1/exceptions/${victim.exception}/extend`,
    body: { hours: 1 },
  },
  'DELETE /api/v1/exceptions/:id': { path: `/api/v1/exceptions/${victim.exception}` },
  'POST /api/v1/exceptions/:id/approve': {
    path: `/api/v1/exceptions/${victim.toApprove}/approve`,
    body: {},
  },
  'POST /api/v1/exceptions/:id/reject': {
    path: `/api/v1/exceptions/${victim.toDecline}/reject`,
    body: {},
  },
  'GET /api/v1/delegations/:id': { path: `/api/v1/delegations/${victim.workflow.delegation}` },
  'GET /api/v1/evidence/packages/:id': { path: `/api/v1/evidence/packages/${victim.evidence}` },
  'GET /api/v1/evidence/packages/:id/download': {
    path: `/api/v1/evidence/packages/${victim.evidence}/download`,
  },
  'DELETE /api/v1/evidence/packages/:id': { path: `/api/v1/evidence/packages/${victim.evidence}` },
  'POST /api/v1/delegations/:id/revoke': {
    path: `/api/v1/delegations/${victim.workflow.delegation}/revoke`,
  },
  'PATCH /api/v1/monitor/alerts/:id': {
    path: `/api/v1/monitor/alerts/${victim.alert}`,
    body: { status: 'resolved' },
  },
};

/** Well-formed, so that what is refused is the caller. */
function aBatchAt(stream: string): Buffer {
  const hash = '0'.repeat(64);
  const header = {
    v: 1,
    tenant_id: victim.tenantId,
    stream,
    epoch: 1,
    first_seq: 1,
    last_seq: 1,
    prev_head: hash,
    head: hash,
    event_root: hash,
  } as const;
  return encodeBatch({ header, signature: 'none', records: [Buffer.from('{}')] });
}

/** The route, with whatever stands for a parameter. */
function at(route: RouteEntry, options: CallOptions = {}) {
  const url = route.url.replace(/:\w+/g, uuidv7());
  const body = route.method === 'GET' || route.method === 'DELETE' ? {} : { body: '{' };
  return call(url, {
    method: route.method as NonNullable<CallOptions['method']>,
    ...body,
    ...options,
    headers: { 'content-type': 'application/json', ...options.headers },
  });
}

async function aDataPlaneToken(token: string): Promise<{ id: string; token: string }> {
  const answer = await call('/api/v1/admin/data-plane-tokens', { token, body: { label: 'x' } });
  return answer.json() as { id: string; token: string };
}

describe('a route', () => {
  const build = () => {
    const app = Fastify();
    guardRoutes(app, {} as Guards);
    return app;
  };

  it('without a guard stops the service from starting', () => {
    expect(() => build().get('/x', { schema: { response: {} } }, async () => '')).toThrow(
      /GET \/x declares no guard/,
    );
  });

  it('without a schema of its answer stops the service from starting', () => {
    expect(() => build().get('/x', { config: { guard: 'public' } }, async () => '')).toThrow(
      /GET \/x declares no schema/,
    );
  });

  it('open to everybody is one of these', () => {
    expect(routes.filter(({ guard }) => guard === 'public').map(keyOf)).toEqual([
      'GET /health',
      'GET /ready',
      'GET /',
      'POST /api/v1/auth/admin/login',
      'POST /api/v1/auth/token',
      'GET /.well-known/jwks.json',
      'GET /.well-known/oauth-authorization-server',
      'POST /api/v1/enroll/installer',
      'POST /api/v1/enroll',
      'POST /api/v1/signup',
    ]);
  });
});

describe.each(guarded.map((route) => [keyOf(route), route] as const))('%s', (_, route) => {
  it('is closed without a token, before it reads the body', async () => {
    const answer = await at(route);
    expect(answer.statusCode).toBe(401);
    expect(answer.headers['www-authenticate']).toBe('Bearer');
    expect(answer.json()).toEqual({ detail: expect.any(String) });
  });

  it('is closed to tokens of another class', async () => {
    const agent = await anAgent(test, mine.scope);
    const agentToken = (
      await call('/api/v1/auth/token', {
        body: {
          grant_type: 'client_credentials',
          client_id: agent.clientId,
          client_secret: agent.clientSecret,
        },
      })
    ).json().access_token;
    const others = ['garbage', 'a.b.c', agentToken];
    if (route.guard !== 'metrics') others.push('metrics-token');
    if (isOfDataPlanes(route.guard) || route.guard === 'metrics') others.push(mine.token);
    else others.push(victim.token.token ?? '');
    for (const token of others) expect((await at(route, { token })).statusCode).toBe(401);
    const headers = { authorization: `Basic ${Buffer.from('a:b').toString('base64')}` };
    expect((await at(route, { headers })).statusCode).toBe(401);
  });
});

describe.each(ofAdmins.map((route) => [keyOf(route), route] as const))('%s', (_, route) => {
  it('is closed to an expired and to a revoked token', async () => {
    const { token, scope } = await aTenantAdmin();
    const before = time;
    time += 8 * 3600 * 1000 + 61_000;
    expect((await at(route, { token })).statusCode).toBe(401);
    time = before;
    for (const change of [`status = 'disabled'`, `status = 'active', token_version = 2`]) {
      await test.superuser.query(`UPDATE administrators SET ${change} WHERE id = $1`, [
        scope.actor.id,
      ]);
      expect((await at(route, { token })).statusCode, change).toBe(401);
    }
  });

  it('is closed to the wrong role', async () => {
    const elsewhere = { 'x-tenant-id': theirs.scope.tenantId };
    if (route.guard === 'super-admin') {
      expect((await at(route, { token: mine.token })).statusCode).toBe(403);
      return;
    }
    // An administrator names another tenant.
    expect((await at(route, { token: mine.token, headers: elsewhere })).statusCode).toBe(403);
    if (route.guard === 'tenant-admin') {
      expect((await at(route, { token: superAdmin })).statusCode).toBe(403);
      expect((await at(route, { token: superAdmin, headers: elsewhere })).statusCode).toBe(403);
      return;
    }
    // A super-admin is nowhere until a tenant is named, and that one has to be there.
    if (route.guard === 'admin') {
      expect((await at(route, { token: superAdmin })).statusCode).toBe(400);
    }
    for (const nowhere of [uuidv7(), 'x']) {
      const headers = { 'x-tenant-id': nowhere };
      expect((await at(route, { token: superAdmin, headers })).statusCode).toBe(404);
    }
    const empty = { 'x-tenant-id': '' };
    expect((await at(route, { token: superAdmin, headers: empty })).statusCode).toBe(422);
  });
});

describe.each([...new Set(routes.map(({ url }) => url))])('%s', (url) => {
  const path = url.replaceAll(/:\w+/g, () => uuidv7());
  // `/patterns/test` is also what `/patterns/:pattern_id` names.
  const methods = routes
    .filter((route) => new RegExp(`^${route.url.replaceAll(/:\w+/g, '[^/]+')}$`).test(path))
    .map(({ method }) => method);
  const others = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'QUERY'].filter(
    (method) => !methods.includes(method),
  );

  it.each(others)('has no %s, and says what it has', async (method) => {
    const send = (headers: Record<string, string>) =>
      call(path, { method: method as NonNullable<CallOptions['method']>, headers });
    const bearer = { authorization: `Bearer ${mine.token}` };
    for (const answer of [await send({}), await send(bearer)]) {
      expect(answer.statusCode, answer.body).toBe(405);
      expect(answer.json()).toEqual({ detail: expect.any(String) });
      const allow = String(answer.headers.allow).split(', ');
      expect(allow).toEqual(expect.arrayContaining([...methods, 'OPTIONS']));
      expect(allow).not.toContain(method);
    }
  });

  it('says so to OPTIONS too, and HEAD is either a GET without its body or a 405', async () => {
    const asked = await call(path, { method: 'OPTIONS' });
    expect(asked.statusCode).toBe(204);
    const allow = String(asked.headers.allow).split(', ');
    const head = await call(path, { method: 'HEAD' });
    expect(head.statusCode).toBe(allow.includes('HEAD') ? 200 : 405);
    expect(methods).toContain(allow.includes('HEAD') ? 'GET' : methods[0]);
  });
});

describe('another tenant’s rows', () => {
  // A super-admin's routes are the platform's: what they name is no tenant's.
  const withRows = routes.filter(
    ({ url, guard }) => url.includes('/:') && guard !== 'public' && guard !== 'super-admin',
  );

  it('can be named by each of these routes, and this test knows them all', () => {
    expect(Object.keys(AT_VICTIM).sort()).toEqual(withRows.map(keyOf).sort());
  });

  /** Under a root's token any id is received, and concerns that root's own tenant alone. */
  const HEARTBEAT = 'POST /api/v1/data-planes/:deployment_id/heartbeat';

  it('are not touched by a heartbeat that names one of them', async () => {
    const { token } = await aDataPlaneToken(mine.token);
    const before = await rowsOf(victim.tenantId);
    const { path = '', body } = AT_VICTIM[HEARTBEAT] ?? {};
    const answer = await call(path, { token, ...(body && { body }) });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(await rowsOf(victim.tenantId)).toEqual(before);
    const listed = (await call('/api/v1/data-planes', { token: mine.token })).json().data_planes;
    const named = listed.find(
      (plane: { deployment_id: string }) => plane.deployment_id === victim.plane,
    );
    expect(named.status).toBe('unregistered');
    await test.superuser.query('DELETE FROM unregistered_planes WHERE tenant_id = $1', [
      mine.scope.tenantId,
    ]);
  });

  it.each(
    withRows
      .filter((route) => keyOf(route) !== HEARTBEAT)
      .map((route) => [keyOf(route), route] as const),
  )('%s finds nothing there, and changes nothing', async (key, route) => {
    const target = AT_VICTIM[key];
    const token = isOfDataPlanes(route.guard)
      ? (await aDataPlaneToken(mine.token)).token
      : mine.token;
    const before = await rowsOf(victim.tenantId);
    const answer = await call(target?.path ?? '', {
      method: route.method as NonNullable<CallOptions['method']>,
      token,
      ...(target?.body ? { body: target.body } : {}),
      ...(target?.contentType ? { headers: { 'content-type': target.contentType } } : {}),
    });
    expect(answer.statusCode, answer.body).toBe(404);
    expect(await rowsOf(victim.tenantId)).toEqual(before);
  });

  it.each(
    routes
      .filter((route) => route.method === 'GET' && route.tenantScoped && !route.url.includes(':'))
      // It does not end by itself; audit-stream's own test reads it.
      .filter((route) => route.url !== '/api/v1/audit/stream')
      // It takes sizes of the log, and no others' (log-routes.pg.test.ts).
      .filter((route) => route.url !== '/api/v1/evidence/proofs')
      .map((route) => [keyOf(route), route] as const),
  )('%s shows none of them', async (_, route) => {
    const answer = await call(route.url, { token: mine.token });
    expect(answer.statusCode).toBe(200);
    const { agent, role, policy, pattern, rule, token, user, enrollment, request } = victim;
    const { workflow, alert, escalation, heldResult, exception, chainBreak, plane } = victim;
    const { tenantId, evidence } = victim;
    const rows = [agent, role, policy, pattern, rule, token, user, enrollment, request, workflow];
    const ids = rows.map(({ id }) => id);
    const others = [
      alert,
      escalation,
      heldResult,
      exception,
      chainBreak,
      plane,
      tenantId,
      evidence,
    ];
    for (const id of [...ids, ...others]) {
      expect(answer.body).not.toContain(id);
    }
  });

  it('are reached by the same requests of their own administrator', async () => {
    // What only reads or changes first, then what deletes, what belongs to a row before the row.
    const last = (key: string) => {
      // Another replay starts when this one is over.
      if (key.endsWith('/replays/:replay_id')) return -1;
      return key.startsWith('DELETE') ? 1000 - key.length : 0;
    };
    const keys = withRows.filter(({ guard }) => !isOfDataPlanes(guard)).map(keyOf);
    for (const key of keys.sort((a, b) => last(a) - last(b))) {
      const target = AT_VICTIM[key];
      const answer = await call(target?.path ?? '', {
        method: key.split(' ')[0] as NonNullable<CallOptions['method']>,
        token: theirs.token,
        ...(target?.body ? { body: target.body } : {}),
      });
      expect(answer.statusCode, `${key}: ${answer.body}`).toBeLessThan(300);
    }
  });
});

/** What each table holds of a tenant, digested. */
async function rowsOf(tenantId: string): Promise<Record<string, string>> {
  const { rows: tables } = await test.superuser.query<{ name: string }>(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE a.attname = 'tenant_id' AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND c.relnamespace = 'public'::regnamespace ORDER BY 1`,
  );
  const all: Record<string, string> = {};
  for (const { name } of tables) {
    const { rows } = await test.superuser.query(
      `SELECT t::text AS row FROM ${name} t WHERE tenant_id = $1 ORDER BY 1`,
      [tenantId],
    );
    const text = rows.map(({ row }) => row as string).join('\n');
    all[name] = createHash('sha256').update(text).digest('hex');
  }
  return all;
}

describe('a data-plane token', () => {
  const ofDataPlanes = guarded.filter(({ guard }) => guard === 'data-plane');

  it.each(
    ofDataPlanes.map((route) => [keyOf(route), route] as const),
  )('%s is closed to one that was revoked or has expired', async (_, route) => {
    const { id, token } = await aDataPlaneToken(mine.token);
    expect((await at(route, { token })).statusCode).not.toBe(401);
    await test.superuser.query('UPDATE data_plane_tokens SET expires_at = $2 WHERE id = $1', [
      id,
      new Date(time - 1),
    ]);
    expect((await at(route, { token })).statusCode).toBe(401);
    await test.superuser.query(
      'UPDATE data_plane_tokens SET expires_at = issued_until WHERE id = $1',
      [id],
    );
    const revoked = await call(`/api/v1/admin/data-plane-tokens/${id}`, {
      method: 'DELETE',
      token: mine.token,
    });
    expect(revoked.statusCode).toBe(204);
    expect((await at(route, { token })).statusCode).toBe(401);
  });

  it.each(
    guarded
      .filter(({ guard }) => guard === 'data-plane-backlog')
      .map((route) => [keyOf(route), route] as const),
  )('%s is open to one that ended within 7 days, and then closed', async (_, route) => {
    const { id, token } = await aDataPlaneToken(mine.token);
    const { rows } = await test.superuser.query(
      'SELECT expires_at, revoked_at FROM data_plane_tokens WHERE id = $1',
      [id],
    );
    const set = (column: string, value: Date | null) =>
      test.superuser.query(`UPDATE data_plane_tokens SET ${column} = $2 WHERE id = $1`, [
        id,
        value,
      ]);
    const week = 7 * 24 * 3600 * 1000;
    for (const column of ['expires_at', 'revoked_at']) {
      await set(column, new Date(time - week + 1));
      expect((await at(route, { token })).statusCode, column).not.toBe(401);
      await set(column, new Date(time - week));
      expect((await at(route, { token })).statusCode, column).toBe(401);
      await set(column, rows[0][column]);
    }
    // What ended first counts.
    await set('expires_at', new Date(time - week));
    await set('revoked_at', new Date(time));
    expect((await at(route, { token })).statusCode).toBe(401);
  });
});

describe('a super-admin in a tenant', () => {
  it('acts there, and the tenant’s audit chain says so', async () => {
    const headers = { 'x-tenant-id': mine.scope.tenantId };
    const answer = await call('/api/v1/roles', {
      token: superAdmin,
      headers,
      body: { name: 'by-break-glass', description: '', permissions: [], resource_scopes: [] },
    });
    expect(answer.statusCode).toBe(201);
    const { rows } = await test.superuser.query<{ bytes: Buffer }>(
      `SELECT bytes FROM ledger_records WHERE tenant_id = $1 ORDER BY position DESC LIMIT 2`,
      [mine.scope.tenantId],
    );
    const records = rows.map(({ bytes }) => JSON.parse(bytes.toString()));
    expect(records.map((record) => record.action)).toEqual(['role_created', 'break_glass_access']);
    for (const { actor } of records) {
      expect(actor).toMatchObject({ username: 'superadmin', break_glass: true });
    }
    expect(records[1]).toMatchObject({ target: 'POST /api/v1/roles' });
  });
});
