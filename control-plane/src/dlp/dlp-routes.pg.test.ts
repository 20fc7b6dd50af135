import { unpackArchive } from '@governance/shared/bundle/bundle-archive';
import { BundleData } from '@governance/shared/bundle/bundle-format';
import { uuidv7 } from '@governance/shared/ids';
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { MAX_TEST_TEXT } from './dlp-schemas.ts';

const { call, aTenantAdmin, controlPlane, logged, test } = await testControlPlane();

const PATTERNS = '/api/v1/dlp/patterns';
const SETTINGS = '/api/v1/dlp/settings';
const BADGE = { name: 'badge', regex: 'BADGE-[0-9]{6}', severity: 'critical' };

async function anAdmin() {
  const { token, scope } = await aTenantAdmin();
  const send = (method: 'POST' | 'PATCH' | 'DELETE', url: string, body?: object) =>
    call(url, { token, method, ...(body && { body }) });
  return {
    send,
    patterns: async (): Promise<Listed[]> => (await call(PATTERNS, { token })).json().patterns,
    settings: async () => (await call(SETTINGS, { token })).json(),
    /** What data planes get. */
    bundled: async () => {
      const bundle = await controlPlane.bundleSource.findCurrent(scope.tenantId);
      const files = await unpackArchive(bundle?.bytes ?? new Uint8Array());
      return BundleData.parse(JSON.parse(files.get('data.json')?.toString() ?? '')).settings.dlp;
    },
    audited: async () => {
      const { rows } = await test.superuser.query(
        `SELECT bytes FROM ledger_records WHERE tenant_id = $1 AND type = 'admin_action'
         ORDER BY seq`,
        [scope.tenantId],
      );
      return rows.map(({ bytes }) => JSON.parse(bytes.toString()));
    },
  };
}

interface Listed {
  id: string;
  name: string;
  pattern_type: string;
  severity: string;
  enabled: boolean;
}

describe(PATTERNS, () => {
  it('has the 26 built-in ones first, with the same ids for every tenant', async () => {
    const one = await anAdmin();
    const other = await anAdmin();
    await one.send('POST', PATTERNS, { ...BADGE, name: 'a_badge' });
    const listed = await one.patterns();
    expect(listed.map(({ pattern_type }) => pattern_type)).toEqual([
      ...Array(26).fill('builtin'),
      'custom',
    ]);
    expect(listed.slice(0, 26)).toEqual(await other.patterns());
    expect(new Set(listed.map(({ id }) => id)).size).toBe(27);
  });

  it('are created, changed and removed, in the bundle and in the audit trail', async () => {
    const { send, patterns, bundled, audited } = await anAdmin();
    const made = await send('POST', PATTERNS, { ...BADGE, description: 'of the staff' });
    expect(made.statusCode, made.body).toBe(201);
    const { id } = made.json();
    expect(made.json()).toEqual({
      ...BADGE,
      id,
      pattern_type: 'custom',
      enabled: true,
      description: 'of the staff',
      created_at: expect.stringMatching(/Z$/),
    });
    expect(await bundled()).toMatchObject({ custom: [{ ...BADGE, id }], builtins: {} });

    const changed = await send('PATCH', `${PATTERNS}/${id}`, { severity: 'low' });
    expect(changed.json()).toEqual({ ...made.json(), severity: 'low' });
    await send('PATCH', `${PATTERNS}/${id}`, { enabled: false });
    expect(await bundled()).toMatchObject({ custom: [] });
    const removed = await send('DELETE', `${PATTERNS}/${id}`);
    expect([removed.statusCode, removed.body]).toEqual([204, '']);
    expect(await patterns()).toHaveLength(26);
    expect((await send('DELETE', `${PATTERNS}/${id}`)).statusCode).toBe(404);
    const actions = await audited();
    expect(actions[1]?.details).toMatchObject({ before: { severity: made.json().severity } });
    expect(actions.map(({ action, target }) => [action, target])).toEqual(
      ['created', 'updated', 'updated', 'deleted'].map((what) => [
        `dlp_pattern_${what}`,
        `dlp_pattern/${id}`,
      ]),
    );
  });

  it('of the product can be disabled and given another severity, and nothing else', async () => {
    const { send, patterns, bundled } = await anAdmin();
    const [first] = await patterns();
    const url = `${PATTERNS}/${first?.id}`;
    expect((await send('PATCH', url, { enabled: false })).json()).toMatchObject({ enabled: false });
    const again = await send('PATCH', url, { severity: 'low' });
    expect(again.json()).toEqual({ ...first, enabled: false, severity: 'low' });
    expect(await bundled()).toMatchObject({
      builtins: { [`${first?.name}`]: { enabled: false, severity: 'low' } },
    });
    for (const body of [{ name: 'x' }, { regex: 'x' }, { description: 'x', enabled: true }]) {
      const refused = await send('PATCH', url, body);
      expect(refused.statusCode).toBe(422);
      expect(refused.json().detail).toContain(`body.${Object.keys(body)[0]}`);
    }
    expect((await send('DELETE', url)).statusCode).toBe(409);
    expect((await patterns())[0]).toEqual(again.json());
  });

  it('have unique names, also among the built-in ones', async () => {
    const { send, patterns } = await anAdmin();
    const builtin = (await patterns())[0]?.name;
    const made = (await send('POST', PATTERNS, BADGE)).json();
    const other = (await send('POST', PATTERNS, { ...BADGE, name: 'other' })).json();
    expect((await send('POST', PATTERNS, BADGE)).statusCode).toBe(409);
    expect((await send('POST', PATTERNS, { ...BADGE, name: builtin })).statusCode).toBe(409);
    for (const name of [made.name, builtin]) {
      expect((await send('PATCH', `${PATTERNS}/${other.id}`, { name })).statusCode).toBe(409);
    }
  });

  it.each([
    ['an open group', 'ab(cd', 'at character 2'],
    ['look-ahead', 'a(?=b)', 'at character 1'],
    ['a back-reference', '(a)\\1', 'at character 3'],
    ['what matches nothing', 'a*', 'matches the empty text'],
    ['what is too large', 'x(?:(?:\\w{0,60}){0,60}){0,60}', 'too large'],
  ])('refuses %s, and says where', async (_, regex, where) => {
    const { send } = await anAdmin();
    const refused = await send('POST', PATTERNS, { ...BADGE, regex });
    expect(refused.statusCode, refused.body).toBe(422);
    expect(refused.json().detail).toContain('body.regex');
    expect(refused.json().detail).toContain(where);
    expect(refused.json().errors[0].loc).toEqual(['body', 'regex']);
  });

  it.each([
    ['no name', { name: undefined }],
    ['a blank name', { name: ' ' }],
    ['a severity that is none', { severity: 'info' }],
    ['a long expression', { regex: 'a'.repeat(1_001) }],
    ['an unknown field', { pattern_type: 'builtin' }],
  ])('refuses %s', async (_, over) => {
    const { send } = await anAdmin();
    expect((await send('POST', PATTERNS, { ...BADGE, ...over })).statusCode).toBe(422);
  });

  it('are as many as a tenant may have', async () => {
    const { send } = await anAdmin();
    const made = (await send('POST', PATTERNS, BADGE)).json();
    await test.superuser.query(
      `INSERT INTO dlp_patterns (tenant_id, id, name, regex, severity, enabled)
       SELECT tenant_id, gen_random_uuid(), 'filler ' || n, 'x' || n, 'low', false
       FROM dlp_patterns, generate_series(1, 199) n WHERE id = $1`,
      [made.id],
    );
    expect((await send('POST', PATTERNS, { ...BADGE, name: 'one more' })).statusCode).toBe(409);
  });

  it('of another tenant are not found', async () => {
    const one = await anAdmin();
    const other = await anAdmin();
    const { id } = (await one.send('POST', PATTERNS, BADGE)).json();
    expect((await other.send('PATCH', `${PATTERNS}/${id}`, { severity: 'low' })).statusCode).toBe(
      404,
    );
    expect((await other.send('DELETE', `${PATTERNS}/${id}`)).statusCode).toBe(404);
    const tried = await other.send('POST', `${PATTERNS}/test`, { id, text: 'BADGE-123456' });
    expect(tried.statusCode).toBe(404);
    expect((await other.send('POST', PATTERNS, BADGE)).statusCode).toBe(201);
    expect((await one.patterns()).at(-1)?.id).toBe(id);
  });
});

describe(`${PATTERNS}/test`, () => {
  it('tries an expression and stored patterns, and repeats nothing of the text', async () => {
    const { send } = await anAdmin();
    const text = 'of 😀 BADGE-123456 and BADGE-654321';
    const found = [
      { start: 6, length: 12 },
      { start: 23, length: 12 },
    ];
    const tried = await send('POST', `${PATTERNS}/test`, { regex: BADGE.regex, text });
    expect(tried.statusCode, tried.body).toBe(200);
    expect(tried.json()).toEqual({
      findings: found.map((at) => ({ ...at, pattern: null, severity: null, disguise: [] })),
      total: 2,
    });
    const { id } = (await send('POST', PATTERNS, { ...BADGE, enabled: false })).json();
    const stored = await send('POST', `${PATTERNS}/test`, { id, text });
    const said = { pattern: 'badge', severity: 'critical' };
    expect(stored.json().findings).toMatchObject(found.map((at) => ({ ...at, ...said })));
    for (const { body } of [tried, stored]) expect(body).not.toContain('123456');
    expect(logged.join('')).not.toContain('BADGE-1');
  });

  it('tries a built-in pattern alone', async () => {
    const { send, patterns } = await anAdmin();
    const text = 'AKIAQ3EGKH7W2MJX5PLN';
    const found: string[] = [];
    for (const { id, name } of await patterns()) {
      const { total } = (await send('POST', `${PATTERNS}/test`, { id, text })).json();
      if (total > 0) found.push(name);
    }
    expect(found).toEqual(['aws_access_key_id']);
  });

  it.each([
    ['both', { regex: 'a', id: uuidv7() }],
    ['neither', {}],
    ['a wrong expression', { regex: '(' }],
    ['a long text', { regex: 'a', text: 'a'.repeat(MAX_TEST_TEXT + 1) }],
  ])('refuses %s', async (_, body) => {
    const { send } = await anAdmin();
    const refused = await send('POST', `${PATTERNS}/test`, { text: 'a', ...body });
    expect(refused.statusCode, refused.body).toBe(422);
  });

  it('says where a pattern gives up, which data planes answer with a denial', async () => {
    const { send } = await anAdmin();
    const regex = '1[01]{1000}x';
    let state = 1;
    const text = Array.from({ length: 20_000 }, () => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return state > 1_073_741_824 ? '1' : '0';
    }).join('');
    const refused = await send('POST', `${PATTERNS}/test`, { regex, text });
    expect(refused.statusCode, refused.body).toBe(422);
    expect(refused.json().detail).toContain('too long');
  });
});

describe(SETTINGS, () => {
  it('say what is done, and change by severity and direction', async () => {
    const { send, settings, bundled, audited } = await anAdmin();
    const defaults = {
      outbound: { critical: 'block', high: 'warn', medium: 'warn', low: 'log' },
      results: { critical: 'redact', high: 'redact', medium: 'log', low: 'log' },
      cross_session: true,
      fragments: true,
      updated_at: null,
    };
    expect(await settings()).toEqual(defaults);
    const body = { outbound: { high: 'block' }, results: { low: 'redact' }, fragments: false };
    const changed = await send('PATCH', SETTINGS, body);
    expect(changed.statusCode, changed.body).toBe(200);
    const after = {
      ...defaults,
      outbound: { ...defaults.outbound, high: 'block' },
      results: { ...defaults.results, low: 'redact' },
      fragments: false,
      updated_at: expect.stringMatching(/Z$/),
    };
    expect(changed.json()).toEqual(after);
    expect(await settings()).toEqual(after);
    const { updated_at: _, ...inForce } = after;
    expect(await bundled()).toEqual({ ...inForce, builtins: {}, custom: [] });
    expect(await audited()).toMatchObject([
      {
        action: 'dlp_settings_updated',
        details: {
          outbound: { high: 'block' },
          before: {
            outbound: { high: defaults.outbound.high },
            results: { low: defaults.results.low },
            fragments: true,
          },
        },
      },
    ]);
    // Another tenant's are as they were.
    expect(await (await anAdmin()).settings()).toEqual(defaults);
  });

  it.each([
    ['a critical finding that is not blocked', { outbound: { critical: 'warn' } }],
    ['a call that is redacted', { outbound: { high: 'redact' } }],
    ['an unknown severity', { results: { info: 'log' } }],
    ['an unknown field', { enabled: false }],
  ])('refuse %s', async (_, body) => {
    const { send } = await anAdmin();
    const refused = await send('PATCH', SETTINGS, body);
    expect(refused.statusCode, refused.body).toBe(422);
  });
});
