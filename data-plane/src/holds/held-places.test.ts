import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
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
  second.note(hold('2'), 5_000);
  first.note(hold('3'), 5_000);
  first.note(hold('1', 'another agent'), 5_000);
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

it('is there after a restart of the worker', () => {
  first.note(hold('1'), 5_000);
  first.close();
  first = open(1);
  expect(second.findWorker(TENANT, 'agent')).toBe(1);
});

it('redirects nothing where the file cannot be read, and logs it', () => {
  first.note(hold('1'), 5_000);
  first.close();
  expect(first.findWorker(TENANT, 'agent')).toBeUndefined();
  expect(() => first.note(hold('2'), 5_000)).not.toThrow();
  expect(warned).toHaveLength(2);
});
