import { expect, it } from 'vitest';
import { UpstreamFailure } from '../upstream.ts';
import { ResumePoint, SeenEvents } from './resume-point.ts';

it('knows an event again for a while, whichever stream brings it', () => {
  const seen = new SeenEvents();
  const [one, other] = [new ResumePoint(seen), new ResumePoint(seen)];
  expect(one.take('1', 'a', false)).toBe(true);
  expect(other.take('1', 'a', true)).toBe(false);
  expect(other.take('1', 'b', true)).toBe(true);
  // What comes on a new stream is new.
  expect(other.take('1', 'a', false)).toBe(true);
  expect(other.take('2', '', true)).toBe(true);
  for (let n = 0; n < 255; n++) one.take(`n${n}`, 'x', false);
  expect(other.take('1', 'a', true)).toBe(false);
  for (let n = 0; n < 256; n++) one.take(`n${n}`, 'x', false);
  expect(other.take('1', 'a', true)).toBe(true);
});

it('tells long answers apart whose request is named last, as some SDKs write it', () => {
  const point = new ResumePoint(new SeenEvents());
  const answer = (id: number) => `{"result":{"text":"${'x'.repeat(2000)}"},"id":${id}}`;
  expect(point.take('1', answer(3), false)).toBe(true);
  expect(point.take('1', answer(4), true)).toBe(true);
  expect(point.take('1', answer(3), true)).toBe(false);
});

it('delivers nothing of an event that only had an id', () => {
  const point = new ResumePoint(new SeenEvents());
  expect([point.take('1', '{}', false), point.take('2', '{}', true)]).toEqual([true, false]);
  expect(point.lastEventId).toBe('2');
});

it('waits as long as the server says, within an hour, and longer after each failure', () => {
  const point = new ResumePoint(new SeenEvents());
  expect(point.delayMs).toBe(1000);
  point.setRetry(0);
  expect(point.delayMs).toBe(50);
  const delays = Array.from({ length: 7 }, () => [point.failed(503, null), point.delayMs]);
  expect(delays).toEqual([
    ...[2, 4, 8, 16].map((s) => [true, s * 1000]),
    ...[32, 64, 128].map((s) => [false, s * 1000]),
  ]);
  point.opened();
  point.setRetry(1e15);
  expect(point.delayMs).toBe(3_600_000);
  point.failed(503, null);
  expect(point.delayMs).toBe(3_600_000);
});

it('only what may pass is tried again', () => {
  const tried = (status: number, kind?: 'unreachable' | 'ineligible' | 'refused') =>
    new ResumePoint(new SeenEvents()).failed(status, kind ? new UpstreamFailure(kind, '') : null);
  expect([tried(409), tried(429), tried(500), tried(0, 'unreachable')]).not.toContain(false);
  const final = [400, 401, 403, 404, 405, 410].map((status) => tried(status));
  expect([...final, tried(0, 'ineligible'), tried(0, 'refused')]).not.toContain(true);
});

it('is resumed after a second at least once it was resumed often, until the stream is another', () => {
  const point = new ResumePoint(new SeenEvents());
  const delays = Array.from({ length: 10 }, () => {
    point.opened();
    point.setRetry(0);
    return point.delayMs;
  });
  expect(delays).toEqual([...Array(8).fill(50), 1000, 1000]);
  point.setRetry(5000);
  expect(point.delayMs).toBe(5000);
  point.reset();
  point.setRetry(0);
  expect(point.delayMs).toBe(50);
});

it('that a list has changed is heard each time, since ids may begin anew', () => {
  const point = new ResumePoint(new SeenEvents());
  const text = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  expect(point.take('1', text, false)).toBe(true);
  expect(point.take('1', text, true)).toBe(true);
  const question = JSON.stringify({ id: 1, method: 'elicitation/create', params: { text } });
  expect([point.take('2', question, true), point.take('2', question, true)]).toEqual([true, false]);
});
