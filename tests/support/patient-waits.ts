/**
 * Waits may take long on a busy machine: exceeding the default of one second says nothing about the
 * product. vitest.config.ts sets the same for `expect.poll`.
 */
import { vi } from 'vitest';

const PATIENCE_MS = 20_000;

const { waitFor } = vi;
vi.waitFor = (callback, options) =>
  waitFor(callback, typeof options === 'number' ? options : { timeout: PATIENCE_MS, ...options });
