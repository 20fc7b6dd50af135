import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runControlPlaneCommand } from './commands.ts';

it('makes no database in a folder that is not the service’s', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'governance-commands-'));
  const output: string[] = [];
  const out = {
    log: (text: string) => output.push(text),
    error: (text: string) => output.push(text),
  };
  const env = { SERVICE_DATA_DIR: dataDir };
  const given = ['announce-restore', '--reason', 'the disk failed'];
  expect(await runControlPlaneCommand(given, env, out)).toBe(1);
  expect(output.join()).toContain('holds no database of the service');
  expect(readdirSync(dataDir)).toEqual([]);
  rmSync(dataDir, { recursive: true });
});

it('says what is wrong with a database that it cannot use', async () => {
  const output: string[] = [];
  const out = {
    log: (text: string) => output.push(text),
    error: (text: string) => output.push(text),
  };
  const env = { DATABASE_URL: 'postgres://service:secret@127.0.0.1:1/governance' };
  expect(await runControlPlaneCommand(['accept-clock', '--reason', 'a drill'], env, out)).toBe(1);
  expect(output).toEqual([
    'the database of DATABASE_URL cannot be used: nothing listens there; check host and port in DATABASE_URL, and that PostgreSQL runs and listens there',
  ]);
});
