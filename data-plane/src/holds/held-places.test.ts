import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HeldPlaces, openHeldPlaces } from './held-places.ts';

const TENANT = 'tenant';
let folder: string;
let now: number;
let warned: string[];
let first: HeldPlaces;
let second: HeldPlaces;

const open = (worker: number) =>
  openHeldPlaces(join(folder, 'held.db'), {
    worker,
    now: () => now,
    log: { warn: (_fields: object, message: string) => void warned.push(message) } as never,
  });
const hold = (id: string, agentId = 'agent') => ({ id, tenantId: TENANT, agentId });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'held-places-'));
  now = 1_000;
  warned = [];
  first = open(1);
  second = open(2);
});

afterEach(() => {
  first.close();
  second.close();
  rmSync(folder, { recursive: true, force: true });
});

it('shows every worker which one has held a call of an agent the longest', () => {
  second.note(hold('2'), 5_000, false);
  first.note(hold('3'), 5_000, false);
  first.note(hold('1', 'another agent'), 5_000, false);
  for (const places of [first, second]) {
    expect(places.findWorker(TENANT, 'agent')).toBe(2);
    expect(places.findWorker(TENANT, 'another agent')).toBe(1);
    expect(places.findWorker('another tenant', 'agent')).toBeUndefined();
  }
  second.forget(hold('2'));
  expect(second.findWorker(TENANT, 'agent')).toBe(1);
  now = 5_000;
  expect(second.findWorker(TENANT, 'agent')).toBeUndefined();
});

it('shows the worker with an approval first, wherever older calls wait', () => {
  first.note(hold('1'), 5_000, false);
  second.note(hold('2'), 5_000, false);
  expect(first.findWorker(TENANT, 'agent')).toBe(1);
  second.note(hold('2'), 5_000, true);
  expect(first.findWorker(TENANT, 'agent')).toBe(2);
  second.forget(hold('2'));
  expect(second.findWorker(TENANT, 'agent')).toBe(1);
});

describe('with approvals at two workers', () => {
  const held = { one: hold('1'), other: hold('2') };
  const at = () => (first.findWorker(TENANT, 'agent') === 1 ? 'one' : 'other');
  /** A repetition of the call: it is used, or asks for a turn of its worker. */
  function repeat(call: keyof typeof held): boolean {
    now++;
    const isThere = at() === call;
    if (isThere) first.forget(held[call]);
    else second.giveTurn(held[call]);
    return isThere;
  }

  beforeEach(() => {
    first.note(held.one, 1_000_000, true);
    second.note(held.other, 1_000_000, true);
  });

  it.each([
    ['one after the other', ['other', 'other', 'one'], [false, true, true]],
    ['in alternation', ['other', 'one', 'other', 'one'], [false, false, true, true]],
    ['as they come', ['one', 'other'], [true, true]],
  ] as const)('lets each be used, repeated %s', (_how, calls, used) => {
    expect(calls.map(repeat)).toEqual(used);
  });

  it('gives the turn on when nobody comes for it', () => {
    second.giveTurn(held.other);
    now += 59_999;
    expect(at()).toBe('other');
    first.giveTurn(held.one);
    expect(at()).toBe('other');
    now += 1;
    expect(at()).toBe('one');
  });

  it('keeps a turn over a restart of its worker', () => {
    second.giveTurn(held.other);
    second.note(held.other, 1_000_000, false);
    expect(at()).toBe('one');
    second.note(held.other, 1_000_000, true);
    expect(at()).toBe('other');
  });
});

it('is there after a restart of the worker', () => {
  first.note(hold('1'), 5_000, false);
  first.close();
  first = open(1);
  expect(second.findWorker(TENANT, 'agent')).toBe(1);
});

it('redirects nothing where the file cannot be read, and logs it', () => {
  first.note(hold('1'), 5_000, false);
  first.close();
  expect(first.findWorker(TENANT, 'agent')).toBeUndefined();
  expect(() => first.note(hold('2'), 5_000, false)).not.toThrow();
  expect(warned).toHaveLength(2);
});
