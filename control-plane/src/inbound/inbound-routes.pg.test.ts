import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BUNDLE_MEMBERS, BundleData } from '@governance/shared/bundle/bundle-format';
import { beforeEach, describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';

let clock = Date.parse('2026-03-01T10:00:00.000Z');
const { call, aTenantAdmin, test, controlPlane } = await testControlPlane({
  now: () => new Date(clock),
});

let token: string;
let tenantId: string;
beforeEach(async () => {
  clock = Date.parse('2026-03-01T10:00:00.000Z');
  const admin = await aTenantAdmin();
  ({ token } = admin);
  ({ tenantId } = admin.scope);
});

const RULES = '/api/v1/inbound/rules';
const create = (body: unknown, by = token) =>
  call(RULES, { token: by, method: 'POST', body: body as object });
const list = async (by = token) => (await call(RULES, { token: by })).json();
const remove = (id: string, by = token) => call(`${RULES}/${id}`, { token: by, method: 'DELETE' });

/** Member `inbound` of the bundle that data planes get now. */
async function inBundle() {
  const bundle = await controlPlane.bundleSource.findCurrent(tenantId);
  const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
  const data = JSON.parse(Buffer.from(files.get(BUNDLE_MEMBERS.data) ?? []).toString('utf8'));
  return BundleData.parse(data).settings.inbound;
}

async function audited(): Promise<unknown[]> {
  const { rows } = await test.superuser.query(
    `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action' ORDER BY seq`,
    [tenantId],
  );
  return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
}

describe('source rules', () => {
  it('are listed as an array, in the bundle, and audited', async () => {
    expect(await list()).toEqual([]);
    const answer = await create({
      source_pattern: 'web-*',
      rule_type: 'untrusted',
      expires_in: '24h',
      notes: 'Anybody writes there.',
    });
    expect(answer.statusCode, answer.body).toBe(201);
    const rule = answer.json();
    expect(rule).toEqual({
      id: expect.any(String),
      tenant_id: tenantId,
      source_pattern: 'web-*',
      rule_type: 'untrusted',
      expires_at: '2026-03-02T10:00:00.000Z',
      created_by: expect.any(String),
      notes: 'Anybody writes there.',
      created_at: '2026-03-01T10:00:00.000Z',
    });
    expect(await list()).toEqual([rule]);
    const { id, source_pattern, rule_type, expires_at } = rule;
    expect((await inBundle())?.rules).toEqual([{ id, source_pattern, rule_type, expires_at }]);
    expect(await audited()).toMatchObject([
      { action: 'inbound_rule_created', target: `inbound_rule/${id}` },
    ]);

    expect((await remove(id)).statusCode).toBe(204);
    expect(await list()).toEqual([]);
    expect((await inBundle())?.rules).toEqual([]);
    expect((await remove(id)).statusCode).toBe(404);
    expect((await audited()).at(-1)).toMatchObject({ action: 'inbound_rule_deleted' });
  });

  it.each([
    ['session', '2026-03-01T11:00:00.000Z'],
    ['24h', '2026-03-02T10:00:00.000Z'],
    ['7d', '2026-03-08T10:00:00.000Z'],
    ['permanent', null],
    [null, null],
    [undefined, null],
  ])('expires_in %s ends at %s', async (expires_in, expires_at) => {
    const answer = await create({ source_pattern: 'a', rule_type: 'trust', expires_in });
    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.json()).toMatchObject({ expires_at, notes: null });
  });

  it('that have expired are neither listed nor removed, and do not count', async () => {
    const rule = (
      await create({ source_pattern: 'a', rule_type: 'block', expires_in: 'session' })
    ).json();
    clock += 3_600_000 - 1;
    expect(await list()).toHaveLength(1);
    clock += 1;
    expect(await list()).toEqual([]);
    expect((await remove(rule.id)).statusCode).toBe(404);
    await create({ source_pattern: 'b', rule_type: 'block' });
    const { rows } = await test.superuser.query(
      'SELECT source_pattern FROM inbound_rules WHERE tenant_id = $1',
      [tenantId],
    );
    expect(rows).toEqual([{ source_pattern: 'b' }]);
  });

  it.each([
    ['an unknown rule_type', { source_pattern: 'a', rule_type: 'allow' }],
    ['an unknown expires_in', { source_pattern: 'a', rule_type: 'trust', expires_in: '1y' }],
    ['no pattern', { rule_type: 'trust' }],
    ['an empty pattern', { source_pattern: '', rule_type: 'trust' }],
    ['too many stars', { source_pattern: '*a'.repeat(17), rule_type: 'trust' }],
    ['a NUL character', { source_pattern: 'a\u0000', rule_type: 'trust' }],
    ['an unknown field', { source_pattern: 'a', rule_type: 'trust', expires: '24h' }],
    ['an array', [{ source_pattern: 'a', rule_type: 'trust' }]],
  ])('refuses %s', async (_, body) => {
    const answer = await create(body);
    expect(answer.statusCode, answer.body).toBe(422);
    expect(answer.json().detail).toEqual(expect.any(String));
  });

  it('of another tenant are not found', async () => {
    const { id } = (await create({ source_pattern: 'a', rule_type: 'trust' })).json();
    const other = await aTenantAdmin();
    expect(await list(other.token)).toEqual([]);
    expect((await remove(id, other.token)).statusCode).toBe(404);
    expect(await list()).toHaveLength(1);
    expect((await call(RULES)).statusCode).toBe(401);
  });

  it('are as many as a bundle takes', async () => {
    await test.superuser.query(
      `INSERT INTO inbound_rules (tenant_id, id, source_pattern, rule_type, created_by)
       SELECT $1, gen_random_uuid(), 'a', 'trust', 'x' FROM generate_series(1, 500)`,
      [tenantId],
    );
    const answer = await create({ source_pattern: 'a', rule_type: 'trust' });
    expect(answer.statusCode, answer.body).toBe(409);
  });
});

describe('settings of the tenant', () => {
  const SETTINGS = '/api/v1/admin/settings';
  const patch = (body: unknown, by = token) =>
    call(SETTINGS, { token: by, method: 'PATCH', body: body as object });
  const DEFAULT = {
    inbound: {
      actions: { low: 'pass', medium: 'pass', high: 'substitute', critical: 'substitute' },
      untrusted_actions: null,
    },
    pinned_tools: { require_approval: false },
    policies: { require_change_requests: false },
    holds: { timeout_minutes: { low: 60, medium: 30, high: 15, critical: 5 } },
    sessions: { idle_minutes: 30, cycling_sessions: 5 },
  };

  it('have defaults, change in part, and are in the bundle', async () => {
    expect((await call(SETTINGS, { token })).json()).toEqual(DEFAULT);
    const answer = await patch({ inbound: { actions: { medium: 'substitute' } } });
    expect(answer.statusCode, answer.body).toBe(200);
    const { actions } = DEFAULT.inbound;
    const inbound = { ...DEFAULT.inbound, actions: { ...actions, medium: 'substitute' } };
    const changed = { ...DEFAULT, inbound };
    expect(answer.json()).toEqual(changed);
    expect((await call(SETTINGS, { token })).json()).toEqual(changed);
    expect((await inBundle())?.actions.medium).toBe('substitute');
    expect((await patch({})).json()).toEqual(changed);
    expect((await audited())[0]).toMatchObject({
      action: 'tenant_settings_updated',
      details: {
        inbound: { actions: { medium: 'substitute' } },
        before: { inbound: { actions: { medium: actions.medium } } },
      },
    });
    const other = await aTenantAdmin();
    expect((await call(SETTINGS, { token: other.token })).json()).toEqual(DEFAULT);
  });

  it('may have a person decide, and treat what is untrusted differently', async () => {
    const { token: own } = await aTenantAdmin();
    const { inbound } = (
      await patch(
        { inbound: { actions: { high: 'hold' }, untrusted_actions: { low: 'hold' } } },
        own,
      )
    ).json();
    const { actions } = DEFAULT.inbound;
    expect(inbound).toEqual({
      actions: { ...actions, high: 'hold' },
      untrusted_actions: { ...actions, high: 'hold', low: 'hold' },
    });
    // What it does not name stays.
    const kept = (
      await patch({ inbound: { untrusted_actions: { high: 'substitute' } } }, own)
    ).json();
    expect(kept.inbound.untrusted_actions).toMatchObject({ low: 'hold', high: 'substitute' });
    const reset = (await patch({ inbound: { untrusted_actions: null } }, own)).json();
    expect(reset.inbound).toEqual({ actions: inbound.actions, untrusted_actions: null });
  });

  it.each([
    ['an unknown action', { inbound: { actions: { low: 'ask' } } }],
    ['an unknown severity', { inbound: { actions: { info: 'pass' } } }],
    ['an unknown member', { outbound: {} }],
    ['an array', []],
  ])('refuse %s', async (_, body) => {
    expect((await patch(body)).statusCode).toBe(422);
  });
});
