import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import {
  findDrained,
  findUndrained,
  listWorkers,
  markDrained,
  unmarkDrained,
  workerFolder,
} from './worker-folders.ts';
import { makeSocketFolder, placeVariables, socketPath, takePlace } from './worker-place.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'workers-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function ledgerOf(worker: number): void {
  const folder = workerFolder(dataDir, worker);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, LEDGER_FILE), '');
}

it('finds the folders of removed workers, until they were drained', () => {
  expect(listWorkers(join(dataDir, 'none'))).toEqual([]);
  expect(listWorkers('/dev/null')).toEqual([]);
  for (const worker of [1, 2, 10, 3]) ledgerOf(worker);
  for (const other of ['worker-', 'worker-1', 'worker-02', 'worker-x', 'evidence']) {
    mkdirSync(join(dataDir, other));
  }
  writeFileSync(join(dataDir, 'worker-7'), 'a file');
  mkdirSync(workerFolder(dataDir, 4));
  symlinkSync(workerFolder(dataDir, 3), workerFolder(dataDir, 5));
  symlinkSync(join(dataDir, 'nowhere'), workerFolder(dataDir, 6));
  expect(listWorkers(dataDir)).toEqual([1, 2, 3, 4, 5, 10]);
  // Worker 4 never wrote anything.
  expect(findUndrained(dataDir, 1)).toEqual([2, 3, 5, 10]);
  expect(findUndrained(dataDir, 3)).toEqual([5, 10]);
  rmSync(workerFolder(dataDir, 5));

  const folder = workerFolder(dataDir, 3);
  markDrained(folder, 0);
  expect(findDrained(folder)).toBe('1970-01-01T00:00:00.000Z');
  expect(findUndrained(dataDir, 1)).toEqual([2, 10]);
  unmarkDrained(folder);
  unmarkDrained(folder);
  expect(findUndrained(dataDir, 1)).toEqual([2, 3, 10]);
  writeFileSync(join(folder, 'drained.json'), '{');
  expect(findUndrained(dataDir, 1)).toEqual([2, 3, 10]);
});

it('has its sockets in a folder of its own, whose path is short enough', () => {
  const near = makeSocketFolder(dataDir);
  expect(near.path).toBe(join(dataDir, 'sockets'));
  expect(statSync(near.path).mode & 0o777).toBe(0o700);
  const deep = join(dataDir, 'd'.repeat(100));
  mkdirSync(deep);
  const far = makeSocketFolder(deep);
  expect(far.path.startsWith(tmpdir())).toBe(true);
  expect(statSync(far.path).mode & 0o777).toBe(0o700);
  expect(Buffer.byteLength(socketPath(far.path, 64))).toBeLessThan(104);
  far.remove();
  expect(() => statSync(far.path)).toThrow('ENOENT');
});

it('gives a worker its place, which its child processes do not inherit', () => {
  const place = { task: 'serve', worker: 2, count: 4, socketDir: '/x' } as const;
  const env: NodeJS.ProcessEnv = { PATH: '/bin', ...placeVariables(place) };
  expect(takePlace(env)).toEqual(place);
  expect(env).toEqual({ PATH: '/bin' });
  expect(() => takePlace(env)).toThrow('by its supervisor');
});
