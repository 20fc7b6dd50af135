/** The channels over HTTP, against a real listener that answers well, badly, or not at all. */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { proveRegistration } from '@governance/shared/channel/channel-routes';
import type { ControlPlaneLink, RegistrationRequest } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aBundle, aBundleSigner } from '../../testing/test-bundles.ts';
import {
  type HttpControlPlane,
  startHttpControlPlane,
} from '../../testing/test-http-control-plane.ts';
import { type ControlPlaneClient, createControlPlaneClient } from './control-plane-client.ts';
import { createControlPlaneLink, register, renewToken } from './control-plane-link.ts';

const { privateKey } = generateKeyPairSync('ed25519');
const x25519 = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' });
const registration = {
  signing_key: createPublicKey(privateKey).export({ format: 'jwk' }),
  sealing_key: x25519,
  token_key: rsa,
  region: null,
  version: '1.0.0',
  label: 'test',
} as RegistrationRequest;
const prove = (root: string) => ({
  registration,
  proof: proveRegistration(privateKey, registration, root),
});
const signal = new AbortController().signal;
const page = { cursor: 0, digest: '0'.repeat(64), limit: 10, waitMs: 0, signal };
let server: HttpControlPlane;
let client: ControlPlaneClient;
let link: ControlPlaneLink;
let refused: string[];
let token: string;

beforeEach(async () => {
  server = await startHttpControlPlane();
  client = createControlPlaneClient(server.url, { connectMs: 300, answerMs: 300 });
  const reply = await register(client, 'root-token', prove('root-token'));
  token = reply.token.token;
  refused = [];
  link = createControlPlaneLink({
    client,
    tenantId: reply.tenant_id,
    deploymentId: reply.deployment_id,
    token: () => token,
    onRefused: (which) => refused.push(which),
  });
});

afterEach(async () => {
  await client.close();
  await server.stop();
});

const role = (key: string, size = 1) => ({ kind: 'role', key, value: { text: 'x'.repeat(size) } });

async function readAll(): Promise<{ entries: number; end: unknown }> {
  const pages = link.readSnapshot({ signal });
  let entries = 0;
  for (;;) {
    const next = await pages.next();
    if (next.done) return { entries, end: next.value };
    entries += next.value.length;
  }
}

describe('the channels over HTTP', () => {
  it('carry what the control plane has', async () => {
    const { tenantId, deploymentId } = server;
    expect(await link.pullBundle({ digest: null, waitMs: 0, signal })).toBeNull();
    const bundle = aBundle({ tenantId, revision: 7, signer: aBundleSigner() });
    server.plane().offer(bundle);
    const pulled = await link.pullBundle({ digest: null, waitMs: 0, signal });
    expect({ ...pulled, bytes: Buffer.from(pulled?.bytes ?? []) }).toEqual({
      ...bundle,
      bytes: Buffer.from(bundle.bytes),
    });
    expect(await link.pullBundle({ digest: bundle.digest, waitMs: 0, signal })).toBeNull();

    server.plane().publish(role('a'), role('b'), role('c'));
    const read = await link.readFeed({ ...page, limit: 2, backlog: 4 });
    expect(read).toMatchObject({ cursor: 2, head: 3, entries: [{ seq: 1 }, { seq: 2 }] });
    expect(read.statement.statement).toMatchObject({ feed_seq: 3, tenant_id: tenantId });

    const many = Array.from({ length: 1_234 }, (_, i) => role(`r${i}`, 300));
    server.plane().publish(...many);
    expect(await readAll()).toMatchObject({
      entries: 1_237,
      end: { statement: { type: 'snapshot_end', feed_seq: 1_237, count: 1_237 } },
    });

    const beat = {
      deployment_id: deploymentId,
      active_agent_count: 0,
      proxy_rpm_1m: 0,
      escalations_pending: 0,
      opa_bundle_version: 'none',
      uptime_seconds: 1,
    };
    expect(await link.heartbeat(beat)).toMatchObject({ received: true });
    expect(server.plane().heartbeats).toEqual([beat]);
    const renewed = await renewToken(client, deploymentId, token);
    expect(renewed.token).not.toBe(token);
  });

  it('carry a fact that is as large as a request may make it', async () => {
    server.plane().publish(role('large', 1024 * 1024), role('another', 1024 * 1024));
    expect(await readAll()).toMatchObject({ entries: 2 });
    expect((await link.readFeed(page)).entries).toHaveLength(2);
  });

  it('wait for a change, and end on request', async () => {
    const waiting = link.readFeed({ ...page, waitMs: 20_000 });
    setTimeout(() => server.plane().publish(role('late')), 50);
    expect(await waiting).toMatchObject({ cursor: 1 });
    const ending = new AbortController();
    const given = link.pullBundle({ digest: null, waitMs: 20_000, signal: ending.signal });
    setTimeout(() => ending.abort(), 50);
    await expect(given).rejects.toThrow();
  });
});

describe('answers with an error', () => {
  const answer = (status: number, type: string, body: string, headers = {}) =>
    server.intercept((_, response: ServerResponse) => {
      response.writeHead(status, { 'content-type': type, ...headers }).end(body);
      return true;
    });
  const detail = JSON.stringify({ detail: 'because' });

  it.each([
    [400, 'BAD_REQUEST'],
    [401, 'DATA_PLANE_TOKEN_INVALID'],
    [404, 'NOT_FOUND'],
    [410, 'FEED_RESET'],
    [413, 'BODY_TOO_LARGE'],
    [422, 'VALIDATION_FAILED'],
    [429, 'RATE_LIMITED'],
    [500, 'UNAVAILABLE'],
    [503, 'UNAVAILABLE'],
  ])('a status %i is %s', async (status, code) => {
    answer(status, 'application/json', detail, { 'retry-after': '7' });
    await expect(link.readFeed(page)).rejects.toMatchObject({
      code,
      detail: 'because',
      retryAfterMs: 7_000,
      // It failed on this request: another one may be answered.
      isFault: status === 500,
    });
    expect(refused).toEqual(status === 401 ? [token] : []);
  });

  it('a page of a proxy counts as no answer', async () => {
    const shown = '<html><body>Please log in</body></html>';
    for (const status of [200, 302, 401, 403, 407, 410, 502, 511]) {
      answer(status, 'text/html', shown, { location: `${server.url}/elsewhere` });
      await expect(link.readFeed(page)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      await expect(readAll()).rejects.toThrow();
      await expect(link.pullBundle({ digest: null, waitMs: 0, signal })).rejects.toMatchObject({
        code: 'UNAVAILABLE',
      });
    }
    // JSON that the control plane did not write, either.
    answer(401, 'application/json', '{"error":"unauthorized"}');
    await expect(link.readFeed(page)).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    expect(refused).toEqual([]);
    expect(server.asked.some((path) => path.includes('elsewhere'))).toBe(false);
  });

  it('distinguishes a fork from a gap', async () => {
    const errors = [{ loc: ['stream', 2, 9], msg: 'gap', type: 'stream_gap' }];
    answer(409, 'application/json', JSON.stringify({ detail: 'missing', errors }));
    const header = {
      v: 1 as const,
      tenant_id: server.tenantId,
      stream: server.deploymentId,
      epoch: 1,
      first_seq: 1,
      last_seq: 1,
      prev_head: '0'.repeat(64),
      head: '0'.repeat(64),
      event_root: '0'.repeat(64),
    };
    const batch = { header, signature: 'x', records: [Buffer.from('{}')] };
    await expect(link.shipBatch(batch)).rejects.toMatchObject({ code: 'BATCH_CONFLICT', errors });
  });

  it.each([
    'DATA_PLANE_REVOKED',
    'DATA_PLANE_FORKED',
  ] as const)('a registration is refused as %s', async (code) => {
    server.refuse(new AppError(code));
    await expect(register(client, 'root-token', prove('root-token'))).rejects.toMatchObject({
      code,
    });
    await expect(register(client, 'stolen', prove('stolen'))).rejects.toMatchObject({
      code: 'DATA_PLANE_TOKEN_INVALID',
    });
  });
});

describe('invalid answers', () => {
  const after = (respond: (response: ServerResponse) => void) =>
    server.intercept((_, response) => {
      respond(response);
      return true;
    });
  const json = { 'content-type': 'application/json' };

  it('are refused where they are malformed or too large', async () => {
    after((response) => response.writeHead(200, json).end('{"entries":[]}'));
    await expect(link.readFeed(page)).rejects.toMatchObject({ code: 'answer_malformed' });
    after((response) => response.writeHead(200, json).end('{'));
    await expect(link.readFeed(page)).rejects.toMatchObject({ code: 'answer_malformed' });
    after((response) => {
      response.writeHead(200, { etag: `"${'a'.repeat(64)}"`, 'x-bundle-revision': '1' });
      const chunk = Buffer.alloc(1024 * 1024);
      const write = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', write);
      write();
    });
    await expect(link.pullBundle({ digest: null, waitMs: 0, signal })).rejects.toMatchObject({
      code: 'too_large',
    });
    after((response) => response.writeHead(200).end(`${'x'.repeat(3 * 1024 * 1024)}`));
    await expect(readAll()).rejects.toMatchObject({ code: 'snapshot_malformed' });
  });

  it('a snapshot that is cut off has no end', async () => {
    server.plane().publish(...Array.from({ length: 700 }, (_, i) => role(`r${i}`)));
    after((response) => {
      const entry = { seq: 1, ...role('a') };
      response.writeHead(200).end(`${JSON.stringify({ entry })}\n`);
    });
    await expect(readAll()).rejects.toMatchObject({ code: 'snapshot_incomplete' });
    after((response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write('{"entry"');
      setTimeout(() => response.destroy(), 20);
    });
    await expect(readAll()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });

  it('do not hold a request forever, and the token is in no message', async () => {
    const failures: unknown[] = [];
    const failing = async () => {
      const error = await link.readFeed({ ...page, waitMs: 100 }).catch((thrown) => thrown);
      expect(error).toMatchObject({ code: 'UNAVAILABLE' });
      failures.push(error);
    };
    // Each ends; the time of the test is the bound.
    after(() => undefined);
    await failing();
    after((response) => {
      response.writeHead(200, json);
      response.write('{');
    });
    await failing();
    after((response) => response.destroy());
    await failing();
    await server.stop();
    await failing();
    const told = failures.map((error) => `${(error as Error).message} ${String(error)}`).join();
    expect(told).not.toContain(token);
    server = await startHttpControlPlane();
  });
});
