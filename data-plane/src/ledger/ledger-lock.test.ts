import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StartError } from '@governance/shared/process/start-error';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openLedgerFile } from './ledger-file.ts';
import { isLedgerInUse, LedgerInUseError, lockLedger } from './ledger-lock.ts';

let folder: string;
let path: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(folder, 'data-plane.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

it('keeps a ledger for one user, until it is closed', () => {
  expect(isLedgerInUse(path)).toBe(false);
  const file = openLedgerFile({ path, limitBytes: null });
  expect(() => lockLedger(path, 10)).toThrow(LedgerInUseError);
  expect(isLedgerInUse(path)).toBe(true);
  file.close();
  expect(isLedgerInUse(path)).toBe(false);
  openLedgerFile({ path, limitBytes: null }).close();
});

it('is refused by name when its own file is damaged', () => {
  writeFileSync(`${path}-lock`, 'garbage, and enough of it');
  expect(() => lockLedger(path, 10)).toThrow(StartError);
  expect(() => lockLedger(path, 10)).toThrow(`the lock ${path}-lock is damaged`);
});

it('keeps another process out and names it, and is free once its process was killed', async () => {
  const child = fileURLToPath(new URL('../testing/ledger-crash-child.ts', import.meta.url));
  const ids = ['01890000-0000-7000-8000-000000000001', '01890000-0000-7000-8000-000000000002'];
  const args = ['--import', 'tsx', child, folder, ...ids];
  const running = spawn(process.execPath, args, { stdio: 'ignore' });
  await vi.waitFor(() => expect(isLedgerInUse(path)).toBe(true), { timeout: 20_000 });
  // Also one that hangs: it neither ends nor releases anything.
  running.kill('SIGSTOP');
  const isListed = existsSync('/proc/locks');
  const by = isListed ? `process ${running.pid}, which has locked ${path}-lock` : 'another process';
  expect(() => lockLedger(path, 10)).toThrow(`the ledger is in use by ${by}`);
  running.kill('SIGKILL');
  await once(running, 'exit');
  expect(isLedgerInUse(path)).toBe(false);
  openLedgerFile({ path, limitBytes: null }).close();
}, 30_000);
