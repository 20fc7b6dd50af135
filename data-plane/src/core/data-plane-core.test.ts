import { createPublicKey, hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { PolicyInput, PolicyOutcome } from '@governance/policies/contract';
import type {
  FeedRequest,
  ReportedHealth,
  ServerReport,
} from '@governance/shared/channel/channels';
import { uuidv7 } from '@governance/shared/ids';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadIdentity } from '../identity/identity.ts';
import { createPolicyLoader } from '../sync/bundle/policy-loader.ts';
import { aBundle, aBundleSigner } from '../testing/test-bundles.ts';
import {
  createTestControlPlane,
  type TestControlPlane,
  until,
} from '../testing/test-control-plane.ts';
import { aDecision, anOutcome } from '../testing/test-records.ts';
import { lendTokenKey } from '../testing/test-token-keys.ts';
import { createCoreMetrics } from './core-metrics.ts';
import {
  createDataPlaneCore,
  type DataPlaneCore,
  type DataPlaneCoreOptions,
} from './data-plane-core.ts';

const signer = aBundleSigner();
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };
let dataDir: string;
let cores: DataPlaneCore[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'core-'));
  lendTokenKey(dataDir);
  cores = [];
});

afterEach(async () => {
  await Promise.all(cores.map((core) => core.stop(100)));
  rmSync(dataDir, { recursive: true });
});

const allow: PolicyOutcome = { ok: true, verdict: { decision: 'allow', reasons: [] } };

async function aCore(over: Partial<DataPlaneCoreOptions> = {}): Promise<DataPlaneCore> {
  const core = await createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log: quiet,
    onFatal: (error) => {
      throw error;
    },
    shipDelayMs: 5,
    readUsedShare: async () => 0,
    loadPolicy: async () => ({ evaluate: () => allow }),
    ...over,
  });
  cores.push(core);
  return core;
}

interface TestTenant {
  tenantId: string;
  plane: TestControlPlane;
  answer: Parameters<DataPlaneCore['addTenant']>[0];
}

function aTenant(now: () => number = Date.now): TestTenant {
  const tenantId = uuidv7();
  const deploymentId = uuidv7();
  const publicKey = createPublicKey(loadIdentity(dataDir).signingKey);
  const plane = createTestControlPlane({ tenantId, deploymentId, publicKey, now });
  const bundle_keys = [signer.public];
  const feed_keys = [plane.feed.signer.public];
  return {
    tenantId,
    plane,
    answer: { tenant_id: tenantId, deployment_id: deploymentId, bundle_keys, feed_keys },
  };
}

function anAgentFact(over: Record<string, unknown> = {}) {
  const id = uuidv7();
  const value = {
    id,
    name: 'reporter',
    agent_type: 'assistant',
    owner: 'finance',
    status: 'active',
    risk_score: 0,
    risk_tier: 'low',
    client_id: `client-${id}`,
    secret_hash: 'ab'.repeat(32),
    credential_version: 1,
    kill_released_generation: 0,
    role_ids: [],
    ...over,
  };
  return { kind: 'agent', key: id, value };
}

const bundle = (tenant: TestTenant, revision: number) =>
  aBundle({ tenantId: tenant.tenantId, revision, signer });

describe('a data plane core', () => {
  it('takes facts and rules from the control plane, and ships records to it', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    const agent = anAgentFact();
    plane.publish(agent);
    plane.offer(bundle(tenant, 10));
    await core.addTenant(tenant.answer, plane.link);
    await core.applied.wait(tenantId, { feedSeq: 1, bundleRevision: 10 });
    expect(core.rules.findActiveRules(tenantId)?.revision).toBe(10);
    expect(core.replica.findClient(agent.value.client_id)?.agent.id).toBe(agent.key);
    expect(core.findDeploymentId(tenantId)).toBe(tenant.answer.deployment_id);

    const decision = aDecision();
    await core.ledger.append(tenantId, decision);
    await core.ledger.append(tenantId, anOutcome(decision.id));
    await until(() => plane.records.length === 3);
    expect(plane.records.map(({ type }) => type)).toEqual(['epoch_start', 'decision', 'outcome']);

    // An administrator's change is in force when the barrier answers.
    const seq = plane.publish({ ...agent, value: { ...agent.value, status: 'suspended' } });
    await core.applied.wait(tenantId, { feedSeq: seq });
    expect(core.replica.findAgent(tenantId, agent.key)?.status).toBe('suspended');
    expect(plane.heartbeats[0]).toMatchObject({
      deployment_id: tenant.answer.deployment_id,
      escalations_pending: 0,
    });
    expect(core.status().tenants).toMatchObject([
      {
        tenant_id: tenantId,
        feed: { cursor: seq, failure: null },
        bundle: { active: { revision: 10 } },
      },
    ]);
  });

  it('refuses a key whose revocation only the feed told of, over a restart too, whatever is told later', async () => {
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    const stolen = aBundleSigner('stolen');
    const answer = { ...tenant.answer, bundle_keys: [signer.public, stolen.public] };
    const tell = (revoked_at: string | null) => {
      const at = new Date().toISOString();
      const { kid } = stolen.public;
      const key = { purpose: 'bundle', jwk: stolen.public, valid_from: at, valid_to: null };
      const keys = [{ ...key, kid, revoked_at }];
      return plane.publish({
        ...{ kind: 'optional.key_history', key: 'current', value: { keys, rotations: [] } },
      });
    };
    const first = await aCore();
    plane.offer(bundle(tenant, 10));
    await first.addTenant(answer, plane.link);
    await first.applied.wait(tenantId, {
      ...{ feedSeq: tell(new Date().toISOString()), bundleRevision: 10 },
    });
    // A damaged row of the control plane, or somebody who can write it.
    await first.applied.wait(tenantId, { feedSeq: tell(null) });
    await first.stop(50);
    cores = [];

    const second = await aCore();
    await second.addTenant(answer, plane.link);
    plane.offer(aBundle({ tenantId, revision: 11, signer: stolen }));
    const status = () => second.status().tenants[0]?.bundle;
    await until(() => status()?.failure != null || status()?.active?.revision === 11);
    expect(status()).toMatchObject({ active: { revision: 10 }, failure: { code: 'key_unknown' } });
    const [kept] = loadIdentity(dataDir).listRegistrations();
    expect(kept?.bundle_keys.map(({ kid }) => kid)).toEqual([signer.public.kid]);
  });

  it('keeps enforcing what it has while the control plane is away, over a restart too', async () => {
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    const agent = anAgentFact();
    const first = await aCore();
    plane.publish(agent);
    plane.offer(bundle(tenant, 10));
    await first.addTenant(tenant.answer, plane.link);
    await first.applied.wait(tenantId, { feedSeq: 1, bundleRevision: 10 });
    plane.setAway(true);
    const crashed = aDecision();
    await first.ledger.append(tenantId, crashed);
    await first.stop(50);
    cores = [];

    const second = await aCore();
    await second.addTenant(tenant.answer, plane.link);
    expect(second.rules.findActiveRules(tenantId)?.revision).toBe(10);
    expect(second.replica.findClient(agent.value.client_id)).toBeDefined();
    await second.ledger.append(tenantId, aDecision());
    await until(() => second.status().tenants[0]?.shipper.state === 'retrying');
    plane.setAway(false);
    await until(() => plane.records.length === 5);
    expect(plane.records.map(({ type, epoch }) => [type, epoch])).toEqual([
      ['epoch_start', 1],
      ['decision', 1],
      ['epoch_start', 2],
      ['outcome', 2],
      ['decision', 2],
    ]);
    expect(plane.records[3]).toMatchObject({ event_id: crashed.id, outcome: 'outcome_unknown' });
  });

  it('serves tenants apart: an outage of one does not stop another', async () => {
    const core = await aCore();
    const here = aTenant();
    const gone = aTenant();
    gone.plane.setAway(true);
    for (const tenant of [gone, here]) {
      tenant.plane.offer(bundle(tenant, 10));
      // Asked for twice at once, it is still served once.
      const again = core.addTenant(tenant.answer, tenant.plane.link);
      await Promise.all([again, core.addTenant(tenant.answer, tenant.plane.link)]);
      await core.addTenant(tenant.answer, tenant.plane.link);
    }
    expect(core.status().tenants).toHaveLength(2);
    await core.applied.wait(here.tenantId, { bundleRevision: 10 });
    await core.ledger.append(gone.tenantId, aDecision());
    await core.ledger.append(here.tenantId, aDecision());
    await until(() => here.plane.records.length === 2);
    expect(gone.plane.records).toEqual([]);
    expect(core.rules.findActiveRules(gone.tenantId)).toBeNull();

    await core.removeTenant(here.tenantId);
    expect(core.rules.findActiveRules(here.tenantId)).toBeNull();
    expect(core.replica.hasTenant(here.tenantId)).toBe(false);
    await core.addTenant(here.answer, here.plane.link);
    await core.applied.wait(here.tenantId, { bundleRevision: 10 });
    expect(core.rules.findActiveRules(here.tenantId)?.revision).toBe(10);
  });

  it('denies everything once its rules are too old, until the next statement', async () => {
    let time = Date.now();
    const core = await aCore({ now: () => time, offlineMaxAgeSeconds: 3_600 });
    const tenant = aTenant(() => time);
    const { tenantId, plane } = tenant;
    const standing = () => core.status().tenants[0];
    plane.setAway(true);
    await core.addTenant(tenant.answer, plane.link);
    expect(core.findDenial(tenantId)?.reason).toBe('offline_max_age');
    expect(standing()).toMatchObject({
      freshness: { state: 'never' },
      control_plane: { state: 'unreachable' },
    });
    plane.setAway(false);
    core.kick(tenantId);
    await until(() => core.findDenial(tenantId) === null);
    expect(standing()).toMatchObject({
      freshness: { state: 'fresh' },
      control_plane: { state: 'connected', failure: null },
    });

    plane.setAway(true);
    await until(() => standing()?.control_plane.state === 'unreachable');
    time += 3_599_000;
    expect(core.findDenial(tenantId)).toBeNull();
    expect(standing()?.freshness.state).toBe('stale');
    time += 2_000;
    expect(core.findDenial(tenantId)?.reason).toBe('offline_max_age');
    // Setting the clock back gains nothing.
    time -= 3 * 86_400_000;
    expect(core.findDenial(tenantId)?.reason).toBe('offline_max_age');
    time += 3 * 86_400_000;
    plane.setAway(false);
    core.kick(tenantId);
    await until(() => core.findDenial(tenantId) === null);
  });

  it('distinguishes a refused answer from no answer, and keeps what it has', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    let spoil = false;
    const link = {
      ...plane.link,
      readFeed: async (request: FeedRequest) => {
        const page = await plane.link.readFeed(request);
        return spoil ? { ...page, statement: { ...page.statement, signature: '' } } : page;
      },
    };
    const agent = anAgentFact();
    plane.publish(agent);
    await core.addTenant(tenant.answer, link);
    await core.applied.wait(tenantId, { feedSeq: 1 });
    spoil = true;
    plane.publish({ ...agent, value: null });
    await until(() => core.status().tenants[0]?.control_plane.state === 'rejected');
    expect(core.status().tenants[0]?.control_plane.failure).toMatchObject({
      stage: 'verify',
      code: 'statement_unsigned',
    });
    expect(core.replica.findAgent(tenantId, agent.key)).toBeDefined();
    expect(core.findDenial(tenantId)).toBeNull();
    spoil = false;
    core.kick(tenantId);
    await until(() => core.status().tenants[0]?.control_plane.state === 'connected');
    expect(core.replica.findAgent(tenantId, agent.key)).toBeUndefined();
    const alerts = () => plane.records.filter((record) => record.type === 'alert');
    await until(() => alerts().some((alert) => alert.alert_type === 'FEED_REFUSED'));

    plane.feed.rewind(0);
    plane.announce();
    await until(() => alerts().some((alert) => alert.alert_type === 'FEED_REWOUND'));
  });

  it('reports to each tenant the health of its own MCP servers soon after a change', async () => {
    const states = new Map<string, ReportedHealth>();
    const core = await aCore({
      serverReport: (tenantId) => {
        const report: ServerReport = { resting: [], failing: [], ok: [] };
        const state = states.get(tenantId);
        if (state) report[state].push('files');
        return report;
      },
    });
    const [one, two] = [aTenant(), aTenant()];
    for (const { answer, plane } of [one, two]) await core.addTenant(answer, plane.link);
    const newest = ({ plane }: TestTenant) => plane.heartbeats.at(-1)?.mcp_servers;
    expect([one, two].map(newest)).toEqual(Array(2).fill({ resting: [], failing: [], ok: [] }));
    const before = two.plane.heartbeats.length;
    states.set(one.tenantId, 'resting').set(two.tenantId, 'ok');
    core.reportSoon(one.tenantId);
    core.reportSoon(uuidv7());
    await until(() => newest(one)?.resting[0] === 'files');
    expect(two.plane.heartbeats.length).toBe(before);
  });

  it('shows its state in its metrics', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const registry = new Registry();
    createCoreMetrics(registry).watch(core);
    tenant.plane.publish(anAgentFact());
    tenant.plane.offer(bundle(tenant, 10));
    await core.addTenant(tenant.answer, tenant.plane.link);
    await core.applied.wait(tenant.tenantId, { feedSeq: 1, bundleRevision: 10 });
    await until(() => core.status().tenants[0]?.shipper.backlog === 0);
    core.noteToken(tenant.tenantId, { expires_at: null, renewals: 3 });
    const shown = await registry.metrics();
    const of = `{tenant_id="${tenant.tenantId}"}`;
    expect(shown).toContain(`governance_ledger_backlog_records${of} 0`);
    expect(shown).toContain(`governance_feed_cursor${of} 1`);
    expect(shown).toContain(`governance_feed_head${of} 1`);
    expect(shown).toMatch(/governance_statement_age_seconds\{[^}]*\} \d/);
    expect(shown).toContain(`governance_bundle_revision${of} 10`);
    expect(shown).toContain(`governance_token_renewals${of} 3`);
    expect(shown).toContain('governance_control_plane_state{state="connected"} 1');
    expect(shown).toContain('governance_control_plane_state{state="revoked"} 0');
  });

  it('reports what it refused', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const { plane } = tenant;
    const fact = anAgentFact({ status: 'superuser' });
    plane.publish(fact);
    plane.offer(aBundle({ tenantId: tenant.tenantId, revision: 10, signer: aBundleSigner() }));
    await core.addTenant(tenant.answer, plane.link);
    const alerts = () => plane.records.filter((record) => record.type === 'alert');
    await until(() => alerts().length === 2);
    expect(new Map(alerts().map((alert) => [alert.alert_type, alert.details]))).toEqual(
      new Map([
        ['FACT_REFUSED', { kind: 'agent', key: fact.key, reason: expect.any(String) }],
        ['BUNDLE_REFUSED', expect.objectContaining({ code: 'signature_invalid' })],
      ]),
    );
    expect(core.replica.findAgent(tenant.tenantId, fact.key)).toBeUndefined();
  });

  it('denies all calls while it has a kind of fact that it cannot enforce, and says why', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    plane.publish({ kind: 'optional.hint', key: 'x', value: {} });
    await core.addTenant(tenant.answer, plane.link);
    await core.applied.wait(tenantId, { feedSeq: 1 });
    expect(core.findDenial(tenantId)).toBeNull();
    plane.publish({ kind: 'quarantine_zone', key: 'x', value: { agents: [] } });
    await core.applied.wait(tenantId, { feedSeq: 2 });
    expect(core.findDenial(tenantId)).toEqual({
      reason: 'fact_unknown',
      message: expect.stringContaining('(quarantine_zone)'),
    });
    const alerts = () => plane.records.filter((record) => record.type === 'alert');
    await until(() => alerts().length === 1);
    expect(alerts()).toMatchObject([
      { alert_type: 'FACT_REFUSED', details: { kind: 'quarantine_zone', key: '*' } },
    ]);
    plane.publish({ kind: 'quarantine_zone', key: 'x', value: null });
    await core.applied.wait(tenantId, { feedSeq: 3 });
    expect(core.findDenial(tenantId)).toBeNull();
  });

  it('reports a forked stream in its status and its heartbeat, not in the stream', async () => {
    const core = await aCore();
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    await core.addTenant(tenant.answer, plane.link);
    await until(() => plane.records.length === 1);
    plane.fork();
    await core.ledger.append(tenantId, aDecision());
    await until(() => core.status().tenants[0]?.shipper.state === 'forked');
    await until(() => core.status().ledger.pendingRecords === 0);
    expect(core.findDenial(tenantId)?.reason).toBe('stream_forked');
    const kept = await core.ledger.nextBatch(tenantId, 10);
    expect(kept?.records.map((bytes) => JSON.parse(Buffer.from(bytes).toString()))).toMatchObject([
      { type: 'decision' },
    ]);
    expect(kept?.records).toHaveLength(1);
    expect(core.status().tenants[0]?.stream).toMatchObject({
      state: 'forked',
      is_stopped: true,
      backlog: 1,
    });

    // Only new keys lift it.
    await core.stop(50);
    cores = [];
    const again = await aCore();
    await again.addTenant(tenant.answer, plane.link);
    again.reinstate(tenantId);
    expect(again.findDenial(tenantId)?.reason).toBe('stream_forked');
  });
});

describe('with the real policy engine', () => {
  const rego = `package mine
deny contains "too large" if input.request.parameters.size > data.settings.limit
allow if input.agent.risk_tier == "low"
`;
  const compiler = createRegoCompiler();
  let wasm: Uint8Array;
  let digest: string;

  beforeAll(async () => {
    const result = await compiler.compile([{ id: uuidv7(), name: 'size', rego }]);
    if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
    wasm = result.wasm;
    digest = result.digest;
  });
  afterAll(() => compiler.close());

  const input = (size: number): PolicyInput => ({
    agent: {
      id: uuidv7(),
      name: 'a',
      agent_type: 'a',
      owner: 'o',
      roles: [],
      permissions: [],
      risk_tier: 'low',
      risk_score: 0,
    },
    request: {
      tool_name: 't',
      action: 'read',
      resource: 'r',
      parameters: { size },
      mcp_server: 's',
      method: 'tools/call',
    },
    requester: { id: null, verified: false },
    workflow: null,
    delegation: null,
    dlp: { findings_count: 0, max_severity: null, patterns: [] },
    context: {
      time: '2026-01-01T00:00:00.000Z',
      data_plane: 'd',
      region: null,
      model: null,
      agent_role: null,
    },
  });

  it('decides by the newest rules and settings', async () => {
    const core = await aCore({ loadPolicy: undefined });
    const tenant = aTenant();
    const { tenantId, plane } = tenant;
    await core.addTenant(tenant.answer, plane.link);
    const decide = (size: number) => {
      const outcome = core.rules.findActiveRules(tenantId)?.engine.evaluate(input(size));
      return outcome?.ok ? outcome.verdict.decision : outcome;
    };
    const offer = async (revision: number, limit: number) => {
      const settings = { limit };
      const metadata = {
        tenant_id: tenantId,
        entrypoints: ['governance/decision'],
        sources_digest: digest,
      };
      const manifest = { metadata };
      plane.offer(aBundle({ tenantId, revision, signer, wasm, settings, manifest }));
      await core.applied.wait(tenantId, { bundleRevision: revision });
    };
    await offer(1, 10);
    expect([decide(5), decide(50)]).toEqual(['allow', 'deny']);
    const before = core.rules.findActiveRules(tenantId);
    await offer(2, 100);
    expect([decide(50), decide(500)]).toEqual(['allow', 'deny']);
    // The previous rules are a value of their own: a call in progress keeps them whole.
    expect(before?.engine.evaluate(input(50))).toMatchObject({ verdict: { decision: 'deny' } });
  });

  it('compiles a policy.wasm once, however often its settings change', async () => {
    const load = createPolicyLoader(Date.now);
    const wasmDigest = hash('sha256', wasm, 'hex');
    await load(wasm, { settings: { limit: 1 } }, wasmDigest);
    // The bytes are not compiled again.
    const engine = await load(Buffer.alloc(0), { settings: { limit: 70 } }, wasmDigest);
    expect(engine.evaluate(input(60))).toMatchObject({ verdict: { decision: 'allow' } });
    await expect(load(Buffer.alloc(0), {}, 'another')).rejects.toThrow();
  });
});
