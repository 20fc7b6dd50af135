import { expect, it } from 'vitest';
import { isTenantWell } from './tenant-wellness.ts';

type Status = Parameters<typeof isTenantWell>[0];

const failure = (code: string) => ({ stage: 'read', code, message: '', at: '' });
const aStatus = (change: { feed?: object; bundle?: object; stream?: object } = {}) =>
  ({
    feed: { failure: null, ...change.feed },
    bundle: { failure: null, ...change.bundle },
    stream: { is_stopped: false, ...change.stream },
  }) as Status;

it.each([
  ['nothing fails', {}, null, true],
  ['the control plane is away', { feed: { failure: failure('ECONNREFUSED') } }, null, true],
  ['facts are refused', { feed: { failure: failure('statement_stale') } }, null, false],
  ['a bundle is refused', { bundle: { failure: failure('bad_signature') } }, null, false],
  ['its stream is stopped', { stream: { is_stopped: true } }, null, false],
  ['its calls are denied', {}, 'offline_max_age', false],
] as const)('a tenant of which %s: %o', (_what, change, denied, isWell) => {
  expect(isTenantWell(aStatus(change), denied)).toBe(isWell);
});
