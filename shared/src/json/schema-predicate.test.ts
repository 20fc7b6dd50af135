import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LedgerRecord } from '../ledger/ledger-record.ts';
import { Epoch, Id, Sha256Hex, Text, Timestamp } from '../text.ts';
import { createSchemaPredicate } from './schema-predicate.ts';

const ID = '01890000-0000-7000-8000-000000000001';
const HASH = 'a'.repeat(64);
const TIME = '2026-01-02T03:04:05.678Z';
const envelope = {
  v: 2,
  id: ID,
  tenant_id: ID,
  stream: ID,
  epoch: 1,
  seq: 2,
  prev_hash: HASH,
  timestamp: TIME,
  bundle_revision: 7,
};
const decision = {
  ...envelope,
  type: 'decision',
  agent_id: ID,
  action: 'read',
  target: 'files/a.txt',
  method: 'tools/call',
  tool_name: 'read_file',
  mcp_server: 'files',
  policy_result: 'allow',
  policy_reason: null,
  decided_by: 'policy',
  behavioral_score: 0.5,
  risk_tier: 'low',
  dlp_action: null,
  dlp_findings_count: 1,
  dlp_findings: [{ severity: 'low', kind: 'other' }],
  latency_ms: 1.5,
  session_id: null,
  workflow_session_id: null,
  causal_depth: 0,
  parent_event_id: null,
  delegation_chain: [ID],
  requester_id: 'anna',
  requester_verified: false,
  instruction_hash: HASH,
  region: null,
  escalation_id: null,
  grant_id: null,
  exception_id: null,
  payload_digest: null,
  protected_fields: ['target'],
  model: { name: 'm', has_system_prompt: true, has_tools: false, message_count: 1 },
};
const boundCall = {
  agent_id: ID,
  requester_id: null,
  mcp_server: 'files',
  method: 'tools/call',
  tool_name: 'read_file',
  instruction_hash: HASH,
};
const hold = {
  ...envelope,
  ...boundCall,
  type: 'hold_opened',
  escalation_id: ID,
  event_id: ID,
  held: 'call',
  target: 'files/a.txt',
  risk_tier: 'high',
  reason: null,
  timeout_at: TIME,
};
const records = {
  decision,
  'a hold without members that may be missing': hold,
  'a hold with them': { ...hold, binding: HASH, shape: { policy_ids: ['a'], resource: '' } },
  'an act': {
    ...envelope,
    type: 'admin_action',
    actor: { id: 'anna', username: 'anna', role: 'admin', break_glass: false },
    action: 'a',
    target: 'b',
    details: { any: [1, { thing: null }] },
  },
  'the start of an epoch': {
    ...envelope,
    type: 'epoch_start',
    previous: { epoch: 1, last_seq: 2, head: HASH },
    reason: 'boot',
    writer_version: '0.1.0',
  },
};
const isRecord = createSchemaPredicate(LedgerRecord);
const copyOf = (value: unknown) => JSON.parse(JSON.stringify(value));

describe('of ledger records', () => {
  it.each(Object.entries(records))('it knows %s without asking the schema', (_name, record) => {
    expect(isRecord(copyOf(record))).toBe(true);
    expect(LedgerRecord.parse(copyOf(record))).toEqual(record);
  });

  it('never accepts what the schema does not return as it stands', () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(undefined, 'Infinity', '\ud800', 'a\u0000b', ID, HASH, TIME, -1, 2 ** 53, 1),
    );
    const edits = fc.array(fc.tuple(fc.nat(), fc.nat(3), odd), { minLength: 1, maxLength: 3 });
    const asked = { yes: 0, no: 0 };
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(records)), edits, (record, todo) => {
        const value = copyOf(record);
        for (const [at, kind, replacement] of todo) {
          // In the record, or in an object within it.
          const inner = Object.values(value).filter((one) => typeof one === 'object' && one);
          const target = kind === 0 && inner.length > 0 ? inner[at % inner.length] : value;
          const keys = Object.keys(target);
          const key = keys[at % Math.max(1, keys.length)] ?? 'new';
          if (kind === 1) delete target[key];
          else if (kind === 2) target[`extra${at}`] = replacement;
          else target[key] = replacement;
        }
        if (!isRecord(value)) {
          asked.no++;
          return;
        }
        asked.yes++;
        expect(LedgerRecord.parse(value)).toEqual(value);
      }),
      { numRuns: 3_000 },
    );
    expect(asked.yes).toBeGreaterThan(20);
    expect(asked.no).toBeGreaterThan(1_000);
  });
});

it.each([
  ['a member of the prototype', LedgerRecord, JSON.parse('{"v":2,"__proto__":{}}')],
  ['one of details', z.record(z.string(), z.unknown()), JSON.parse('{"__proto__":{}}')],
  ['one of a loose object', z.looseObject({}), JSON.parse('{"__proto__":{}}')],
  ['a list for an object', z.strictObject({}), []],
  ['a number that is none', z.number(), Number.POSITIVE_INFINITY],
  ['what is stripped', z.object({}), { a: 1 }],
])('leaves %s to the schema', (_what, schema, value) => {
  expect(createSchemaPredicate(schema)(value)).toBe(false);
});

it.each([
  ['a transformation', z.string().transform(Number), '1'],
  ['a coercion by a check', z.string().trim(), 'a'],
  ['an expression that remembers', z.string().regex(/a/g), 'a'],
  ['a default', z.string().default('a'), 'a'],
  ['a record of known keys', z.record(z.enum(['a']), z.string()), { a: 'b' }],
  ['objects that are refined', z.strictObject({}).refine(() => false), {}],
])('does not claim to know %s', (_what, schema, value) => {
  expect(createSchemaPredicate(schema)(value)).toBe(false);
});

it.each([
  ['Timestamp', Timestamp, [TIME], ['2026-02-30T03:04:05.678Z', '2026-01-02T03:04:05Z', '']],
  ['Id', Id, [ID], ['x', `${ID} `]],
  ['Text', Text, ['', '\u{1f600}'], ['\ud800', 'a\u0000']],
  ['Epoch', Epoch, [1, 2_147_483_647], [0, 1.5, 2_147_483_648, '1']],
  ['Sha256Hex', Sha256Hex, [HASH], [`${HASH}a`, HASH.toUpperCase()]],
])('%s is what the schema says it is', (_name, schema, good, bad) => {
  const accepts = createSchemaPredicate(schema);
  for (const one of good)
    expect([accepts(one), schema.safeParse(one).success]).toEqual([true, true]);
  for (const one of bad)
    expect([accepts(one), schema.safeParse(one).success]).toEqual([false, false]);
});
