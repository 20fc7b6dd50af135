/** What streams keep for resumption, through the streams themselves. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { Writable } from 'node:stream';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { ByteOwner } from '../upstream/shares/owned-bytes.ts';
import { eventText } from './event-stream.ts';
import { type ReplayLimits, ReplayRoom } from './replay-room.ts';
import { type LoggedStream, StreamLog } from './stream-log.ts';

const LIMITS = { bytes: 100_000, bytesOfAgent: 50_000, servesSeveral: () => true };
const OPTIONS = {
  maxBuffered: 1e6,
  isLasting: true,
  outlet: { hasRoom: () => true, follow: () => undefined, hold: () => undefined },
};
/** Of an event of nearly 1,000 bytes. */
const event = (name: string) => name.padEnd(960, '.');
const countEvents = ({ bytes }: ReplayRoom) =>
  Math.round(bytes / eventText(event(''), '1-10').length);

function aRoom(limits: Partial<ReplayLimits> = {}) {
  const room = new ReplayRoom({ ...LIMITS, ...limits });
  const agent = (name: string) => new StreamLog({ owner: ownerOf(name), room });
  return { room, agent };
}

function ownerOf(name: string): ByteOwner {
  return { tenantId: name.split(' ')[0] ?? '', key: name };
}

/** @param drains whether what is written leaves */
function aConnection(drains = true) {
  const sent: string[] = [];
  const raw = new Writable({
    write(chunk, _encoding, done) {
      sent.push(String(chunk));
      if (drains) done();
    },
  });
  const cut = async () => {
    raw.destroy();
    await once(raw, 'close');
  };
  return { raw: raw as unknown as ServerResponse, sent, cut };
}

/** A stream with a connection, or one whose connection is gone. */
async function aStream(log: StreamLog, isAttached: boolean): Promise<LoggedStream> {
  const stream = log.open(OPTIONS);
  if (isAttached) stream.attach(aConnection().raw);
  return stream;
}

function fill(stream: LoggedStream, events: number): void {
  for (let n = 0; n < events; n++) stream.write(event('x'));
}

/** The events that a client which comes back to a stream gets. */
function kept(stream: LoggedStream): string[] {
  const { raw, sent } = aConnection();
  stream.attach(raw, 0);
  return sent.map((text) => /data: ([^.\n]*)/.exec(text)?.[1] ?? '');
}

async function anAnswer(log: StreamLog): Promise<LoggedStream> {
  const stream = log.open({ ...OPTIONS, isLasting: false });
  const { raw, cut } = aConnection();
  stream.attach(raw);
  stream.write(event('progress'));
  await cut();
  return stream;
}

it('keeps what was not sent in place of what was, whoever had that sent', async () => {
  const { agent, room } = aRoom();
  for (const name of ['evil a', 'evil b', 'other c', 'third d']) {
    fill(await aStream(agent(name), true), 60);
  }
  expect(countEvents(room)).toBeGreaterThan(70);
  const log = agent('good v');
  const answer = await anAnswer(log);
  answer.end(event('result'));
  const news = await aStream(log, false);
  for (let n = 0; n < 16; n++) news.write(event(`news ${n}`));
  expect(kept(answer)).toEqual(['progress', 'result']);
  expect(kept(news)).toHaveLength(16);
});

it('drops what an agent had sent where its own share is taken, and nothing of others', async () => {
  const { agent } = aRoom({ bytes: 1e6 });
  const others = await Promise.all(
    ['one b', 'two c', 'two d'].map((name) => aStream(agent(name), true)),
  );
  for (const stream of others) fill(stream, 50);
  const log = agent('one a');
  const oldest = await aStream(log, true);
  fill(oldest, 20);
  const next = await aStream(log, true);
  fill(next, 30);
  next.write(event('new'));
  expect(kept(oldest)).toHaveLength(19);
  expect(kept(next)).toHaveLength(31);
  for (const stream of others) expect(kept(stream)).toHaveLength(50);
});

it('drops nothing for somebody who keeps more', async () => {
  const { agent, room } = aRoom();
  const small = await aStream(agent('one a'), true);
  fill(small, 30);
  const large = await Promise.all(['two b', 'two c'].map((name) => aStream(agent(name), false)));
  for (const stream of large) fill(stream, 40);
  // As much as is left.
  expect(countEvents(room)).toBe(65);
  const attached = await aStream(agent('two d'), true);
  fill(attached, 10);
  expect(kept(attached)).toEqual([]);
  expect(kept(small)).toHaveLength(30);
});

it('keeps an answer in place of unsent notifications, and no notification', async () => {
  const { agent } = aRoom({ servesSeveral: () => false });
  const log = agent('one a');
  const answer = await anAnswer(log);
  const news = await aStream(log, false);
  fill(news, 49);
  news.write(event('refused'));
  expect(kept(news)).not.toContain('refused');
  await new Promise((resolve) => setImmediate(resolve));
  const waiting = await aStream(log, false);
  fill(waiting, 49);
  answer.end(event('result'));
  expect(kept(answer)).toContain('result');
});

it('drops no answer that its connection has not taken yet', async () => {
  const { agent } = aRoom();
  const log = agent('one a');
  const answer = log.open({ ...OPTIONS, isLasting: false });
  const { raw, cut } = aConnection(false);
  answer.attach(raw);
  answer.end(event('result'));
  fill(await aStream(log, true), 60);
  fill(await aStream(agent('two b'), false), 60);
  await cut();
  expect(kept(answer)).toEqual(['result']);
});

it('leaves a tenant of several as much as one takes, and an agent alone likewise', async () => {
  for (const [servesSeveral, names] of [
    [true, ['one a', 'one b', 'one c']],
    [false, ['one a']],
  ] as const) {
    const { agent, room } = aRoom({ servesSeveral: () => servesSeveral, bytesOfAgent: 80_000 });
    for (const name of names) fill(await aStream(agent(name), false), 80);
    expect(countEvents(room)).toBe(50);
  }
});

it('keeps within its bounds, whatever comes, and is empty at the end', async () => {
  const step = fc.record({
    agent: fc.constantFrom('one a', 'one b', 'two a', 'three a'),
    what: fc.constantFrom('write', 'write', 'write', 'attach', 'pause', 'end', 'open'),
    length: fc.nat(9_000),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const { agent, room } = aRoom({ bytes: 40_000, bytesOfAgent: 20_000 });
      const logs = new Map<string, { log: StreamLog; stream: LoggedStream }>();
      for (const { agent: name, what, length } of steps) {
        const log = logs.get(name)?.log ?? agent(name);
        const isNew = what === 'open' || !logs.has(name);
        const stream = isNew ? log.open(OPTIONS) : logs.get(name)?.stream;
        if (stream === undefined) continue;
        logs.set(name, { log, stream });
        if (what === 'write') stream.write('x'.repeat(length));
        else if (what === 'attach') stream.attach(aConnection(length % 2 === 0).raw, 0);
        else if (what === 'pause') stream.pause(1);
        else if (what === 'end') stream.end('x'.repeat(length));
        expect(room.bytes).toBeLessThanOrEqual(40_000);
      }
      for (const { log } of logs.values()) log.close();
      expect(room.bytes).toBe(0);
    }),
  );
});
