import type { UnchainedRecord } from '@governance/shared/ledger/ledger-record';
import { expect, it } from 'vitest';
import { createRaiseAlert } from './raise-alert.ts';

it('raises one alert again after a minute, and after a clock that was ahead was put back', () => {
  let now = Date.parse('2026-03-01T10:00:00Z');
  const records: UnchainedRecord[] = [];
  const raise = createRaiseAlert({
    ledger: {
      append: async (_tenantId, record) => {
        records.push(record);
        return { id: record.id, epoch: 1, seq: records.length, hash: '' };
      },
    },
    writes: { track: async () => true },
    now: () => now,
  });
  const tell = () =>
    raise('t', {
      ...{ alert_type: 'DISK_WATERMARK', severity: 'critical', title: 'broken', details: {} },
      dedupe_key: 'k',
    });
  tell();
  now += 59_999;
  tell();
  expect(records).toHaveLength(1);
  now += 1;
  tell();
  expect(records).toHaveLength(2);
  now += 86_400_000;
  tell();
  now -= 86_400_000;
  tell();
  expect(records).toHaveLength(4);
});
