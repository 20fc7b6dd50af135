import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import { afterAll, expect, it } from 'vitest';
import { readOrMakeSecret, writeSecret } from './local-secrets.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('makes a secret once, for its owner only, and finds it again', () => {
  const dataDir = join(folder, 'not', 'yet');
  const secret = readOrMakeSecret(dataDir, 'master-key', 32);
  expect(Buffer.from(secret, 'base64url')).toHaveLength(32);
  expect(statSync(join(dataDir, 'master-key')).mode & 0o777).toBe(0o600);
  expect(readOrMakeSecret(dataDir, 'master-key', 32)).toBe(secret);
  expect(readdirSync(dataDir)).toEqual(['master-key']);
  expect(readOrMakeSecret(dataDir, 'other', 32)).not.toBe(secret);
});

it('takes no empty file for a secret', () => {
  const dataDir = join(folder, 'empty');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'master-key'), '\n');
  expect(() => readOrMakeSecret(dataDir, 'master-key', 32)).toThrow(StartError);
});

it('writes into no file that somebody has put there, nor one of a process with the same id', () => {
  const dataDir = join(folder, 'shared');
  mkdirSync(dataDir);
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'untouched');
  for (const name of ['master-key', 'webhook-secret']) {
    symlinkSync(victim, join(dataDir, `${name}.${process.pid}`));
  }
  expect(readOrMakeSecret(dataDir, 'master-key', 32)).toHaveLength(43);
  writeSecret(dataDir, 'webhook-secret', 'secret');
  expect(readFileSync(join(dataDir, 'webhook-secret'), 'utf8')).toBe('secret\n');
  expect(readFileSync(victim, 'utf8')).toBe('untouched');
});
