import { createHash, randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { type AllowedCall, recorded } from './audit.ts';
import { type OutcomeDeps, recordOutcome } from './outcome.ts';

it('records the gravest findings where there are too many', () => {
  const low = { class: 'urgency_framing', severity: 'low' } as const;
  const findings = [...Array(60).fill(low), { ...low, severity: 'critical' as const }];
  const listed = recorded(findings);
  expect(listed).toHaveLength(50);
  expect(listed.at(-1)).toMatchObject({ severity: 'critical' });
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
  await recordOutcome(allowed, answer as never, { answer: answer as never }, 0, deps);
  const [record] = written;
  expect(record).toMatchObject({ result_action: 'allowed', result_bytes: raw.length });
  const salted = createHash('sha256').update(salt).update(raw).digest('hex');
  expect(record?.result_digest).toBe(salted);
  expect(record?.result_digest).not.toBe(createHash('sha256').update(raw).digest('hex'));
});
