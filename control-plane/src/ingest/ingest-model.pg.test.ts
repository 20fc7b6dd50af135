/**
 * Ingest against a model: whatever the order, doubling, cutting and overlap of batches, with records
 * in them that nobody can read, from several streams of several tenants, over two replicas on one
 * database: each (stream, epoch, seq) is stored once, every head is the model's, and what was
 * acknowledged is stored.
 */
import { randomBytes } from 'node:crypto';
import { connectDatabase } from '@governance/control-plane/platform/database/database';
import type { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { aDataPlane, aDecision, type TestDataPlane } from '../../../tests/support/a-data-plane.ts';
import { aTenant } from '../../../tests/support/a-tenant.ts';
import { testDatabase } from '../../../tests/support/test-database.ts';
import { alertProjection } from '../alerts/alert-projection.ts';
import { createChainBreakRecorder } from '../chain/chain-breaks.ts';
import { createChainVerifier } from '../chain/chain-verification.ts';
import { createIngestService, type IngestService } from './ingest-service.ts';
import { createViolationAlerts } from './violations.ts';

const test = await testDatabase();
const { db, superuser, changes } = test;
const now = () => new Date();
const breaks = createChainBreakRecorder({ db, now });
const second = await connectDatabase({
  url: test.url,
  poolSize: 4,
  maxOverflow: 0,
  onConnectionError: () => {},
});
afterAll(() => second.close());
const replicas = [test.connections, second].map(({ ingestPool }) =>
  createIngestService({
    projections: [alertProjection],
    ingestPool,
    changes,
    breaks,
    violations: createViolationAlerts({ db, now }),
    markForked: async () => expect.unreachable(),
  }),
) as [IngestService, IngestService];
const verifier = createChainVerifier({ db, breaks, ingest: replicas[0], now });

interface Writer {
  tenantId: string;
  plane: TestDataPlane;
}

/** What a writer wrote: `boot` begins an epoch; the last two end up in quarantine. */
type Written = 'boot' | 'decision' | 'unreadable' | 'refused';
const written = fc.array(
  fc.constantFrom<Written>('boot', 'decision', 'decision', 'decision', 'unreadable', 'refused'),
  { minLength: 4, maxLength: 24 },
);

function write(plane: TestDataPlane, what: Written): void {
  if (what === 'boot') plane.boot();
  else if (what === 'decision') plane.append(aDecision());
  else if (what === 'unreadable') plane.appendRaw(() => randomBytes(20));
  else {
    plane.append({
      type: 'alert',
      id: uuidv7(),
      timestamp: now().toISOString(),
      bundle_revision: null,
      alert_type: 'POLICY_FAILED',
      severity: 'low',
      agent_id: null,
      title: 'longer than an index takes',
      details: {},
      dedupe_key: randomBytes(6_000).toString('hex'),
    });
  }
}

async function writersOf(histories: Written[][]): Promise<Writer[]> {
  const scopes = [await aTenant(test), await aTenant(test)];
  const writers: Writer[] = [];
  for (const [i, history] of histories.entries()) {
    const scope = scopes[i % scopes.length] as (typeof scopes)[number];
    const plane = await aDataPlane(test, scope);
    plane.boot();
    for (const what of history) write(plane, what);
    writers.push({ tenantId: scope.tenantId, plane });
  }
  return writers;
}

const place = ({ epoch, seq, hash }: { epoch: number; seq: number | string; hash: string }) =>
  `${epoch}/${seq}/${hash}`;

async function storedOf({ plane }: Writer): Promise<string[]> {
  const { rows } = await superuser.query<{ epoch: number; seq: string; hash: string }>(
    'SELECT epoch, seq, hash FROM ledger_records WHERE stream = $1 ORDER BY epoch, seq, position',
    [plane.deploymentId],
  );
  return rows.map(place);
}

/** The index behind the last record that a batch from `from` may hold. */
function endOf(plane: TestDataPlane, from: number, length: number): number {
  const { epoch } = plane.records[from] as { epoch: number };
  let end = from;
  while (end < from + length && plane.records[end]?.epoch === epoch) end++;
  return end;
}

/** Ships as a data plane does: on from where the control plane says that it stands. */
async function shipAll(
  { tenantId, plane }: Writer,
  from: number,
  length: number,
  via: (turn: number) => IngestService,
): Promise<void> {
  let next = from;
  for (let turn = 0; next < plane.records.length; turn++) {
    expect(turn).toBeLessThan(4 * plane.records.length);
    const end = endOf(plane, next, length);
    try {
      await via(turn).ingestBatch(tenantId, plane.deploymentId, plane.batch(next, end));
      next = end;
    } catch (error) {
      const [answer] = (error as AppError).errors ?? [];
      expect(answer?.type).toBe('stream_gap');
      const [, epoch, seq] = answer?.loc as [string, number, number];
      // The record named may be the one behind the end of an epoch: the next one then.
      const at = plane.records.findIndex(
        (record) => record.epoch > epoch || (record.epoch === epoch && record.seq >= seq),
      );
      expect(at).toBeGreaterThanOrEqual(0);
      expect(at).toBeLessThan(next);
      next = at;
    }
  }
}

async function expectWhole(writers: Writer[]): Promise<void> {
  for (const writer of writers) {
    expect(await storedOf(writer)).toEqual(writer.plane.records.map(place));
    const { rows } = await superuser.query(
      'SELECT epoch, next_seq - 1 AS seq, head AS hash FROM stream_heads WHERE stream = $1',
      [writer.plane.deploymentId],
    );
    expect(rows.map(place)).toEqual(writer.plane.records.slice(-1).map(place));
  }
  for (const tenantId of new Set(writers.map((writer) => writer.tenantId))) {
    const { verification } = await verifier.verify(tenantId, { fresh: true });
    expect(verification.breaks).toEqual([]);
  }
}

describe('ingest', () => {
  it('stores each record once, over two replicas, whatever happens to the batches', async () => {
    const delivery = fc.record({
      writer: fc.nat(3),
      from: fc.nat(23),
      length: fc.integer({ min: 1, max: 10 }),
      replica: fc.nat(1),
      alsoOverTheOther: fc.boolean(),
      waits: fc.boolean(),
    });
    const histories = fc.array(written, { minLength: 4, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.array(delivery, { minLength: 8, maxLength: 40 }),
        async (written, deliveries) => {
          const writers = await writersOf(written);
          const acknowledged = new Map(writers.map((writer) => [writer, new Set<string>()]));
          const deliver = async (writer: Writer, from: number, end: number, replica: number) => {
            const { tenantId, plane } = writer;
            const batch = plane.batch(from, end);
            const service = replicas[replica as 0 | 1];
            try {
              await service.ingestBatch(tenantId, plane.deploymentId, batch);
              for (const record of plane.records.slice(from, end)) {
                acknowledged.get(writer)?.add(place(record));
              }
            } catch (error) {
              expect((error as AppError).errors?.[0]?.type).toBe('stream_gap');
            }
          };
          const inFlight: Promise<void>[] = [];
          for (const { writer: w, from: f, length, replica, ...how } of deliveries) {
            const writer = writers[w] as Writer;
            const from = f % writer.plane.records.length;
            const end = endOf(writer.plane, from, length);
            inFlight.push(deliver(writer, from, end, replica));
            if (how.alsoOverTheOther) inFlight.push(deliver(writer, from, end, 1 - replica));
            if (how.waits) await Promise.all(inFlight.splice(0));
          }
          await Promise.all(inFlight);

          for (const [writer, promised] of acknowledged) {
            const stored = await storedOf(writer);
            expect(stored).toEqual(writer.plane.records.slice(0, stored.length).map(place));
            for (const record of promised) expect(stored).toContain(record);
          }
          const via = (turn: number) => replicas[(turn % 2) as 0 | 1];
          await Promise.all(writers.map((writer) => shipAll(writer, 0, 10, via)));
          await expectWhole(writers);
        },
      ),
      { numRuns: 6 },
    );
  }, 60_000);

  it('tells a writer that is ahead where it stands, as after its restore from a backup', async () => {
    const histories = fc.array(written, { minLength: 2, maxLength: 2 });
    await fc.assert(
      fc.asyncProperty(
        histories,
        fc.nat(24),
        fc.nat(24),
        fc.integer({ min: 1, max: 8 }),
        async (written, kept, ahead, length) => {
          const writers = await writersOf(written);
          const via = () => replicas[0];
          for (const writer of writers) {
            // The backup holds a beginning of the stream, of any of its epochs.
            const { plane } = writer;
            const backup = { ...plane, records: plane.records.slice(0, kept) };
            for (let from = 0; from < backup.records.length; ) {
              const end = endOf(backup, from, length);
              const batch = plane.batch(from, end);
              await replicas[0].ingestBatch(writer.tenantId, plane.deploymentId, batch);
              from = end;
            }
            await shipAll(writer, ahead % plane.records.length, length, via);
          }
          await expectWhole(writers);
        },
      ),
      { numRuns: 12 },
    );
  }, 60_000);
});
