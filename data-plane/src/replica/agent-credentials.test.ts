/** Credentials of agents beside their first one, in the replica. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCredentialFact, AgentFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createReplica, type LocalReplica, REPLICA_FILE, type RefusedFact } from './replica.ts';

const KIND = 'optional.agent_credential';
const tenantId = uuidv7();
let dataDir: string;
let refused: RefusedFact[];
let replica: LocalReplica;
let seq: number;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'replica-'));
  refused = [];
  seq = 0;
  replica = open();
});
afterEach(() => {
  replica.close();
  rmSync(dataDir, { recursive: true });
});

function open(): LocalReplica {
  const opened = createReplica({ dataDir, onRefused: (fact) => refused.push(fact) });
  opened.addTenant(tenantId, uuidv7());
  return opened;
}

function reopen(): LocalReplica {
  replica.close();
  replica = open();
  return replica;
}

function put(kind: string, key: string, value: unknown): void {
  seq += 1;
  replica.apply(tenantId, [{ seq, kind, key, value }], seq);
}

function anAgent(): AgentFact {
  const id = uuidv7();
  return {
    ...{ id, name: 'agent', agent_type: 'test', owner: 'tests', status: 'active' },
    ...{ risk_score: 0, risk_tier: 'low', client_id: `agt_${id}`, secret_hash: 'ab'.repeat(32) },
    ...{ credential_version: 1, kill_released_generation: 0, role_ids: [] },
  };
}

const aCredential = (agent: AgentFact, over: Partial<AgentCredentialFact> = {}) => {
  const id = uuidv7();
  return {
    ...{ id, agent_id: agent.id, client_id: `acr_${id}`, secret_hash: 'cd'.repeat(32), version: 1 },
    ...over,
  };
};

it('lead to their agent by client id, and change at once', () => {
  const agent = anAgent();
  const credential = aCredential(agent);
  put(KIND, credential.id, credential);
  // As long as the agent is unknown, so are its credentials.
  expect(replica.findClient(credential.client_id)).toBeUndefined();
  put('agent', agent.id, agent);
  const found = {
    ...{ tenantId, secretHash: credential.secret_hash },
    proof: { credentialId: credential.id, version: 1 },
  };
  expect(replica.findClient(credential.client_id)).toMatchObject(found);
  expect(replica.findClient(credential.client_id)?.agent.id).toBe(agent.id);
  expect(reopen().findClient(credential.client_id)).toMatchObject(found);
  put(KIND, credential.id, { ...credential, version: 2, secret_hash: 'ef'.repeat(32) });
  expect(replica.findClient(credential.client_id)).toMatchObject({
    ...{ secretHash: 'ef'.repeat(32), proof: { version: 2 } },
  });
  put(KIND, credential.id, null);
  expect(replica.findClient(credential.client_id)).toBeUndefined();
  expect(replica.findCredential(tenantId, credential.id)).toBeUndefined();
  expect(replica.findClient(agent.client_id)?.proof).toEqual({ credentialId: null, version: 1 });
  expect(refused).toEqual([]);
});

it('keep their client id unique, and come with a snapshot', () => {
  const agent = anAgent();
  // A snapshot has them in the order of their keys.
  const both = [aCredential(agent), aCredential(agent)].sort((a, b) => (a.id < b.id ? -1 : 1));
  const [first, thief] = both as [AgentCredentialFact, AgentCredentialFact];
  thief.client_id = first.client_id;
  put('agent', agent.id, agent);
  put(KIND, first.id, first);
  put(KIND, thief.id, thief);
  expect(replica.findClient(first.client_id)?.proof.credentialId).toBe(first.id);
  expect(replica.findCredential(tenantId, thief.id)).toBeUndefined();
  expect(refused).toMatchObject([{ kind: KIND, key: thief.id }]);
  const snapshot = replica.beginSnapshot(tenantId);
  const entries = [agent, first, thief].map((value, n) => ({
    ...{ seq: n + 1, kind: n === 0 ? 'agent' : KIND, key: value.id, value },
  }));
  snapshot.add(entries);
  const { digest } = replica.place(tenantId);
  snapshot.swap({ cursor: 10, digest, statementMs: 0 });
  expect(replica.findClient(first.client_id)?.proof.credentialId).toBe(first.id);
  expect(replica.findCredential(tenantId, thief.id)).toBeUndefined();
  replica.removeTenant(tenantId);
  expect(replica.findClient(first.client_id)).toBeUndefined();
});

it('of another agent’s key, or with a member that this version does not know, are refused', () => {
  const agent = anAgent();
  put('agent', agent.id, agent);
  const credential = aCredential(agent);
  for (const value of [{ ...credential, until: 'tomorrow' }, { ...credential, id: uuidv7() }, 7]) {
    put(KIND, credential.id, credential);
    expect(replica.findClient(credential.client_id)).toBeDefined();
    put(KIND, credential.id, value);
    expect(replica.findClient(credential.client_id)).toBeUndefined();
  }
  expect(refused).toHaveLength(3);
});

it('stored by an older version that did not know them are found, and nothing is lost', () => {
  const agent = anAgent();
  const credential = aCredential(agent);
  put('agent', agent.id, agent);
  put(KIND, credential.id, credential);
  replica.close();
  const db = new Database(join(dataDir, REPLICA_FILE));
  db.exec('DROP TABLE agent_credentials; PRAGMA user_version = 2');
  db.close();
  replica = open();
  expect(replica.cursor(tenantId)).toBe(2);
  expect(replica.findClient(credential.client_id)?.agent.id).toBe(agent.id);
  expect(replica.findClient(agent.client_id)?.agent.id).toBe(agent.id);
});

it('always show their last change', () => {
  const agent = anAgent();
  put('agent', agent.id, agent);
  const ids = Array.from({ length: 3 }, () => uuidv7());
  const step = fc.record({ which: fc.nat(2), version: fc.nat(3) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const model = new Map<string, number>();
      for (const { which, version } of steps) {
        const id = ids[which] as string;
        const value = aCredential(agent, { id, client_id: `acr_${which}`, version });
        put(KIND, id, version === 0 ? null : value);
        model.set(id, version);
        for (const [n, one] of ids.entries()) {
          const known = replica.findClient(`acr_${n}`)?.proof.version ?? 0;
          if (model.has(one)) expect(known).toBe(model.get(one));
        }
      }
    }),
    { numRuns: 60 },
  );
});
