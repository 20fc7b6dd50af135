/**
 * In production, on a data plane of several tenants, a tenant cannot reach the private network by
 * registering a server: not by number, not by name, not by an earlier connection.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GatewayConfig } from '../config.ts';
import { HTTP_SERVER, startTestPlane, type TestPlane } from '../testing/test-plane.ts';
import { startTestUpstream, type TestUpstream } from '../testing/test-upstream.ts';

let upstream: TestUpstream;
let plane: TestPlane;
let isSeveral: boolean;
let post: (server: string) => Promise<string>;

async function start(config: Partial<GatewayConfig>) {
  const { port } = new URL(upstream.url);
  plane = await startTestPlane({
    servers: [
      HTTP_SERVER('by-number', upstream.url),
      HTTP_SERVER('by-name', `http://localhost:${port}/mcp`),
      HTTP_SERVER('mapped', `http://[::ffff:127.0.0.1]:${port}/mcp`),
    ],
    servesSeveral: () => isSeveral,
    config: { upstreamAllow: null, ...config },
  });
  const agent = plane.addAgent(['*:*']);
  post = async (server) => {
    const params = { name: 'echo', arguments: {} };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
    const { json } = await plane.post(`/mcp/v1/${server}`, message, {
      authorization: agent.basic,
    });
    return json.error === undefined ? 'ok' : json.error.code;
  };
}

beforeEach(async () => {
  upstream = await startTestUpstream();
  isSeveral = false;
});
afterEach(async () => {
  await plane.stop();
  await upstream.stop();
});

const SERVERS = ['by-number', 'by-name', 'mapped'];
const all = async () => Promise.all(SERVERS.map(post));

describe('private addresses of MCP servers', () => {
  it('are open in production to the one tenant, and closed once there are several', async () => {
    await start({ isProduction: true });
    expect(await all()).toEqual(['ok', 'ok', 'ok']);
    isSeveral = true;
    const before = upstream.seen.length;
    expect(await all()).toEqual([-32603, -32603, -32603]);
    expect(upstream.seen).toHaveLength(before);
    const { failing, reasons } = plane.plane.serverReport(plane.tenantId);
    expect(failing).toEqual([...SERVERS].sort());
    for (const server of SERVERS) {
      expect(reasons?.[server]).toMatch(/not open to MCP servers: SERVICE_UPSTREAM_ALLOW/);
    }
  });

  it('are open to several where they are named, and in development', async () => {
    isSeveral = true;
    await start({ isProduction: true, upstreamAllow: ['global', '127.0.0.0/8', '::1'] });
    expect(await all()).toEqual(['ok', 'ok', 'ok']);
    await plane.stop();
    await start({ isProduction: false });
    expect(await all()).toEqual(['ok', 'ok', 'ok']);
  });

  it('are not reached by a redirect', async () => {
    await start({ isProduction: true });
    const redirecting = createServer((request, response) => {
      request.resume();
      response.writeHead(307, { location: upstream.url }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const { port } = redirecting.address() as AddressInfo;
    plane.setServers([HTTP_SERVER('redirecting', `http://127.0.0.1:${port}/mcp`)]);
    expect(await post('redirecting')).toBe(-32603);
    expect(upstream.seen).toEqual([]);
    redirecting.closeAllConnections();
    redirecting.close();
  });
});
