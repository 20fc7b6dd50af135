/** A damaged row is told by its table, its id and what of it cannot be shown. */
import { describe, expect, it } from 'vitest';
import { aDataPlane } from '../../../../tests/support/a-data-plane.ts';
import { testControlPlane } from '../../../../tests/support/test-control-plane.ts';

const { call, aTenantAdmin, test } = await testControlPlane();

const damage = (statement: string, tenantId: string) =>
  test.superuser.query(`${statement} WHERE tenant_id = $1`, [tenantId]);

describe('a list with a damaged row', () => {
  it('names the row whose time no answer can hold, also of a joined table', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = { name: 'reader', permissions: ['*:read'] };
    const role = (await call('/api/v1/roles', { token, body })).json();
    for (const time of ['infinity', '-infinity', '4000-01-01 BC']) {
      await damage(`UPDATE roles SET created_at = '${time}'`, admin.scope.tenantId);
      const answer = await call('/api/v1/roles', { token });
      expect(answer.statusCode).toBe(500);
      expect(answer.json().detail).toContain(`roles ${role.id}: created_at is no time`);
    }
  });

  it('names it where SQL of its own reads the rows', async () => {
    const admin = await aTenantAdmin();
    const { token, scope } = admin;
    const about = { name: 'one', agent_type: 'test', owner: 'tests', description: '' };
    const { id } = (await call('/api/v1/agents', { token, body: about })).json();
    await test.superuser.query(
      `INSERT INTO agent_sessions (tenant_id, id, session_key, agent_id, requester_key, started_at,
         last_event_at, expires_at, event_count, tool_call_count, dlp_hit_count)
       VALUES ($1, $2, $2, $2, $2, now(), now(), 'infinity', 1, 1, 0)`,
      [scope.tenantId, id],
    );
    const answer = await call('/api/v1/sessions', { token });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().detail).toMatch(new RegExp(`agent_?sessions? ${id}: expires_at`, 'i'));
  });

  it('names the row whose text or JSON cannot be read, and the table where PostgreSQL reads it', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const { tenantId } = admin.scope;
    await test.superuser.query('INSERT INTO dlp_settings (tenant_id) VALUES ($1)', [tenantId]);
    for (const actions of ['[]', '5']) {
      await damage(`UPDATE dlp_settings SET actions = '${actions}'`, tenantId);
      const answer = await call('/api/v1/dlp/settings', { token });
      expect(answer.statusCode).toBe(500);
      expect(answer.json().detail).toContain('dlp_settings: ');
    }
    const about = { label: 'x', role_ids: [] };
    await call('/api/v1/admin/enrollment-tokens', { token, body: about });
    await damage('UPDATE enrollment_tokens SET role_ids = ARRAY[NULL]::uuid[]', tenantId);
    const answer = await call('/api/v1/admin/enrollment-tokens', { token });
    expect(answer.json().detail).toContain('enrollment_tokens: a value cannot be read');
  });

  it('names the row whose value its schema does not have', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const about = { name: 'one', agent_type: 'test', owner: 'tests', description: '' };
    const agent = (await call('/api/v1/agents', { token, body: about })).json();
    const body = { label: 'laptop', client: 'cursor' };
    const url = `/api/v1/agents/${agent.id}/credentials`;
    const { id } = (await call(url, { token, body })).json();
    await damage(`UPDATE agent_credentials SET client = 'zzz'`, admin.scope.tenantId);
    const answer = await call(url, { token });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().detail).toContain(`credentials ${id}: client is no value`);
    await damage(`UPDATE agent_credentials SET client = 'cursor'`, admin.scope.tenantId);
    expect((await call(url, { token })).statusCode).toBe(200);
  });

  it('names the table whose values PostgreSQL itself cannot read', async () => {
    const admin = await aTenantAdmin();
    await aDataPlane(test, admin.scope);
    await damage(`UPDATE data_planes SET last_heartbeat = 'zzz'`, admin.scope.tenantId);
    const answer = await call('/api/v1/data-planes', { token: admin.token });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().detail).toContain('data_planes: a value cannot be read');
  });

  it.each(['tenant_heads', 'tenant_positions'])('names a row of %s that is gone', async (table) => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const { tenantId } = admin.scope;
    await test.superuser.query(`DELETE FROM ${table} WHERE tenant_id = $1`, [tenantId]);
    const body = { name: 'reader', permissions: ['*:read'] };
    const answer = await call('/api/v1/roles', { token, body });
    expect(answer.statusCode).toBe(500);
    expect(answer.json().detail).toContain(`${table} ${tenantId}: it is gone`);
    expect((await call('/api/v1/roles', { token })).json().total).toBe(0);
  });

  it('names the server whose tool_actions are too large to be read, and lets them be replaced', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = {
      ...{ server_id: 'wiki', transport: 'streamable-http', url: 'https://wiki.example.com/mcp' },
      tool_actions: { search: 'read' },
    };
    expect((await call('/api/v1/mcp-servers', { token, body })).statusCode).toBe(201);
    await damage(
      `UPDATE mcp_servers SET tool_actions = (SELECT jsonb_object_agg('t' || n, tool_actions->'search')
         FROM generate_series(1, 200000) n)`,
      admin.scope.tenantId,
    );
    const began = performance.now();
    for (const url of ['/api/v1/mcp-servers', '/api/v1/mcp-servers/wiki']) {
      const answer = await call(url, { token });
      expect(answer.statusCode).toBe(500);
      expect(answer.json().detail).toContain('mcp_servers wiki: tool_actions is larger');
    }
    expect(performance.now() - began).toBeLessThan(5_000);
    const patch = { token, method: 'PATCH', body: { tool_actions: { search: 'read' } } } as const;
    expect((await call('/api/v1/mcp-servers/wiki', patch)).statusCode).toBe(200);
    expect((await call('/api/v1/mcp-servers', { token })).json().total).toBe(1);
  });

  it('names the event that an export cannot show, before it begins to answer', async () => {
    const admin = await aTenantAdmin();
    const { token } = admin;
    const body = { name: 'reader', permissions: ['*:read'] };
    await call('/api/v1/roles', { token, body });
    await damage(`UPDATE ledger_records SET event_time = 'infinity'`, admin.scope.tenantId);
    for (const format of ['json', 'cef']) {
      const answer = await call(`/api/v1/audit/export?format=${format}`, { token });
      expect(answer.statusCode).toBe(500);
      expect(answer.json().detail).toMatch(/: event_time is no time that can be shown/);
    }
  });
});
