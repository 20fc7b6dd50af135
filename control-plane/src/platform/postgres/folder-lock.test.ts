import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { isProcessAlive, lockFolder } from './folder-lock.ts';

const folder = mkdtempSync(join(tmpdir(), 'lock-'));
const path = join(folder, 'service.lock');
afterAll(() => rmSync(folder, { recursive: true }));

/** The id of a process that has ended. */
const dead = spawnSync(process.execPath, ['-e', '']).pid;

it('is held once at a time, and free after its release', () => {
  const lock = lockFolder(path, folder);
  expect(() => lockFolder(path, folder)).toThrow(`in use by process ${process.pid}`);
  lock.release();
  lockFolder(path, folder).release();
  expect(readdirSync(folder)).toEqual([]);
});

it.each([
  ['a process that ended', JSON.stringify({ pid: dead, started: '1' })],
  [
    'an earlier process with the id of this one',
    JSON.stringify({ pid: process.pid, started: '1' }),
  ],
  ['nobody who can be read', '{"pid":'],
])('is taken over from %s', (_, content) => {
  if (process.platform !== 'linux' && content.includes(`${process.pid}`)) return;
  writeFileSync(path, content);
  const lock = lockFolder(path, folder);
  expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(process.pid);
  lock.release();
  expect(readdirSync(folder)).toEqual([]);
});

it('is not released by who lost it', () => {
  const lock = lockFolder(path, folder);
  writeFileSync(path, JSON.stringify({ pid: process.ppid, started: null }));
  lock.release();
  expect(JSON.parse(readFileSync(path, 'utf8')).pid).toBe(process.ppid);
});

it('knows the living from the dead', () => {
  expect(isProcessAlive(process.pid)).toBe(true);
  expect(isProcessAlive(dead)).toBe(false);
});
