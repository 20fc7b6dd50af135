/** Volumes of one export, compared with each other: whole sets, and each way to forge one. */
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { VOLUME_SETS } from '../testing/volume-sets.ts';
import { SET_CHECK_NAMES } from './set-checks.ts';
import { SERVICE_LIMITS } from './verify-package.ts';
import { verifySet } from './verify-set.ts';

const verify = (volumes: readonly Buffer[], anchor: Parameters<typeof verifySet>[1]['anchor']) =>
  verifySet(
    volumes.map((bytes) => Readable.from([bytes])),
    { anchor, issuers: [], limits: SERVICE_LIMITS },
  );
const failedOf = ({ checks }: Awaited<ReturnType<typeof verify>>) =>
  checks.filter(({ status }) => status === 'fail').map(({ name }) => name);

describe('a whole set is verified:', () => {
  const whole = VOLUME_SETS.filter(({ check }) => check === undefined);

  it.each(whole.map((one) => [one.name, one] as const))('%s', async (_name, { make }) => {
    const { volumes, anchor } = make();
    const result = await verify(volumes, anchor);
    expect(result.checks.map(({ name }) => name)).toEqual(SET_CHECK_NAMES);
    expect(result.checks.filter(({ status }) => status === 'fail')).toEqual([]);
    expect(result.verdict).toBe('VERIFIED');
    expect(result.volumes).toHaveLength(volumes.length);
  });
});

describe('a forged set is found:', () => {
  const forged = VOLUME_SETS.filter(({ check }) => check !== undefined);
  /** What no single volume shows. */
  const hidden = forged.filter(({ check }) => check !== 'set.volumes');

  it.each(
    forged.map((one) => [one.name, one.check, one] as const),
  )('%s, by %s', async (_name, check, { make }) => {
    const { volumes, anchor } = make();
    const result = await verify(volumes, anchor);
    expect(result.verdict).toBe('NOT_VERIFIED');
    expect(failedOf(result)).toContain(check);
  });

  it.each(
    hidden.map((one) => [one.name, one] as const),
  )('%s: each volume verifies alone', async (_name, { make }) => {
    const { volumes, anchor } = make();
    const { volumes: results } = await verify(volumes, anchor);
    const found = results.flatMap(({ checks }) => checks.filter(({ status }) => status === 'fail'));
    expect(found).toEqual([]);
    expect(results.map(({ verdict }) => verdict)).toEqual(volumes.map(() => 'VERIFIED'));
  });
});

describe('a set', () => {
  const [{ make }] = VOLUME_SETS as [(typeof VOLUME_SETS)[number]];

  it('is INCONCLUSIVE without an anchor, as its volumes are', async () => {
    expect((await verify(make().volumes, null)).verdict).toBe('INCONCLUSIVE');
  });

  it('of nothing, or with something else among the volumes, is UNREADABLE', async () => {
    const { volumes, anchor } = make();
    expect((await verify([], anchor)).verdict).toBe('UNREADABLE');
    const result = await verify(volumes.with(1, Buffer.from('nothing')), anchor);
    expect(result.verdict).toBe('UNREADABLE');
    expect(failedOf(result)).toEqual([...SET_CHECK_NAMES]);
  });

  it('says how many records all of its volumes have', async () => {
    const { volumes, anchor } = make();
    const { events, volumes: results } = await verify(volumes, anchor);
    expect(events).toBe(results.reduce((sum, one) => sum + one.events, 0));
    expect(events).toBeGreaterThan(0);
  });
});
