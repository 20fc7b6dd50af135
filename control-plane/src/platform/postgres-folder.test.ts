import { linkSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Credentials, readCredentials, storeCredentials } from './postgres-folder.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'postgres-folder-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const CREDENTIALS: Credentials = {
  superuserPassword: 'super',
  password: 'secret',
  port: null,
  outside: null,
};

it('replaces the password file whole, and only where it changes', () => {
  const file = join(folder, 'postgres.json');
  storeCredentials(file, CREDENTIALS);
  const { ino, mode } = statSync(file);
  expect(mode & 0o777).toBe(0o600);
  storeCredentials(file, CREDENTIALS);
  expect(statSync(file).ino).toBe(ino);

  // What a link still shows was never written over.
  const before = join(folder, 'before');
  linkSync(file, before);
  storeCredentials(file, { ...CREDENTIALS, port: 5432 });
  expect(readCredentials(file)).toEqual({ ...CREDENTIALS, port: 5432 });
  expect(JSON.parse(readFileSync(before, 'utf8'))).toEqual(CREDENTIALS);
});
