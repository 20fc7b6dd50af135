/** A stream whose inspection waits is bounded, and passes everything on in its order or not at all. */
import { expect, it } from 'vitest';
import type { Caller } from './call/calls.ts';
import type { Inspected, ReceivedMessage } from './call/received-message.ts';
import { InspectedStream } from './inspected-stream.ts';

const CALLER = { tenantId: 't', agent: { id: 'a' } } as Caller;

/** A stream whose inspections end when the test says so. */
function slowStream(passOn: (data: unknown) => void = () => undefined) {
  const inspecting: (() => void)[] = [];
  const failed: Inspected[] = [];
  const stream = new InspectedStream({
    caller: CALLER,
    speaker: 'server',
    call: null,
    hold: () => true,
    inspect: ({ part }: ReceivedMessage) =>
      new Promise((resolve) => inspecting.push(() => resolve({ part }))),
    passOn: (_serverId, { params }) => passOn(params?.data),
    onFailed: (_serverId, inspected) => failed.push(inspected),
    onDropped: () => undefined,
  });
  const push = (data: unknown) =>
    stream.push('up', { method: 'notifications/message', params: { data } });
  return { stream, push, inspecting, failed };
}

it('bounds what waits, and continues when that is gone', async () => {
  const heard: unknown[] = [];
  const { stream, push, inspecting } = slowStream((data) => heard.push(String(data).length));
  for (let n = 0; n < 10; n++) push('x'.repeat(1_600_000));
  // Large ones are inspected one by one.
  for (let n = 1; n <= 3; n++) {
    await expect.poll(() => inspecting).toHaveLength(n);
    inspecting.at(-1)?.();
  }
  await stream.settled;
  expect(heard).toEqual([1_600_000, 1_600_000, 1_600_000]);
  push('after');
  await expect.poll(() => inspecting).toHaveLength(4);
});

it('reports what could not be passed on, and rejects nothing', async () => {
  const { stream, push, inspecting, failed } = slowStream(() => {
    throw new Error('the client is gone');
  });
  push('one');
  await expect.poll(() => inspecting).toHaveLength(1);
  inspecting[0]?.();
  await stream.settled;
  expect(failed).toMatchObject([{ step: 'stream', error: { message: 'the client is gone' } }]);
});

it('bounds what one stream sends at once, and leaves time for others between inspections', async () => {
  let inspected = 0;
  const heard: number[] = [];
  let dropped = 0;
  const stream = new InspectedStream({
    caller: CALLER,
    speaker: 'server',
    call: null,
    hold: () => true,
    inspect: ({ part }: ReceivedMessage) => {
      inspected++;
      const until = performance.now() + 1;
      while (performance.now() < until);
      return { part };
    },
    passOn: (_serverId, { params }) => heard.push(Number(params?.n)),
    onFailed: () => undefined,
    onDropped: () => dropped++,
  });
  const begun = performance.now();
  for (let n = 0; n < 5000; n++) {
    const before = inspected;
    stream.push('up', { method: 'notifications/message', params: { n } });
    if (n === 50) expect(inspected).toBeLessThanOrEqual(6);
    expect(inspected - before).toBeLessThanOrEqual(1);
    if (n % 100 === 99) await new Promise((resolve) => setImmediate(resolve));
  }
  await stream.settled;
  const seconds = (performance.now() - begun) / 1000;
  expect(inspected).toBeLessThanOrEqual(2001 + seconds * 200);
  expect(heard).toHaveLength(inspected);
  expect(dropped).toBe(1);
  expect(heard).toEqual([...heard].sort((a, b) => a - b));
});

it('passes a burst on whole and in order, each with what came before it', async () => {
  const carried: string[] = [];
  const heard: unknown[] = [];
  const stream = new InspectedStream({
    caller: CALLER,
    speaker: 'server',
    call: null,
    hold: () => true,
    inspect: ({ part, carry }: ReceivedMessage) => {
      carried.push(carry);
      const until = performance.now() + 0.1;
      while (performance.now() < until);
      return { part };
    },
    passOn: (_serverId, { params }) => heard.push(params?.data),
    onFailed: () => undefined,
    onDropped: () => expect.unreachable(),
  });
  const sent = Array.from({ length: 1900 }, (_, n) => `<${n}>`);
  for (const data of sent) stream.push('up', { method: 'notifications/message', params: { data } });
  await stream.settled;
  expect(heard).toEqual(sent);
  expect(carried.every((carry, n) => n === 0 || carry.includes(`<${n - 1}>`))).toBe(true);
});

it('judges a message without what was withheld before it', async () => {
  const carried: string[] = [];
  const stream = new InspectedStream({
    caller: CALLER,
    speaker: 'server',
    call: null,
    hold: () => true,
    inspect: ({ part, carry }: ReceivedMessage) => {
      carried.push(carry);
      const text = JSON.stringify(part);
      if (text.includes('blocked')) return { part, step: 'dlp', blocked: 'dlp: a secret' };
      return { part, step: text.includes('replaced') ? 'injection' : 'dlp' };
    },
    passOn: () => undefined,
    onFailed: () => undefined,
    onDropped: () => expect.unreachable(),
  });
  for (const data of ['a ', 'replaced ', 'b ', 'blocked ', 'redacted ', 'c']) {
    const beside = { level: 'info', logger: 'up' };
    stream.push('up', { method: 'notifications/message', params: { ...beside, data } });
  }
  await stream.settled;
  expect(carried).toEqual(['', 'a ', 'a ', 'a b ', 'a b ', 'a b redacted ']);
  expect(stream.carry).toBe('a b redacted c');
  expect(stream.carriedLast).toBe(1);
});
