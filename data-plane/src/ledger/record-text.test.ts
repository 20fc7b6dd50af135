import { canonicalize } from '@governance/shared/canonical-json';
import { recordHash } from '@governance/shared/hash-chain';
import { uuidv7 } from '@governance/shared/ids';
import {
  type ChainHead,
  chainRecord,
  MAX_RECORD_BYTES,
  parseRecord,
  UnchainedRecord,
} from '@governance/shared/ledger-record';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { chainRecordText, UnfitRecordError, writeRecord } from './record-text.ts';

const place = { tenant_id: uuidv7(), stream: uuidv7(), epoch: 3 };
const text = fc.string({ unit: 'binary', maxLength: 40 });
const aRecord = fc.oneof(
  fc
    .record({
      target: text,
      policy_reason: fc.option(text),
      session_id: fc.option(text),
      latency_ms: fc.double({ min: 0 }),
      bundle_revision: fc.option(fc.nat()),
      dlp_findings: fc.array(fc.record({ severity: fc.constant('low' as const), text })),
      delegation_chain: fc.array(fc.uuid(), { maxLength: 3 }),
      requester_verified: fc.boolean(),
      timestamp: fc.oneof(
        fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
        fc.constantFrom('2026-02-30T00:00:00.000Z', '1969-12-31T23:59:59.999Z', '2026-01-01'),
      ),
      risk_tier: fc.constantFrom('low', 'critical', 'none' as 'low'),
      behavioral_score: fc.oneof(fc.integer(), fc.double()),
      causal_depth: fc.oneof(fc.integer(), fc.constant(-0), fc.constant(2 ** 53)),
    })
    .map((over) => aDecision(over)),
  fc
    .record({
      detail: fc.option(text),
      result_bytes: fc.option(fc.integer()),
      result_digest: fc.option(fc.constantFrom('ab'.repeat(32), 'AB'.repeat(32), 'ab')),
      extra: fc.constantFrom(undefined, 1),
    })
    .map(({ extra, ...over }) =>
      anOutcome(uuidv7(), extra === undefined ? over : { ...over, ...{ extra } }),
    ),
  fc.record({ title: text, details: fc.dictionary(text, fc.jsonValue()) }).map(anAlert),
);

it('writes a record as schema and canonical form define it, or refuses what they refuse', () => {
  fc.assert(
    fc.property(aRecord, fc.nat(1e9), (record, seq) => {
      const head: ChainHead = { ...place, seq, head: recordHash(Buffer.of(1)) };
      const checked = UnchainedRecord.safeParse(record);
      if (!checked.success || record.timestamp < '1970') {
        expect(() => writeRecord(place, record)).toThrow(UnfitRecordError);
        return;
      }
      const expected = chainRecord(head, checked.data);
      const chained = chainRecordText(writeRecord(place, record), head);
      expect(chained).toEqual({
        text: expected.bytes.toString(),
        seq: expected.seq,
        head: expected.hash,
      });
      expect(canonicalize(parseRecord(Buffer.from(chained.text)))).toBe(chained.text);
    }),
    { numRuns: 1_000 },
  );
});

it('keeps the record unchanged, whatever its author does to it later', () => {
  const record = aDecision({ dlp_findings: [{ severity: 'low' }] });
  const before = { seq: 1, head: 'ab'.repeat(32) };
  const written = writeRecord(place, record);
  const expected = chainRecordText(written, before);
  record.target = 'another';
  record.dlp_findings.push({ severity: 'high' });
  expect(chainRecordText(written, before)).toEqual(expected);
});

it('accepts details as JSON, and never makes a record larger than a reader accepts', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  const details = { at, none: undefined, list: [undefined] };
  const { text: line } = chainRecordText(writeRecord(place, anAlert({ details })), {
    seq: 0,
    head: 'cd'.repeat(32),
  });
  expect(JSON.parse(line).details).toEqual({ at: at.toISOString(), list: [null] });
  for (const size of [MAX_RECORD_BYTES - 1_500, MAX_RECORD_BYTES / 2 - 700]) {
    const fill = size === MAX_RECORD_BYTES - 1_500 ? 'x' : 'é';
    for (let more = 0; more < 1_200; more += 13) {
      const title = fill.repeat(size + more);
      let written: ReturnType<typeof writeRecord>;
      try {
        written = writeRecord(place, anAlert({ title }));
      } catch {
        break;
      }
      const { text: bytes } = chainRecordText(written, { seq: 2 ** 52, head: 'ab'.repeat(32) });
      expect(Buffer.byteLength(bytes)).toBeLessThanOrEqual(MAX_RECORD_BYTES);
    }
  }
});
