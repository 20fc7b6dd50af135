/**
 * The data plane as service.ts composes it, alone in its process: the measurement is of its own CPU
 * time with ledger and shipping, without a control plane's. Its control plane is a fake that serves
 * one bundle and a few facts and accepts every batch. ENFORCEMENT=off builds the same app without
 * enforcement.
 */
import { generateKeyPairSync, hash, randomBytes, sign } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeBundle } from '@governance/control-plane/bundles/bundle-content';
import { readGatewayConfig } from '@governance/data-plane/config';
import { createDataPlaneCore } from '@governance/data-plane/core/data-plane-core';
import { createEnforcement } from '@governance/data-plane/plane/enforcement';
import { createEnforcementPlane } from '@governance/data-plane/plane/enforcement-plane';
import { baselinePack } from '@governance/policies/baseline-pack';
import { createRegoCompiler } from '@governance/policies/compiler/rego-compiler';
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import type { FeedEntry } from '@governance/shared/channel/facts';
import {
  createSnapshotDigest,
  FEED_START,
  feedDigest,
} from '@governance/shared/channel/feed-chain';
import { signStatement } from '@governance/shared/channel/signed-statement';
import { createHttpServer } from '@governance/shared/http/http-server';
import { uuidv7 } from '@governance/shared/ids';
import { AGENT_TOKEN_TYP, gatewayAudience } from '@governance/shared/tokens/agent-token';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { createProbe } from './probe.ts';
import { nameThreads } from './threads.ts';
import { createUnenforced } from './unenforced.ts';
import { UNREACHED_LIMITS } from './unreached-limits.ts';

const port = Number(process.env.PORT);
const backend = process.env.BACKEND as string;
const isEnforced = process.env.ENFORCEMENT !== 'off';
const publicUrl = `http://127.0.0.1:${port}`;
const dataDir = mkdtempSync(join(tmpdir(), 'governance-bench-'));
const log = pino({ level: 'warn' }, pino.destination(2));
const tenantId = uuidv7();
const deploymentId = uuidv7();

const tokenKey = generateKeyPairSync('rsa', { modulusLength: 2048 });
const bundleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const feedKey = generateKeyPairSync('ed25519');
const KTY = { RS256: 'RSA', ES256: 'EC', EdDSA: 'OKP' } as const;
const jwk = (key: typeof tokenKey.publicKey, kid: string, alg: keyof typeof KTY) => ({
  ...key.export({ format: 'jwk' }),
  kty: KTY[alg],
  kid,
  alg,
});

const agentId = uuidv7();
const roleId = uuidv7();
const facts: FeedEntry[] = [
  [
    'token_keys',
    'current',
    { issuer: publicUrl, keys: [jwk(tokenKey.publicKey, 'bench', 'RS256')] },
  ],
  ['role', roleId, { id: roleId, name: 'bench', permissions: ['bench:*'], resource_scopes: [] }],
  [
    'agent',
    agentId,
    {
      id: agentId,
      name: 'bench-agent',
      agent_type: 'bench',
      owner: 'bench@example.com',
      status: 'active',
      risk_score: 0,
      risk_tier: 'low',
      client_id: 'bench',
      secret_hash: hash('sha256', randomBytes(32), 'hex'),
      credential_version: 1,
      kill_released_generation: 0,
      role_ids: [roleId],
    },
  ] as const,
].map(([kind, key, value], index) => ({ seq: index + 1, kind, key, value }) as FeedEntry);

async function buildBundle() {
  const compiler = createRegoCompiler();
  const compiled = await compiler.compile(
    baselinePack().map((policy, index) => ({
      id: uuidv7(index),
      name: policy.name,
      rego: policy.rego_content,
    })),
  );
  await compiler.close();
  if (!compiled.ok) throw new Error('the baseline pack does not compile');
  const revision = Date.now();
  const { bytes, digest } = await composeBundle({
    tenantId,
    revision,
    compiled,
    settings: {
      tenant_id: tenantId,
      rate_limits: UNREACHED_LIMITS,
      mcp_servers: {
        bench: {
          server_id: 'bench',
          transport: 'streamable-http',
          url: `${backend}/mcp`,
          local_name: null,
        },
      },
    },
    signer: { kid: 'bench-bundle', key: bundleKey.privateKey, alg: 'ES256' },
  });
  return { revision, bytes, digest };
}

const bundle = await buildBundle();
const untilAborted = (signal: AbortSignal, waitMs: number) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, waitMs);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

const digest = facts.reduce(feedDigest, FEED_START);
const feedSigner = { key: feedKey.privateKey, kid: 'bench-feed' };
const standing = () => ({
  v: 1 as const,
  tenant_id: tenantId,
  feed_seq: facts.length,
  feed_digest: digest,
  time: new Date().toISOString(),
});

const link: ControlPlaneLink = {
  async pullBundle({ digest, waitMs, signal }) {
    if (digest !== bundle.digest) return bundle;
    await untilAborted(signal, waitMs);
    return null;
  },
  async readFeed({ cursor, waitMs, signal }) {
    const entries = facts.filter((entry) => entry.seq > cursor);
    if (entries.length === 0) await untilAborted(signal, waitMs);
    const statement = signStatement(feedSigner, {
      type: 'freshness',
      ...standing(),
      bundle: { revision: bundle.revision, digest: bundle.digest },
    });
    return { entries, cursor: Math.max(cursor, facts.length), head: facts.length, statement };
  },
  async *readSnapshot() {
    yield facts;
    const sum = createSnapshotDigest();
    for (const fact of facts) sum.add(fact);
    const [count, entries_digest] = [sum.count(), sum.hex()];
    return signStatement(feedSigner, {
      type: 'snapshot_end',
      ...standing(),
      count,
      entries_digest,
    });
  },
  heartbeat: async () => ({ received: true, timestamp: new Date().toISOString() }),
  async shipBatch({ header }) {
    const { stream, epoch, last_seq, head } = header;
    return { status: 'accepted', stream, epoch, last_seq, head };
  },
  readLog: async () => ({
    ...{ note: null, keys: [], rotations: [], log_epochs: [], consistency: null },
  }),
  shipPayloads: async ({ payloads }) => ({ results: payloads.map(() => 'stored') }),
};

// Started with an IPC channel to the bench, which will ask for a breakdown.
const probe = process.send && isEnforced ? createProbe() : null;
const { started: core, groupOf } = await nameThreads(() =>
  createDataPlaneCore({
    dataDir,
    version: 'bench',
    log,
    onFatal: (error) => {
      throw error;
    },
    ...(probe ? { observer: probe.observer } : {}),
  }),
);
probe?.listen(groupOf);
await core.addTenant(
  {
    tenant_id: tenantId,
    deployment_id: deploymentId,
    bundle_keys: [jwk(bundleKey.publicKey, 'bench-bundle', 'ES256')],
    feed_keys: [jwk(feedKey.publicKey, feedSigner.kid, 'EdDSA')],
  },
  link,
);
await core.applied.wait(tenantId, { feedSeq: facts.length, bundleRevision: bundle.revision });
const agent = core.replica.findAgent(tenantId, agentId);
if (!agent) throw new Error('the agent did not arrive');

const planeDeps = {
  findDenial: () => null,
  askForNews: () => null,
  servesSeveral: core.servesSeveral,
  config: readGatewayConfig({}),
  publicUrl,
  version: 'bench',
  findRegion: () => null,
  ledger: core.ledger,
  replica: core.replica,
  rules: core.rules,
  findDeploymentId: core.findDeploymentId,
  planeNow: core.planeNow,
  openSealed: core.identity.openSealed,
  openSealedNow: core.identity.openSealedNow,
  taskSecret: core.identity.tokenKey,
  held: core.held,
  heldResults: core.heldResults,
  payloadSpool: core.payloadSpool,
  registry: new Registry(),
  log,
};
const proof = { credentialId: null, version: agent.credential_version };
const plane = createEnforcementPlane(
  isEnforced ? createEnforcement : () => createUnenforced({ tenantId, agent, proof }),
  planeDeps,
);
const app = createHttpServer({ log, corsOrigins: [] });
probe?.watch(app);
await app.register(plane.routes);
await app.listen({ port, host: '127.0.0.1' });
console.log(JSON.stringify(await openSession()));

process.once('SIGTERM', async () => {
  await app.close();
  await plane.stop();
  await core.stop();
  rmSync(dataDir, { recursive: true, force: true });
  process.exit(0);
});

/** The headers of the calls: an open session and a token that outlives the bench. */
async function openSession(): Promise<Record<string, string>> {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const iat = Math.floor(Date.now() / 1000);
  const signed = `${encode({ alg: 'RS256', typ: AGENT_TOKEN_TYP, kid: 'bench' })}.${encode({
    iss: publicUrl,
    aud: gatewayAudience(publicUrl),
    sub: agentId,
    iat,
    exp: iat + 3600,
    jti: uuidv7(),
    tenant_id: tenantId,
    feed_seq: facts.length,
    credential_version: 1,
    roles: ['bench'],
    permissions: ['bench:*'],
    risk_tier: 'low',
  })}`;
  const token = `${signed}.${sign('RSA-SHA256', Buffer.from(signed), tokenKey.privateKey).toString('base64url')}`;
  const authorization = `Bearer ${token}`;
  const response = await fetch(`${publicUrl}/mcp/v1/bench`, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 0,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'bench', version: '1.0.0' },
      },
    }),
  });
  const text = await response.text();
  const session = response.headers.get('mcp-session-id');
  if (!response.ok || !session) throw new Error(`initialize: ${response.status} ${text}`);
  return { authorization, 'mcp-session-id': session };
}
