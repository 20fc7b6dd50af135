import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin } = await testControlPlane({
  env: { SERVICE_MAX_ACTIVE_POLICIES: '3' },
});

const URL = '/api/v1/policies';
const RULE = `package p

allow if input.request.action == "read"

deny contains sprintf("%s may not touch %s", [input.agent.id, input.request.resource]) if {
	contains(input.request.resource, "secret")
}

escalate contains "an unknown server" if not data.settings.mcp_servers[input.request.mcp_server]
`;
const BROKEN = 'package p\n\nallow if {\n\tinput.x ==\n}\n';

const aBody = (given: object = {}) => ({
  name: 'Readers',
  description: 'Who may read',
  rego_content: RULE,
  status: 'draft',
  ...given,
});

async function aPolicy(token: string, given: object = {}): Promise<{ id: string }> {
  const answer = await call(URL, { token, body: aBody(given) });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json();
}

describe('POST /api/v1/policies', () => {
  it('creates a draft by default', async () => {
    const { token } = await aTenantAdmin();
    const answer = await call(URL, { token, body: { name: ' Readers ', rego_content: RULE } });
    expect(answer.statusCode).toBe(201);
    const policy = answer.json();
    expect(policy).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Readers',
      description: '',
      rego_content: RULE,
      status: 'draft',
      origin: 'custom',
      created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
      warnings: [],
      updated_at: policy.created_at,
    });
    expect((await call(`${URL}/${policy.id}`, { token })).json()).toEqual(policy);
  });

  it.each([
    'draft',
    'active',
    'archived',
  ])('refuses a %s one that does not compile, with line and column', async (status) => {
    const { token } = await aTenantAdmin();
    const answer = await call(URL, { token, body: aBody({ rego_content: BROKEN, status }) });
    expect(answer.statusCode).toBe(422);
    const { detail, errors } = answer.json();
    expect(detail).toMatch(
      /^The policy does not compile: line [45], column \d+: .*rego_parse_error/,
    );
    expect(errors[0]).toEqual({
      loc: ['body', 'rego_content', expect.any(Number), expect.any(Number)],
      msg: expect.any(String),
      type: 'rego_parse_error',
    });
    expect((await call(URL, { token })).json()).toEqual({ policies: [], total: 0 });
  });

  it('refuses by name what reaches the network', async () => {
    const { token } = await aTenantAdmin();
    const rego =
      'package p\n\nallow if http.send({"method": "get", "url": "http://a"}).status_code == 200\n';
    const answer = await call(URL, { token, body: aBody({ rego_content: rego }) });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail).toContain('http.send');
    expect(answer.json().detail).toContain('line 3, column 10');
  });

  it.each<[string, object]>([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(201) }],
    ['name', { name: 'a\u0000b' }],
    ['name', { name: 5 }],
    ['name', { name: undefined }],
    ['description', { description: '\ud800' }],
    ['rego_content', { rego_content: '' }],
    ['rego_content', { rego_content: `package p # ${'x'.repeat(128 * 1024)}` }],
    ['status', { status: 'enabled' }],
  ])('names %s when it is wrong: %j', async (field, given) => {
    const { token } = await aTenantAdmin();
    const answer = await call(URL, { token, body: aBody(given) });
    expect(answer.statusCode).toBeGreaterThanOrEqual(400);
    expect(answer.statusCode).toBeLessThan(500);
    expect(typeof answer.json().detail).toBe('string');
    if (answer.statusCode === 422) expect(answer.json().errors[0].loc).toContain(field);
  });

  it('has a unique name, archived ones aside', async () => {
    const { token } = await aTenantAdmin();
    const { id } = await aPolicy(token);
    const again = await call(URL, { token, body: aBody() });
    expect(again.statusCode).toBe(409);
    expect(again.json()).toEqual({ detail: 'Another policy has this name.' });
    await call(`${URL}/${id}`, { token, method: 'PATCH', body: { status: 'archived' } });
    await aPolicy(token);
    const back = await call(`${URL}/${id}`, { token, method: 'PATCH', body: { status: 'draft' } });
    expect(back.statusCode).toBe(409);
  });

  it('has as many active ones as the tenant may have', async () => {
    const { token } = await aTenantAdmin();
    for (const name of ['1', '2', '3']) await aPolicy(token, { name, status: 'active' });
    const more = await call(URL, { token, body: aBody({ status: 'active' }) });
    expect(more.statusCode).toBe(409);
    expect(more.json().detail).toContain('3 active policies');
    await aPolicy(token);
  });
});

describe('GET /api/v1/policies', () => {
  it('lists by status, each tenant its own', async () => {
    const { token } = await aTenantAdmin();
    const other = await aTenantAdmin();
    await aPolicy(token, { name: 'draft' });
    await aPolicy(token, { name: 'active', status: 'active' });
    await aPolicy(other.token, { name: 'other' });
    const names = async (query: string) => {
      const answer = (await call(`${URL}${query}`, { token })).json();
      expect(answer.total).toBe(answer.policies.length);
      return answer.policies.map((policy: { name: string }) => policy.name);
    };
    expect(await names('')).toEqual(['draft', 'active']);
    expect(await names('?status=draft')).toEqual(['draft']);
    expect(await names('?status=active')).toEqual(['active']);
    expect(await names('?status=archived')).toEqual([]);
    const wrong = await call(`${URL}?status=on`, { token });
    expect(wrong.statusCode).toBe(422);
    expect(wrong.json().errors[0].loc).toEqual(['query', 'status']);
  });
});

describe('PATCH /api/v1/policies/{id}', () => {
  it('changes what it is given and nothing else', async () => {
    const { token } = await aTenantAdmin();
    const policy = await aPolicy(token);
    const patch = async (body: object) =>
      (await call(`${URL}/${policy.id}`, { token, method: 'PATCH', body })).json();
    const active = await patch({ status: 'active' });
    expect(active).toEqual({ ...policy, status: 'active', updated_at: active.updated_at });
    expect(active.updated_at >= active.created_at).toBe(true);
    expect(await patch({})).toEqual(active);
    expect(await patch({ description: 'new' })).toMatchObject({
      ...active,
      description: 'new',
      updated_at: expect.any(String),
    });
    expect(await patch({ status: 'archived' })).toMatchObject({ status: 'archived' });
  });

  it('never lets a source that does not compile decide', async () => {
    const { token } = await aTenantAdmin();
    const policy = await aPolicy(token, { status: 'active' });
    const answer = await call(`${URL}/${policy.id}`, {
      token,
      method: 'PATCH',
      body: { rego_content: BROKEN },
    });
    expect(answer.statusCode).toBe(422);
    expect((await call(`${URL}/${policy.id}`, { token })).json()).toEqual(policy);
  });

  it('finds no policy that is missing, another tenant’s, or no id', async () => {
    const { token } = await aTenantAdmin();
    const other = await aTenantAdmin();
    const foreign = await aPolicy(other.token);
    for (const id of [uuidv7(), foreign.id, 'none']) {
      for (const options of [
        { token },
        { token, method: 'PATCH' as const, body: { status: 'active' } },
      ]) {
        expect((await call(`${URL}/${id}`, options)).statusCode).toBe(404);
      }
    }
    expect((await call(`${URL}/${foreign.id}`, { token: other.token })).json()).toEqual(foreign);
  });
});

describe('POST /api/v1/policies/{id}/evaluate', () => {
  const aQuestion = (request: object = {}, agent: object = {}) => ({
    agent: {
      id: 'ada',
      roles: ['reader'],
      permissions: ['files:read'],
      risk_tier: 'low',
      ...agent,
    },
    request: {
      tool_name: 'read_file',
      action: 'read',
      resource: 'notes.txt',
      parameters: { path: 'notes.txt' },
      mcp_server: 'files',
      ...request,
    },
  });

  it('says what the policy alone and the active set with it decide, and why', async () => {
    const { token } = await aTenantAdmin();
    await call('/api/v1/mcp-servers', {
      token,
      body: { server_id: 'files', transport: 'stdio', local_name: 'files' },
    });
    const { id } = await aPolicy(token);
    const rego_content = 'package covered\n\nallow if input.request.action == "read"\n';
    await aPolicy(token, { name: 'Covered', status: 'active', rego_content });
    const ask = async (request: object) => {
      const answer = await call(`${URL}/${id}/evaluate`, { token, body: aQuestion(request) });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json();
    };
    const reason = (rule: string, message: string) => ({
      policy_id: id,
      policy: 'Readers',
      rule,
      message,
    });
    const allowed = await ask({});
    expect(allowed).toEqual({
      policy_id: id,
      decision: 'allow',
      reasons: [reason('allow', 'the rule allow holds')],
      explanation: expect.any(Array),
      active_set: {
        decision: 'allow',
        reasons: expect.arrayContaining([
          reason('allow', 'the rule allow holds'),
          expect.objectContaining({ policy: 'Covered', rule: 'allow' }),
        ]),
        explanation: expect.any(Array),
      },
    });
    expect(allowed.explanation[0]).toBe('The call is allowed: Readers: the rule allow holds.');
    expect(allowed.explanation[1]).toMatch(/^Readers: the rule allow \(line \d+\) holds\.$/);
    expect(allowed.explanation.join('\n')).toMatch(
      /Readers: the rule deny \(line \d+\) does not hold, since .+ \(line \d+\) is false or undefined\./,
    );
    expect(await ask({ resource: 'secret' })).toMatchObject({
      decision: 'deny',
      reasons: [reason('deny', 'ada may not touch secret')],
    });
    expect(await ask({ mcp_server: 'elsewhere' })).toMatchObject({
      decision: 'escalate',
      reasons: [reason('escalate', 'an unknown server')],
    });
    const denied = await ask({ action: 'write' });
    expect(denied).toMatchObject({ decision: 'deny', active_set: { decision: 'deny' } });
    expect(denied.explanation[0]).toBe('The call is denied: no policy allows this call.');
    expect(denied.explanation.join('\n')).toMatch(
      /Readers: the rule allow \(line \d+\) does not hold, since input\.request\.action == "read"/,
    );
  });

  it('tries an action that no call has, and says so', async () => {
    const { token } = await aTenantAdmin();
    const { id } = await aPolicy(token);
    const body = aQuestion({ action: 'tools/call' });
    const answer = await call(`${URL}/${id}/evaluate`, { token, body });
    expect(answer.statusCode, answer.body).toBe(200);
    expect(answer.json()).toMatchObject({
      ...{ decision: 'escalate', active_set: { decision: 'escalate' } },
    });
    expect(answer.json().explanation[1]).toBe(
      'No call has the action tools/call: data planes give read, write, delete, execute.',
    );
  });

  it('tells apart what it says alone from what the others make of it', async () => {
    const { token } = await aTenantAdmin();
    await aPolicy(token, {
      name: 'Critical risk',
      status: 'active',
      rego_content:
        'package critical\n\ndeny contains "too risky" if input.agent.risk_tier == "critical"\n',
    });
    const { id } = await aPolicy(token, {
      name: 'Permit',
      rego_content: 'package permit\n\nallow if true\n',
    });
    const answer = await call(`${URL}/${id}/evaluate`, {
      token,
      body: aQuestion({ action: 'write' }, { risk_tier: 'critical' }),
    });
    expect(answer.json()).toMatchObject({
      decision: 'allow',
      active_set: { decision: 'deny', reasons: [{ policy: 'Critical risk', rule: 'deny' }] },
    });
    expect(answer.json().active_set.explanation[0]).toBe(
      'The call is denied: Critical risk: too risky.',
    );
  });

  it('gives OPA’s trace to who asks for it', async () => {
    const { token } = await aTenantAdmin();
    const { id } = await aPolicy(token);
    const body = { ...aQuestion(), trace: true };
    const answer = (await call(`${URL}/${id}/evaluate`, { token, body })).json();
    expect(answer.trace.join('\n')).toContain('governance.decision');
    expect(answer.active_set.trace.length).toBeGreaterThan(0);
  });

  it('takes the tool for the resource where none is named', async () => {
    const { token } = await aTenantAdmin();
    const { id } = await aPolicy(token);
    const answer = await call(`${URL}/${id}/evaluate`, {
      token,
      body: { agent: { id: 'ada' }, request: { tool_name: 'secret_tool' } },
    });
    expect(answer.json()).toMatchObject({
      decision: 'deny',
      reasons: [{ message: 'ada may not touch secret_tool' }],
    });
  });

  it('asks about whatever a policy may ask: findings, workflow, delegation, requester, context', async () => {
    const { token } = await aTenantAdmin();
    const rego_content = [
      'package everything',
      'deny contains "secrets" if { input.dlp.max_severity == "high"; "AWS key" in input.dlp.patterns }',
      'deny contains sprintf("%d found", [input.dlp.findings_count]) if input.dlp.findings_count > 0',
      'deny contains "workflow" if input.workflow.name == "nightly"',
      'deny contains "delegation" if "files/read" in input.delegation.effective_permissions.tools',
      'deny contains "requester" if { input.requester.id == "eve"; input.requester.verified }',
      'deny contains "answers" if input.request.input_responses.a.action == "accept"',
      'deny contains "state" if input.request.request_state == "of-server"',
      'deny contains "context" if { input.context.region == "eu"; input.context.model == "m"; input.context.agent_role == "r"; startswith(input.context.time, "2026-01-02"); input.context.data_plane == "d" }',
      'allow if { input.dlp.findings_count == 0; input.dlp.max_severity == null; input.workflow == null; input.delegation == null }',
    ].join('\n\n');
    const { id } = await aPolicy(token, { name: 'Everything', rego_content });
    const ask = async (more: object, request: object = {}) => {
      const body = { ...aQuestion(request), ...more };
      const answer = await call(`${URL}/${id}/evaluate`, { token, body });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json().reasons.map(({ message }: { message: string }) => message);
    };
    expect(await ask({})).toEqual(['the rule allow holds']);
    const dlp = { max_severity: 'high', patterns: ['AWS key', 'Email'] };
    expect(await ask({ dlp })).toEqual(['2 found', 'secrets']);
    expect(await ask({ dlp: { ...dlp, findings_count: 7 } })).toEqual(['7 found', 'secrets']);
    expect(await ask({ workflow: { name: 'nightly' } })).toEqual(['workflow']);
    const delegation = { effective_permissions: { tools: ['files/read'], resources: [] } };
    expect(await ask({ delegation })).toEqual(['delegation']);
    expect(await ask({ requester: { id: 'eve', verified: true } })).toEqual(['requester']);
    expect(await ask({}, { input_responses: { a: { action: 'accept' } } })).toEqual(['answers']);
    expect(await ask({}, { request_state: 'of-server' })).toEqual(['state']);
    const time = '2026-01-02T00:00:00.000Z';
    const context = { time, data_plane: 'd', region: 'eu', model: 'm', agent_role: 'r' };
    expect(await ask({ context })).toEqual(['context']);
  });

  it.each<[object | string, number]>([
    [{}, 422],
    [{ ...aQuestion(), dlp: { patterns: ['a', 'b'], findings_count: 1 } }, 422],
    [{ ...aQuestion(), dlp: { max_severity: 'high', findings_count: 0 } }, 422],
    [{ ...aQuestion(), dlp: { max_severity: 'info' } }, 422],
    [{ ...aQuestion(), dlp: null }, 422],
    [{ ...aQuestion(), context: { time: 'now' } }, 422],
    [{ ...aQuestion(), workflow: [] }, 422],
    [{ ...aQuestion(), delegation: 'x' }, 422],
    [{ agent: { id: 'a' } }, 422],
    [aQuestion({ action: '' }), 422],
    [aQuestion({ tool: 'read_file' }), 422],
    [aQuestion({}, { role: 'reader' }), 422],
    [{ ...aQuestion(), inputs: {} }, 422],
    [aQuestion({ parameters: [] }), 422],
    [aQuestion({}, { risk_tier: 'none' }), 422],
    [aQuestion({}, { permissions: ['\ud800'] }), 400],
    ['{"agent":{"id":"a"},"agent":{"id":"b"}}', 400],
    [
      `{"agent":{"id":"a"},"request":{"tool_name":"t","parameters":${'{"a":'.repeat(50)}1${'}'.repeat(50)}}}`,
      400,
    ],
  ])('refuses %j with %d', async (body, status) => {
    const { token } = await aTenantAdmin();
    const { id } = await aPolicy(token);
    const answer = await call(`${URL}/${id}/evaluate`, {
      token,
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.any(String)]);
  });

  it('finds no policy of another tenant', async () => {
    const { token } = await aTenantAdmin();
    const foreign = await aPolicy((await aTenantAdmin()).token);
    const answer = await call(`${URL}/${foreign.id}/evaluate`, { token, body: aQuestion() });
    expect(answer.statusCode).toBe(404);
  });
});
