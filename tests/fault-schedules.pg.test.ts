/**
 * Seeded schedules of network faults between a real ledger with its shipper and the real ingest:
 * heads converge, nothing is lost, nothing is stored twice. FAULT_SCHEDULES says how many;
 * `npm run test:faults` runs 10,000.
 */
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLedger, type DurableLedger } from '@governance/data-plane/ledger/ledger';
import { startShipper } from '@governance/data-plane/sync/shipping/shipper';
import { aDecision, anAlert } from '@governance/data-plane/testing/test-records';
import { uuidv7 } from '@governance/shared/ids';
import { expect, it } from 'vitest';
import { seededRandom } from '../scripts/durability/seeded-random.ts';
import { aTenant } from './support/a-tenant.ts';
import { createFaultyLink } from './support/faulty-link.ts';
import { testControlPlane } from './support/test-control-plane.ts';

const SCHEDULES = Number(process.env.FAULT_SCHEDULES ?? 300);
const SEED = Number(process.env.FAULT_SEED ?? 20_261_121);
const AT_ONCE = 16;
/** Of records, until a schedule had the faults that it wanted: on a slow machine many are one batch. */
const MOST_BURSTS = 120;

const cp = await testControlPlane();
const { ingest } = cp.controlPlane;
const { privateKey: signingKey } = generateKeyPairSync('ed25519');
const signingJwk = JSON.stringify(createPublicKey(signingKey).export({ format: 'jwk' }));
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** @returns what is wrong after the schedule, and how many faults it had */
async function runSchedule(ledger: DurableLedger, seed: number) {
  const random = seededRandom(seed);
  const scope = await aTenant(cp.test, `faults-${seed}`);
  const { tenantId } = scope;
  const deploymentId = uuidv7();
  await cp.test.db.inTenant(scope, (tx) =>
    tx.db.dataPlane.create({
      data: { tenantId, deploymentId, signingKey: signingJwk, sealingKey: '{}' },
    }),
  );
  const link = createFaultyLink({
    deliver: (batch) => ingest.ingestBatch(tenantId, deploymentId, batch),
    random,
  });
  await ledger.open(tenantId, deploymentId);
  const shipper = startShipper({
    tenantId,
    link,
    ledger,
    delayMs: 1,
    onStopped: ({ state, failure }) => void link.problems.push(`${state}: ${failure.message}`),
    onResumed: () => undefined,
    log,
    now: Date.now,
    backoffLimits: { first: 1, longest: 2 },
  });
  const hashes: string[] = [];
  const wanted = Math.ceil(random() * 3);
  for (let burst = 0; burst < MOST_BURSTS && (burst === 0 || link.faults < wanted); burst++) {
    const records = Array.from({ length: Math.ceil(random() * 6) }, () =>
      ledger.append(tenantId, random() < 0.2 ? anAlert() : aDecision({ bundle_revision: null })),
    );
    for (const { hash } of await Promise.all(records)) hashes.push(hash);
    // So that most bursts are batches of their own.
    await sleep(Math.floor(random() * 6));
  }
  await link.heal();
  if (!(await shipper.flush(20_000))) link.problems.push('the backlog did not drain');
  await shipper.stop();

  const { rows } = await cp.test.superuser.query<{ seq: string; hash: string }>(
    'SELECT seq, hash FROM ledger_records WHERE tenant_id = $1 AND stream = $2 ORDER BY seq',
    [tenantId, deploymentId],
  );
  // The first record of the stream says that its epoch begins.
  const stored = rows.slice(1).map((row) => row.hash);
  if (stored.join() !== hashes.join()) link.problems.push('stored is not what was written');
  const { rows: heads } = await cp.test.superuser.query<{ next_seq: string; head: string }>(
    'SELECT next_seq, head FROM stream_heads WHERE tenant_id = $1 AND stream = $2',
    [tenantId, deploymentId],
  );
  if (heads[0]?.head !== hashes.at(-1)) link.problems.push('the heads differ');
  return {
    problems: link.problems.map((problem) => `seed ${seed}: ${problem}`),
    faults: link.faults,
  };
}

it(
  `${SCHEDULES} schedules of network faults lose nothing and store nothing twice`,
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'faults-'));
    const ledger = await createLedger({
      dataDir,
      signingKey,
      writerVersion: 'test',
      onFatal: (error) => {
        throw error;
      },
      readUsedShare: async () => 0,
    });
    const problems: string[] = [];
    let faults = 0;
    let next = 0;
    try {
      await Promise.all(
        Array.from({ length: AT_ONCE }, async () => {
          while (next < SCHEDULES) {
            const outcome = await runSchedule(ledger, SEED + next++);
            problems.push(...outcome.problems);
            faults += outcome.faults;
            if (next % 1_000 === 0) console.log(`${next} schedules, ${faults} faults`);
          }
        }),
      );
    } finally {
      await ledger.stop();
      rmSync(dataDir, { recursive: true });
    }
    expect(problems).toEqual([]);
    expect(faults).toBeGreaterThan(SCHEDULES);
  },
  SCHEDULES * 200 + 60_000,
);
