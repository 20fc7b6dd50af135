import { configDefaults, defineConfig } from 'vitest/config';
import { SlowFirst } from './tests/support/slow-first.ts';

/** Files that share one process a worker: to load the product anew costs each three seconds of CPU. */
const SHARED = ['control-plane/**/*.pg.test.ts', '{shared,data-plane,tests}/**/*.test.ts'];
/** They replace a module or the environment for themselves. */
const APART = [
  'control-plane/src/auth/auth-routes.pg.test.ts',
  'control-plane/src/data-protection/data-protection-routes.pg.test.ts',
  'data-plane/src/ledger/ledger-power.test.ts',
  'tests/unread-boundaries.pg.test.ts',
];
const NEVER = [...configDefaults.exclude, '**/dist/**'];

const every = {
  setupFiles: ['./tests/support/property-seed.ts', './tests/support/patient-waits.ts'],
  expect: { poll: { timeout: 20_000 } },
  // For a machine that does other things too: what must be quick says so itself.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  // CI's machine is anybody's: what fails there fails three times, seconds apart, and the report
  // names what was tried again. Elsewhere each failure counts.
  retry: process.env.CI === undefined ? 0 : { count: 2, delay: 3_000 },
  pool: 'forks' as const,
  maxWorkers: 2,
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
          include: [
            '{policies,verifier,prisma,scripts,bench}/**/*.test.ts',
            'control-plane/**/!(*.pg).test.ts',
            ...APART,
          ],
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
