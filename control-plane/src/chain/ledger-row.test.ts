import { canonicalize } from '@governance/shared/json/canonical-json';
import { expect, it } from 'vitest';
import { readAsEarlier } from './ledger-row.ts';

const aRecord = (details: string): Buffer => {
  const text = canonicalize({
    ...{ v: 1, type: 'admin_action', id: '01890000-0000-7000-8000-000000000001' },
    tenant_id: '01890000-0000-7000-8000-000000000002',
    stream: '01890000-0000-7000-8000-000000000003',
    ...{ epoch: 1, seq: 2, prev_hash: '0'.repeat(64) },
    ...{ timestamp: '2026-01-01T00:00:00.000Z', bundle_revision: null },
    actor: { id: 'root', username: 'root', role: 'admin', break_glass: false },
    ...{ action: 'exception_created', target: 'exceptions/1', details: { a: 'HERE' } },
  });
  return Buffer.from(text.replace('"HERE"', details));
};

it('a row is read as earlier versions read it, up to a number of values and a depth', () => {
  const list = (values: number) => `[${'1,'.repeat(values - 1)}1]`;
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  expect(readAsEarlier(aRecord(nested(40)))).toBeDefined();
  expect(readAsEarlier(aRecord(list(100_000)))).toBeDefined();
  expect(readAsEarlier(aRecord(list(2_100_000)))).toBeUndefined();
  expect(readAsEarlier(aRecord(nested(10_001)))).toBeUndefined();
  // Commas and brackets in a text are no values.
  expect(readAsEarlier(aRecord(`"${'\\",['.repeat(1_000_000)}"`))).toBeDefined();
});
