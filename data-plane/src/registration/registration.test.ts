/** Registration over a real listener: which tenant is served when, and what ends it. */
import { createPublicKey, hash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RegistrationAnswer } from '@governance/shared/channel/channels';
import { AppError, ERRORS } from '@governance/shared/errors';
import { signRotation } from '@governance/shared/evidence/evidence-keys';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createDataPlaneCore,
  type DataPlaneCore,
  type DataPlaneCoreOptions,
} from '../core/data-plane-core.ts';
import { until } from '../testing/test-control-plane.ts';
import { createTestFeedSigner } from '../testing/test-feed.ts';
import {
  type HttpControlPlane,
  startHttpControlPlane,
} from '../testing/test-http-control-plane.ts';
import { aDecision } from '../testing/test-records.ts';
import { lendTokenKey } from '../testing/test-token-keys.ts';
import { type Connections, connectControlPlane } from './connect.ts';

let dataDir: string;
let server: HttpControlPlane;
let core: DataPlaneCore;
let connections: Connections | null;
let output: string[];
let time: number;

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'registration-'));
  lendTokenKey(dataDir);
  time = Date.now();
  server = await startHttpControlPlane({ now: () => time });
  connections = null;
  output = [];
  core = await boot();
});

afterEach(async () => {
  await connections?.stop();
  await core.stop(50);
  await server.stop();
  rmSync(dataDir, { recursive: true });
});

const say = (fields: object, message: string) =>
  output.push(JSON.stringify({ ...fields, message }));
const log = { info: say, warn: say, error: say };

const boot = (over: Partial<DataPlaneCoreOptions> = {}) =>
  createDataPlaneCore({
    dataDir,
    version: '1.0.0',
    log,
    onFatal: (error) => {
      throw error;
    },
    now: () => time,
    shipDelayMs: 5,
    readUsedShare: async () => 0,
    loadPolicy: async () => ({ evaluate: () => ({ ok: false, fault: 'trap', message: '' }) }),
    backoffLimits: { first: 10, longest: 40 },
    ...over,
  });

async function connect(
  tokens = ['root-token'],
  cpUrl = server.url,
  backoffLimits = { first: 10, longest: 40 },
): Promise<void> {
  connections = await connectControlPlane({
    core,
    dataDir,
    cpUrl,
    tokens,
    region: 'eu',
    version: '1.0.0',
    label: 'here',
    log,
    backoffLimits,
    askAgainMs: 30,
    lookMs: 20,
  });
}

async function restart(tokens = ['root-token'], cpUrl = server.url): Promise<void> {
  await connections?.stop();
  await core.stop(50);
  core = await boot();
  await connect(tokens, cpUrl);
}

const state = () => core.status().tenants[0]?.control_plane.state;
const denial = () => core.findDenial(server.tenantId)?.reason ?? null;

/** Connected, with a statement verified: calls are judged. */
async function served(): Promise<void> {
  await until(() => state() === 'connected' && denial() === null);
}

describe('a registration', () => {
  it('serves its tenant, and keeps its token in a private file', async () => {
    await connect();
    await served();
    const { tenantId, deploymentId } = server;
    expect(core.findDeploymentId(tenantId)).toBe(deploymentId);
    expect(connections?.status()).toMatchObject([
      { tenant_id: tenantId, state: 'registered', failure: null },
    ]);
    const folder = join(dataDir, 'identity', 'tokens');
    expect(readdirSync(folder)).toEqual([`${tenantId}.json`]);
    const file = join(folder, `${tenantId}.json`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const kept = readFileSync(file, 'utf8');
    expect(kept).toContain('deployment-token-1');
    expect(kept).not.toContain('root-token');
    expect(kept).toContain(hash('sha256', 'root-token', 'hex'));
    await core.ledger.append(tenantId, aDecision());
    await until(() => server.plane().records.length === 2);
    expect(output.join()).not.toMatch(/root-token|deployment-token/);
  });

  it('is tried until the control plane is there, and others are served meanwhile', async () => {
    await connect();
    await served();
    const port = Number(new URL(server.url).port);
    await restart(['root-token', 'never-seen'], `http://127.0.0.1:${port}`);
    expect(core.status().tenants).toHaveLength(1);
    await until(() => connections?.status()[1]?.state === 'refused');
    expect(connections?.status()[1]).toMatchObject({
      tenant_id: null,
      failure: { code: 'DATA_PLANE_TOKEN_INVALID' },
    });
    expect(output.map((line) => JSON.parse(line))).toContainEqual(
      expect.objectContaining({
        message: 'the data plane could not register',
        ...{ stage: 'register', code: 'DATA_PLANE_TOKEN_INVALID', reason: expect.any(String) },
      }),
    );
    await served();
  });

  it('is not needed for a start: tenants served before are served without the control plane', async () => {
    await connect();
    await served();
    server.plane().publish({ kind: 'kill_switch', key: 'tenant', value: null });
    await until(() => core.replica.cursor(server.tenantId) === 1);
    await restart(['root-token'], 'http://127.0.0.1:9');
    expect(core.findDeploymentId(server.tenantId)).toBe(server.deploymentId);
    expect(core.replica.cursor(server.tenantId)).toBe(1);
    expect(denial()).toBeNull();
    await until(() => connections?.status()[0]?.failure?.code === 'UNAVAILABLE');
    expect(state()).toBe('unreachable');
    await core.ledger.append(server.tenantId, aDecision());
    expect(core.status().tenants[0]?.shipper.backlog).toBeGreaterThan(0);
    await restart();
    await served();
    await until(() => core.status().tenants[0]?.shipper.backlog === 0);
  });

  it('renews its token at about half of its life, and lives on when the operator’s ended', async () => {
    server.setLife(1_000_000);
    await connect();
    await served();
    server.roots.clear();
    time += 400_000;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(connections?.status()[0]?.renewals).toBe(0);
    for (let renewals = 1; renewals <= 3; renewals++) {
      time += 600_000;
      await until(() => connections?.status()[0]?.renewals === renewals);
    }
    expect(denial()).toBeNull();
    // The old root no longer registers; a restart discovers that and continues.
    await restart();
    await until(() => connections?.status()[0]?.failure?.code === 'DATA_PLANE_TOKEN_INVALID');
    await served();
    expect(denial()).toBeNull();
  });

  it('renews its token when that is due also after the machine’s clock was set back', async () => {
    server.setLife(1_000_000);
    await connect();
    await served();
    await connections?.stop();
    // The kept token is used: the old root no longer registers.
    server.roots.clear();
    time += 700_000;
    core.planeNow();
    time -= 700_000;
    await connect();
    await until(() => connections?.status()[0]?.renewals === 1);
  });

  it('does not renew again and again where its clock is days ahead', async () => {
    const other = await startHttpControlPlane({ now: () => time - 3 * 86_400_000 });
    other.setLife(86_400_000);
    await connect(['root-token'], other.url);
    await until(() => connections?.status()[0]?.state === 'registered');
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(connections?.status()[0]?.renewals).toBe(0);
    time += 2 * 3_600_000;
    await until(() => connections?.status()[0]?.renewals === 1);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(connections?.status()[0]?.renewals).toBe(1);
    await other.stop();
  });

  it('renews its token at once when a clock that was days ahead is put right', async () => {
    let ahead = 10 * 86_400_000;
    const other = await startHttpControlPlane({ now: () => time - ahead });
    other.setLife(1_000_000);
    await connect(['root-token'], other.url);
    await until(() => core.status().tenants[0]?.control_plane.state === 'connected');
    time -= ahead - 1_000;
    ahead = 0;
    // A newer statement agrees with the machine.
    other.plane().publish({ kind: 'kill_switch', key: 'tenant', value: null });
    await until(() => connections?.status()[0]?.renewals === 1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(connections?.status()[0]?.renewals).toBe(1);
    await other.stop();
  });

  it('happens once, however long the tenant cannot be served here', async () => {
    const { addTenant } = core;
    let refusals = 0;
    core.addTenant = async () => {
      refusals++;
      throw new AppError('UNAVAILABLE', 'no room for one more tenant');
    };
    await connect();
    await until(() => refusals > 3);
    expect(server.asked.filter((one) => one.endsWith('/register'))).toHaveLength(1);
    expect(connections?.status()[0]?.failure?.message).toContain('no room');
    core.addTenant = addTenant;
    await served();
    expect(connections?.status()[0]).toMatchObject({ state: 'registered', failure: null });
    expect(server.asked.filter((one) => one.endsWith('/register'))).toHaveLength(1);
  });

  it.each([
    ['a line feed', 'a\nb'],
    ['letters that no header carries', 'tökén€'],
    ['60,000 characters', 'x'.repeat(60_000)],
    ['nothing', ''],
  ])('takes no token of %s, and registers once another is given', async (_what, token) => {
    server.intercept((request, response) => {
      if (!request.url?.endsWith('/register')) return false;
      const { tenantId: tenant_id, deploymentId: deployment_id } = server;
      const reply = {
        tenant_id,
        deployment_id,
        bundle_keys: [],
        token: { token, expires_at: null },
      };
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(reply));
      return true;
    });
    await connect();
    await until(() => connections?.status()[0]?.failure?.code === 'answer_malformed');
    server.intercept(null);
    await served();
  });

  it('takes no region that would make each of its records larger', async () => {
    const regionOf = (region: string) => RegistrationAnswer.parse({ ...answer, region }).region;
    const { tenantId: tenant_id, deploymentId: deployment_id } = server;
    const answer = { tenant_id, deployment_id, bundle_keys: [] };
    expect(regionOf('eu')).toBe('eu');
    expect(regionOf('x'.repeat(200_000))).toBeUndefined();
  });

  it('is spaced out where the control plane refuses the tokens that it gives', async () => {
    server.intercept((request, response) => {
      if (request.url?.endsWith('/register')) return false;
      response.writeHead(401, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ detail: ERRORS.DATA_PLANE_TOKEN_INVALID[1] }));
      return true;
    });
    await connect(['root-token'], server.url, { first: 10, longest: 1_000 });
    const registrations = () => server.asked.filter((one) => one.endsWith('/register')).length;
    await until(() => registrations() > 2);
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(registrations()).toBeLessThan(15);
    server.intercept(null);
    await served();
  });

  it('serves a tenant once, even if the list repeats it', async () => {
    server.roots.add('second-token');
    await connect(['root-token', 'root-token', 'second-token']);
    await served();
    await until(() => connections?.status().some(({ state: is }) => is === 'refused') ?? false);
    expect(connections?.status()).toHaveLength(2);
    const refused = connections?.status().find(({ state: is }) => is === 'refused');
    expect(refused?.failure?.code).toBe('tenant_served');
    expect(core.status().tenants).toHaveLength(1);
  });

  it('learns new keys when something is signed by one that it does not know', async () => {
    await connect();
    await served();
    // The control plane rotated its key: pages carry statements of the new one.
    const next = createTestFeedSigner('feed-2');
    server.setSigner(next);
    server.intercept((request, response) => {
      if (!request.url?.includes('/feed')) return false;
      const feed = server.plane().feed;
      const { statement } = feed.statement(time);
      const body = {
        entries: [],
        cursor: feed.head(),
        head: feed.head(),
        statement: next.sign(statement),
      };
      setTimeout(() => {
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body));
      }, 20);
      return true;
    });
    core.kick(server.tenantId);
    await until(() => output.some((line) => line.includes('statement_unknown_key')));
    await until(() => core.status().tenants[0]?.feed.failure === null);
    expect(state()).toBe('connected');
  });

  it('takes no key that no known key vouches for, logs it and keeps what it has', async () => {
    const [first, next] = [createTestFeedSigner('feed-1'), createTestFeedSigner('feed-2')];
    server.setSigner(first);
    server.setHistory({ keys: [], rotations: [] });
    await connect();
    await served();
    const kept = () => core.identity.findRegistration(server.tenantId)?.feed_keys;
    server.setSigner(next);
    await restart();
    await until(() =>
      output.some((line) => line.includes('feed-2') && line.includes('not accepted')),
    );
    expect(kept()).toEqual([first.public]);
    await served();
    const time = new Date().toISOString();
    const statement = {
      ...({ type: 'key_rotation', v: 1, purpose: 'feed', old_kid: 'feed-1' } as const),
      ...{ new_key: { kid: 'feed-2', jwk: next.public }, valid_from: time, time },
    };
    server.setHistory({ keys: [], rotations: [signRotation(statement, first, next)] });
    await restart();
    await until(() => kept()?.length === 2);
    expect(kept()).toEqual([first.public, next.public]);
  });
});

describe('a revocation', () => {
  it('ends the tenant’s calls, over restarts too, and ships the backlog', async () => {
    await connect();
    await served();
    server.revokeAll();
    await until(() => denial() === 'tenant_revoked');
    expect(state()).toBe('revoked');
    await core.ledger.append(server.tenantId, aDecision());
    await until(() => server.plane().records.length === 2);

    await restart(['root-token'], 'http://127.0.0.1:9');
    expect(denial()).toBe('tenant_revoked');
    await restart();
    expect(denial()).toBe('tenant_revoked');
    await until(() => server.plane().records.length === 4);

    // The operator configured another token.
    server.roots.add('another-token');
    await restart(['another-token']);
    await served();
    expect(connections?.status()[0]).toMatchObject({ state: 'registered', failure: null });
  });

  it('is lifted by itself when the token works again', async () => {
    await connect();
    await served();
    const [[token, end] = ['', 0]] = server.live;
    server.revokeAll();
    await until(() => denial() === 'tenant_revoked');
    // A statement of before may be replayed.
    server.live.set(token, end);
    core.kick(server.tenantId);
    await until(() => core.status().tenants[0]?.feed.failure === null);
    expect(denial()).toBe('tenant_revoked');
    time += 1_000;
    core.kick(server.tenantId);
    await served();
  });

  it('is not lifted by answers that the control plane did not sign', async () => {
    await connect();
    await served();
    server.revokeAll();
    await until(() => denial() === 'tenant_revoked');
    let answers = 0;
    for (const type of ['text/html', 'application/json']) {
      answers = 0;
      server.intercept((_, response) => {
        answers++;
        response.writeHead(200, { 'content-type': type }).end('{}');
        return true;
      });
      core.kick(server.tenantId);
      await until(() => answers > 5);
      expect(denial()).toBe('tenant_revoked');
    }
  });

  it('is never concluded from an outage or a proxy’s answer', async () => {
    await connect();
    await served();
    for (const status of [401, 403, 407, 500, 502]) {
      server.intercept((_, response) => {
        response.writeHead(status, { 'content-type': 'text/html' }).end('<h1>no</h1>');
        return true;
      });
      core.kick(server.tenantId);
      await until(() => state() === 'unreachable');
      expect(denial()).toBeNull();
      server.intercept(null);
      core.kick(server.tenantId);
      await served();
    }
  });

  it('of an old token alone is answered by registering again', async () => {
    await connect();
    await served();
    server.live.clear();
    server.plane().announce();
    await until(() => [...server.live.keys()].length === 1);
    await served();
    // The refusal of the token names every reason that it may have.
    const others = output.filter((line) => !line.includes('DATA_PLANE_TOKEN_INVALID'));
    expect(others.join()).not.toContain('revoked');
  });

  it('is answered by registering once, also where the new token cannot be kept', async () => {
    await connect();
    await served();
    // As with a full disk: the file cannot be replaced.
    const file = join(dataDir, 'identity', 'tokens', `${server.tenantId}.json`);
    rmSync(file);
    mkdirSync(join(file, 'in-the-way'), { recursive: true });
    const registered = () => server.asked.filter((one) => one.endsWith('/register')).length;
    const before = registered();
    server.live.clear();
    server.plane().announce();
    await until(() => registered() > before);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(registered()).toBe(before + 1);
    await served();
    expect(output.join()).toContain('could not be kept');
    expect(output.join()).not.toMatch(/deployment-token/);
  });

  it.each([
    ['DATA_PLANE_REVOKED', 'tenant_revoked'],
    ['DATA_PLANE_FORKED', 'stream_forked'],
  ] as const)('told as %s denies with %s', async (code, reason) => {
    await connect();
    await served();
    server.live.clear();
    server.refuse(new AppError(code));
    await until(() => denial() === reason);
    await restart(['root-token'], 'http://127.0.0.1:9');
    expect(denial()).toBe(reason);
    server.refuse(null);
    await restart();
    if (reason === 'tenant_revoked') {
      await served();
    } else {
      await until(() => state() === 'connected');
      expect(denial()).toBe(reason);
    }
  });
});

it('a fork reported by a renewal ends the tenant’s calls', async () => {
  server.setLife(1_000_000);
  await connect();
  await served();
  server.intercept((request, response) => {
    if (!request.url?.endsWith('/token')) return false;
    const { status, detail } = new AppError('DATA_PLANE_FORKED');
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ detail }));
    return true;
  });
  time += 600_000;
  await until(() => denial() === 'stream_forked');
  expect(connections?.status()[0]).toMatchObject({
    state: 'refused',
    failure: { code: 'DATA_PLANE_FORKED' },
  });
});

describe('a control plane that forgot', () => {
  it('another deployment id changes nothing here, and says what to do', async () => {
    await connect();
    await served();
    server.intercept((request, response) => {
      if (!request.url?.endsWith('/register')) return false;
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify({
          tenant_id: server.tenantId,
          deployment_id: '01890000-0000-7000-8000-000000000001',
          bundle_keys: [],
          feed_keys: [],
          token: { token: 'x', expires_at: null },
        }),
      );
      return true;
    });
    server.live.clear();
    await until(() => connections?.status()[0]?.failure?.code === 'deployment_changed');
    expect(core.findDeploymentId(server.tenantId)).toBe(server.deploymentId);
    expect(denial()).toBeNull();
    expect(createPublicKey(core.identity.signingKey).asymmetricKeyType).toBe('ed25519');
  });
});
