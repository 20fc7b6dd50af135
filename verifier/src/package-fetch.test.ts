import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createPackageFetch } from './package-fetch.ts';

let server: Server | undefined;
afterEach(
  () => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())),
);

const GLOBAL = [{ address: '93.184.216.34', family: 4 }];
const limits = { maxBytes: 1000, timeoutMs: 5_000 };

/** A host with a global address, served by this machine; the pinned address is recorded. */
async function aHost(
  answer: Parameters<typeof createServer>[1],
  given: Partial<typeof limits> = {},
) {
  server = createServer(answer as never);
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const pinned: unknown[] = [];
  const fetchPackage = createPackageFetch({
    ...limits,
    ...given,
    resolve: async () => GLOBAL,
    request: ({ lookup, ...options }, onAnswer) => {
      lookup?.('', { all: false }, (_error, address) => pinned.push(address));
      return httpRequest({ ...options, host: '127.0.0.1', port }, onAnswer);
    },
  });
  return { fetchPackage, pinned };
}

describe('what may be fetched', () => {
  it.each([
    ['http://a.example/e', 'url_not_allowed'],
    ['https://a.example:8443/e', 'url_not_allowed'],
    ['https://user@a.example/e', 'url_not_allowed'],
    ['https://user:word@a.example/e', 'url_not_allowed'],
    ['file:///etc/passwd', 'url_not_allowed'],
    ['no address', 'url_invalid'],
    [`https://a.example/${'x'.repeat(2_000)}`, 'url_invalid'],
    ['https://127.0.0.1/', 'address_not_global'],
    ['https://2130706433/', 'address_not_global'],
    ['https://0x7f.1/', 'address_not_global'],
    ['https://[::1]/', 'address_not_global'],
    ['https://[::ffff:10.0.0.1]/', 'address_not_global'],
    ['https://[64:ff9b::a00:1]/', 'address_not_global'],
    ['https://[fd00::1]/', 'address_not_global'],
    ['https://169.254.169.254/latest', 'address_not_global'],
  ])('not %s', async (url, code) => {
    const fetchPackage = createPackageFetch({ ...limits, resolve: async () => GLOBAL });
    await expect(fetchPackage(url)).rejects.toMatchObject({ code });
  });

  it('not a name with an address that is not global', async () => {
    const resolve = async () => [...GLOBAL, { address: '10.0.0.1', family: 4 }];
    const fetchPackage = createPackageFetch({ ...limits, resolve });
    await expect(fetchPackage('https://a.example/')).rejects.toMatchObject({
      code: 'address_not_global',
    });
  });
});

describe('a fetch', () => {
  it('goes to the address that was judged, and gives the bytes', async () => {
    const { fetchPackage, pinned } = await aHost((request, response) => {
      response.end(`${request.method} ${request.url}`);
    });
    expect(String(await fetchPackage('https://a.example/e?x=1'))).toBe('GET /e?x=1');
    expect(pinned).toEqual(['93.184.216.34']);
  });

  it.each([
    ['a redirect', 302],
    ['an error', 500],
    ['an empty answer', 204],
  ])('takes %s for a failure', async (_what, status) => {
    const { fetchPackage } = await aHost((_request, response) => {
      response.writeHead(status, { location: 'https://127.0.0.1/' }).end();
    });
    await expect(fetchPackage('https://a.example/')).rejects.toMatchObject({
      code: 'fetch_failed',
      message: 'the host did not answer with the package',
    });
  });

  it('ends at its limits of bytes and of time', async () => {
    const large = await aHost((_request, response) => response.end('x'.repeat(1001)));
    await expect(large.fetchPackage('https://a.example/')).rejects.toMatchObject({
      code: 'fetch_too_large',
    });
    server?.close();
    const slow = await aHost((_request, response) => response.write('x'), { timeoutMs: 50 });
    await expect(slow.fetchPackage('https://a.example/')).rejects.toMatchObject({
      code: 'fetch_timeout',
    });
  });
});
