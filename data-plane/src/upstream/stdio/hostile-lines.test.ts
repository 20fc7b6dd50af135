/** A process that floods its pipes, or closes one, is ended and fills no log. */
import { readdirSync } from 'node:fs';
import { expect, it, vi } from 'vitest';
import { AnswerBytes } from '../shares/answer-room.ts';
import { FairBytes } from '../shares/fair-bytes.ts';
import { Cancellation, UpstreamFailure } from '../upstream.ts';
import { StdioChannel } from './stdio-channel.ts';

const warn = vi.fn();

const OWNER = { tenantId: 't', key: 't a' };
const aRoom = (bytes: number) => new FairBytes(bytes, () => false);

function channelTo(
  code: string,
  command = process.execPath,
  cwd?: string,
  room = aRoom(4 * 1024 * 1024),
): StdioChannel {
  return new StdioChannel({
    name: 'flood',
    server: { command, args: ['-e', code], env: {}, cwd },
    limits: { timeoutMs: 20_000, messageBytes: 1024 * 1024 },
    takePlace: async () => () => undefined,
    openRoom: () => new AnswerBytes(room, OWNER),
    log: { info: () => undefined, warn },
  });
}

function ping(channel: StdioChannel, hold?: (bytes: number) => boolean) {
  const request = {
    method: 'ping',
    wantsProgress: false,
    text: (id: number) => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' }),
    timeoutMs: 20_000,
  };
  return channel.send(request, {
    onNotification: () => undefined,
    cancellation: new Cancellation(),
    ...(hold && { hold }),
  });
}

/** Writes a text again and again, as fast as it is read, once it was sent something. */
const floodOf = (text: string, fd = 1) => `
  const bytes = Buffer.from(${text});
  process.stdin.once('data', () => {
    for (;;) {
      try {
        require('node:fs').writeSync(${fd}, bytes);
      } catch (error) {
        if (error.code !== 'EAGAIN') throw error;
      }
    }
  });`;
const ANSWER = `'{"jsonrpc":"2.0","id":99999,"result":{}}\\n'`;

it.each([
  ['lines that are no JSON-RPC', `'{\\n'.repeat(5000)`],
  ['blank lines', `'\\n'.repeat(65536)`],
  ['answers to no request', `${ANSWER}.repeat(1000)`],
  ['a line without an end', `'a'.repeat(65536)`],
])('ends a process that writes nothing but %s', async (_, text) => {
  warn.mockClear();
  const channel = channelTo(floodOf(text));
  await channel.start();
  const failures = await Promise.allSettled([ping(channel)]);
  if (text.startsWith("'a'")) {
    // The first long line fails what waits; the process is ended when it goes on.
    expect(failures[0]).toMatchObject({ reason: { kind: 'too_large' } });
    await expect.poll(() => ping(channel).catch(({ message }) => message)).toMatch(/does not run/);
  } else {
    expect(failures[0]).toMatchObject({
      reason: {
        kind: 'unreachable',
        message: 'the process wrote 1000 lines that are no JSON-RPC or nobody asked for',
      },
    });
  }
  expect(warn.mock.calls.length).toBeLessThanOrEqual(20);
  await channel.close();
});

const fds = () => readdirSync('/proc/self/fd').length;

it.skipIf(process.platform !== 'linux')(
  'keeps no pipe that a process of another group holds open',
  async () => {
    const sleeper = `require('node:child_process').spawn(process.execPath,
      ['-e', 'setTimeout(() => {}, 5000)'],
      { detached: true, stdio: ['ignore', 'inherit', 'inherit'] }).unref();`;
    const channel = channelTo(`${sleeper} process.stdin.once('data', () => process.exit(1));`);
    const before = fds();
    await channel.start();
    expect(fds()).toBeGreaterThan(before);
    await expect(ping(channel)).rejects.toMatchObject({ kind: 'unreachable' });
    await expect.poll(fds).toBeLessThanOrEqual(before);
    await channel.close();
  },
);

it('closes where its command was never there', async () => {
  const channel = channelTo('', '/nonexistent');
  await channel.start().then(() => channel.close());
});

it.each([
  ['is missing', '/nonexistent', /its folder .*ENOENT.*\/nonexistent/],
  ['is none', process.execPath, /its folder .* is no folder/],
])('names the folder of a process that could not start where it %s', async (_, cwd, named) => {
  const channel = channelTo('', process.execPath, cwd);
  const started = channel.start().then(() => ping(channel));
  await expect(started).rejects.toBeInstanceOf(UpstreamFailure);
  await expect(started).rejects.toThrow(named);
  await channel.close();
});

it('ends a process whose message could not be taken', async () => {
  const channel = channelTo(
    `process.stdin.once('data', () => process.stdout.write('{"jsonrpc":"2.0","method":"x"}\\n'));`,
  );
  const notified = () => {
    throw new Error('a fault of ours');
  };
  await channel.start();
  channel.receiver = { notified, ended: () => undefined };
  await expect(ping(channel)).rejects.toMatchObject({ message: 'Error: a fault of ours' });
  await channel.close();
});

it('takes the answer that a process wrote before it exited', async () => {
  const answer = `JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(500000) } })`;
  const channel = channelTo(`process.stdin.once('data', () => {
    require('node:fs').writeSync(1, ${answer} + '\\n');
    process.kill(process.pid, 'SIGKILL');
  });`);
  await channel.start();
  expect(await ping(channel)).toMatchObject({ kind: 'result' });
  await channel.close();
});

it.each([
  ['output', 'answer(); closeSync(1);'],
  ['input', 'process.stdin.destroy(); closeSync(0); answer();'],
])('ends a process that closes its %s and lives on', async (pipe, code) => {
  const channel = channelTo(`
    const { closeSync, writeSync } = require('node:fs');
    const answer = () => writeSync(1, '{"jsonrpc":"2.0","id":1,"result":{}}\\n');
    process.stdin.once('data', () => { ${code} });
    setInterval(() => {}, 1000);`);
  await channel.start();
  expect(await ping(channel)).toMatchObject({ kind: 'result' });
  await expect(ping(channel)).rejects.toThrow(`the process ended (it closed its ${pipe})`);
  // The next one starts.
  await channel.start();
  await channel.close();
});

it('an answer is dropped for which there is no room', async () => {
  const answer = `'{"jsonrpc":"2.0","id":1,"result":{"a":"' + 'x'.repeat(20000) + '"}}\\n'`;
  const channel = channelTo(`process.stdin.once('data', () => process.stdout.write(${answer}))`);
  await channel.start();
  const held: number[] = [];
  const answering = ping(channel, (bytes) => held.push(bytes) === 0);
  await expect(answering).rejects.toMatchObject({ kind: 'no_room' });
  expect(held).toEqual([20042]);
  await channel.close();
});

it('fails what waits where a message has too many values, whatever it answers', async () => {
  const answer = `'{"jsonrpc":"2.0","id":1,"result":{"a":[' + '0,'.repeat(50000) + '0]}}\\n'`;
  const channel = channelTo(`process.stdin.once('data', () => process.stdout.write(${answer}))`);
  await channel.start();
  await expect(ping(channel)).rejects.toMatchObject({
    kind: 'too_large',
    message: 'a message of more than 50000 values (SERVICE_MCP_MESSAGE_LIMIT_NODES)',
  });
  await channel.close();
});

/** Writes the beginning of an answer at the first message, its end at the second one. */
const IN_PARTS = `
  const rest = ['{"jsonrpc":"2.0","id":1,"result":{"a":"' + 'x'.repeat(100000), '"}}\\n'];
  process.stdin.on('data', (sent) => {
    for (const byte of sent) if (byte === 10) process.stdout.write(rest.shift() ?? '');
  });`;
const BEGUN = 100_039;

it('counts a line that has no end yet, until it has or its process has ended', async () => {
  const room = aRoom(1024 * 1024);
  const channel = channelTo(IN_PARTS, process.execPath, undefined, room);
  await channel.start();
  const held: number[] = [];
  // What has arrived whole is counted by its call.
  const answering = ping(channel, (bytes) => held.push(bytes, room.total) > 0);
  await expect.poll(() => room.total).toBe(BEGUN);
  channel.write('{}');
  expect(await answering).toMatchObject({ kind: 'result' });
  expect(held).toEqual([BEGUN + 3, 0]);
  await channel.close();

  const another = channelTo(IN_PARTS, process.execPath, undefined, room);
  await another.start();
  const closed = expect(ping(another)).rejects.toThrow('closed');
  await expect.poll(() => room.total).toBe(BEGUN);
  await another.close();
  await closed;
  await expect.poll(() => room.total).toBe(0);
});

it('drops a line for which there is no room before it ends, and reads the next one', async () => {
  const room = aRoom(50_000);
  const code = `${IN_PARTS} rest.push('{"jsonrpc":"2.0","id":3,"result":{}}\\n');`;
  const channel = channelTo(code, process.execPath, undefined, room);
  await channel.start();
  const failures = await Promise.allSettled([ping(channel, () => true), ping(channel)]);
  expect(failures).toMatchObject([
    { reason: { kind: 'no_room', message: expect.stringContaining('may have done') } },
    { reason: { kind: 'busy' } },
  ]);
  expect(room.total).toBe(0);
  expect(await ping(channel)).toMatchObject({ kind: 'result' });
  await channel.close();
});
