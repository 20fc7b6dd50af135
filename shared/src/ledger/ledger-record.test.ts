import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { uuidv7 } from '../ids.ts';
import { canonicalize } from '../json/canonical-json.ts';
import { anAnswerStarted } from '../testing/test-records.ts';
import { GENESIS_HASH, recordHash } from './hash-chain.ts';
import {
  type ChainHead,
  chainRecord,
  MAX_LIST_ITEMS,
  parseRecord,
  UnchainedRecord,
} from './ledger-record.ts';

const head: ChainHead = {
  tenant_id: uuidv7(),
  stream: uuidv7(),
  epoch: 2,
  seq: 7,
  head: GENESIS_HASH,
};
const chain = {
  v: 2,
  tenant_id: head.tenant_id,
  stream: head.stream,
  epoch: 2,
  seq: 8,
  prev_hash: head.head,
};

const alert = {
  type: 'alert',
  id: uuidv7(),
  timestamp: '2026-01-02T03:04:05.678Z',
  bundle_revision: null,
  alert_type: 'TEST',
  severity: 'low',
  agent_id: null,
  title: 'a "title" with é and \u2028',
  details: { z: 1, a: [1.5, { y: null, x: true }] },
  dedupe_key: null,
};

describe('chainRecord', () => {
  it('gives the canonical bytes of the whole record, its hash and its place', () => {
    const record = UnchainedRecord.parse(alert);
    const { bytes, hash, seq } = chainRecord(head, record);
    expect(bytes.toString()).toBe(canonicalize({ ...alert, ...chain }));
    expect(hash).toBe(recordHash(bytes));
    expect(seq).toBe(8);
  });

  it('writes whatever members it is given, in order, and never lets them place themselves', () => {
    const value = fc.oneof(fc.jsonValue(), fc.constant(undefined));
    const members = fc.dictionary(
      fc.oneof(fc.constantFrom(...Object.keys(alert), ...Object.keys(chain)), fc.string()),
      value,
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(members, fc.subarray(Object.keys(alert)), (changes, kept) => {
        const base = Object.fromEntries(
          Object.entries(alert).filter(([key]) => kept.includes(key)),
        );
        const record = { ...base, ...changes } as unknown as UnchainedRecord;
        const { bytes } = chainRecord(head, record);
        expect(bytes.toString()).toBe(canonicalize({ ...record, ...chain }));
      }),
      { numRuns: 500 },
    );
  });

  it('refuses what has no canonical form', () => {
    const poison = { ...alert, title: '\ud800' } as unknown as UnchainedRecord;
    expect(() => chainRecord(head, poison)).toThrow(TypeError);
  });
});

describe('parseRecord', () => {
  it.each([
    'dlp_findings',
    'delegation_chain',
  ])('says one thing of a record whose %s are wrong a hundred thousand times', (list) => {
    const record = { ...chain, type: 'decision', [list]: new Array(100_000).fill(0) };
    let fault: unknown;
    try {
      parseRecord(Buffer.from(canonicalize(record)));
    } catch (error) {
      fault = error;
    }
    const issues = fault instanceof ZodError ? fault.issues : [];
    const ofList = issues.filter((issue) => issue.path[0] === list);
    expect(ofList).toMatchObject([{ code: 'too_big', maximum: MAX_LIST_ITEMS }]);
  });

  it.each([
    ...[-1, 200.5].map((status) => [status, { isRead: false, isWritten: false }] as const),
    // Version 2 took them once, and what it took stays valid.
    ...[0, 99, 600, 700, Number.MAX_SAFE_INTEGER].map(
      (status) => [status, { isRead: true, isWritten: false }] as const,
    ),
    ...[100, 200, 599].map((status) => [status, { isRead: true, isWritten: true }] as const),
  ])('an answer that starts with the status %d: %o', (status, { isRead, isWritten }) => {
    const record = { ...anAnswerStarted(uuidv7()), status };
    const read = () => parseRecord(Buffer.from(canonicalize({ ...record, ...chain })));
    if (isRead) expect(read()).toMatchObject({ status });
    else expect(read).toThrow(ZodError);
    expect(UnchainedRecord.safeParse(record).success).toBe(isWritten);
  });

  it('takes what any member holds only as far as verifiers read it', () => {
    const deep = (depth: number): unknown => (depth === 0 ? 1 : [deep(depth - 1)]);
    const read = (details: object) =>
      parseRecord(Buffer.from(canonicalize({ ...alert, ...chain, details })));
    expect(read({ a: deep(30), ['k'.repeat(8_192)]: 1 })).toMatchObject({ type: 'alert' });
    expect(() => read({ a: deep(31) })).toThrow('nested too deeply');
    expect(() => read({ ['k'.repeat(8_193)]: 1 })).toThrow('key');
    expect(() => read(JSON.parse('{"__proto__":1}'))).toThrow('__proto__');
  });
});
