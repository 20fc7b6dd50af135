import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createOutboundClient, describeOutboundFailure } from './outbound-client.ts';

let server: Server;
let port: number;
let seen: string[];
let answer: { status: number; body: string; headers?: Record<string, string> } | 'hang';

beforeEach(async () => {
  seen = [];
  answer = { status: 200, body: 'well' };
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (part) => {
      text += part;
    });
    request.on('end', () => {
      seen.push(`${request.method} ${request.url} ${text}`);
      if (answer === 'hang') return;
      response.writeHead(answer.status, answer.headers).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function post(host: string, allow: string[] | null, over: { maxBytes?: number | null } = {}) {
  const client = createOutboundClient({ allow, isProduction: true });
  return client.post({
    url: `http://${host}:${port}/there`,
    ...{ body: 'said', headers: {}, timeoutMs: 2_000, maxBytes: 100, ...over },
  });
}

const failureOf = (work: Promise<unknown>) => work.then(() => undefined, describeOutboundFailure);

describe('a request to an address that the operator named', () => {
  it('is sent where the address itself is written', async () => {
    expect(await post('127.0.0.1', null)).toEqual({ status: 200, text: 'well' });
    expect(seen).toEqual(['POST /there said']);
  });

  it('is not sent where a name leads to an address that is not global', async () => {
    const name = 'localhost';
    expect(await failureOf(post(name, null))).toMatch(
      /^the address of localhost is not global: SERVICE_OUTBOUND_ALLOW does not name it$/,
    );
    expect(seen).toEqual([]);
    for (const allow of [['127.0.0.0/8', '::1'], ['localhost'], ['*']]) {
      expect(await post(name, allow)).toEqual({ status: 200, text: 'well' });
    }
  });

  it('follows no redirect', async () => {
    answer = { status: 307, body: '', headers: { location: '/elsewhere' } };
    expect((await post('127.0.0.1', null)).status).toBe(307);
    expect(seen).toHaveLength(1);
  });

  it('reads so much of the answer and no more', async () => {
    answer = { status: 200, body: 'x'.repeat(101) };
    expect(await failureOf(post('127.0.0.1', null))).toBe('the answer is too large');
    expect(await post('127.0.0.1', null, { maxBytes: null })).toEqual({ status: 200, text: '' });
  });

  it('ends when nothing answers in time', async () => {
    answer = 'hang';
    const client = createOutboundClient({ allow: null, isProduction: true });
    const url = `http://127.0.0.1:${port}/`;
    const asked = client.post({ url, body: '', headers: {}, timeoutMs: 50, maxBytes: 0 });
    expect(await failureOf(asked)).toBe('no answer in time');
  });

  it('ends where the answer changes the protocol', async () => {
    answer = { status: 101, body: '', headers: { connection: 'upgrade', upgrade: 'x' } };
    expect(await failureOf(post('127.0.0.1', null))).toBe('the answer changes the protocol');
    expect(await failureOf(post('127.0.0.1', null, { maxBytes: null }))).toBe(
      'the answer changes the protocol',
    );
  });
});
