import type { AddressInfo } from 'node:net';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { closeStalled } from './unsent-bytes.ts';

const STALL_MS = 300;
/** More than the system takes by itself. */
const MUCH = Buffer.alloc(16 * 1024 * 1024);
/** The slow reader rests between two of these; all rests together last longer than a stall. */
const REST_AFTER = 1024 * 1024;

let server: Server;
let end: () => void;
let client: Socket;

beforeEach(async () => {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.write(MUCH);
  });
  end = closeStalled(server, STALL_MS);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.on('error', () => undefined);
});

afterEach(() => {
  end();
  client.destroy();
  server.close();
});

const count = () =>
  new Promise<number>((resolve, reject) => {
    server.getConnections((error, found) => (error ? reject(error) : resolve(found)));
  });

it('a connection that is not read is closed', async () => {
  client.pause();
  await expect.poll(count).toBe(1);
  await expect.poll(count, { timeout: 10_000 }).toBe(0);
});

it('one that is read slowly gets all of it, and one with nothing to send stays', async () => {
  let read = 0;
  let rests = 0;
  client.on('data', (chunk: Buffer) => {
    read += chunk.length;
    if (read < (rests + 1) * REST_AFTER) return;
    rests++;
    client.pause();
    setTimeout(() => client.resume(), STALL_MS / 10);
  });
  await expect.poll(() => read, { timeout: 50_000 }).toBe(MUCH.length);
  expect(rests).toBe(MUCH.length / REST_AFTER);
  await new Promise((resolve) => setTimeout(resolve, 2 * STALL_MS));
  expect(await count()).toBe(1);
});
