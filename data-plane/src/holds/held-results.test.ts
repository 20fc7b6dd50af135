import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { loadIdentity } from '../identity/identity.ts';
import {
  HELD_RESULTS_FILE,
  type HeldResults,
  MAX_HELD_RESULTS,
  openHeldResults,
} from './held-results.ts';

const tenantId = uuidv7();
const agentId = uuidv7();
const TEXT = 'what the server said, which nobody may read here';
let folder: string;
let results: HeldResults;

const path = () => join(folder, HELD_RESULTS_FILE);
function open(): HeldResults {
  const { sealOwn: seal, openSealedNow } = loadIdentity(folder);
  return openHeldResults(path(), { seal, open: openSealedNow });
}
const hold = (id = uuidv7()) => ({ id, tenantId, agentId });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'held-results-'));
  results = open();
});

afterEach(() => {
  results.close();
  rmSync(folder, { recursive: true, force: true });
});

it('keeps a result sealed, over a restart, until it is removed', async () => {
  const one = hold();
  await results.keep(one, { kind: 'result', raw: TEXT });
  results.close();
  for (const file of readdirSync(folder).filter((name) => name.startsWith('held-results'))) {
    expect(readFileSync(join(folder, file)).includes(TEXT)).toBe(false);
  }
  results = open();
  expect(results.read(one)).toEqual({ kind: 'result', raw: TEXT });
  expect(results.read({ ...one, tenantId: uuidv7() })).toBeUndefined();
  results.remove(one);
  expect(results.read(one)).toBeUndefined();
});

it('rejects a sealed result moved into the place of another', async () => {
  const [one, other] = [hold(), hold()];
  await results.keep(one, { kind: 'result', raw: TEXT });
  await results.keep(other, { kind: 'result', raw: 'fine' });
  results.close();
  const db = new Database(path());
  db.prepare(
    'UPDATE held_results SET sealed = (SELECT sealed FROM held_results WHERE id = ?) WHERE id = ?',
  ).run(one.id, other.id);
  db.close();
  results = open();
  expect(results.read(other)).toBeUndefined();
  expect(results.read(one)?.raw).toBe(TEXT);
});

it('removes at the start results without a hold, of that tenant only', async () => {
  const [one, lost] = [hold(), hold()];
  const foreign = { ...hold(), tenantId: uuidv7() };
  for (const each of [one, lost, foreign]) await results.keep(each, { kind: 'error', raw: TEXT });
  results.keepOnly(tenantId, new Set([one.id]));
  expect(results.read(one)?.kind).toBe('error');
  expect(results.read(lost)).toBeUndefined();
  expect(results.read(foreign)?.raw).toBe(TEXT);
});

it('counts results that are being sealed', async () => {
  const { one, ofAgent } = MAX_HELD_RESULTS;
  const raw = 'x'.repeat(one);
  const kept: Promise<void>[] = [];
  for (let bytes = 0; bytes < ofAgent; bytes += one) {
    expect(results.findExcess(tenantId, agentId, one)).toBeUndefined();
    kept.push(results.keep(hold(), { kind: 'result', raw }));
  }
  expect(results.findExcess(tenantId, agentId, 1)).toBe('too_many_held');
  expect(results.findExcess(tenantId, uuidv7(), 1)).toBeUndefined();
  await Promise.all(kept);
  expect(results.findExcess(tenantId, agentId, 1)).toBe('too_many_held');
});

it('is bounded: each result, those of an agent and those of a tenant', async () => {
  const { one, ofAgent, ofTenant } = MAX_HELD_RESULTS;
  expect(results.findExcess(tenantId, agentId, one)).toBeUndefined();
  expect(results.findExcess(tenantId, agentId, one + 1)).toBe('too_large_to_hold');
  const raw = 'x'.repeat(one);
  for (let kept = 0; kept < ofAgent; kept += one) {
    await results.keep(hold(), { kind: 'result', raw });
  }
  expect(results.findExcess(tenantId, agentId, 1)).toBe('too_many_held');
  expect(results.findExcess(tenantId, uuidv7(), 1)).toBeUndefined();
  results.close();
  const db = new Database(path());
  db.prepare('UPDATE held_results SET bytes = ?').run(ofTenant);
  db.close();
  results = open();
  expect(results.findExcess(tenantId, uuidv7(), 1)).toBe('too_many_held');
});
