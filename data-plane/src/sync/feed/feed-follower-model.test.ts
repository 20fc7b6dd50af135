/**
 * Following the feed against a model: whatever happens to the control plane and to this process,
 * once both are up the replica holds exactly what is valid, and never anything that was not.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ControlPlaneLink } from '@governance/shared/channel/channels';
import { AppError } from '@governance/shared/errors';
import { uuidv7 } from '@governance/shared/ids';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createReplica, type LocalReplica } from '../../replica/replica.ts';
import { until } from '../../testing/test-control-plane.ts';
import { createTestFeed, createTestFeedSigner } from '../../testing/test-feed.ts';
import { readStoredFacts } from '../../testing/test-stored-facts.ts';
import { type FeedFollower, startFeedFollower } from './feed-follower.ts';
import { createFreshness } from './freshness.ts';
import { createPlaneClock } from './plane-clock.ts';

const tenantId = uuidv7();
const signer = createTestFeedSigner();
const log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** What one run of the process has: ended without warning, its files stay. */
interface Run {
  replica: LocalReplica;
  follower: FeedFollower;
  stop(): Promise<void>;
}

type Step =
  | { publish: [number, number][] }
  | { compact: number }
  | { rewind: number }
  | { fault: number }
  | 'crash'
  | 'settle';

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      publish: fc.array(fc.tuple(fc.nat(40), fc.nat(3)), { minLength: 1, maxLength: 30 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ compact: fc.nat(100) }) },
  { weight: 2, arbitrary: fc.record({ rewind: fc.nat(100) }) },
  { weight: 2, arbitrary: fc.record({ fault: fc.integer({ min: 1, max: 6 }) }) },
  { weight: 2, arbitrary: fc.constant('crash' as const) },
  { weight: 2, arbitrary: fc.constant('settle' as const) },
);

it('ends with what is valid after any schedule of changes, compactions, restores, faults and crashes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const dataDir = mkdtempSync(join(tmpdir(), 'feed-model-'));
      const feed = createTestFeed({ tenantId, signer });
      const changed = new Set<() => void>();
      const announce = () => {
        for (const wake of [...changed]) wake();
      };
      /** Calls of the control plane until one of them breaks; 0 for never. */
      let fault = 0;
      const reach = () => {
        if (fault > 0 && --fault === 0) throw new AppError('UNAVAILABLE', 'broken off');
      };
      const link: Pick<ControlPlaneLink, 'readFeed' | 'readSnapshot'> = {
        readFeed: async ({ waitMs, signal, ...request }) => {
          reach();
          const page = feed.page({ ...request, limit: 7 });
          if (page.entries.length > 0 || waitMs === 0) return page;
          await new Promise<void>((resolve) => {
            const end = () => {
              changed.delete(end);
              resolve();
            };
            changed.add(end);
            signal.addEventListener('abort', end, { once: true });
          });
          signal.throwIfAborted();
          return feed.page({ ...request, limit: 7 });
        },
        async *readSnapshot() {
          const pages = feed.snapshot();
          for (;;) {
            const next = await pages.next();
            if (next.done) return next.value;
            for (let at = 0; at < next.value.length; at += 5) {
              reach();
              yield next.value.slice(at, at + 5);
            }
          }
        },
      };

      function start(): Run {
        const replica = createReplica({ dataDir, onRefused: () => undefined });
        replica.addTenant(tenantId, uuidv7());
        const clock = createPlaneClock({ path: join(dataDir, 'clock'), now: Date.now });
        const freshness = createFreshness({
          clock,
          maxAgeMs: 60_000,
          keptMs: replica.place(tenantId).statementMs,
          onFrozen: () => undefined,
        });
        const follower = startFeedFollower({
          tenantId,
          link,
          replica,
          freshness,
          recognitions: {
            note: () => undefined,
            restart: () => undefined,
            asOf: (stated) => stated,
          },
          keys: () => [signer.public],
          backlog: () => 0,
          onApplied: () => undefined,
          onRewound: () => undefined,
          log,
          now: Date.now,
          backoffLimits: { first: 1, longest: 2 },
        });
        const stop = async () => {
          // The files first, as a process that is gone writes no more: what was under way fails.
          replica.close();
          announce();
          await follower.stop();
          clock.stop();
        };
        return { replica, follower, stop };
      }

      const valid = () =>
        feed.valid().map(({ kind, key, value }) => `${kind} ${key} ${JSON.stringify(value)}`);
      const settled = async (run: Run) => {
        announce();
        run.follower.kick();
        await until(() => {
          const { cursor, digest } = run.replica.place(tenantId);
          return cursor === feed.head() && digest === feed.digestAt(cursor);
        });
        expect(readStoredFacts(dataDir)).toEqual(valid());
      };

      let run = start();
      try {
        for (const one of steps) {
          if (one === 'crash') {
            await run.stop();
            run = start();
          } else if (one === 'settle') {
            await settled(run);
          } else if ('publish' in one) {
            for (const [key, what] of one.publish) {
              const value = what === 0 ? null : { what, salt: feed.head() };
              feed.publish({ kind: 'note', key: `k${key}`, value });
            }
          } else if ('compact' in one) {
            feed.compact(Math.floor((feed.head() * one.compact) / 100));
          } else if ('rewind' in one) {
            feed.rewind(Math.floor((feed.head() * one.rewind) / 100));
          } else {
            fault = one.fault;
          }
          announce();
          await new Promise((resolve) => setImmediate(resolve));
        }
        await settled(run);
      } finally {
        await run.stop();
        rmSync(dataDir, { recursive: true });
      }
    }),
    { numRuns: 60 },
  );
}, 60_000);
