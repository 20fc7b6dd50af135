import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type AllowedCall, recordedFindings } from './audit.ts';
import { type OutcomeDeps, recordOutcome } from './outcome.ts';

it('records the gravest findings where there are too many', () => {
  const low = { class: 'urgency_framing', severity: 'low' } as const;
  const findings = [...Array(60).fill(low), { ...low, severity: 'critical' as const }];
  const listed = recordedFindings(findings);
  expect(listed).toHaveLength(50);
  expect(listed.at(-1)).toMatchObject({ severity: 'critical' });
});

it('has the time at which it is written, where the result had to be prepared', async () => {
  const written: Record<string, unknown>[] = [];
  let now = 0;
  const deps = {
    ledger: { append: async (_: string, record: never) => void written.push(record) },
    writes: { track: (_: string, write: Promise<unknown>) => write },
    now: () => now,
    elapsed: () => 1,
    findRevision: () => 2,
    onOutcome: () => undefined,
    payloads: { keepResult: async () => 'a digest' },
  } as unknown as OutcomeDeps;
  const call = { id: 'x', rules: { revision: 1 }, caller: { tenantId: 't', arrivedAt: 0 } };
  const answer = { kind: 'result', raw: '{}', value: {} } as never;
  const allowed = { call, salt: randomBytes(16) } as unknown as AllowedCall;
  const recording = recordOutcome(allowed, { sent: answer, passed: { answer }, sentAt: 0 }, deps);
  now = 5_000;
  await recording;
  expect(written).toMatchObject([
    {
      timestamp: '1970-01-01T00:00:05.000Z',
      bundle_revision: 2,
      payload_digest: 'a digest',
      latency_ms: 1,
    },
  ]);
});

it('records a digest of the result that cannot be guessed without the salt of the decision', async () => {
  const raw = '{"deleted":true}';
  const salt = randomBytes(16);
  const call = { id: 'x', rules: { revision: 1 }, caller: { tenantId: 't', arrivedAt: 0 } };
  const written: Record<string, unknown>[] = [];
  const deps = {
    ledger: { append: async (_: string, record: never) => void written.push(record) },
    writes: { track: (_: string, write: Promise<unknown>) => write },
    now: () => 0,
    elapsed: () => 1,
    findRevision: () => null,
    onOutcome: () => undefined,
    payloads: { keepResult: () => null },
  } as unknown as OutcomeDeps;
  const answer = { kind: 'result', raw, value: { deleted: true } } as const;
  const allowed = { call, salt } as unknown as AllowedCall;
  const sent = answer as never;
  await recordOutcome(allowed, { sent, passed: { answer: sent }, sentAt: 0 }, deps);
  const [record] = written;
  expect(record).toMatchObject({ result_action: 'allowed', result_bytes: raw.length });
  const salted = createHash('sha256').update(salt).update(raw).digest('hex');
  expect(record?.result_digest).toBe(salted);
  expect(record?.result_digest).not.toBe(createHash('sha256').update(raw).digest('hex'));
});
