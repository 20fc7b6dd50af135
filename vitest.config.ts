import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: [
      '{shared,policies,verifier,control-plane,data-plane,prisma,scripts,tests}/**/*.test.ts',
    ],
    exclude: ['**/node_modules/**', '**/dist/**'],
    globalSetup: ['./tests/postgres-global-setup.ts'],
    setupFiles: ['./tests/property-seed.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
