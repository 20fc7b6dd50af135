import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openLedgerFile } from './ledger-file.ts';
import { isLedgerInUse, lockLedger } from './ledger-lock.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'data-plane.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

const BUSY = expect.objectContaining({ code: 'SQLITE_BUSY' });

it('keeps a ledger for one user, until it is closed', () => {
  expect(isLedgerInUse(path)).toBe(false);
  const file = openLedgerFile({ path, limitBytes: null });
  expect(() => lockLedger(path, 10)).toThrow(BUSY);
  expect(isLedgerInUse(path)).toBe(true);
  file.close();
  expect(isLedgerInUse(path)).toBe(false);
  openLedgerFile({ path, limitBytes: null }).close();
});

it('keeps another process out, and is free once its process was killed', async () => {
  const child = fileURLToPath(new URL('../testing/ledger-crash-child.ts', import.meta.url));
  const ids = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];
  const args = ['--import', 'tsx', child, folder, ...ids];
  const running = spawn(process.execPath, args, { stdio: 'ignore' });
  await vi.waitFor(() => expect(isLedgerInUse(path)).toBe(true), { timeout: 20_000 });
  expect(() => lockLedger(path, 10)).toThrow(BUSY);
  running.kill('SIGKILL');
  await once(running, 'exit');
  expect(isLedgerInUse(path)).toBe(false);
  openLedgerFile({ path, limitBytes: null }).close();
}, 30_000);
