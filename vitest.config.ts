import { defineConfig } from 'vitest/config';
import { SlowFirst } from './tests/support/slow-first.ts';

export default defineConfig({
  test: {
    include: [
      '{shared,policies,verifier,control-plane,data-plane,prisma,scripts,bench,tests}/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['./tests/support/postgres-global-setup.ts'],
    setupFiles: ['./tests/support/property-seed.ts', './tests/support/patient-waits.ts'],
    expect: { poll: { timeout: 20_000 } },
    // For a machine that does other things too: what must be quick says so itself.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // CI's machine is anybody's: what fails there fails twice, and the report names what was tried
    // again. Elsewhere each failure counts.
    retry: process.env.CI === undefined ? 0 : 1,
    pool: 'forks',
    maxWorkers: 2,
    sequence: { sequencer: SlowFirst },
  },
});
