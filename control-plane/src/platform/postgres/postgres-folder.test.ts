import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  type Credentials,
  readCredentials,
  refuseOthersFiles,
  storeCredentials,
} from './postgres-folder.ts';

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

it('refuses a password file that is none, before it waits for a server', () => {
  const file = join(folder, 'postgres.json');
  for (const text of [
    '',
    '{',
    '{}',
    '{"x":1}',
    '{"superuserPassword":"a","password":"","port":1}',
  ]) {
    writeFileSync(file, text);
    expect(() => readCredentials(file), text).toThrow(`${file} cannot be read: restore it`);
  }
  // One of before clusters could lie outside.
  writeFileSync(file, '{"superuserPassword":"super","password":"secret","port":null}');
  expect(readCredentials(file)).toEqual(CREDENTIALS);
});

it("refuses another user's cluster as that", () => {
  const { uid, gid } = statSync(folder);
  const cluster = join(folder, 'postgres');
  const refuse = (of: number) => () => refuseOthersFiles(cluster, { uid: of, gid });
  refuse(uid + 1)();
  mkdirSync(cluster);
  refuse(uid)();
  expect(refuse(uid + 1)).toThrow(`${cluster} belongs to another user than PostgreSQL's: a copy`);
});

it.runIf(process.getuid?.() !== 0)('says whose files are closed to it', () => {
  const cluster = join(folder, 'postgres');
  mkdirSync(cluster);
  chmodSync(folder, 0);
  try {
    expect(() => refuseOthersFiles(cluster, undefined)).toThrow('start the service as that user');
  } finally {
    chmodSync(folder, 0o700);
  }
  const file = join(folder, 'postgres.json');
  storeCredentials(file, CREDENTIALS);
  chmodSync(file, 0);
  expect(() => readCredentials(file)).toThrow('belongs to another user');
});
