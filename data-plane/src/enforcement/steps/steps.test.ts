import {
  isAuthorsFault,
  type PolicyOutcome,
  type PolicyReason,
} from '@governance/policies/contract';
import type { AgentCredentialFact } from '@governance/shared/channel/facts';
import { uuidv7 } from '@governance/shared/ids';
import { DEFAULT_RATE_LIMITS } from '@governance/shared/settings/rate-limit-settings';
import { describe, expect, it, vi } from 'vitest';
import type { ActiveRules, ReplicaAgent } from '../../contracts.ts';
import { parseCredential } from '../../gateway/arrival.ts';
import type { AgentCall, Caller, RawCall, ScannedCall } from '../call/calls.ts';
import { createCallRates } from '../permission/call-rates.ts';
import { agentKeyOf } from '../permission/eligibility.ts';
import type { TokenFault, VerifiedToken } from '../tokens/agent-token.ts';
import { type AuthenticateDeps, authenticate } from './authenticate.ts';
import { classify } from './classify.ts';
import { checkKillSwitch } from './kill-switch.ts';
import { evaluatePolicy } from './policy.ts';

const TENANT = uuidv7();

const anAgent = (over: Partial<ReplicaAgent> = {}): ReplicaAgent => ({
  id: uuidv7(),
  name: 'agent',
  agent_type: 'test',
  owner: 'tests',
  status: 'active',
  risk_score: 5,
  risk_tier: 'low',
  client_id: 'client',
  // SHA-256 of "secret"
  secret_hash: '2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b',
  credential_version: 2,
  kill_released_generation: 0,
  role_ids: [],
  role_names: ['reader'],
  permissions: ['*:read'],
  permits: [{ permissions: ['*:read'], scopes: null }],
  ...over,
});

const aCaller = (over: Partial<Caller> = {}): Caller => {
  const agent = over.agent ?? anAgent();
  return {
    tenantId: TENANT,
    agent,
    key: agentKeyOf(TENANT, agent.id),
    credential: parseCredential(`Basic ${Buffer.from('client:secret').toString('base64')}`),
    proof: { credentialId: null, version: agent.credential_version },
    serverId: null,
    sessionId: null,
    requesterId: 'user-1',
    requestId: 'request-1',
    hops: 0,
    arrivedAt: 0,
    ...over,
  };
};

const aCall = (over: Partial<Caller> = {}): RawCall => ({
  id: uuidv7(),
  caller: aCaller(over),
  ask: { serverId: 'files', method: 'tools/call', name: 'read_file', args: { path: '/a' } },
});

const anAgentCall = (over: Partial<ReplicaAgent> = {}): AgentCall => ({
  ...aCall(),
  agent: anAgent(over),
});

describe('authenticate', () => {
  const agent = anAgent();
  const other: AgentCredentialFact = {
    ...{ id: uuidv7(), agent_id: agent.id, client_id: 'other', secret_hash: 'ab'.repeat(32) },
    version: 3,
  };
  const foreign = { ...other, id: uuidv7(), agent_id: uuidv7() };
  const deps = (over: Partial<AuthenticateDeps> = {}): AuthenticateDeps => ({
    replica: {
      findAgent: (tenantId, id) => (tenantId === TENANT && id === agent.id ? agent : undefined),
      findClient: (id) =>
        id === agent.client_id
          ? {
              ...{ tenantId: TENANT, agent, secretHash: agent.secret_hash },
              proof: { credentialId: null, version: 2 },
            }
          : undefined,
      findCredential: (_tenantId, id) =>
        id === other.id ? other : id === foreign.id ? foreign : undefined,
      cursor: () => 10,
      waitFor: async () => false,
    },
    tokens: {
      verify: () => ({
        tenantId: TENANT,
        agentId: agent.id,
        proof: { credentialId: null, version: 2 },
        feedSeq: 10,
        issuersAudience: 'https://cp.example/mcp/v1',
        audiences: ['https://s/mcp/v1'],
        validUntil: 0,
        kid: 'k',
        modulus: '',
      }),
    },
    audience: 'https://s/mcp/v1',
    findDenial: () => null,
    askForNews: () => null,
    onUnauthenticated: () => undefined,
    ...over,
  });
  const bearer = () => aCall({ agent, credential: parseCredential('Bearer a.b.c') });

  describe('a token of an unknown key', () => {
    const claims = Buffer.from(JSON.stringify({ tenant_id: TENANT })).toString('base64url');
    const call = () => aCall({ agent, credential: parseCredential(`Bearer e30.${claims}.AA`) });
    const known = deps().tokens.verify('', '');

    it('is judged once more when the control plane was asked', async () => {
      const verify = vi.fn<() => VerifiedToken | TokenFault>(() => known);
      verify.mockReturnValueOnce('unknown_key');
      const askForNews = vi.fn(async () => 'current' as const);
      const result = await authenticate(call(), deps({ tokens: { verify }, askForNews }));
      expect(result).toMatchObject({ call: { agent } });
      // It names no agent that is known here.
      expect(askForNews.mock.calls).toEqual([[TENANT, null]]);
    });

    it.each([
      ['current', 'unknown_key'],
      ['crowded', 'unknown_key_crowded'],
      ['unreachable', 'unknown_key_not_asked'],
      ['late', 'unknown_key_not_asked'],
    ] as const)('is refused where the answer is %s and the key is not there', async (news, why) => {
      const told: string[] = [];
      const result = await authenticate(
        call(),
        deps({
          tokens: { verify: () => 'unknown_key' },
          askForNews: async () => news,
          onUnauthenticated: (reason) => told.push(reason),
        }),
      );
      expect(result).toMatchObject({ kind: 'deny', cause: 'unauthenticated', detail: why });
      expect(told).toEqual([why]);
      const says = {
        unknown_key: 'a valid, unexpired agent token is required',
        unknown_key_crowded: 'too many requests wait',
        unknown_key_not_asked: 'the control plane did not answer',
      };
      expect(result).toMatchObject({ message: expect.stringContaining(says[why]) });
    });

    it('waits in the place of the agent that it names, where the tenant has that', async () => {
      const text = JSON.stringify({ tenant_id: TENANT, sub: agent.id });
      const own = Buffer.from(text).toString('base64url');
      const askForNews = vi.fn(async () => 'current' as const);
      const credential = parseCredential(`Bearer e30.${own}.AA`);
      await authenticate(
        aCall({ agent, credential }),
        deps({ tokens: { verify: () => 'unknown_key' }, askForNews }),
      );
      expect(askForNews.mock.calls).toEqual([[TENANT, agent.id]]);
    });

    it('does not ask for another fault, without a tenant, or for one that is not served', async () => {
      const askForNews = vi.fn(() => null);
      const bad = deps({ tokens: { verify: () => 'bad_signature' }, askForNews });
      expect(await authenticate(call(), bad)).toMatchObject({ detail: 'bad_signature' });
      const none = deps({ tokens: { verify: () => 'unknown_key' }, askForNews });
      expect(await authenticate(bearer(), none)).toMatchObject({ detail: 'unknown_key' });
      expect(askForNews).not.toHaveBeenCalled();
      expect(await authenticate(call(), none)).toMatchObject({ detail: 'unknown_key' });
    });
  });

  it('finds the agent of a client secret and of a token', async () => {
    for (const call of [aCall({ agent }), bearer()]) {
      expect(await authenticate(call, deps())).toMatchObject({
        kind: 'continue',
        call: { agent },
      });
    }
  });

  it.each(['client:wrong', 'client:', 'nobody:secret', ':'])('refuses %s', async (text) => {
    const refused = vi.fn();
    const credential = parseCredential(`Basic ${Buffer.from(text).toString('base64')}`);
    const result = await authenticate(
      aCall({ agent, credential }),
      deps({ onUnauthenticated: refused }),
    );
    expect(result).toMatchObject({ kind: 'deny', cause: 'unauthenticated', challenge: 'basic' });
    expect(refused).toHaveBeenCalledExactlyOnceWith(expect.any(String), aCall().caller.requestId);
  });

  const token = deps().tokens.verify('', '');
  it.each<[string, Partial<Exclude<typeof token, string>>]>([
    ['another audience', { audiences: ['https://s'] }],
    ['one server only', { audiences: ['https://s/mcp/v1/files'] }],
    ['an unknown agent', { agentId: uuidv7() }],
    ['another tenant', { tenantId: uuidv7() }],
    ['a rotated credential', { proof: { credentialId: null, version: 1 } }],
    ['another rotated credential', { proof: { credentialId: other.id, version: 2 } }],
    ['a revoked credential', { proof: { credentialId: uuidv7(), version: 1 } }],
    ['another agent’s credential', { proof: { credentialId: foreign.id, version: 3 } }],
    ['a position that the replica does not reach', { feedSeq: 11 }],
  ])('refuses a token for %s', async (_what, over) => {
    const verify = () => ({ ...(token as Exclude<typeof token, string>), ...over });
    const result = await authenticate(bearer(), deps({ tokens: { verify } }));
    expect(result).toMatchObject({ kind: 'deny', cause: 'unauthenticated', challenge: 'bearer' });
  });

  it('takes a token of another credential of the agent', async () => {
    const proof = { credentialId: other.id, version: 3 };
    const verify = () => ({ ...(token as Exclude<typeof token, string>), proof });
    const result = await authenticate(bearer(), deps({ tokens: { verify } }));
    expect(result).toMatchObject({ kind: 'continue', call: { agent } });
  });

  it.each([
    [['https://cp.example/mcp/v1'], true],
    [['https://cp.example/mcp/v1/files'], false],
    [['https://other.example/mcp/v1'], false],
  ])('takes its issuer’s gateway for the tenant’s: %j', async (audiences, isTaken) => {
    const verify = () => ({ ...(token as Exclude<typeof token, string>), audiences });
    const result = await authenticate(bearer(), deps({ tokens: { verify } }));
    expect(result.kind).toBe(isTaken ? 'continue' : 'deny');
  });

  it('looks the agent up again after the replica has caught up', async () => {
    let isThere = false;
    const base = deps();
    const replica = {
      ...base.replica,
      cursor: () => 9,
      findAgent: () => (isThere ? agent : undefined),
      waitFor: async (_tenantId: string, seq: number, ms: number) => {
        expect([seq, ms]).toEqual([10, 1000]);
        isThere = true;
        return true;
      },
    };
    expect(await authenticate(bearer(), deps({ replica }))).toMatchObject({ kind: 'continue' });
  });
});

describe('checkKillSwitch', () => {
  const released = { engaged: true, generation: 4, reason: null, changed_at: '' };
  it.each<[string, Partial<ReplicaAgent>, typeof released | undefined, string]>([
    ['an active agent', {}, undefined, 'continue'],
    ['an active agent, the switch lifted', {}, { ...released, engaged: false }, 'continue'],
    ['an agent released since', { kill_released_generation: 4 }, released, 'continue'],
    ['an agent released from an older one', { kill_released_generation: 3 }, released, 'deny'],
    ['an agent never released', {}, released, 'deny'],
    ['a suspended agent', { status: 'suspended' }, undefined, 'deny'],
    ['a deprovisioned agent', { status: 'deprovisioned' }, undefined, 'deny'],
  ])('%s', (_what, over, killSwitch, kind) => {
    const replica = { findKillSwitch: () => killSwitch };
    const rated = { rules: { findActiveRules: () => null }, rates: createCallRates(() => 0) };
    const result = checkKillSwitch(anAgentCall(over), { replica, ...rated });
    expect(result.kind).toBe(kind);
    if (result.kind === 'deny') expect(result.cause).toBe('ineligible');
  });

  it('counts what is beyond the agent’s rate limit, with the same answer', () => {
    const { critical } = DEFAULT_RATE_LIMITS.limits;
    const rated = { rules: { findActiveRules: () => null }, rates: createCallRates(() => 0) };
    const deps = { replica: { findKillSwitch: () => released }, ...rated };
    const call = anAgentCall({ risk_tier: 'critical' });
    const denials = Array.from({ length: critical.requests + 1 }, () =>
      checkKillSwitch(call, deps),
    );
    expect(denials[critical.requests - 1]).not.toHaveProperty('exceeded');
    expect(denials.at(-1)).toMatchObject({
      kind: 'deny',
      cause: 'ineligible',
      exceeded: { tier: 'critical', ...critical, retryAfter: expect.any(Number) },
    });
  });
});

const rules = (outcome: PolicyOutcome, seen: unknown[] = []): ActiveRules => ({
  revision: 7,
  digest: 'd',
  settings: { tenant_id: TENANT, mcp_servers: {} },
  engine: {
    evaluate: (input) => {
      seen.push(input);
      return outcome;
    },
  },
});

describe('classify', () => {
  it('says action and target under one snapshot of the rules', async () => {
    const active = rules({ ok: false, fault: 'trap', message: '' });
    const agent = anAgent();
    const deps = {
      replica: {
        findAgent: () => agent,
        findCredential: () => undefined,
        findKillSwitch: () => undefined,
        findWorkflowSession: () => undefined,
        findDelegation: () => undefined,
      },
      now: () => Date.UTC(2026, 0, 2),
      findDenial: () => null,
      rules: { findActiveRules: () => active },
      catalogue: { findHints: async () => ({ destructiveHint: true }) },
    };
    expect(await classify(anAgentCall(), deps)).toMatchObject({
      call: { agent, rules: active, action: 'write', target: '/a' },
    });
  });
});

describe('evaluatePolicy', () => {
  const onPolicyFault = vi.fn();
  const deps = {
    opa: null,
    replica: {
      findAgent: () => undefined,
      findCredential: () => undefined,
      findKillSwitch: () => undefined,
      findWorkflowSession: () => undefined,
      findDelegation: () => undefined,
      findExceptions: () => [],
    },
    planeNow: () => Date.UTC(2026, 0, 2),
    findDenial: () => null,
    rules: { findActiveRules: () => null },
    findDeploymentId: () => 'plane',
    findRegion: () => 'eu',
    now: () => Date.UTC(2026, 0, 2),
    onPolicyFault,
  };
  const scanned = (active: ActiveRules | null): ScannedCall => ({
    ...anAgentCall(),
    rules: active,
    action: 'read',
    target: '/a',
    dlp: { findings: [], action: null },
  });
  const reason = (rule: PolicyReason['rule']): PolicyReason => ({
    policy_id: 'p',
    policy: 'Policy',
    rule,
    message: `says ${rule}`,
  });

  it('asks with the whole input', () => {
    const seen: unknown[] = [];
    const verdict = { decision: 'allow' as const, reasons: [reason('allow')] };
    const call = scanned(rules({ ok: true, verdict }, seen));
    expect(evaluatePolicy(call, deps)).toMatchObject({
      kind: 'continue',
      call: { reasons: verdict.reasons },
    });
    expect(seen).toEqual([
      {
        agent: {
          id: call.agent.id,
          name: 'agent',
          agent_type: 'test',
          owner: 'tests',
          roles: ['reader'],
          permissions: ['*:read'],
          risk_tier: 'low',
          risk_score: 5,
        },
        request: {
          tool_name: 'read_file',
          action: 'read',
          resource: '/a',
          parameters: { path: '/a' },
          mcp_server: 'files',
          method: 'tools/call',
        },
        requester: { id: 'user-1', verified: false },
        workflow: null,
        delegation: null,
        dlp: { findings_count: 0, max_severity: null, patterns: [] },
        context: {
          time: '2026-01-02T00:00:00.000Z',
          data_plane: 'plane',
          region: 'eu',
          model: null,
          agent_role: null,
        },
      },
    ]);
  });

  it('denies and escalates with the reasons that say so', () => {
    const reasons = [reason('deny'), reason('escalate'), reason('allow')];
    const denied = rules({ ok: true, verdict: { decision: 'deny', reasons } });
    expect(evaluatePolicy(scanned(denied), deps)).toMatchObject({
      kind: 'deny',
      message: 'Policy: says deny',
      reasons: [reason('deny')],
    });
    const escalated = rules({ ok: true, verdict: { decision: 'escalate', reasons } });
    expect(evaluatePolicy(scanned(escalated), deps)).toEqual({
      kind: 'escalate',
      reasons: [reason('escalate')],
    });
    const silent = rules({ ok: true, verdict: { decision: 'deny', reasons: [] } });
    expect(evaluatePolicy(scanned(silent), deps)).toMatchObject({
      message: 'no policy allows this call',
    });
  });

  it.each([
    'undefined',
    'malformed_verdict',
    'out_of_fuel',
    'out_of_memory',
    'trap',
    'builtin_error',
    'not_loaded',
  ] as const)('denies on %s, and tells the agent nothing about internals', async (fault) => {
    onPolicyFault.mockClear();
    const broken = rules({ ok: false, fault, message: 'inner detail' });
    const result = await evaluatePolicy(scanned(broken), deps);
    expect(result).toMatchObject({
      kind: 'deny',
      cause: 'policy',
      detail: `${fault}: inner detail`,
    });
    if (result.kind === 'deny') expect(result.message).not.toContain('inner');
    expect(onPolicyFault).toHaveBeenCalledTimes(isAuthorsFault(fault) ? 1 : 0);
  });

  it('denies without rules', () => {
    expect(evaluatePolicy(scanned(null), deps)).toMatchObject({ kind: 'deny', cause: 'policy' });
  });
});
