import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SignedAdminHead } from '@governance/shared/channel/signed-statement';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type AdminHeads, loadAdminHeads, type WentBack } from './admin-heads.ts';

const STREAM = '0190aaaa-0000-7000-8000-00000000000a';
const BEGIN = Date.UTC(2026, 0, 1);
const MINUTE = 60_000;
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

let folder: string;
let found: WentBack[];
let heads: AdminHeads;

const load = () =>
  loadAdminHeads({
    path: join(folder, 'admin-heads', 'tenant.json'),
    onWentBack: (one) => found.push(one),
    log,
  });

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'admin-heads-'));
  found = [];
  heads = load();
});

afterEach(async () => {
  await heads.stored();
  rmSync(folder, { recursive: true });
});

/** The hash of a chain's record, another one for each branch. */
const hashOf = (seq: number, branch: number) => `${branch}${seq}`.padStart(64, '0');

function head(seq: number, atMs: number, branch = 1, stream = STREAM): SignedAdminHead {
  const time = new Date(BEGIN + atMs).toISOString();
  const hash = hashOf(seq, branch);
  const place = { stream, epoch: 1, seq, hash };
  const statement = {
    type: 'admin_head' as const,
    v: 1 as const,
    tenant_id: STREAM,
    ...place,
    time,
  };
  return { statement, kid: 'k', signature: 's' };
}

const places = () => heads.report()?.heads.map(({ statement }) => statement.seq);

describe('the heads of the admin chain that a data plane remembers', () => {
  it('grow with the chain, a few of them some minutes apart', () => {
    expect(heads.report()).toBeUndefined();
    for (let seq = 1; seq <= 20; seq++) heads.note(head(seq, seq * MINUTE));
    expect(places()).toEqual([20, 19, 17]);
    expect(found).toEqual([]);
  });

  it('outlive a restart, and so does what contradicted them', async () => {
    heads.note(head(7, 0));
    await heads.stored();
    heads = load();
    expect(places()).toEqual([7]);
    heads.note(head(3, 10 * MINUTE));
    await heads.stored();
    heads = load();
    expect(heads.report()).toMatchObject({
      heads: [{ statement: { seq: 3 } }],
      went_back: { known: { statement: { seq: 7 } }, told: { statement: { seq: 3 } } },
    });
  });

  it.each([
    ['a lower head, later', head(4, 3 * MINUTE)],
    ['the same place with another hash, at once', head(5, 0, 2)],
    ['an earlier place with another hash', head(4, -MINUTE, 2)],
    ['another stream', head(9, 0, 1, '0190aaaa-0000-7000-8000-00000000000b')],
  ])('show a chain that went back: %s', (_, told) => {
    heads.note(head(4, -3 * MINUTE));
    heads.note(head(5, 0));
    heads.note(told);
    expect(found).toHaveLength(1);
    expect(heads.report()?.went_back?.told).toEqual(told);
  });

  it('report a cut once, and the next one again', () => {
    heads.note(head(50, 0));
    for (let at = 3; at < 9; at++) heads.note(head(at, at * MINUTE, 2));
    expect(found).toHaveLength(1);
    heads.note(head(5, 20 * MINUTE, 3));
    expect(found).toHaveLength(2);
  });

  it('raise no alarm over replicas that answer in turn, with clocks that differ', async () => {
    const answer = fc.record({
      lagMs: fc.nat(12_000),
      skewMs: fc.integer({ min: -50_000, max: 50_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(answer, { maxLength: 60 }),
        fc.integer({ min: 1, max: 5_000 }),
        async (answers, rate) => {
          found = [];
          rmSync(join(folder, 'admin-heads'), { recursive: true, force: true });
          heads = load();
          for (const [i, { lagMs, skewMs }] of answers.entries()) {
            const readAt = 3_600_000 + i * 7_000 - lagMs;
            heads.note(head(1 + Math.floor(readAt / rate), readAt + skewMs));
          }
          // No file is written any more when the next run begins.
          await heads.stored();
          expect(found).toEqual([]);
        },
      ),
      { numRuns: 50 },
    );
  });

  it('start afresh when the file cannot be read', async () => {
    heads.note(head(3, 0));
    await heads.stored();
    writeFileSync(join(folder, 'admin-heads', 'tenant.json'), '{');
    heads = load();
    expect(heads.report()).toBeUndefined();
  });
});
