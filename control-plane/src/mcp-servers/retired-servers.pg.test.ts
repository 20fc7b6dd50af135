/** What stays of a deleted server, and what ends with it, over the API. */
import { describe, expect, it } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { createExceptionService } from '../exceptions/exception-service.ts';
import { createInboundRuleService } from '../inbound/inbound-rule-service.ts';
import type { TenantDatabase } from '../platform/database/tenant-scope.ts';
import { MAX_RETIRED, readOtherServerIds, retireServerId } from './retired-servers.ts';

const { call, aTenantAdmin, controlPlane } = await testControlPlane();
type Admin = Awaited<ReturnType<typeof aTenantAdmin>>;

const otherIds = ({ scope }: Admin) => controlPlane.db.inTenant(scope, readOtherServerIds);

function asking({ token }: Admin) {
  return async (method: 'GET' | 'POST' | 'DELETE', url: string, body?: object) => {
    const answer = await call(url, { method, token, ...(body && { body }) });
    expect(answer.statusCode, `${url}: ${answer.body}`).toBeLessThan(300);
    return answer.body === '' ? {} : answer.json();
  };
}

function aServer(server_id: string) {
  return { server_id, transport: 'streamable-http', url: 'https://mcp.example.com/mcp' };
}

describe('the id of a deleted server', () => {
  it('stays one in the bundle until it is given to a server again', async () => {
    const admin = await aTenantAdmin();
    const ask = asking(admin);
    const stranger = await aTenantAdmin();
    await ask('POST', '/api/v1/mcp-servers', aServer('files'));
    expect(await otherIds(admin)).toEqual([]);
    await ask('DELETE', '/api/v1/mcp-servers/files');
    expect(await otherIds(admin)).toEqual(['files']);
    expect(await otherIds(stranger)).toEqual([]);
    await ask('POST', '/api/v1/mcp-servers', aServer('files'));
    expect(await otherIds(admin)).toEqual([]);
  });

  it('is forgotten where there are too many, unless a role names it', async () => {
    const admin = await aTenantAdmin();
    const ask = asking(admin);
    const role = { name: 'reader', description: '', resource_scopes: [] };
    await ask('POST', '/api/v1/roles', { ...role, permissions: ['git:read', 'old/a:b:read'] });
    await controlPlane.db.inTenant(admin.scope, async (tx) => {
      const { tenantId } = admin.scope;
      const at = (i: number) => new Date(Date.UTC(2026, 0, 1) + i * 1_000);
      const rows = [
        'git',
        'old',
        'older',
        ...Array.from({ length: MAX_RETIRED.ofAll }, (_, i) => `s${i}`),
      ];
      await tx.db.retiredServer.createMany({
        data: rows.map((serverId, i) => ({ tenantId, serverId, retiredAt: at(i) })),
      });
      await retireServerId(tx, 'new', at(rows.length));
    });
    const ids = await otherIds(admin);
    expect(ids).toHaveLength(MAX_RETIRED.ofAll + 1);
    expect(ids).toEqual(expect.arrayContaining(['git', 'new', `s${MAX_RETIRED.ofAll - 1}`]));
    for (const gone of ['old', 'older', 's0']) expect(ids).not.toContain(gone);
  });
});

describe('what is said of a server', () => {
  it('ends with it where it trusts the server, and stays where it restricts it', async () => {
    const admin = await aTenantAdmin();
    const ask = asking(admin);
    await ask('POST', '/api/v1/mcp-servers', aServer('files'));
    const aRule = async (source_pattern: string, rule_type: string) =>
      (await ask('POST', '/api/v1/inbound/rules', { source_pattern, rule_type })).id as string;
    const trusted = [
      await aRule('files', 'trust'),
      await aRule('files https://a.example/*', 'trust'),
      await aRule('FILES https://b.example/*', 'trust'),
    ];
    const kept = [
      await aRule('files', 'block'),
      await aRule('files', 'untrusted'),
      await aRule('files2', 'trust'),
      await aRule('file*', 'trust'),
    ];

    await ask('DELETE', '/api/v1/mcp-servers/files');

    const rules = (await ask('GET', '/api/v1/inbound/rules')) as unknown as { id: string }[];
    expect(rules.map((rule) => rule.id).sort()).toEqual([...kept].sort());
    expect(await endings(admin)).toEqual(
      trusted.map((one) => [`inbound_rule/${one}`, 'mcp_server/files']).sort(),
    );
  });

  it('ends where it was said meanwhile, when another server gets the id', async () => {
    const admin = await aTenantAdmin();
    const ask = asking(admin);
    await ask('POST', '/api/v1/mcp-servers', aServer('files'));
    await ask('DELETE', '/api/v1/mcp-servers/files');
    await ask('POST', '/api/v1/inbound/rules', { source_pattern: 'files', rule_type: 'trust' });
    await ask('POST', '/api/v1/mcp-servers', aServer('files'));
    expect(await ask('GET', '/api/v1/inbound/rules')).toEqual([]);
  });
});

describe('what is being said of a server while it is deleted and created again', () => {
  /** The control plane's database, whose next commits wait for `release`. */
  function heldDatabase() {
    const gate = aGate();
    const reached = aGate();
    const inTenantWithHeads: TenantDatabase['inTenantWithHeads'] = (scope, work, options) =>
      controlPlane.db.inTenantWithHeads(
        scope,
        async (tx) => {
          const result = await work(tx);
          reached.open();
          await gate.opened;
          return result;
        },
        options,
      );
    const inTenant: TenantDatabase['inTenant'] = async (...given) =>
      (await inTenantWithHeads(...given)).result;
    return { inTenant, inTenantWithHeads, reached: reached.opened, release: gate.open };
  }

  const created = (admin: Admin) => asking(admin)('POST', '/api/v1/mcp-servers', aServer('files'));

  async function createdAgain(admin: Admin) {
    await asking(admin)('DELETE', '/api/v1/mcp-servers/files');
    await created(admin);
  }

  const settle = () => new Promise((resolve) => setTimeout(resolve, 500));

  it('ends where it trusts the server', async () => {
    const admin = await aTenantAdmin();
    await created(admin);
    const db = heldDatabase();
    const body = { source_pattern: 'files', rule_type: 'trust' } as const;
    const said = createInboundRuleService({ ...controlPlane, db }).create(admin.scope, body);
    await db.reached;
    const again = createdAgain(admin);
    await settle();
    db.release();
    await Promise.all([said, again]);
    expect(await asking(admin)('GET', '/api/v1/inbound/rules')).toEqual([]);
    expect(await endings(admin)).toEqual([[`inbound_rule/${(await said).id}`, 'mcp_server/files']]);
  });

  it('ends where it lifts an objection', async () => {
    const admin = await aTenantAdmin();
    await created(admin);
    const db = heldDatabase();
    const said = createExceptionService({ ...controlPlane, db }).create(admin.scope, {
      ...{ agentId: null, mcpServer: 'files', toolName: null, resource: null, policyId: null },
      ...{ lifts: 'escalation', justification: 'for a while', hours: 1, maxExtensions: 0 },
      escalationId: null,
    });
    await db.reached;
    const again = createdAgain(admin);
    await settle();
    db.release();
    await Promise.all([said, again]);
    const { id } = await said;
    const now = await asking(admin)('GET', `/api/v1/exceptions/${id}`);
    expect(now.status).toBe('revoked');
    expect(await endings(admin)).toEqual([[`exception/${id}`, 'mcp_server/files']]);
  });
});

function aGate() {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** What was ended because of something else, as recorded. */
async function endings({ scope }: Admin) {
  const rows = await controlPlane.db.inTenant(
    scope,
    (tx) => tx.db.$queryRaw<{ bytes: Uint8Array }[]>`
      SELECT bytes FROM ledger_records WHERE tenant_id = ${scope.tenantId}::uuid
      ORDER BY position`,
  );
  return rows
    .map(({ bytes }) => JSON.parse(Buffer.from(bytes).toString()))
    .filter(({ details }) => details?.because_of !== undefined)
    .map(({ target, details }) => [target, details.because_of])
    .sort();
}
