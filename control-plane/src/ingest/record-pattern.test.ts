import { generateKeyPairSync } from 'node:crypto';
import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { findForbidden } from '@governance/shared/ledger/data-plane-records';
import { parseRecord, type UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import fc from 'fast-check';
import { afterAll, expect, it, vi } from 'vitest';
import { aDecision, anOutcome, createWriter } from '../../../tests/support/a-data-plane.ts';
import { ledgerColumns } from '../chain/ledger-columns.ts';
import { readUsualRecord } from './record-pattern.ts';

const { privateKey } = generateKeyPairSync('ed25519');
// The same on every day.
vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 6, 31, 12) });
const writer = createWriter(uuidv7(), uuidv7(), privateKey);
writer.boot();
afterAll(() => vi.useRealTimers());
const textOf = (record: UnchainedRecord) => writer.append(record).bytes.toString();

/** What ingest would read of it the long way; undefined where it is no valid record. */
function readLong(text: string) {
  try {
    const record = parseRecord(Buffer.from(text));
    const { tenant_id, stream, epoch, seq, prev_hash, type } = record;
    if (record.timestamp < '1970' || findForbidden(record)) return undefined;
    const place = { tenant_id, stream, epoch, seq, prev_hash, type };
    return { place, columns: ledgerColumns(record) };
  } catch {
    return undefined;
  }
}

const USUAL: [string, UnchainedRecord][] = [
  ['an allowed call', aDecision({ region: 'eu', session_id: 's', latency_ms: 0.125 })],
  ['a denied call', aDecision({ policy_result: 'deny', policy_reason: 'no “grant” for größe 💥' })],
  ['a decision of a workflow', aDecision({ workflow_session_id: uuidv7(), causal_depth: 3 })],
  ['an answer', anOutcome(uuidv7(), { result_digest: 'c'.repeat(64), result_bytes: 812 })],
  ['a failure', anOutcome(uuidv7(), { outcome: 'upstream_error', latency_ms: 1200 })],
  ['a crash', anOutcome(uuidv7(), { outcome: 'outcome_unknown', latency_ms: null })],
];

it.each(USUAL)('reads %s', (_, record) => {
  const text = textOf(record);
  expect(readUsualRecord(text)).toEqual(readLong(text));
  expect(readLong(text)).toBeDefined();
});

it('reads records of every day but 29 February', () => {
  const base = JSON.parse(textOf(anOutcome(uuidv7())));
  for (let day = Date.UTC(2027, 0, 1); day < Date.UTC(2029, 0, 1); day += 86_400_000) {
    const timestamp = new Date(day).toISOString();
    const written = canonicalize({ ...base, timestamp });
    const read = readUsualRecord(written);
    if (timestamp.includes('-02-29')) expect(read).toBeUndefined();
    else expect(read).toEqual(readLong(written));
  }
});

it('reads no day that its month lacks', () => {
  const base = JSON.parse(textOf(anOutcome(uuidv7())));
  for (const day of [
    '02-30',
    '02-31',
    '04-31',
    '06-31',
    '09-31',
    '11-31',
    '01-32',
    '13-30',
    '00-29',
  ]) {
    const written = canonicalize({ ...base, timestamp: `2026-${day}T00:00:00.000Z` });
    expect(readUsualRecord(written)).toBeUndefined();
  }
});

const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant(''));
const orNull = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const anyNumber = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(0.000001, 1e-7, 1e21, -0));
const anyId = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
  fc.string(),
);
const time = fc.oneof(
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
  fc.constantFrom(
    '2026-02-30T00:00:00.000Z',
    '2026-01-02T24:00:00.000Z',
    '1969-01-01T00:00:00.000Z',
  ),
);
const changes = {
  agent_id: anyId,
  event_id: anyId,
  id: anyId,
  timestamp: time,
  target: text,
  policy_reason: orNull(text),
  policy_result: fc.constantFrom('allow', 'deny', 'escalate', 'dlp_block', 'maybe'),
  behavioral_score: anyNumber,
  latency_ms: anyNumber,
  causal_depth: anyNumber,
  bundle_revision: orNull(anyNumber),
  dlp_findings: fc.constantFrom([], [{ severity: 'low' }], [1]),
  delegation_chain: fc.constantFrom([], [uuidv7()]),
  model: fc.constantFrom(null, {}, { name: null }),
  detail: orNull(text),
  v: fc.constantFrom(1, 2, 3),
  mood: fc.constant('new'),
  epoch: fc.oneof(fc.integer(), fc.constantFrom(2_147_483_647, 2_147_483_648)),
  seq: fc.oneof(fc.integer(), fc.constantFrom(0, 2 ** 53, 999_999_999_999_999)),
  prev_hash: fc.constantFrom('0'.repeat(64), 'A'.repeat(64), ''),
};
/** Members that a record may have, a few at a time: of many, one is always wrong. */
const change = fc
  .subarray(Object.keys(changes) as (keyof typeof changes)[], { maxLength: 3 })
  .chain((keys) => fc.record(Object.fromEntries(keys.map((key) => [key, changes[key]]))));

it('reads nothing but what the long way reads, and reads it the same', () => {
  let usual = 0;
  fc.assert(
    fc.property(fc.boolean(), change, (isDecision, given) => {
      const base = JSON.parse(textOf(isDecision ? aDecision() : anOutcome(uuidv7())));
      const own = Object.entries(given).filter(([key]) => key in base || key === 'mood');
      let written: string;
      try {
        written = canonicalize({ ...base, ...Object.fromEntries(own) });
      } catch {
        return; // a lone surrogate, NaN
      }
      const read = readUsualRecord(written);
      if (!read) return;
      usual++;
      expect(read).toEqual(readLong(written));
    }),
    { numRuns: 5_000 },
  );
  expect(usual).toBeGreaterThan(100);
});

it('takes no edit that the long way refuses', () => {
  const texts = USUAL.map(([, record]) => textOf(record));
  fc.assert(
    fc.property(
      fc.constantFrom(...texts),
      fc.nat(2_000),
      fc.nat(3),
      fc.oneof(
        fc.string({ maxLength: 3 }),
        fc.constantFrom('"', '\\', ',', ':null', '0', '.0', ' '),
      ),
      (whole, at, cut, insert) => {
        const edited = whole.slice(0, at) + insert + whole.slice(at + cut);
        const read = readUsualRecord(edited);
        if (read) expect(read).toEqual(readLong(edited));
      },
    ),
    { numRuns: 20_000 },
  );
});

it('takes linear time for what almost matches', () => {
  const long = textOf(aDecision({ target: 'a'.repeat(100_000), tool_name: 'b'.repeat(100_000) }));
  const hostile = `${long.slice(0, -1)} `;
  // Anything but linear time takes minutes for each, and the test with it.
  for (let i = 0; i < 20; i++) expect(readUsualRecord(hostile)).toBeUndefined();
});
