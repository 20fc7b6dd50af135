import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { uuidv7 } from '@governance/shared/ids';
import { parseRecord } from '@governance/shared/ledger/ledger-record';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  createLedgerStore,
  type LedgerStore,
  readStoredRecords,
} from '../testing/test-ledger-store.ts';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { SPILL_AFTER } from './open-decisions.ts';

const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const [tenantId, stream] = [uuidv7(), uuidv7()];
let folder: string;
let path: string;
let store: LedgerStore;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'open-decisions-'));
  path = join(folder, 'data-plane.db');
});
afterEach(() => {
  store.close();
  rmSync(folder, { recursive: true });
});

function boot() {
  store = createLedgerStore({ path, signingKey, limitBytes: null });
  const timestamp = new Date().toISOString();
  return store.openStream({ tenantId, stream, writerVersion: '1', timestamp });
}

/** The decisions that the newest epoch records as outcome unknown. */
function unknownOf(epoch: number): string[] {
  const records = readStoredRecords(path).map(({ bytes }) => parseRecord(bytes));
  return records
    .flatMap((one) =>
      one.type === 'outcome' && one.epoch === epoch && one.outcome === 'outcome_unknown'
        ? [one.event_id]
        : [],
    )
    .sort();
}

it('finds exactly the open calls, across the position up to which the table keeps them', () => {
  const step = fc.record({
    opened: fc.nat(3),
    closed: fc.nat(3),
    // Enough records to pass the position, sometimes twice.
    others: fc.constantFrom(0, 5, 400, SPILL_AFTER),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 8 }), fc.boolean(), (steps, isKilled) => {
      for (const end of ['', '-marks']) rmSync(path + end, { force: true });
      const { streamNo } = boot();
      const open: string[] = [];
      const write = (record: unknown) => ({ streamNo, record, salt: null });
      for (const { opened, closed, others } of steps) {
        const decisions = Array.from({ length: opened }, () => aDecision());
        const outcomes = open.splice(0, closed).map((id) => anOutcome(id));
        // One that ends in the group in which it begins.
        const short = aDecision();
        const group = [...outcomes, ...decisions, short, anOutcome(short.id)];
        store.commitGroup(group.map(write));
        open.push(...decisions.map(({ id }) => id));
        for (let left = others; left > 0; left -= 1_024) {
          const alerts = Array.from({ length: Math.min(left, 1_024) }, () => anAlert());
          store.commitGroup(alerts.map(write));
        }
      }
      // A kill leaves the log as it is, which for the file equals a close.
      if (!isKilled) store.commitGroup([write(anAlert())]);
      store.close();
      expect(boot()).toMatchObject({ epoch: 2, outcomesUnknown: open.length });
      store.close();
      expect(unknownOf(2)).toEqual(open.sort());
      expect(boot()).toMatchObject({ epoch: 3, outcomesUnknown: 0 });
      store.close();
    }),
    { numRuns: 12 },
  );
});

it('writes no row for a call that ends soon, and one for a long call until it ends', () => {
  const { streamNo } = boot();
  const write = (record: unknown) => ({ streamNo, record, salt: null });
  const [long, short] = [aDecision(), aDecision()];
  store.commitGroup([write(long), write(short)]);
  store.commitGroup([write(anOutcome(short.id))]);
  expect(countRows()).toBe(0);
  for (let n = 0; n <= SPILL_AFTER; n += 512) {
    store.commitGroup(Array.from({ length: 512 }, () => write(anAlert())));
  }
  expect(countRows()).toBe(1);
  store.commitGroup([write(anOutcome(long.id))]);
  expect(countRows()).toBe(0);
});

function countRows(): number {
  const db = new Database(path, { readonly: true });
  const count = db.prepare('SELECT count(*) FROM open_decisions').pluck().get() as number;
  db.close();
  return count;
}

function shipAll(streamNo: number): void {
  const header = store.nextBatch(streamNo, 500)?.header;
  if (!header) throw new Error('nothing to ship');
  const { epoch, last_seq: seq, head } = header;
  store.commitGroup([{ streamNo, shipped: { epoch, seq, head } }]);
}

it('finds a call that is still open after its record was pruned', () => {
  const { streamNo } = boot();
  const decision = aDecision();
  const commit = (record: unknown) => store.commitGroup([{ streamNo, record, salt: null }]);
  commit(decision);
  for (let n = 0; n < 100; n++) commit(anAlert());
  shipAll(streamNo);
  const step = { keepMs: 0, limit: 1_000 };
  store.prune(streamNo, { ...step, now: 1 });
  store.prune(streamNo, { ...step, now: 2 });
  store.close();
  const kept = readStoredRecords(path).map(({ bytes }) => parseRecord(bytes).id);
  expect(kept).not.toContain(decision.id);
  boot();
  store.close();
  expect(unknownOf(2)).toEqual([decision.id]);
});

it('starts despite a damaged shipped record, and trusts nothing in it', () => {
  const { streamNo } = boot();
  const decision = aDecision();
  const commit = (...records: unknown[]) =>
    store.commitGroup(records.map((record) => ({ streamNo, record, salt: null })));
  commit(anAlert(), decision, anAlert(), anOutcome(decision.id));
  commit(anAlert(), anAlert());
  for (let n = 0; n < 100; n++) commit(anAlert());
  shipAll(streamNo);
  store.close();
  const db = new Database(path);
  const damage = db.prepare(
    `UPDATE records SET bytes = CAST(replace(CAST(bytes AS TEXT), ?, ?) AS BLOB)
     WHERE seq = ?`,
  );
  const { id } = decision;
  damage.run(`"id":"${id}"`, `"id":"${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}"`, 5);
  damage.run('\n', ' ', 7);
  db.close();
  expect(boot().outcomesUnknown).toBe(0);
});
