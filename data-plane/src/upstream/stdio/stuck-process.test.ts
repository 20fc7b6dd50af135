/** A process that answers nothing any more is ended, so that the next request gets another. */
import { afterEach, expect, it } from 'vitest';
import { openTestPool } from '../../testing/test-modern.ts';
import { STDIO_SERVER } from '../../testing/test-plane.ts';
import { openStdio } from '../../testing/test-upstream.ts';
import { isTimeout, ownExchange } from '../upstream.ts';

/** Its tool `hang` never answers; after `stuck` it answers nothing at all. */
const CODE = `
  const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
  let isStuck = false;
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined || isStuck) return;
    const [serverInfo, capabilities] = [{ name: 'x', version: '1' }, { tools: {} }];
    if (method === 'initialize') answer(id, { protocolVersion: '2025-06-18', capabilities, serverInfo });
    else if (method === 'ping') answer(id, {});
    else if (params.name === 'stuck') isStuck = true;
    else if (params.name !== 'hang') answer(id, { content: [], pid: process.pid });
  });`;

const TIMEOUT_MS = 600;
const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

function openSession() {
  const server = { command: process.execPath, args: ['-e', CODE], env: {}, cwd: undefined };
  const pool = openTestPool({
    limits: { timeoutMs: TIMEOUT_MS, messageBytes: 65_536 },
    stdio: openStdio([['local', server]]),
  });
  stops.push(() => pool.close());
  const session = pool.getSession({
    tenantId: 'tenant',
    server: STDIO_SERVER('local'),
    agentId: 'a',
  });
  return async (name: string) => {
    const members = `"name":"${name}"`;
    const request = { method: 'tools/call', members, wantsProgress: false };
    const { value } = await session.request(request, ownExchange());
    return (value as { pid: number }).pid;
  };
}

it('is another one for the request after next', async () => {
  const call = openSession();
  const pid = await call('any');
  expect(isTimeout(await call('stuck').catch((error: unknown) => error))).toBe(true);
  // Its ping has as long as a request: one in the meantime fails with the process.
  await expect(call('any')).rejects.toThrow();
  await expect.poll(() => call('any').catch(() => pid), { timeout: 5_000 }).not.toBe(pid);
});

it('is the same one after a request that it alone did not answer', async () => {
  const call = openSession();
  const pid = await call('any');
  for (let n = 0; n < 2; n++) await expect(call('hang')).rejects.toThrow('no answer in time');
  await new Promise((resolve) => setTimeout(resolve, 1.5 * TIMEOUT_MS));
  expect(await call('any')).toBe(pid);
});
