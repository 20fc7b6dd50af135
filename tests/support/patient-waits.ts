/**
 * What a test waits for may take long on a machine that does other things too: one second, which is
 * the default, says nothing about the product. `expect.poll` has the same in vitest.config.ts.
 */
import { vi } from 'vitest';

const PATIENCE_MS = 20_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options });
