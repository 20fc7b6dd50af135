import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartError } from '@governance/shared/process/start-error';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { LEDGER_FILE } from '../ledger/ledger.ts';
import { lockLedger } from '../ledger/ledger-lock.ts';
import { runCommand } from '../local-control/commands.ts';
import { startWorkers } from '../supervisor/start-workers.ts';
import { loadIdentity } from './identity.ts';
import { IDENTITY_LOCK_FILE, shareIdentity, tryOwnIdentity } from './identity-lock.ts';
import { readTokenKid } from './own-key-rotation.ts';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'identity-lock-'));
});
afterEach(() => rmSync(dataDir, { recursive: true }));

it('is shared by all that use the keys, and exclusive to the one that rotates them', () => {
  const [one, other] = [shareIdentity(dataDir), shareIdentity(dataDir)];
  expect(tryOwnIdentity(dataDir, 10)).toBeNull();
  one.release();
  expect(tryOwnIdentity(dataDir, 10)).toBeNull();
  other.release();
  const alone = tryOwnIdentity(dataDir, 10);
  expect(tryOwnIdentity(dataDir, 10)).toBeNull();
  expect(() => shareIdentity(dataDir, 10)).toThrow(StartError);
  alone?.release();
  shareIdentity(dataDir).release();
});

it('lets no data plane start while keys are exchanged, and no command exchange them while one runs', async () => {
  loadIdentity(dataDir);
  const kid = readTokenKid(join(dataDir, 'identity'));
  const env = {
    SERVICE_DATA_DIR: dataDir,
    SERVICE_CP_URL: 'http://127.0.0.1:1',
    SERVICE_CP_TOKEN: 'none',
    SERVICE_PORT: '0',
  };
  const alone = tryOwnIdentity(dataDir);
  for (const SERVICE_WORKERS of ['1', '2']) {
    await expect(
      startWorkers({ ...env, SERVICE_WORKERS }, { onFatal: () => undefined }),
    ).rejects.toThrow('a command exchanges the keys');
  }
  alone?.release();
  const running = shareIdentity(dataDir);
  for (const command of ['rotate-keys', 'register-anew']) {
    const output: string[] = [];
    const out = {
      log: (text: string) => output.push(text),
      error: (text: string) => output.push(text),
    };
    expect(await runCommand([command], { SERVICE_DATA_DIR: dataDir }, out)).toBe(1);
    expect(output.join()).toContain('stop it first');
  }
  running.release();
  expect(readTokenKid(join(dataDir, 'identity'))).toBe(kid);
});

it('is nobody else’s alone where somebody removed its file: the ledger’s lock is held, too', async () => {
  loadIdentity(dataDir);
  const kid = readTokenKid(join(dataDir, 'identity'));
  const alone = tryOwnIdentity(dataDir);
  expect(alone?.isInPlace()).toBe(true);
  rmSync(join(dataDir, IDENTITY_LOCK_FILE));
  expect(alone?.isInPlace()).toBe(false);
  expect(tryOwnIdentity(dataDir, 10)).toBeNull();
  // Made anew, it is another file.
  expect(alone?.isInPlace()).toBe(false);
  for (const command of ['rotate-keys', 'register-anew']) {
    const output: string[] = [];
    const out = {
      log: (text: string) => output.push(text),
      error: (text: string) => output.push(text),
    };
    expect(await runCommand([command], { SERVICE_DATA_DIR: dataDir }, out)).toBe(1);
    expect(output.join()).toContain('stop it first');
  }
  expect(readTokenKid(join(dataDir, 'identity'))).toBe(kid);
  alone?.release();
  tryOwnIdentity(dataDir, 10)?.release();
});

it('is nobody’s alone while a data plane runs whose lock’s file was removed', () => {
  const shared = shareIdentity(dataDir);
  const ledger = lockLedger(join(dataDir, LEDGER_FILE));
  rmSync(join(dataDir, IDENTITY_LOCK_FILE));
  expect(tryOwnIdentity(dataDir, 10)).toBeNull();
  ledger.release();
  shared.release();
});

/** Root writes any file: what a user of no rights meets is seen as that user. */
function asNobody<T>(work: () => T): T {
  if (process.getuid?.() !== 0) return work();
  chmodSync(dataDir, 0o777);
  process.seteuid?.(65_534);
  try {
    return work();
  } finally {
    process.seteuid?.(0);
  }
}

it('the lock of a file that cannot be written is never exclusive', () => {
  const path = join(dataDir, IDENTITY_LOCK_FILE);
  writeFileSync(path, '');
  chmodSync(path, 0o444);
  asNobody(() => {
    const shared = shareIdentity(dataDir);
    expect(() => tryOwnIdentity(dataDir, 10)).toThrow(`the lock ${path} cannot be written`);
    shared.release();
  });
});

it('a lock file with other content is refused, naming its path', () => {
  const path = join(dataDir, IDENTITY_LOCK_FILE);
  writeFileSync(path, 'x'.repeat(5_000));
  for (const take of [shareIdentity, tryOwnIdentity]) {
    expect(() => take(dataDir, 10)).toThrow(`the lock ${path} cannot be used`);
  }
});
