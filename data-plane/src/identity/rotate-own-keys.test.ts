import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { bundledScript } from '../../../tests/support/bundled-script.ts';
import { runCommand } from '../local-control/commands.ts';
import { loadIdentity } from './identity.ts';
import { readTokenKid } from './own-key-rotation.ts';
import { enterIdentity } from './rotate-own-keys.ts';

const child = await bundledScript('data-plane/src/testing/killed-command.ts');
let folder: string;
/** A data plane of two workers that was never rotated, or once by plan. */
let fresh: string;
let dataDir: string;
let sealed: string[];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rotate-own-'));
  fresh = join(folder, 'fresh');
  const planes = [loadIdentity(fresh), loadIdentity(join(fresh, 'worker-2'), fresh)];
  sealed = await Promise.all(planes.map((plane) => plane.sealOwn('a secret')));
});
afterAll(() => rmSync(folder, { recursive: true }));
beforeEach(() => {
  dataDir = mkdtempSync(join(folder, 'plane-'));
  cpSync(fresh, dataDir, { recursive: true });
});

const identity = () => join(dataDir, 'identity');
const sealingKeys = () =>
  ['', 'worker-2'].map((name) =>
    readFileSync(join(dataDir, name, 'identity/sealing-key.pem'), 'utf8'),
  );

async function run(...args: string[]) {
  const output: string[] = [];
  const out = {
    log: (text: string) => output.push(text),
    error: (text: string) => output.push(text),
  };
  const code = await runCommand(args, { SERVICE_DATA_DIR: dataDir }, out);
  return { code, output: output.join('\n') };
}

/** @returns whether it was killed before the n-th step, and did not end by itself */
function killAt(n: number, ...args: string[]): boolean {
  const env = { ...process.env, SERVICE_DATA_DIR: dataDir };
  const command = [child, String(n), ...args];
  const { signal, status, stderr } = spawnSync(process.execPath, command, { env });
  if (signal !== 'SIGKILL' && status !== 0) throw new Error(stderr.toString());
  return signal === 'SIGKILL';
}

function start() {
  const told: string[] = [];
  enterIdentity(dataDir, { warn: (_, message) => void told.push(message) }).release();
  return told;
}

/** All keys were exchanged once, and what was there before still serves. */
function expectExchanged(old: { kid: string; sealing: string[] }, isRevoked: boolean) {
  expect(existsSync(join(identity(), 'key-rotation.json'))).toBe(false);
  const planes = [loadIdentity(dataDir), loadIdentity(join(dataDir, 'worker-2'), dataDir)];
  expect(readTokenKid(identity())).not.toBe(old.kid);
  expect(planes[0]?.earlierTokenKeys).toHaveLength(isRevoked ? 0 : 1);
  const rotations = JSON.parse(readFileSync(join(identity(), 'token-key-rotations.json'), 'utf8'));
  expect(rotations).toHaveLength(1);
  for (const [index, key] of sealingKeys().entries()) expect(key).not.toBe(old.sealing[index]);
  for (const [index, plane] of planes.entries()) {
    expect(plane.openSealedNow(sealed[index] ?? '')).toBe('a secret');
  }
  for (const name of ['', 'worker-2']) {
    const kept = readdirSync(join(dataDir, name, 'identity'));
    expect(kept.filter((file) => file.includes('before'))).toHaveLength(1);
    expect(kept.filter((file) => /next|tmp/.test(file))).toEqual([]);
  }
  expect(planes[0]?.taskSecret.equals(loadIdentity(fresh).tokenKey)).toBe(!isRevoked);
}

describe('an exchange of keys that is killed', () => {
  const isPlanned = (args: string[]) => !args.includes('--revoke');

  it.each([
    { args: ['rotate-keys'] },
    { args: ['rotate-keys', '--revoke'] },
  ])('$args is finished by the next start, or the next run, and never done twice', async ({
    args,
  }) => {
    const old = { kid: readTokenKid(identity()), sealing: sealingKeys() };
    const begun: boolean[] = [];
    for (let n = 1; ; n++) {
      rmSync(dataDir, { recursive: true });
      cpSync(fresh, dataDir, { recursive: true });
      if (!isPlanned(args))
        writeFileSync(
          join(identity(), 'task-secret.pem'),
          readFileSync(join(identity(), 'token-key.pem')),
        );
      if (!killAt(n, ...args)) break;
      const isBegun = existsSync(join(identity(), 'key-rotation.json'));
      begun.push(isBegun);
      if (!isBegun) {
        expect(start()).toEqual([]);
        expect(readTokenKid(identity())).toBe(old.kid);
        expect(sealingKeys()).toEqual(old.sealing);
        continue;
      }
      // Each of them meets every second step.
      if (n % 2 === 0) {
        expect(start()).toEqual(['a rotation of the keys that had been interrupted was finished']);
      } else {
        const { code, output } = await run(...args);
        expect(code).toBe(0);
        expect(output).toMatch(
          /^finished what was interrupted at \d{4}.*the key of agents' tokens is/,
        );
      }
      expectExchanged(old, !isPlanned(args));
      expect(start()).toEqual([]);
    }
    expectExchanged(old, !isPlanned(args));
    // Nothing had begun before the first step alone.
    expect(begun.indexOf(true)).toBe(1);
    expect(begun.slice(1)).not.toContain(false);
    expect(begun.length).toBeGreaterThan(8);
  }, 120_000);

  it('is finished before a revocation that is asked for then', async () => {
    expect(killAt(4, 'rotate-keys')).toBe(true);
    const { output } = await run('rotate-keys', '--revoke');
    expect(output.split('\n')).toEqual([
      expect.stringMatching(/^finished what was interrupted.*stays good until it ends/),
      expect.stringMatching(/^the key of agents' tokens is .* what it signed is refused/),
    ]);
    expect(loadIdentity(dataDir).earlierTokenKeys).toEqual([]);
  });
});

it('what is left of an exchange and cannot be read keeps the data plane from starting', () => {
  writeFileSync(join(identity(), 'key-rotation.json'), '{');
  expect(start).toThrow('remove it, and run rotate-keys again');
});

const writePending = (old_token_kid: string, is_revoked: boolean) =>
  writeFileSync(
    join(identity(), 'key-rotation.json'),
    JSON.stringify({
      ...{ v: 1, began_at: new Date().toISOString(), is_revoked, old_token_kid },
      ...{ sealing_number: 5, folders: ['', 'worker-2'] },
    }),
  );

describe('what is damaged', () => {
  it.each([
    ['identity/sealing-key.pem', ''],
    ['worker-2/identity/sealing-key.pem', '-----BEGIN PRIV'],
    ['worker-2/identity/sealing-key.pem', 'a token key'],
    ['identity/token-key.pem', ''],
    ['identity/token-key-rotations.json', '[{'],
  ])('%s of %j is named before anything is exchanged', async (name, text) => {
    const file = join(dataDir, name);
    const token = readFileSync(join(identity(), 'token-key.pem'));
    writeFileSync(file, text === 'a token key' ? token : text);
    const before = readdirSync(identity());
    for (const args of [['rotate-keys'], ['rotate-keys', '--revoke']]) {
      const { code, output } = await run(...args);
      expect(code).toBe(1);
      expect(output).toContain(file);
      expect(readdirSync(identity()).filter((one) => !before.includes(one))).toEqual([]);
    }
  });

  it('of earlier sealing keys is left out by itself, and reported', async () => {
    const broken = join(identity(), 'sealing-key.before-000000000000009.pem');
    writeFileSync(broken, '');
    await run('rotate-keys');
    const told: unknown[] = [];
    const plane = loadIdentity(dataDir, dataDir, (failure) => told.push(failure));
    expect(plane.openSealedNow(sealed[0] ?? '')).toBe('a secret');
    expect(told).toEqual([expect.objectContaining({ message: expect.stringContaining(broken) })]);
  });
});

describe('a revocation', () => {
  it('is not undone by the file of a key before', async () => {
    const file = join(identity(), 'token-key.pem');
    const [first] = [readFileSync(file)];
    await run('rotate-keys');
    const second = readFileSync(file);
    await run('rotate-keys', '--revoke');
    for (const key of [first, second]) {
      writeFileSync(file, key);
      expect(() => loadIdentity(dataDir)).toThrow('which was revoked');
    }
    const { code, output } = await run('rotate-keys');
    expect(code).toBe(1);
    expect(output).toContain('run rotate-keys --revoke');
    expect((await run('rotate-keys', '--revoke')).code).toBe(0);
    expect(loadIdentity(dataDir).earlierTokenKeys).toEqual([]);
  });

  it('that is pending is finished before the first worker’s keys are moved away', async () => {
    const before = sealingKeys();
    writePending(readTokenKid(identity()), true);
    const { output } = await run('register-anew', '--worker', '1');
    expect(output).toMatch(/^finished what was interrupted.* what it signed is refused/);
    expect(readFileSync(join(dataDir, 'worker-2/identity/sealing-key.pem'), 'utf8')).not.toBe(
      before[1],
    );
  });

  it('is not claimed for a key other than the present one, and is done then', async () => {
    const kid = readTokenKid(identity());
    writePending('another', true);
    const { output } = await run('rotate-keys', '--revoke');
    expect(output.split('\n')).toEqual([
      expect.stringContaining(`is ${kid}, not another, which was to be exchanged`),
      expect.stringMatching(`after ${kid}: what it signed is refused`),
    ]);
  });
});
