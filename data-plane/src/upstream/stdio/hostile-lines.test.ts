/** A process that writes what nobody can read is ended, and fills no log. */
import { expect, it, vi } from 'vitest';
import { Cancellation } from '../upstream.ts';
import { StdioChannel } from './stdio-channel.ts';

const FLOOD =
  'process.stdin.once("data", () => process.stdout.write("{\\n".repeat(5000)));setInterval(() => {}, 1000);';

it('ends a process that writes a thousand lines in a row that are no JSON-RPC', async () => {
  const warn = vi.fn();
  const channel = new StdioChannel({
    name: 'flood',
    server: { command: process.execPath, args: ['-e', FLOOD], env: {}, cwd: undefined },
    limits: { timeoutMs: 20_000, messageBytes: 1024 * 1024 },
    log: { info: () => undefined, warn },
  });
  await channel.start();
  const request = {
    method: 'ping',
    wantsProgress: false,
    text: (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }),
    timeoutMs: 20_000,
  };
  const exchange = { onNotification: () => undefined, cancellation: new Cancellation() };
  await expect(channel.send(request, exchange)).rejects.toMatchObject({
    kind: 'unreachable',
    message: 'the process wrote 1000 lines that are no JSON-RPC',
  });
  expect(warn.mock.calls.length).toBeLessThanOrEqual(20);
  await channel.close();
});
