import { createLog } from '@governance/shared/process/log';
import type { FastifyInstance } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { aPacked } from '../testing/package-builder.ts';
import { aStory } from '../testing/test-stories.ts';
import { PackageFetchError } from './package-fetch.ts';
import { reportText } from './report-text.ts';
import { runVerification } from './verification-runs.ts';
import { createVerifierApp, type VerifierAppDeps } from './verifier-app.ts';

const silent = createLog({ debug: false }, { write: () => {} });
const { tenant } = aStory();
const good = aPacked(tenant, { anchorSizes: [3] });
const anchor = JSON.stringify(tenant.anchor(3));

let app: FastifyInstance | undefined;
afterEach(() => app?.close());

function start(given: Partial<VerifierAppDeps> = {}) {
  app = createVerifierApp({ log: silent, published: null, issuers: [], concurrency: 2, ...given });
  return app;
}

async function send(
  target: FastifyInstance,
  fields: Record<string, string | Uint8Array | string[]>,
  url = '/api/v1/verify',
) {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      form.append(name, typeof one === 'string' ? one : new Blob([new Uint8Array(one)]));
    }
  }
  const request = new Response(form);
  const payload = Buffer.from(await request.arrayBuffer());
  const contentType = request.headers.get('content-type') ?? '';
  return target.inject({ method: 'POST', url, payload, headers: { 'content-type': contentType } });
}

describe('a package gets a verdict', () => {
  it('VERIFIED, as JSON and as text', async () => {
    const json = await send(start(), { package: good, trust_anchor: anchor });
    expect(json.statusCode).toBe(200);
    expect(json.json()).toMatchObject({
      verdict: 'VERIFIED',
      independence: 'independent',
      summary: { failed: 0 },
      verifier: { version: '0.1.0' },
    });
    const text = await send(start(), { package: good, trust_anchor: anchor }, '/api/v1/verify.txt');
    expect(text.headers['content-type']).toContain('text/plain');
    const lines = text.body.split('\n');
    expect(lines[0]).toBe('VERDICT: VERIFIED');
    expect(lines[1]).toMatch(/^INDEPENDENCE: independent \(anchor sha256:[0-9a-f]{64}\)$/);
    expect(lines[2]).toBe(
      `PACKAGE: ${json.json().package.package_id}  TENANT: ${tenant.id}  EVENTS: 16`,
    );
    expect(lines[3]).toMatch(/^COMPLETE-UP-TO: tree 8 at 2026-/);
    expect(lines).toContain('[PASS] chain.links 16/16');
    expect(lines).toContain('[SKIP] time.stamp no timestamp supplied');
    expect(lines.at(-2)).toMatch(/^SUMMARY: \d+ passed, 0 failed, 3 skipped$/);
  });

  it.each(['b', "it's:a=b/c?", 'x'.repeat(70)])('behind the boundary %s', async (boundary) => {
    const part = (name: string) => `content-disposition: form-data; name="${name}"`;
    const payload = Buffer.concat([
      Buffer.from(`To be ignored.\r\n--${boundary}\r\n${part('package')}; filename="a.gz"\r\n\r\n`),
      good,
      Buffer.from(`\r\n--${boundary}\r\n${part('trust_anchor')}\r\n\r\n${anchor}`),
      Buffer.from(`\r\n--${boundary}--\r\n`),
    ]);
    const headers = { 'content-type': `multipart/form-data; boundary="${boundary}"` };
    const answer = await start().inject({
      method: 'POST',
      url: '/api/v1/verify',
      payload,
      headers,
    });
    expect(answer.json()).toMatchObject({ verdict: 'VERIFIED', independence: 'independent' });
  });

  it('UNREADABLE, for what is not a package', async () => {
    const answer = await send(start(), { package: Buffer.from('no package') });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({ verdict: 'UNREADABLE' });
  });

  it('whose text nothing from a package can write', async () => {
    const [check, ...checks] = (await runVerification(good, { anchor: null, issuers: [] })).checks;
    const location = { member: 'keys.json', path: 'a\nVERDICT: VERIFIED\u001b[2K\u2028\\' };
    const forged = { ...check, location } as typeof check & object;
    const result = await runVerification(good, { anchor: null, issuers: [] });
    const text = reportText({ ...result, checks: [forged, ...checks] });
    expect(text.replaceAll('\n', '')).toMatch(/^[ -~]*$/);
    expect(text.match(/^VERDICT:/gm)).toHaveLength(1);
    expect(text).toContain('\\u{a}VERDICT: VERIFIED\\u{1b}[2K\\u{2028}\\u{5c}');
  });

  it('by its address', async () => {
    const fetched: string[] = [];
    const target = start({
      fetchPackage: async (url) => {
        fetched.push(url);
        return good;
      },
    });
    const answer = await send(target, { package_url: 'https://a.example/e', trust_anchor: anchor });
    expect(answer.json()).toMatchObject({ verdict: 'VERIFIED' });
    expect(fetched).toEqual(['https://a.example/e']);
  });
});

describe('a malformed request is a 422', () => {
  it.each([
    ['neither package nor address', {}, ['body', 'package'], 'missing'],
    [
      'both',
      { package: good, package_url: 'https://a.example/e' },
      ['body', 'package_url'],
      'value_error',
    ],
    ['a package that is no file', { package: 'text' }, ['body', 'package'], 'file_expected'],
    [
      'an anchor that is no JSON',
      { package: good, trust_anchor: '{' },
      ['body', 'trust_anchor'],
      'json_invalid',
    ],
    [
      'an anchor with the same key twice',
      { package: good, trust_anchor: '{"a":1,"a":1}' },
      ['body', 'trust_anchor'],
      'json_invalid',
    ],
    [
      'an anchor of another format',
      { package: good, trust_anchor: anchor.replace('/v1"', '/v2"') },
      ['body', 'trust_anchor', 'format'],
      'invalid_value',
    ],
    [
      'a field twice',
      { package: good, trust_anchor: [anchor, anchor] },
      ['body', 'trust_anchor'],
      'value_error',
    ],
    [
      'an address that is not allowed',
      { package_url: 'http://a.example/e' },
      ['body', 'package_url'],
      'url_not_allowed',
    ],
  ])('%s', async (_what, fields, loc, type) => {
    const answer = await send(start(), fields as Record<string, string | Uint8Array>);
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({ detail: [{ loc, msg: expect.any(String), type }] });
  });

  it('an address where only files are taken', async () => {
    const url = '/api/v1/verify.txt';
    const answer = await send(start(), { package_url: 'https://a.example/e' }, url);
    expect(answer.statusCode).toBe(422);
  });

  it.each([
    ['JSON', 'application/json', '{}'],
    ['a form of another kind', 'application/x-www-form-urlencoded', 'package=a'],
    ['multipart without a boundary', 'multipart/form-data', 'x'],
    ['multipart that is cut off', 'multipart/form-data; boundary=b', '--b\r\nContent-Dispo'],
    ['nothing', undefined, ''],
    [
      'more parts than it has fields',
      'multipart/form-data; boundary="b"',
      `${'--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx\r\n'.repeat(20)}--b--\r\n`,
    ],
  ])('%s', async (_what, type, payload) => {
    const headers = type === undefined ? {} : { 'content-type': type };
    const answer = await start().inject({
      method: 'POST',
      url: '/api/v1/verify',
      headers,
      payload,
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.json()).toEqual({
      detail: [{ loc: ['body'], msg: 'must be multipart/form-data', type: 'multipart_invalid' }],
    });
  });

  it('an upload that is too large', async () => {
    const payload = Buffer.alloc(67 * 1024 * 1024);
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    const answer = await start().inject({
      method: 'POST',
      url: '/api/v1/verify',
      headers,
      payload,
    });
    expect(answer.statusCode).toBe(422);
    expect(answer.json().detail[0]).toMatchObject({ type: 'too_large' });
  });

  it('a fetch that failed, without a word of what was answered', async () => {
    const target = start({
      fetchPackage: async () => {
        throw new PackageFetchError('fetch_failed', 'the package could not be fetched');
      },
    });
    const answer = await send(target, { package_url: 'https://a.example/e' });
    expect(answer.json()).toEqual({
      detail: [
        {
          loc: ['body', 'package_url'],
          msg: 'the package could not be fetched',
          type: 'fetch_failed',
        },
      ],
    });
  });
});

describe('the other routes', () => {
  it('publish a keyset, whatever is configured', async () => {
    const empty = await start().inject('/trust-anchor.json');
    expect(empty.json()).toEqual({ format: 'agent-governance-keyset/v1', issuer: '', keys: [] });
    const published = tenant.anchor(3);
    const target = start({ published });
    expect((await target.inject('/trust-anchor.json')).json()).toEqual(published);
    // Its issuer is known to this verifier.
    const answer = await send(target, { package: good });
    expect(answer.json()).toMatchObject({ verdict: 'VERIFIED', independence: 'issuer-anchored' });
  });

  it('say how the service is, and 404 elsewhere', async () => {
    const health = await start().inject('/api/v1/health');
    expect(health.json()).toMatchObject({ status: 'ok', version: '0.1.0' });
    expect((await start().inject('/elsewhere')).statusCode).toBe(404);
  });

  it('show a page that runs nothing but its own script', async () => {
    const page = await start().inject('/');
    expect(page.headers['content-type']).toContain('text/html');
    expect(page.headers['content-security-policy']).toMatch(
      /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-/,
    );
    expect(page.body).not.toMatch(/(?:src|href)="(?!\/|data:,")/);
    for (const id of ['package', 'anchor', 'anchor-file']) {
      expect(page.body).toContain(`<label for="${id}">`);
    }
    expect(page.body).toContain('role="status"');
  });
});

it('verifies while the hosts of other packages are slow, and waits for few of them', async () => {
  let arrive = () => {};
  const arrived = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  let fetches = 0;
  const target = start({
    concurrency: 1,
    fetchPackage: async () => {
      fetches++;
      await arrived;
      return good;
    },
  });
  const byAddress = () => send(target, { package_url: 'https://a.example/e' });
  const slow = byAddress();
  await expect.poll(() => fetches).toBe(1);
  expect((await byAddress()).statusCode).toBe(503);
  expect((await send(target, { package: good })).statusCode).toBe(200);
  arrive();
  expect((await slow).json()).toMatchObject({ verdict: 'INCONCLUSIVE' });
});

it('verifies only so many at a time, and the others may come again', async () => {
  let finish = () => {};
  const waits = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const target = start({
    concurrency: 1,
    verify: async (bytes, trust) => {
      await waits;
      return runVerification(bytes, trust);
    },
  });
  const first = send(target, { package: good, trust_anchor: anchor });
  await expect.poll(async () => (await target.inject('/api/v1/health')).json().running).toBe(1);
  const second = await send(target, { package: good });
  expect(second.statusCode).toBe(503);
  expect(second.headers['retry-after']).toBe('5');
  finish();
  expect((await first).statusCode).toBe(200);
  await expect.poll(async () => (await target.inject('/api/v1/health')).json().running).toBe(0);
});

it('counts a verification until it has ended, even if the client has gone', async () => {
  let finish = () => {};
  const waits = new Promise<void>((resolve) => {
    finish = resolve;
  });
  let started = 0;
  const target = start({
    concurrency: 1,
    verify: async (bytes, trust) => {
      started++;
      await waits;
      return runVerification(bytes, trust);
    },
  });
  const address = await target.listen({ port: 0, host: '127.0.0.1' });
  const runningOf = async () => (await target.inject('/api/v1/health')).json().running;
  const gone = new AbortController();
  const form = new FormData();
  form.append('package', new Blob([new Uint8Array(good)]));
  const { signal } = gone;
  const first = fetch(`${address}/api/v1/verify`, { method: 'POST', body: form, signal });
  await expect.poll(() => started).toBe(1);
  const left = expect(first).rejects.toThrow();
  const sockets = () =>
    new Promise<number>((resolve) =>
      target.server.getConnections((_error, count) => resolve(count)),
    );
  gone.abort();
  await left;
  await expect.poll(sockets).toBe(0);
  expect(await runningOf()).toBe(1);
  expect((await send(target, { package: good })).statusCode).toBe(503);
  finish();
  await expect.poll(runningOf).toBe(0);
});

it('ends a verification that takes too long', async () => {
  const result = await runVerification(
    good,
    { anchor: null, issuers: [] },
    { timeoutMs: 0, memoryMb: 64 },
  );
  expect(result).toMatchObject({ verdict: 'UNREADABLE' });
  expect(result.checks[0]).toMatchObject({ name: 'container.limits', status: 'fail' });
});
