import { configDefaults, defineConfig } from 'vitest/config';
import { SlowFirst } from './tests/support/slow-first.ts';
import { suiteFlags } from './tests/support/suite-flags.ts';

/** Files that share one process a worker: to load the product anew costs each three seconds of CPU. */
const SHARED = ['{control-plane,data-plane,shared,verifier,scripts,bench,tests}/**/*.test.ts'];
/**
 * They replace a module, the environment or the clock for themselves: timers that an earlier file
 * left behind would count as theirs. tests/structure.test.ts finds files that are missing here.
 */
export const APART = [
  'control-plane/src/alerts/delivery-store.pg.test.ts',
  'control-plane/src/auth/auth-routes.pg.test.ts',
  'control-plane/src/bundles/build-queue.test.ts',
  'control-plane/src/data-protection/data-protection-routes.pg.test.ts',
  'control-plane/src/feed/tenant-listeners.test.ts',
  'control-plane/src/ingest/record-pattern.test.ts',
  'control-plane/src/key-management/key-providers.test.ts',
  'control-plane/src/platform/http/times.pg.test.ts',
  'control-plane/src/platform/postgres/postgres-supervision.test.ts',
  'data-plane/src/enforcement/call/pipeline-builder.test.ts',
  'data-plane/src/enforcement/record/refused-calls.test.ts',
  'data-plane/src/enforcement/tools/tool-catalogue.test.ts',
  'data-plane/src/gateway/legacy/sessions.test.ts',
  'data-plane/src/holds/held-calls.test.ts',
  'data-plane/src/ledger/ledger-power.test.ts',
  'data-plane/src/registration/key-asks.test.ts',
  'data-plane/src/supervisor/drain.test.ts',
  'data-plane/src/supervisor/supervisor.test.ts',
  'data-plane/src/sync/feed/feed-news.test.ts',
  'data-plane/src/sync/link/contact.test.ts',
  'data-plane/src/sync/link/heartbeat.test.ts',
  'data-plane/src/sync/link/poll-loop.test.ts',
  'data-plane/src/upstream/addresses/checked-connections.test.ts',
  'data-plane/src/upstream/health/health.test.ts',
  'data-plane/src/upstream/sessions/moved-server.test.ts',
  'shared/src/time/in-time.test.ts',
  'shared/src/http/rate-limiter.test.ts',
  'tests/clock-and-keys.pg.test.ts',
  'tests/clock-generation.pg.test.ts',
  'tests/clock-jump.pg.test.ts',
  'tests/clock-set-back-planes.pg.test.ts',
  'tests/clock-set-back.pg.test.ts',
  'tests/unread-boundaries.pg.test.ts',
];
const NEVER = [...configDefaults.exclude, '**/dist/**'];

const every = {
  setupFiles: ['./tests/support/property-seed.ts', './tests/support/patient-waits.ts'],
  expect: { poll: { timeout: 20_000 } },
  // For a machine that does other things too: what must be quick says so itself.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  pool: 'forks' as const,
  execArgv: suiteFlags(),
  // One more than cores: a quarter of the time of what takes longest is waiting.
  maxWorkers: 3,
};

export default defineConfig({
  test: {
    // Once for both projects, which therefore inherit nothing.
    globalSetup: ['./tests/support/postgres-global-setup.ts'],
    maxWorkers: every.maxWorkers,
    sequence: { sequencer: SlowFirst },
    projects: [
      {
        test: {
          ...every,
          name: 'apart',
          include: ['policies/**/*.test.ts', ...APART],
          exclude: NEVER,
        },
      },
      {
        test: {
          ...every,
          name: 'shared',
          include: SHARED,
          exclude: [...NEVER, ...APART],
          isolate: false,
        },
      },
    ],
  },
});
