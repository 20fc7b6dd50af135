import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readOrMakeSecret } from './local-secrets.ts';

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
