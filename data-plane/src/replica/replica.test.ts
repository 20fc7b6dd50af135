import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type AgentFact,
  effectiveAgentStatus,
  type FeedEntry,
  type KillSwitchFact,
  type RoleFact,
} from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createReplica, type LocalReplica, REPLICA_FILE, type RefusedFact } from './replica.ts';

const tenantId = uuidv7();
const deploymentId = uuidv7();
let dataDir: string;
let refused: RefusedFact[];
let replica: LocalReplica;
let seq: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'replica-'));
  refused = [];
  seq = 0;
  replica = aReplica();
  replica.addTenant(tenantId, deploymentId);
});

afterEach(() => {
  replica.close();
  rmSync(dataDir, { recursive: true });
});

function aReplica(cachedAgents?: number): LocalReplica {
  return createReplica({ dataDir, onRefused: (fact) => refused.push(fact), cachedAgents });
}

function reopen(): LocalReplica {
  replica.close();
  replica = aReplica();
  replica.addTenant(tenantId, deploymentId);
  return replica;
}

function anAgent(over: Partial<AgentFact> = {}): AgentFact {
  return {
    id: uuidv7(),
    name: 'reporter',
    agent_type: 'assistant',
    owner: 'finance',
    status: 'active',
    risk_score: 0,
    risk_tier: 'low',
    client_id: `client-${uuidv7()}`,
    secret_hash: 'ab'.repeat(32),
    credential_version: 1,
    kill_released_generation: 0,
    role_ids: [],
    ...over,
  };
}

function aRole(over: Partial<RoleFact> = {}): RoleFact {
  return {
    id: uuidv7(),
    name: 'reader',
    permissions: ['files:read'],
    resource_scopes: ['*'],
    ...over,
  };
}

function killSwitch(over: Partial<KillSwitchFact>): KillSwitchFact {
  const changed_at = '2026-01-02T03:04:05.000Z';
  return { generation: 1, engaged: true, reason: null, changed_at, ...over };
}

const entry = (kind: string, key: string, value: unknown): FeedEntry => ({
  seq: ++seq,
  kind,
  key,
  value,
});

function apply(...entries: FeedEntry[]): void {
  replica.apply(tenantId, entries, entries.at(-1)?.seq ?? seq);
}

const put = (agent: AgentFact) => entry('agent', agent.id, agent);

describe('agents', () => {
  it('are found by id and by client id, with their roles resolved', () => {
    const reader = aRole();
    const writer = aRole({ name: 'writer', permissions: ['files:read', 'files:write'] });
    const agent = anAgent({ role_ids: [reader.id, writer.id] });
    apply(entry('role', reader.id, reader), entry('role', writer.id, writer), put(agent));
    const expected = {
      ...agent,
      role_names: ['reader', 'writer'],
      permissions: ['files:read', 'files:write'],
      permits: [{ permissions: ['files:read', 'files:write'], scopes: null }],
    };
    expect(replica.findAgent(tenantId, agent.id)).toEqual(expected);
    const client = {
      ...{ tenantId, agent: expected, secretHash: agent.secret_hash },
      proof: { credentialId: null, version: 1 },
    };
    expect(replica.findClient(agent.client_id)).toEqual(client);
    expect(reopen().findClient(agent.client_id)).toEqual(client);
    expect(replica.findAgent(uuidv7(), agent.id)).toBeUndefined();
  });

  it('change at once with each fact that concerns them', () => {
    const role = aRole();
    const agent = anAgent({ role_ids: [role.id] });
    apply(entry('role', role.id, role), put(agent));
    expect(replica.findClient(agent.client_id)?.agent.permissions).toEqual(['files:read']);
    apply(entry('role', role.id, { ...role, permissions: [] }));
    expect(replica.findClient(agent.client_id)?.agent.permissions).toEqual([]);
    apply(put({ ...agent, status: 'suspended' }));
    expect(replica.findAgent(tenantId, agent.id)?.status).toBe('suspended');
    apply(put({ ...agent, client_id: 'another' }));
    expect(replica.findClient(agent.client_id)).toBeUndefined();
    expect(replica.findClient('another')?.agent.id).toBe(agent.id);
    apply(entry('agent', agent.id, null));
    expect(replica.findClient('another')).toBeUndefined();
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(refused).toEqual([]);
  });

  it('are unknown while one of their roles is: a policy may deny by role', () => {
    const role = aRole();
    const agent = anAgent({ role_ids: [role.id] });
    apply(put(agent));
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(refused).toMatchObject([{ kind: 'agent', key: agent.id }]);
    apply(entry('role', role.id, role));
    expect(replica.findAgent(tenantId, agent.id)).toBeDefined();
    apply(entry('role', role.id, null));
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
  });

  it('keep their client id unique', () => {
    const agent = anAgent();
    const thief = anAgent({ client_id: agent.client_id });
    apply(put(agent), put(thief));
    expect(replica.findClient(agent.client_id)?.agent.id).toBe(agent.id);
    expect(replica.findAgent(tenantId, thief.id)).toBeUndefined();
    expect(refused).toMatchObject([{ key: thief.id }]);
  });

  it('are counted as they are enforced', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.record({
            status: fc.constantFrom(
              'active' as const,
              'suspended' as const,
              'deprovisioned' as const,
            ),
            kill_released_generation: fc.nat(3),
          }),
          { maxLength: 8 },
        ),
        fc.record({ generation: fc.nat(3), engaged: fc.boolean() }),
        (states, kill) => {
          const tenant = uuidv7();
          replica.addTenant(tenant, deploymentId);
          const agents = states.map((state) => anAgent(state));
          const fact = killSwitch(kill);
          replica.apply(tenant, [...agents.map(put), entry('kill_switch', 'tenant', fact)], seq);
          const active = agents.filter((agent) => effectiveAgentStatus(agent, fact) === 'active');
          expect(replica.countActiveAgents(tenant)).toBe(active.length);
        },
      ),
      { numRuns: 50 },
    );
  });

  // The caches are a copy of a copy: they must never contradict the file.
  it('are the same through small caches as without any', () => {
    replica.close();
    replica = aReplica(2);
    replica.addTenant(tenantId, deploymentId);
    const ids = [uuidv7(), uuidv7(), uuidv7(), uuidv7()];
    const roles = [aRole(), aRole()];
    const change = fc.oneof(
      fc.record({ of: fc.nat(3), client: fc.nat(3), roles: fc.subarray([0, 1]) }),
      fc.record({ gone: fc.nat(3) }),
      fc.record({ role: fc.nat(1), permission: fc.string({ maxLength: 3 }) }),
    );
    apply(...roles.map((role) => entry('role', role.id, role)));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
        const model = new Map<string, AgentFact>();
        const taken = (client: string, id: string) =>
          [...model.values()].some((agent) => agent.client_id === client && agent.id !== id);
        apply(...ids.map((id) => entry('agent', id, null)));
        for (const one of changes) {
          if ('of' in one) {
            const id = ids[one.of] as string;
            const role_ids = one.roles.map((index) => (roles[index] as RoleFact).id);
            const agent = anAgent({ id, client_id: `client-${one.client}`, role_ids });
            model.delete(id);
            if (!taken(agent.client_id, id)) model.set(id, agent);
            apply(put(agent));
          } else if ('gone' in one) {
            model.delete(ids[one.gone] as string);
            apply(entry('agent', ids[one.gone] as string, null));
          } else {
            const role = roles[one.role] as RoleFact;
            role.permissions = [one.permission];
            apply(entry('role', role.id, role));
          }
          for (const id of ids) {
            const agent = model.get(id);
            expect(replica.findAgent(tenantId, id)?.client_id).toBe(agent?.client_id);
            const permissions = (agent?.role_ids ?? []).flatMap(
              (roleId) => roles.find((role) => role.id === roleId)?.permissions ?? [],
            );
            const found = replica.findAgent(tenantId, id)?.permissions ?? [];
            expect(new Set(found)).toEqual(new Set(permissions));
          }
          for (const client of [0, 1, 2, 3].map((n) => `client-${n}`)) {
            const owner = [...model.values()].find((agent) => agent.client_id === client);
            expect(replica.findClient(client)?.agent.id).toBe(owner?.id);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});

describe('invalid facts', () => {
  it('are refused, and what they concern is denied', () => {
    const agent = anAgent();
    apply(put(agent));
    expect(replica.findAgent(tenantId, agent.id)).toBeDefined();
    const bad: unknown[] = [
      { ...agent, status: 'superuser' },
      { ...agent, risk_score: 'NaN' },
      { ...agent, extra: true },
      { ...agent, name: 'a\u0000' },
      { ...agent, id: uuidv7() },
      'text',
      7,
    ];
    for (const value of bad) {
      apply(put(agent));
      expect(replica.findAgent(tenantId, agent.id)).toBeDefined();
      apply(entry('agent', agent.id, value));
      expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
      expect(replica.findClient(agent.client_id)).toBeUndefined();
      expect(replica.countActiveAgents(tenantId)).toBe(0);
    }
    expect(refused).toHaveLength(bad.length);
    // For the log: one line each.
    for (const { reason } of refused) expect(reason).not.toContain('\n');
    expect(reopen().findAgent(tenantId, agent.id)).toBeUndefined();
    apply(put(agent));
    expect(replica.findAgent(tenantId, agent.id)).toBeDefined();
  });

  it('engage the kill switch when they concern it', () => {
    expect(replica.findKillSwitch(tenantId)).toBeUndefined();
    apply(entry('kill_switch', 'tenant', { engaged: 'no' }));
    expect(replica.findKillSwitch(tenantId)).toMatchObject({ engaged: true });
    expect(reopen().findKillSwitch(tenantId)).toMatchObject({ engaged: true });
    const agent = anAgent({ kill_released_generation: 5 });
    apply(put(agent));
    expect(replica.countActiveAgents(tenantId)).toBe(0);
    const lifted = killSwitch({ engaged: false });
    apply(entry('kill_switch', 'tenant', lifted));
    expect(replica.findKillSwitch(tenantId)).toEqual(lifted);
  });

  it('leave no keys and no credential if they concern those', () => {
    const keys = { issuer: 'i', keys: [{ kty: 'RSA', kid: 'k', alg: 'RS256', n: 'x', e: 'AQAB' }] };
    const credential = { server_id: 'files', deployment_id: deploymentId, jwe: 'a.b.c' };
    const key = `${deploymentId}/files`;
    apply(entry('token_keys', 'current', keys), entry('upstream_credential', key, credential));
    expect(replica.findTokenKeys(tenantId)).toEqual(keys);
    expect(replica.findUpstreamCredential(tenantId, 'files')).toBe('a.b.c');
    apply(entry('token_keys', 'current', { keys: [] }), entry('upstream_credential', key, {}));
    expect(replica.findTokenKeys(tenantId)).toBeUndefined();
    expect(replica.findUpstreamCredential(tenantId, 'files')).toBeUndefined();
  });

  it('are kept when only a newer version knows their kind, which is reported until it is withdrawn', () => {
    apply(entry('agent', 'a', null), entry('optional.hint', 'x', {}), entry('role', 'b', aRole()));
    expect(replica.findUnknownKind(tenantId)).toBeUndefined();
    apply(entry('holds', 'x', { anything: true }), entry('zones', 'y', 1));
    expect(replica.cursor(tenantId)).toBe(seq);
    expect(replica.findUnknownKind(tenantId)).toBe('holds');
    expect(reopen().findUnknownKind(tenantId)).toBe('holds');
    expect(refused).toContainEqual(expect.objectContaining({ kind: 'holds', key: '*' }));
    apply(entry('holds', 'x', null));
    expect(replica.findUnknownKind(tenantId)).toBe('zones');
    expect(replica.findUnknownKind(uuidv7())).toBeUndefined();
    const snapshot = replica.beginSnapshot(tenantId);
    snapshot.add([entry('optional.hint', 'x', {})]);
    snapshot.swap({ ...replica.place(tenantId), cursor: seq });
    expect(replica.findUnknownKind(tenantId)).toBeUndefined();
  });

  it('are refused when a newer version gave them a member that may restrict', () => {
    const agent = anAgent();
    apply(put(agent));
    apply(entry('agent', agent.id, { ...agent, allowed_hours: [9, 17] }));
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(refused).toMatchObject([{ kind: 'agent', key: agent.id }]);
  });
});

describe('the cursor', () => {
  it('moves with the entries and is kept over a restart; what was applied is not applied again', () => {
    const agent = anAgent();
    apply(put(agent), put({ ...agent, name: 'renamed' }));
    expect(reopen().cursor(tenantId)).toBe(2);
    replica.apply(tenantId, [{ seq: 1, kind: 'agent', key: agent.id, value: null }], 1);
    expect(replica.findAgent(tenantId, agent.id)?.name).toBe('renamed');
    expect(replica.cursor(tenantId)).toBe(2);
    replica.apply(tenantId, [], 9);
    expect(replica.cursor(tenantId)).toBe(9);
  });

  it('stays where it was when a page cannot be applied', () => {
    const agent = anAgent();
    apply(put(agent));
    const broken = [
      put({ ...agent, name: 'new' }),
      { seq: 0, kind: 'agent', key: 'x', value: null },
    ];
    expect(() => replica.apply(tenantId, broken, 3)).toThrow();
    expect(replica.cursor(tenantId)).toBe(1);
    expect(replica.findAgent(tenantId, agent.id)?.name).toBe('reporter');
  });

  it('can be waited for', async () => {
    const waits = [replica.waitFor(tenantId, 2, 5_000), replica.waitFor(tenantId, 3, 20)];
    apply(put(anAgent()));
    apply(put(anAgent()));
    expect(await Promise.all(waits)).toEqual([true, false]);
    expect(await replica.waitFor(tenantId, 1, 0)).toBe(true);
    expect(await replica.waitFor(uuidv7(), 1, 5_000)).toBe(false);
  });
});

describe('tenants', () => {
  it('are isolated from each other, and a removed one is unknown', async () => {
    const other = uuidv7();
    const agent = anAgent();
    apply(put(agent), entry('kill_switch', 'tenant', killSwitch({})));
    replica.addTenant(other, deploymentId);
    expect(replica.findAgent(other, agent.id)).toBeUndefined();
    expect(replica.findKillSwitch(other)).toBeUndefined();
    expect(replica.findClient(agent.client_id)?.tenantId).toBe(tenantId);
    const waiting = replica.waitFor(tenantId, 99, 5_000);
    replica.removeTenant(tenantId);
    expect(await waiting).toBe(false);
    expect(replica.hasTenant(tenantId)).toBe(false);
    expect(replica.findClient(agent.client_id)).toBeUndefined();
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(() => replica.apply(tenantId, [], 1)).toThrow('not served');
    replica.addTenant(tenantId, deploymentId);
    expect(replica.cursor(tenantId)).toBe(0);
  });

  it('that are not served by this process are not answered from the file', () => {
    const agent = anAgent();
    apply(put(agent));
    replica.close();
    replica = aReplica();
    expect(replica.findClient(agent.client_id)).toBeUndefined();
    replica.addTenant(tenantId, deploymentId);
    expect(replica.findClient(agent.client_id)).toBeDefined();
  });
});

describe('a damaged file', () => {
  it('is discarded and filled again from the feed', () => {
    apply(put(anAgent()));
    replica.close();
    writeFileSync(join(dataDir, REPLICA_FILE), 'x'.repeat(8_192));
    replica = aReplica();
    replica.addTenant(tenantId, deploymentId);
    expect(replica.cursor(tenantId)).toBe(0);
  });

  it('makes an agent unknown when its fact was changed by hand', () => {
    const agent = anAgent({ status: 'suspended' });
    apply(put(agent));
    replica.close();
    const db = new Database(join(dataDir, REPLICA_FILE));
    db.exec(`UPDATE facts SET value = replace(value, 'suspended', 'active')`);
    db.close();
    replica = aReplica();
    replica.addTenant(tenantId, deploymentId);
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(refused).toMatchObject([{ reason: 'the stored facts are damaged' }]);
  });

  it.each([
    ['a lost kill switch', `DELETE FROM facts WHERE kind = 'kill_switch'`],
    ['a kill switch under another key', `UPDATE facts SET key = 'x' WHERE kind = 'kill_switch'`],
    ['a cursor moved ahead', 'UPDATE tenants SET cursor = cursor + 5'],
  ])('is noticed for %s', (_what, tampering) => {
    const agent = anAgent();
    apply(put(agent), entry('kill_switch', 'tenant', killSwitch({})));
    replica.close();
    const db = new Database(join(dataDir, REPLICA_FILE));
    db.exec(tampering);
    db.close();
    replica = aReplica();
    replica.addTenant(tenantId, deploymentId);
    expect(replica.findAgent(tenantId, agent.id)).toBeUndefined();
    expect(replica.cursor(tenantId)).toBe(0);
  });

  it('never grants more after a flipped bit', () => {
    const suspended = anAgent({ status: 'suspended', role_ids: [] });
    const active = anAgent({ risk_tier: 'critical' });
    apply(
      put(suspended),
      put(active),
      entry('kill_switch', 'tenant', killSwitch({ engaged: true })),
    );
    const before = replica.findAgent(tenantId, active.id);
    replica.close();
    const file = join(dataDir, REPLICA_FILE);
    const intact = readFileSync(file);
    fc.assert(
      fc.property(fc.nat(intact.length - 1), fc.nat(7), (at, bit) => {
        const flipped = Buffer.from(intact);
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit);
        for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
        writeFileSync(file, flipped);
        let opened: LocalReplica | null = null;
        try {
          opened = aReplica();
          opened.addTenant(tenantId, deploymentId);
          // Either known unchanged, or unknown.
          const found = opened.findAgent(tenantId, active.id);
          if (found) expect(found).toEqual(before);
          expect([undefined, 'suspended']).toContain(
            opened.findAgent(tenantId, suspended.id)?.status,
          );
          const kill = opened.findKillSwitch(tenantId);
          // Lost with its cursor, the switch comes back with the feed before any agent does.
          if (!kill?.engaged) expect(opened.findAgent(tenantId, active.id)).toBeUndefined();
        } catch (error) {
          expect(String((error as { code?: unknown }).code ?? error)).toMatch(
            /SQLITE_|newer version|not durable/,
          );
        } finally {
          opened?.close();
        }
      }),
      { numRuns: 300 },
    );
    for (const end of ['', '-wal', '-shm']) rmSync(file + end, { force: true });
    replica = aReplica();
  });
});
