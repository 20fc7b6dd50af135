/**
 * What a data plane refuses of its control plane, over real connections: bundle, page and snapshot,
 * each with each fault. Every time its reason is in the status, in an alert, in the log and in the
 * metrics; calls are judged on by the last good bundle and facts; and a good one after it is taken
 * without a restart. docs/errors.md says what each reason means, which is held here, too.
 */
import { hash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BUNDLE_LIMITS } from '@governance/shared/bundle/bundle-format';
import { REVISION_HEADER } from '@governance/shared/channel/channel-routes';
import type { BundleDownload } from '@governance/shared/channel/channels';
import { signStatement } from '@governance/shared/channel/signed-statement';
import { uuidv7 } from '@governance/shared/ids';
import { assetPath } from '@governance/shared/process/assets';
import fastify from 'fastify';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGatewayConfig } from '../../config.ts';
import { createCoreMetrics } from '../../core/core-metrics.ts';
import { createDataPlaneCore, type DataPlaneCore } from '../../core/data-plane-core.ts';
import { createEnforcement } from '../../plane/enforcement.ts';
import { createEnforcementPlane } from '../../plane/enforcement-plane.ts';
import { connectControlPlane } from '../../registration/connect.ts';
import { aBundle, aBundleSigner, aDownload, type TestBundle } from '../../testing/test-bundles.ts';
import { until } from '../../testing/test-control-plane.ts';
import { createTestFeed, createTestFeedSigner, type TestFeed } from '../../testing/test-feed.ts';
import {
  type HttpControlPlane,
  startHttpControlPlane,
} from '../../testing/test-http-control-plane.ts';
import { lendTokenKey } from '../../testing/test-token-keys.ts';
import { startTestUpstream, type TestUpstream } from '../../testing/test-upstream.ts';
import { BUNDLE_FAULTS } from '../link/bundle-error.ts';
import { FEED_REFUSALS } from '../link/feed-error.ts';

const MINUTE_MS = 60_000;
const bundleSigner = aBundleSigner();
const feedSigner = createTestFeedSigner();
/** Added to the clock of both sides. */
let skew = 0;
const now = () => Date.now() + skew;
const output: { code?: string; msg: string }[] = [];
const log = pino(
  { level: 'warn', base: null },
  { write: (line: string) => void output.push(JSON.parse(line)) },
);
const registry = new Registry();
const agent = {
  id: uuidv7(),
  name: 'agent',
  agent_type: 'test',
  owner: 'tests',
  status: 'active',
  risk_score: 0,
  risk_tier: 'low',
  client_id: 'the-client',
  secret_hash: hash('sha256', 'the-secret', 'hex'),
  credential_version: 1,
  kill_released_generation: 0,
  role_ids: [],
};
const agentFact = (over: object = {}) => ({
  kind: 'agent',
  key: agent.id,
  value: { ...agent, ...over },
});
let server: HttpControlPlane;
let upstream: TestUpstream;
let core: DataPlaneCore;
let url: string;
let revision = 100;
const endings: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'refusals-'));
  lendTokenKey(dataDir);
  endings.push(async () => rmSync(dataDir, { recursive: true }));
  upstream = await startTestUpstream({ tools: [{ name: 'read_file' }] });
  server = await startHttpControlPlane({ bundleKeys: [bundleSigner.public], feedSigner, now });
  endings.push(upstream.stop, server.stop);
  // Longer than all minutes that these tests let pass.
  server.setLife(24 * 60 * MINUTE_MS);
  const metrics = createCoreMetrics(registry);
  core = await createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log,
    onFatal: (error) => {
      throw error;
    },
    now,
    elapsed: () => performance.now() + skew,
    shipDelayMs: 5,
    readUsedShare: async () => 0,
    // A policy.wasm of these tests is the verdict itself.
    loadPolicy: async (wasm) => {
      const decision = Buffer.from(wasm).toString().includes('deny') ? 'deny' : 'allow';
      return { evaluate: () => ({ ok: true, verdict: { decision, reasons: [] } }) };
    },
    backoffLimits: { first: 5, longest: 20 },
  });
  metrics.watch(core);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const plane = createEnforcementPlane(createEnforcement, {
    config: readGatewayConfig({}),
    publicUrl: url,
    version: '1.0.0',
    findRegion: () => null,
    ledger: core.ledger,
    replica: core.replica,
    rules: core.rules,
    findDeploymentId: core.findDeploymentId,
    findDenial: core.findDenial,
    askForNews: core.askForNews,
    planeNow: core.planeNow,
    servesSeveral: core.servesSeveral,
    openSealed: core.identity.openSealed,
    openSealedNow: core.identity.openSealedNow,
    taskSecret: core.identity.tokenKey,
    held: core.held,
    heldResults: core.heldResults,
    payloadSpool: core.payloadSpool,
    registry,
    log,
  });
  const app = fastify({ forceCloseConnections: true });
  await app.register(plane.routes);
  await app.listen({ port, host: '127.0.0.1' });
  const connections = await connectControlPlane({
    core,
    dataDir,
    cpUrl: server.url,
    tokens: ['root-token'],
    region: null,
    version: '1.0.0',
    label: 'here',
    log,
    backoffLimits: { first: 5, longest: 20 },
  });
  endings.push(
    () => core.stop(50),
    plane.stop,
    connections.stop,
    async () => app.close(),
  );
  await until(() => core.status().tenants.length === 1);
  offer();
  server.plane().publish(agentFact());
  await until(() => inForce() === revision && core.replica.cursor(server.tenantId) === 1);
});
afterAll(async () => {
  for (const end of endings.reverse()) await end();
});

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

function makeBundle(over: Partial<TestBundle> = {}): BundleDownload {
  const { tenantId } = server;
  const files = { server_id: 'files', transport: 'streamable-http', url: upstream.url };
  const settings = { mcp_servers: { files: { ...files, local_name: null } } };
  return aBundle({ tenantId, revision, signer: bundleSigner, settings, ...over });
}

/** A good bundle, newer than all before. */
function offer(): void {
  revision += 100;
  server.plane().offer(makeBundle());
}

const tenant = () => {
  const [found] = core.status().tenants;
  if (!found) throw new Error('no tenant is served');
  return found;
};
const inForce = () => tenant().bundle.active?.revision;
const alerts = (type: string) =>
  server.plane().records.flatMap((one) => {
    const isOne = one.type === 'alert' && one.alert_type === type;
    return isOne ? [(one.details as { code: string }).code] : [];
  });

/** A tool call by the agent's secret. @returns `ok`, or the code of its error */
async function call(): Promise<unknown> {
  const answer = await fetch(`${url}/mcp/v1/files`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      authorization: `Basic ${Buffer.from('the-client:the-secret').toString('base64')}`,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'read_file', arguments: {} },
    }),
  });
  const { error } = (await answer.json()) as { error?: { code: number } };
  return error === undefined ? 'ok' : error.code;
}

/** All four places say it, and calls go on by what was good. */
async function isRefused(
  channel: 'bundle' | 'feed',
  code: string,
  before: { output: number; alerts: number },
): Promise<void> {
  await until(() => tenant()[channel].failure?.code === code).catch(() => {
    throw new Error(`not ${code}: ${JSON.stringify(tenant())}`);
  });
  const good = inForce();
  expect(tenant().control_plane).toMatchObject({ state: 'rejected', failure: { code } });
  expect(tenant().refusals[channel][code]).toBeGreaterThan(0);
  const type = channel === 'bundle' ? 'BUNDLE_REFUSED' : 'FEED_REFUSED';
  await until(() => alerts(type).slice(before.alerts).includes(code));
  expect(output.slice(before.output).map((line) => line.code)).toContain(code);
  const labels = `tenant_id="${server.tenantId}",channel="${channel}",code="${code}"`;
  expect(await registry.metrics()).toMatch(
    new RegExp(`^governance_sync_refusals_total{${labels}} [1-9]`, 'm'),
  );
  // By the last good rules and facts: what was refused would have denied.
  expect(await call()).toBe('ok');
  expect(core.findDenial(server.tenantId)).toBeNull();
  await until(() => {
    const decision = server.plane().records.findLast((one) => one.type === 'decision');
    return decision?.bundle_revision === good;
  });
}

const marks = (type: string) => ({ output: output.length, alerts: alerts(type).length });

/** Alerts of one reason are a minute apart. */
const passMinute = () => {
  skew += MINUTE_MS + 1;
};

const answer = (response: ServerResponse, { revision, digest, bytes }: BundleDownload) => {
  response.writeHead(200, {
    etag: `"${digest}"`,
    [REVISION_HEADER]: String(revision),
    'content-type': 'application/gzip',
  });
  response.end(bytes);
  return true;
};

describe('a bundle', () => {
  const evil = Buffer.from('deny');
  const SIGNATURES = '.signatures.json';
  /** Takes the third part of the one JWT away. */
  const cutSignature = (files: Map<string, Uint8Array>) => {
    const file = JSON.parse(Buffer.from(files.get(SIGNATURES) ?? '').toString());
    const signatures = file.signatures.map((token: string) => token.replace(/[^.]*$/, ''));
    files.set(SIGNATURES, Buffer.from(JSON.stringify({ signatures })));
  };
  const newer = (over: Partial<TestBundle> = {}) =>
    makeBundle({ revision: revision + 1, wasm: evil, ...over });
  const truncated = () => {
    const whole = newer();
    return { ...whole, bytes: whole.bytes.subarray(0, whole.bytes.length - 40) };
  };
  const cutArchive = () => {
    const { bytes } = newer();
    return aDownload(revision + 1, bytes.subarray(0, bytes.length - 40));
  };

  it.each<[string, string, () => BundleDownload]>([
    ['unsigned', 'signature_missing', () => newer({ after: (all) => all.delete(SIGNATURES) })],
    ['stripped of its signature', 'signature_stripped', () => newer({ after: cutSignature })],
    ['signed by an unknown key', 'key_unknown', () => newer({ signer: aBundleSigner('other') })],
    ['signed by another key', 'signature_invalid', () => newer({ signer: aBundleSigner() })],
    ['another tenant’s', 'scope_mismatch', () => newer({ scope: uuidv7() })],
    ['truncated on its way', 'digest_mismatch', truncated],
    ['truncated where it was kept', 'archive_malformed', cutArchive],
    ['rolled back', 'rollback', () => makeBundle({ revision: revision - 1, wasm: evil })],
    [
      'oversized',
      'too_large',
      () => aDownload(revision + 1, Buffer.alloc(BUNDLE_LIMITS.compressedBytes + 1)),
    ],
  ])('that is %s is refused: %s', async (_what, code, make) => {
    const before = marks('BUNDLE_REFUSED');
    const good = inForce();
    const bad = make();
    server.intercept((request, response) =>
      request.url?.includes('/opa/bundle/') ? answer(response, bad) : false,
    );
    core.kick(server.tenantId);
    await isRefused('bundle', code, before);
    expect(inForce()).toBe(good);
    await recover();
  });

  it.each([
    'replayed',
    'held back',
  ])('that is %s where the signed statement names a newer one is refused: stale', async (how) => {
    const before = marks('BUNDLE_REFUSED');
    const good = inForce();
    // Good when it was made, and never shown to this plane; an eavesdropper has it.
    const replayed = newer();
    server.intercept((request, response) => {
      if (!request.url?.includes('/opa/bundle/')) return false;
      isAsked = true;
      if (how === 'replayed' && isShown) return answer(response, replayed);
      response.writeHead(304, { etag: request.headers['if-none-match'] }).end();
      return true;
    });
    let isAsked = false;
    let isShown = false;
    core.kick(server.tenantId);
    await until(() => isAsked);
    offer();
    server.plane().publish(agentFact());
    await until(() => core.replica.cursor(server.tenantId) === server.plane().feed.head());
    expect(tenant().bundle.failure).toBeNull();
    skew += 4 * MINUTE_MS;
    // The facts are of the present: it is the rules alone that somebody holds back.
    server.plane().publish(agentFact());
    await until(() => core.replica.cursor(server.tenantId) === server.plane().feed.head());
    isShown = true;
    core.kick(server.tenantId);
    await isRefused('bundle', 'stale', before);
    expect(inForce()).toBe(good);
    await recover();
  });

  /** A good one is taken by itself: nobody kicks, nothing restarts. */
  async function recover(): Promise<void> {
    passMinute();
    server.intercept(null);
    offer();
    await until(() => inForce() === revision && tenant().control_plane.state === 'connected');
    expect(tenant().bundle.failure).toBeNull();
    expect(await call()).toBe('ok');
  }
});

type Spoil = (signed: TestFeed['statement'] extends () => infer S ? S : never) => unknown;

/** Faults of what is signed, for the statement of a page and the end of a snapshot alike. */
const SIGNED_FAULTS: [string, string, Spoil][] = [
  ['unsigned', 'statement_unsigned', (signed) => ({ ...signed, signature: '' })],
  [
    'stripped of its signature',
    'statement_stripped',
    ({ signature: _, ...signed }) => ({ ...signed }),
  ],
  [
    'signed by an unknown key',
    'statement_unknown_key',
    ({ statement }) => signStatement(createTestFeedSigner('other'), statement),
  ],
  [
    'signed by another key',
    'statement_bad_signature',
    ({ statement }) => signStatement(createTestFeedSigner(), statement),
  ],
  [
    'another tenant’s',
    'statement_wrong_tenant',
    ({ statement }) => signStatement(feedSigner, { ...statement, tenant_id: uuidv7() }),
  ],
  [
    'replayed stale',
    'statement_stale',
    ({ statement }) => {
      const time = new Date(now() - 4 * MINUTE_MS).toISOString();
      return signStatement(feedSigner, { ...statement, time });
    },
  ],
];

const json = (response: ServerResponse, body: unknown, cut = 0) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(text.slice(0, text.length - cut));
  return true;
};

/** A good entry is taken by itself, and all that was published while nothing was believed. */
async function recoverFeed(): Promise<void> {
  passMinute();
  server.intercept(null);
  server.plane().publish(agentFact());
  const { feed } = server.plane();
  await until(
    () =>
      core.replica.cursor(server.tenantId) === feed.head() &&
      tenant().control_plane.state === 'connected',
  );
  expect(tenant().feed.failure).toBeNull();
  expect(await call()).toBe('ok');
}

describe('a page of the feed', () => {
  type Page = ReturnType<TestFeed['page']>;
  const pageFaults: [string, string, (page: Page, response: ServerResponse) => boolean][] = [
    ...SIGNED_FAULTS.map(([what, code, spoil]): (typeof pageFaults)[number] => [
      `whose statement is ${what}`,
      code,
      (page, response) => json(response, { ...page, statement: spoil(page.statement) }),
    ]),
    [
      'without a statement',
      'statement_stripped',
      ({ statement: _, ...page }, response) => json(response, page),
    ],
    ['that is truncated', 'answer_malformed', (page, response) => json(response, page, 9)],
    [
      'that has more values than its entries may have',
      'answer_malformed',
      (page, response) => json(response, { ...page, extra: Array(2_000_000).fill(0) }),
    ],
    [
      'that lacks an entry',
      'page_incomplete',
      (page, response) => json(response, { ...page, entries: [] }),
    ],
    [
      'whose entry was changed',
      'digest_mismatch',
      (page, response) => {
        const entries = page.entries.map((one) => ({ ...one, value: { risk_score: 99 } }));
        return json(response, { ...page, entries });
      },
    ],
    [
      'that is rolled back',
      'feed_behind',
      (page, response) => {
        const older = createTestFeed({ tenantId: server.tenantId, signer: feedSigner, now });
        return json(response, { ...page, entries: [], head: 0, statement: older.statement() });
      },
    ],
    [
      'that is oversized',
      'answer_too_large',
      (page, response) => json(response, JSON.stringify(page) + ' '.repeat(64 * 1024 * 1024)),
    ],
  ];

  it.each(pageFaults)('%s is refused: %s', async (_what, code, spoil) => {
    const before = marks('FEED_REFUSED');
    const { feed } = server.plane();
    const cursor = core.replica.cursor(server.tenantId);
    const digest = feed.digestAt(cursor);
    server.intercept((request, response) => {
      if (!request.url?.includes('/feed?')) return false;
      isAsked = true;
      const page = feed.page({ cursor, digest, limit: 500 });
      return isSpoiling ? spoil(page, response) : json(response, page);
    });
    let isAsked = false;
    let isSpoiling = false;
    // A poll that is held already would be answered well.
    core.kick(server.tenantId);
    await until(() => isAsked);
    isSpoiling = true;
    // What the calls must not be judged by.
    server.plane().publish(agentFact({ status: 'suspended' }));
    await isRefused('feed', code, before);
    expect(core.replica.cursor(server.tenantId)).toBe(cursor);
    await recoverFeed();
  });
});

describe('a snapshot', () => {
  type Lines = { entries: string[]; end: ReturnType<TestFeed['statement']> };
  const written = ({ entries }: Lines, end?: unknown) =>
    [...entries, ...(end === undefined ? [] : [JSON.stringify({ end })])].join('\n');
  const snapshotFaults: [string, string, (lines: Lines) => string][] = [
    ...SIGNED_FAULTS.map(([what, code, spoil]): (typeof snapshotFaults)[number] => [
      `whose end is ${what}`,
      code,
      (lines) => written(lines, spoil(lines.end)),
    ]),
    ['that is truncated', 'snapshot_incomplete', (lines) => written(lines)],
    [
      'that lacks an entry',
      'snapshot_incomplete',
      (lines) => written({ ...lines, entries: lines.entries.slice(1) }, lines.end),
    ],
    [
      'whose entry was changed',
      'snapshot_digest',
      (lines) => {
        const entries = lines.entries.map((line) => line.replace('"suspended"', '"active"'));
        return written({ ...lines, entries }, lines.end);
      },
    ],
    [
      'that is oversized',
      'snapshot_too_large',
      (lines) => `${JSON.stringify({ entry: ' '.repeat(5 * 1024 * 1024) })}\n${written(lines)}`,
    ],
  ];

  it.each(snapshotFaults)('%s is refused: %s', async (_what, code, spoil) => {
    const before = marks('FEED_REFUSED');
    const { feed } = server.plane();
    const cursor = core.replica.cursor(server.tenantId);
    server.plane().feed.publish(agentFact({ status: 'suspended' }));
    feed.compact();
    const entries: string[] = [];
    const pages = feed.snapshot();
    let next = await pages.next();
    for (; !next.done; next = await pages.next()) {
      entries.push(...next.value.map((entry) => JSON.stringify({ entry })));
    }
    const end = next.value as unknown as Lines['end'];
    const body = spoil({ entries, end });
    server.intercept((request, response) => {
      if (!request.url?.includes('/snapshot')) return false;
      response.writeHead(200, { 'content-type': 'application/x-ndjson' }).end(body);
      return true;
    });
    server.plane().announce();
    await isRefused('feed', code, before);
    expect(core.replica.cursor(server.tenantId)).toBe(cursor);
    await recoverFeed();
  });
});

it('has each of its reasons in docs/errors.md, and no other', () => {
  const page = readFileSync(assetPath('docs/errors.md'), 'utf8');
  const [, section = ''] = page.split('### What a data plane refuses');
  const documented = [...section.matchAll(/^\| (bundle|feed) \| `(\w+)` \| \S/gm)].map(
    ([, channel, code]) => `${channel} ${code}`,
  );
  expect(documented.sort()).toEqual(
    [
      ...BUNDLE_FAULTS.map((code) => `bundle ${code}`),
      ...FEED_REFUSALS.map((code) => `feed ${code}`),
    ].sort(),
  );
});
