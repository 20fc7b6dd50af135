import { uuidv7 } from '@governance/shared/ids';
import { canonicalize } from '@governance/shared/json/canonical-json';
import { recordHash } from '@governance/shared/ledger/hash-chain';
import {
  type ChainHead,
  chainRecord,
  MAX_RECORD_BYTES,
  parseRecord,
  UnchainedRecord,
} from '@governance/shared/ledger/ledger-record';
import { toStorable } from '@governance/shared/text';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { aDecision, anAlert, anOutcome } from '../testing/test-records.ts';
import { chainRecordText, UnfitRecordError, writeRecord } from './record-text.ts';

const place = { tenant_id: uuidv7(), stream: uuidv7(), epoch: 3 };
/** Among them what no store can hold: NUL, and halves of characters. */
const text = fc.string({
  unit: fc.oneof(
    fc.constantFrom('\u0000', '\ud800', '\udc00', '\\'),
    fc.string({ unit: 'binary', maxLength: 2 }),
  ),
  maxLength: 40,
});
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
      const checked = UnchainedRecord.safeParse(toStorable(record));
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

/** A held result, which the control plane stores in columns of `text` and `jsonb`. */
const aResultHeld = (hostile: string, findings: object[]) => {
  const { type: _, ...decision } = aDecision();
  const { id, timestamp, bundle_revision, agent_id, instruction_hash, risk_tier } = decision;
  const ofDecision = { id, timestamp, bundle_revision, agent_id, instruction_hash, risk_tier };
  const named = { requester_id: hostile, mcp_server: hostile, tool_name: hostile, target: hostile };
  const held = { escalation_id: uuidv7(), event_id: uuidv7(), timeout_at: timestamp };
  const found = { severity: 'high', findings, findings_count: 1, result_bytes: 1 };
  const whole = { ...ofDecision, ...named, ...held, ...found, method: 'tools/call', binding: null };
  return { type: 'result_held', ...whole } as UnchainedRecord;
};

/** What a server's text may become, however long it is: findings and their places are bounded. */
const findingsAt = (place: string) => {
  const disguise = ['base64', 'hex', 'split'];
  const found = { class: 'urgency_framing', pattern: 'us_ssn', severity: 'high', place, disguise };
  return Array.from({ length: 50 }, () => found) as { class: string; severity: 'high' }[];
};

it('writes a record whatever text a server chose, so that every store can hold it', () => {
  const worst = '\u0001'.repeat(2048);
  const hostile = fc.oneof(text, fc.constantFrom('\u0000', '\ud83d', '\\u0000', worst));
  fc.assert(
    fc.property(hostile, (said) => {
      const at = `/${said}`.slice(0, 256);
      const inspection = {
        step: said,
        inbound_findings: findingsAt(at),
        dlp_findings_count: 50,
        dlp_findings: findingsAt(at),
        replacement_digest: null,
        escalation_id: null,
      };
      const finish_reason = said.slice(0, 64);
      const usage = { status: 200, input_tokens: 1, output_tokens: 1, finish_reason };
      for (const record of [
        anOutcome(uuidv7(), { detail: said.slice(0, 512), inspection, model_usage: usage }),
        aResultHeld(said, findingsAt(at)),
        anAlert({ title: said, dedupe_key: said, details: { [said]: [{ [said]: said }] } }),
        aDecision({ policy_reason: said, tool_name: said, dlp_findings: findingsAt(at) }),
      ]) {
        const before = { seq: 1, head: 'ab'.repeat(32) };
        const { text: line } = chainRecordText(writeRecord(place, record), before);
        const stored = parseRecord(Buffer.from(line));
        expect(toStorable(stored)).toBe(stored);
        // As PostgreSQL's jsonb reads it: the escape of NUL, and not of a backslash before `u0000`.
        expect(line.replaceAll('\\\\', '')).not.toMatch(/\\u0000|\\ud[89a-f]/);
      }
    }),
    { numRuns: 200 },
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
