/** A stream whose inspection waits is bounded, and passes everything on in its order or not at all. */
import { expect, it } from 'vitest';
import type { Caller } from './calls.ts';

import { InspectedStream } from './inspected-stream.ts';
import type { Inspected, Said } from './said.ts';

/** A stream whose inspections end when the test says so. */
function slowStream(passOn: (data: unknown) => void = () => undefined) {
  const inspecting: (() => void)[] = [];
  const failed: Inspected[] = [];
  const stream = new InspectedStream({
    caller: {} as Caller,
    speaker: 'server',
    call: null,
    inspect: ({ part }: Said) => new Promise((resolve) => inspecting.push(() => resolve({ part }))),
    passOn: (_serverId, { params }) => passOn(params?.data),
    onFailed: (_serverId, inspected) => failed.push(inspected),
  });
  const push = (data: unknown) =>
    stream.push('up', { method: 'notifications/message', params: { data } });
  return { stream, push, inspecting, failed };
}

it('bounds what waits, and continues when that is gone', async () => {
  const heard: unknown[] = [];
  const { stream, push, inspecting } = slowStream((data) => heard.push(String(data).length));
  for (let n = 0; n < 10; n++) push('x'.repeat(1_600_000));
  expect(inspecting).toHaveLength(3);
  for (const end of inspecting) end();
  await stream.settled;
  expect(heard).toEqual([1_600_000, 1_600_000, 1_600_000]);
  push('after');
  expect(inspecting).toHaveLength(4);
});

it('reports what could not be passed on, and rejects nothing', async () => {
  const { stream, push, inspecting, failed } = slowStream(() => {
    throw new Error('the client is gone');
  });
  push('one');
  inspecting[0]?.();
  await stream.settled;
  expect(failed).toMatchObject([{ step: 'stream', error: { message: 'the client is gone' } }]);
});

it('inspects and passes on no more of a flood than its bound', () => {
  let inspected = 0;
  const heard: number[] = [];
  const stream = new InspectedStream({
    caller: {} as Caller,
    speaker: 'server',
    call: null,
    inspect: ({ part }: Said) => {
      inspected++;
      return { part };
    },
    passOn: (_serverId, { params }) => heard.push(Number(params?.n)),
    onFailed: () => undefined,
  });
  const begun = performance.now();
  for (let n = 0; n < 20_000; n++) {
    stream.push('up', { method: 'notifications/message', params: { n } });
  }
  const seconds = (performance.now() - begun) / 1000;
  expect(inspected).toBeGreaterThanOrEqual(2000);
  expect(inspected).toBeLessThanOrEqual(2001 + seconds * 200);
  expect(heard).toHaveLength(inspected);
});
