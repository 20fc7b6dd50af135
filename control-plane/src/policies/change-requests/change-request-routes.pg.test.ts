import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

const plane = await testControlPlane();
const { call, test, aTenantAdmin, aColleague, superAdminToken, controlPlane } = plane;
const POLICIES = '/api/v1/policies';
const source = (name: string) => `package p\n\nallow if input.agent.name == "${name}"\n`;

type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

/** A tenant with two administrators, an approver and an auditor, and a policy. */
async function aTeam(given: object = {}) {
  const ann = await aTenantAdmin();
  const [bob, eve, tom] = [
    await aColleague(ann.scope, 'admin'),
    await aColleague(ann.scope, 'approver'),
    await aColleague(ann.scope, 'auditor'),
  ];
  return { ann, bob, eve, tom, policy: await aPolicy(ann, given) };
}

async function aPolicy({ token }: Pick<Admin, 'token'>, given: object = {}) {
  const body = { name: 'Readers', rego_content: source('ann'), status: 'active', ...given };
  const answer = await call(POLICIES, { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json() as { id: string };
}

const requestsOf = ({ id }: { id: string }) => `${POLICIES}/${id}/change-requests`;

async function aRequest({ token }: Pick<Admin, 'token'>, policy: { id: string }, given?: object) {
  const body = { proposed_rego_content: source('bob'), summary: 'for Bob', ...given };
  const answer = await call(requestsOf(policy), { token, body });
  expect(answer.statusCode, answer.body).toBe(201);
  return answer.json() as { id: string; digest: string };
}

const decide = (
  { token }: Pick<Admin, 'token'>,
  policy: { id: string },
  request: { id: string },
  what: 'approve' | 'reject',
  body: object = {},
) => call(`${requestsOf(policy)}/${request.id}/${what}`, { token, body });

const policyAt = async ({ token }: Pick<Admin, 'token'>, { id }: { id: string }) =>
  (await call(`${POLICIES}/${id}`, { token })).json();

const requireRequests = ({ token }: Pick<Admin, 'token'>, isRequired = true) =>
  call('/api/v1/admin/settings', {
    ...{ token, method: 'PATCH' },
    body: { policies: { require_change_requests: isRequired } },
  });

async function actionsOf({ scope }: Admin) {
  const { rows } = await test.superuser.query<{ bytes: Buffer }>(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
     ORDER BY position`,
    [scope.tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

describe('a change request', () => {
  it('is proposed by one, looked at and approved by another, and then in force', async () => {
    const { ann, eve, tom, policy } = await aTeam();
    const proposed = await call(requestsOf(policy), {
      token: ann.token,
      body: {
        proposed_rego_content: source('bob'),
        proposed_name: 'Bob',
        proposed_description: 'Bob alone',
        summary: 'Ann leaves',
      },
    });
    const request = proposed.json();
    expect(request).toMatchObject({
      ...{ policy_id: policy.id, status: 'pending', summary: 'Ann leaves' },
      ...{ proposed_name: 'Bob', proposed_description: 'Bob alone', proposed_status: 'active' },
      ...{ author: ann.scope.actor.username, reviewer: null, notes: null },
    });
    expect(await policyAt(ann, policy)).toMatchObject({ name: 'Readers' });
    const pending = `${POLICIES}/change-requests/pending`;
    expect((await call(pending, { token: tom.token })).json()).toMatchObject({
      total: 1,
      change_requests: [{ id: request.id, policy_id: policy.id, summary: 'Ann leaves' }],
    });
    const looked = await call(`${requestsOf(policy)}/${request.id}`, { token: tom.token });
    expect(looked.json()).toMatchObject({
      ...{ applies: true, changed_since: [], digest: request.digest },
      changes: [
        { field: 'name', before: 'Readers', after: 'Bob' },
        { field: 'description', before: '', after: 'Bob alone' },
        {
          field: 'rego_content',
          line: 3,
          before: 'allow if input.agent.name == "ann"',
          after: 'allow if input.agent.name == "bob"',
        },
      ],
    });
    const newest = () =>
      test.db.inTenant(ann.scope, (tx) =>
        tx.db.bundle.findFirstOrThrow({
          where: { tenantId: ann.scope.tenantId },
          orderBy: { revision: 'desc' },
        }),
      );
    const before = await newest();
    const approved = await decide(eve, policy, request, 'approve', {
      notes: 'fine',
      digest: request.digest,
    });
    expect(approved.statusCode, approved.body).toBe(200);
    expect(approved.json()).toMatchObject({
      ...{ status: 'approved', reviewer: eve.scope.actor.username, notes: 'fine' },
      reviewed_at: expect.any(String),
    });
    expect(await policyAt(ann, policy)).toMatchObject({
      ...{ name: 'Bob', description: 'Bob alone', rego_content: source('bob'), status: 'active' },
    });
    expect((await newest()).revision).toBeGreaterThan(before.revision);
    expect((await call(pending, { token: ann.token })).json()).toEqual({
      total: 0,
      change_requests: [],
    });
    const last = (await actionsOf(ann)).slice(-2);
    expect(last).toMatchObject([
      { action: 'policy_updated', actor: { role: 'approver' } },
      {
        action: 'policy_change_approved',
        target: `policy/${policy.id}`,
        actor: { id: eve.scope.actor.id, role: 'approver' },
        details: {
          ...{ change_request_id: request.id, digest: request.digest, notes: 'fine' },
          author: ann.scope.actor.username,
          changed: ['name', 'description', 'rego_content'],
        },
      },
    ]);
  });

  it('is rejected and changes nothing; decided once', async () => {
    const { ann, bob, eve, policy } = await aTeam();
    const request = await aRequest(ann, policy);
    const rejected = await decide(eve, policy, request, 'reject', { notes: 'no' });
    expect(rejected.json()).toMatchObject({ status: 'rejected', notes: 'no' });
    expect(await policyAt(ann, policy)).toMatchObject({ rego_content: source('ann') });
    for (const what of ['approve', 'reject'] as const) {
      const again = await decide(bob, policy, request, what);
      expect(again.statusCode, again.body).toBe(409);
    }
    expect((await actionsOf(ann)).at(-1)).toMatchObject({ action: 'policy_change_rejected' });
    const list = async (query: string) =>
      (await call(`${requestsOf(policy)}${query}`, { token: ann.token })).json().total;
    expect(await list('?req_status=rejected')).toBe(1);
    expect(await list('?req_status=pending')).toBe(0);
    expect(await list('')).toBe(1);
  });

  it('is decided once, whoever decides at the same moment', async () => {
    const { ann, bob, eve, policy } = await aTeam();
    const request = await aRequest(ann, policy);
    const answers = await Promise.all([
      decide(bob, policy, request, 'approve'),
      decide(eve, policy, request, 'approve'),
      decide(eve, policy, request, 'reject'),
      decide(bob, policy, request, 'reject'),
    ]);
    const won = answers.filter(({ statusCode }) => statusCode === 200);
    expect(won).toHaveLength(1);
    expect(answers.filter(({ statusCode }) => statusCode === 409)).toHaveLength(3);
    const decisions = (await actionsOf(ann)).filter(({ action }) =>
      /policy_change_(approved|rejected)/.test(action),
    );
    expect(decisions).toHaveLength(1);
    const isApproved = won[0]?.json().status === 'approved';
    const expected = source(isApproved ? 'bob' : 'ann');
    expect((await policyAt(ann, policy)).rego_content).toBe(expected);
  });

  it('activates a draft and archives what is active', async () => {
    const { ann, bob, policy } = await aTeam({ status: 'draft' });
    for (const status of ['active', 'archived']) {
      const only = { proposed_rego_content: undefined, proposed_status: status };
      const request = await aRequest(ann, policy, only);
      expect((await decide(bob, policy, request, 'approve')).statusCode).toBe(200);
      expect(await policyAt(ann, policy)).toMatchObject({ status });
    }
  });

  it.each<[string, object]>([
    ['nothing', { summary: 'nothing' }],
    ['what does not compile', { proposed_rego_content: 'package p\n\nallow if {' }],
    ['an unknown field', { proposed_rego_content: source('x'), reviewer: 'me' }],
    ['a status of its own', { proposed_rego_content: source('x'), status: 'approved' }],
    ['another base', { proposed_rego_content: source('x'), base: {} }],
  ])('that proposes %s is refused', async (_, body) => {
    const { ann, policy } = await aTeam();
    const answer = await call(requestsOf(policy), { token: ann.token, body });
    expect(answer.statusCode, answer.body).toBe(422);
  });

  it('says in which of its fields the fault is', async () => {
    const { ann, policy } = await aTeam();
    const body = { proposed_rego_content: 'package p\n\nallow if {' };
    const answer = await call(requestsOf(policy), { token: ann.token, body });
    expect(answer.json().errors[0].loc).toEqual([
      ...['body', 'proposed_rego_content', expect.any(Number), expect.any(Number)],
    ]);
  });

  it('may propose what the policy is already, and is decided like any other', async () => {
    const { ann, bob, policy } = await aTeam();
    const before = await policyAt(ann, policy);
    const request = await aRequest(ann, policy, { proposed_rego_content: before.rego_content });
    const answer = await decide(bob, policy, request, 'approve');
    expect(answer.json()).toMatchObject({ status: 'approved', reviewer: bob.scope.actor.username });
    expect(await policyAt(ann, policy)).toEqual(before);
    const actions = (await actionsOf(ann)).map(({ action }) => action);
    expect(actions.at(-1)).toBe('policy_change_approved');
    expect(actions).not.toContain('policy_updated');
  });

  it('is bounded in number, by policy', async () => {
    const { ann, eve, policy } = await aTeam({ status: 'draft' });
    const requests = [];
    for (let i = 0; i < 20; i++) {
      requests.push(await aRequest(ann, policy, { proposed_description: `${i}` }));
    }
    const body = { proposed_description: 'one more' };
    expect((await call(requestsOf(policy), { token: ann.token, body })).statusCode).toBe(409);
    await decide(eve, policy, requests[0] as { id: string }, 'reject');
    await aRequest(ann, policy, body);
    // A list shows all of them, whoever names no limit.
    const { change_requests, total } = (
      await call(requestsOf(policy), { token: ann.token })
    ).json();
    expect([change_requests.length, total]).toEqual([21, 21]);
  });
});

describe('an approval', () => {
  it('of the own request is another’s, also after a new account of the same name', async () => {
    const { ann, bob, eve, policy } = await aTeam();
    const request = await aRequest(bob, policy);
    const own = await decide(bob, policy, request, 'approve');
    expect(own.statusCode, own.body).toBe(403);
    expect(own.json().detail).toMatch(/Somebody else/);
    const { id, username } = bob.scope.actor;
    const users = '/api/v1/admin/users';
    await call(`${users}/${id}`, { token: ann.token, method: 'DELETE' });
    const anew = { username, password: 'a long password', role: 'admin' };
    const made = (await call(users, { token: ann.token, body: anew })).json();
    const token = await controlPlane.adminTokens.issue({
      ...{ role: 'admin', id: made.id, username, tenantId: ann.scope.tenantId },
      version: '1',
    });
    expect((await decide({ token }, policy, request, 'approve')).statusCode).toBe(403);
    expect(await policyAt(ann, policy)).toMatchObject({ rego_content: source('ann') });
    expect((await decide(eve, policy, request, 'approve')).statusCode).toBe(200);
  });

  it('of the own request is one’s own where nobody else could', async () => {
    const ann = await aTenantAdmin();
    await aColleague(ann.scope, 'auditor');
    const policy = await aPolicy(ann);
    const request = await aRequest(ann, policy);
    expect((await decide(ann, policy, request, 'approve')).statusCode).toBe(200);
  });

  it('of a super-admin counts like any, and not of the own', async () => {
    const { ann, policy } = await aTeam();
    const token = await superAdminToken();
    const headers = { 'x-tenant-id': ann.scope.tenantId };
    const ask = (path: string, body: object) =>
      call(`${requestsOf(policy)}${path}`, { token, headers, body });
    const own = (await ask('', { proposed_name: 'by the super-admin' })).json();
    expect((await ask(`/${own.id}/approve`, {})).statusCode).toBe(403);
    const others = await aRequest(ann, policy);
    expect((await ask(`/${others.id}/approve`, {})).statusCode).toBe(200);
  });

  it('applies to the policy as it was looked at alone, and says what differs', async () => {
    const { ann, bob, eve, policy } = await aTeam();
    const [first, second] = [
      await aRequest(ann, policy),
      await aRequest(bob, policy, { proposed_rego_content: source('eve') }),
    ];
    expect((await decide(eve, policy, first, 'approve')).statusCode).toBe(200);
    const late = await decide(eve, policy, second, 'approve');
    expect(late.statusCode, late.body).toBe(409);
    expect(late.json()).toEqual({
      detail: 'The policy has changed since, in rego_content: propose the change again.',
      errors: [
        {
          loc: ['policy', 'rego_content'],
          msg: `from line 3: was ${JSON.stringify('allow if input.agent.name == "ann"')}, is ${JSON.stringify('allow if input.agent.name == "bob"')}`,
          type: 'changed_since',
        },
      ],
    });
    const looked = await call(`${requestsOf(policy)}/${second.id}`, { token: eve.token });
    expect(looked.json()).toMatchObject({
      ...{ applies: false, status: 'pending' },
      changed_since: [{ field: 'rego_content', line: 3 }],
    });
    expect(await policyAt(ann, policy)).toMatchObject({ rego_content: source('bob') });
  });

  it('is of the digest that was looked at', async () => {
    const { ann, eve, policy } = await aTeam();
    const [request, other] = [
      await aRequest(ann, policy),
      await aRequest(ann, policy, { proposed_rego_content: source('mallory') }),
    ];
    const digest = other.digest;
    for (const what of ['approve', 'reject'] as const) {
      const answer = await decide(eve, policy, request, what, { digest });
      expect(answer.statusCode, answer.body).toBe(409);
    }
    // Neither does a row that was rewritten behind the product's back.
    await test.superuser.query(
      'UPDATE change_requests SET proposed_rego_content = $2 WHERE id = $1',
      [request.id, source('mallory')],
    );
    expect((await decide(eve, policy, request, 'approve')).statusCode).toBe(500);
    expect(await policyAt(ann, policy)).toMatchObject({ rego_content: source('ann') });
  });

  it('of a request is under its own policy alone', async () => {
    const { ann, eve, policy } = await aTeam();
    const other = await aPolicy(ann, { name: 'Other' });
    const request = await aRequest(ann, policy);
    for (const what of ['approve', 'reject'] as const) {
      expect((await decide(eve, other, request, what)).statusCode).toBe(404);
    }
    const stranger = await aTenantAdmin();
    expect((await decide(stranger, policy, request, 'approve')).statusCode).toBe(404);
  });

  it('does not come of who lost the role while it was compiled', async () => {
    const { ann, eve, policy } = await aTeam();
    const request = await aRequest(ann, policy);
    // The guard lets Eve in, and her turn comes after the change of her role.
    const lock = await test.superuser.connect();
    await lock.query('BEGIN');
    await lock.query('SELECT 1 FROM policies WHERE id = $1 FOR UPDATE', [policy.id]);
    const approval = decide(eve, policy, request, 'approve');
    await expect
      .poll(async () => {
        const { rows } = await test.superuser.query(
          `SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
             AND wait_event_type = 'Lock'`,
        );
        return rows.length;
      })
      .toBeGreaterThan(0);
    await lock.query(`UPDATE administrators SET role = 'auditor' WHERE id = $1`, [
      eve.scope.actor.id,
    ]);
    await lock.query('COMMIT');
    lock.release();
    expect((await approval).statusCode).toBe(401);
    expect(await policyAt(ann, policy)).toMatchObject({ rego_content: source('ann') });
  });
});

it('whatever happens at once, the policy is what was decided last, and each request is decided once', async () => {
  const step = fc.record({
    what: fc.constantFrom('approve', 'reject', 'edit'),
    request: fc.nat({ max: 2 }),
    by: fc.constantFrom('bob', 'eve'),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 8 }), async (steps) => {
      const { ann, bob, eve, policy } = await aTeam({ status: 'draft' });
      const requests: { id: string }[] = [];
      for (const n of [0, 1, 2]) {
        requests.push(await aRequest(ann, policy, { proposed_description: `request ${n}` }));
      }
      const answers = await Promise.all(
        steps.map(({ what, request, by }, n) => {
          const one = requests[request] as { id: string };
          if (what !== 'edit') {
            return decide(by === 'bob' ? bob : eve, policy, one, what as 'approve' | 'reject');
          }
          const body = { description: `edit ${n}` };
          return call(`${POLICIES}/${policy.id}`, { token: ann.token, method: 'PATCH', body });
        }),
      );
      for (const { statusCode, body } of answers) expect([200, 409], body).toContain(statusCode);
      const decided = (await actionsOf(ann)).filter(({ action }) =>
        /^policy_(change_(approved|rejected)|updated)$/.test(action),
      );
      const ofRequests = decided.filter(({ action }) => action !== 'policy_updated');
      const ids = ofRequests.map(({ details }) => details.change_request_id);
      expect(new Set(ids).size).toBe(ids.length);
      // All three were made against one state: once it is another, none applies.
      const approved = ofRequests.filter(({ action }) => action === 'policy_change_approved');
      expect(approved.length).toBeLessThanOrEqual(1);
      const states = await call(requestsOf(policy), { token: ann.token });
      const shown = states.json().change_requests as { id: string; status: string }[];
      const open = shown.filter(({ status }) => status === 'pending').map(({ id }) => id);
      expect([...ids, ...open].sort()).toEqual(requests.map(({ id }) => id).sort());
      // Each change of the policy is an edit or the approval, and none got lost.
      const edits = answers.filter(
        ({ statusCode }, n) => statusCode === 200 && steps[n]?.what === 'edit',
      );
      const updates = decided.filter(({ action }) => action === 'policy_updated');
      expect(updates).toHaveLength(edits.length + approved.length);
    }),
    { numRuns: 8 },
  );
});

describe('where change requests are required', () => {
  it('nothing that is active changes directly, and drafts do', async () => {
    const { ann, bob, policy } = await aTeam();
    const draft = await aPolicy(ann, { name: 'Draft', status: 'draft' });
    expect((await requireRequests(ann)).json()).toMatchObject({
      policies: { require_change_requests: true },
    });
    const patch = ({ id }: { id: string }, body: object) =>
      call(`${POLICIES}/${id}`, { token: ann.token, method: 'PATCH', body });
    const before = await policyAt(ann, policy);
    const refused = [
      await patch(policy, { rego_content: source('mallory') }),
      await patch(policy, { description: 'x' }),
      await patch(policy, { status: 'archived' }),
      await patch(draft, { status: 'active' }),
      await call(POLICIES, {
        token: ann.token,
        body: { name: 'New', rego_content: source('x'), status: 'active' },
      }),
    ];
    for (const answer of refused) {
      expect(answer.statusCode, answer.body).toBe(409);
      expect(answer.json().detail).toMatch(/change requests/);
    }
    expect(await policyAt(ann, policy)).toEqual(before);
    expect((await patch(policy, { status: 'active' })).statusCode).toBe(200);
    expect((await patch(draft, { rego_content: source('bob') })).statusCode).toBe(200);
    const request = await aRequest(ann, draft, {
      ...{ proposed_rego_content: undefined, proposed_status: 'active' },
    });
    expect((await decide(ann, draft, request, 'approve')).statusCode).toBe(403);
    expect((await decide(bob, draft, request, 'approve')).statusCode).toBe(200);
  });

  it('turning it off is seen', async () => {
    const { ann, tom, policy } = await aTeam();
    await requireRequests(ann);
    await requireRequests(ann, false);
    const alerts = await call('/api/v1/monitor/alerts', { token: tom.token });
    expect(alerts.json()).toMatchObject({
      alerts: [{ alert_type: 'POLICY_REVIEW_TURNED_OFF', severity: 'high' }],
    });
    const changed = await call(`${POLICIES}/${policy.id}`, {
      ...{ token: ann.token, method: 'PATCH', body: { description: 'x' } },
    });
    expect(changed.statusCode).toBe(200);
  });
});
