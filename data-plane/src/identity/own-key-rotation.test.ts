import { createPublicKey } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRotationSigned } from '@governance/shared/evidence/evidence-keys';
import { AGENT_TOKEN_MAX_SECONDS } from '@governance/shared/tokens/agent-token';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asTokenKeys, ownTokenKey } from '../local-api/token-issuer.ts';
import { runCommand } from '../local-control/commands.ts';
import { loadIdentity } from './identity.ts';
import {
  listEarlierTokenKeys,
  nextSealingNumber,
  rotateSealingKey,
  rotateTokenKey,
} from './own-key-rotation.ts';

const about = { region: null, version: '1.0.0', label: 'here' };
const now = new Date('2026-05-04T12:00:00.000Z');
const PLANNED = { isRevoked: false, now };
let dataDir: string;
let folder: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'own-keys-'));
  folder = join(dataDir, 'identity');
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const pem = (name: string) => readFileSync(join(folder, name), 'utf8');
/** The ids of the keys whose tokens are accepted, the one that signs first. */
async function accepted(at: number): Promise<string[]> {
  const { tokenKey, earlierTokenKeys } = loadIdentity(dataDir);
  const key = await ownTokenKey(tokenKey, earlierTokenKeys, () => at);
  const fact = asTokenKeys(key, 'https://plane.example');
  expect(fact.keys[0]?.kid).toBe(key.kid);
  return fact.keys.map(({ kid }) => kid);
}

describe('the key of agents’ tokens', () => {
  it('is replaced by another with both signatures, and its tokens stay valid until they expire', async () => {
    const before = loadIdentity(dataDir);
    const [first] = await accepted(now.getTime());
    const signed = rotateTokenKey(folder, PLANNED);
    const jwk = createPublicKey(before.tokenKey).export({ format: 'jwk' }) as { kty: string };
    expect(isRotationSigned(jwk, signed)).toBe(true);
    expect(signed.statement).toMatchObject({ purpose: 'token', old_kid: first });
    const { kid: second } = signed.statement.new_key;
    const end = now.getTime() + (AGENT_TOKEN_MAX_SECONDS + 60) * 1_000;
    expect(await accepted(end - 1)).toEqual([second, first]);
    expect(await accepted(end)).toEqual([second]);

    const later = new Date(now.getTime() + 60_000);
    const third = rotateTokenKey(folder, { ...PLANNED, now: later }).statement.new_key.kid;
    expect(await accepted(end - 1)).toEqual([third, second, first]);
    expect(await accepted(end)).toEqual([third, second]);
    // Handles of lists and tasks stay valid.
    const after = loadIdentity(dataDir);
    expect(after.taskSecret.equals(before.tokenKey)).toBe(true);
    expect(after.signingKey.equals(before.signingKey)).toBe(true);
    expect(after.registrationRequest(about).token_key).not.toEqual(
      before.registrationRequest(about).token_key,
    );
  });

  it('makes every token it signed invalid once it is revoked', async () => {
    loadIdentity(dataDir);
    rotateTokenKey(folder, PLANNED);
    const { kid } = rotateTokenKey(folder, { isRevoked: true, now }).statement.new_key;
    expect(await accepted(now.getTime())).toEqual([kid]);
    const { taskSecret, tokenKey } = loadIdentity(dataDir);
    expect(taskSecret.equals(tokenKey)).toBe(true);
  });

  it('is the old or the new one, wherever a rotation was interrupted', async () => {
    const before = loadIdentity(dataDir).tokenKey;
    const old = pem('token-key.pem');
    const { new_key } = rotateTokenKey(folder, PLANNED).statement;
    const next = pem('token-key.pem');
    // Interrupted after the statement: it is completed.
    writeFileSync(join(folder, 'token-key.pem'), old);
    writeFileSync(join(folder, 'token-key.next.pem'), next);
    expect((await accepted(now.getTime()))[0]).toBe(new_key.kid);
    expect(existsSync(join(folder, 'token-key.next.pem'))).toBe(false);
    // Before it: it never began.
    rmSync(join(folder, 'token-key-rotations.json'));
    writeFileSync(join(folder, 'token-key.pem'), old);
    writeFileSync(join(folder, 'token-key.next.pem'), next);
    expect(loadIdentity(dataDir).tokenKey.equals(before)).toBe(true);
    expect(loadIdentity(dataDir).earlierTokenKeys).toEqual([]);
  });

  it('is replaced only by a statement that the previous key signed', () => {
    loadIdentity(dataDir);
    rotateTokenKey(folder, PLANNED);
    const { tokenKey } = loadIdentity(dataDir);
    const file = join(folder, 'token-key-rotations.json');
    const kept = JSON.parse(readFileSync(file, 'utf8'));
    expect(listEarlierTokenKeys(folder, tokenKey)).toHaveLength(1);
    const other = mkdtempSync(join(tmpdir(), 'own-keys-'));
    const foreign = createPublicKey(loadIdentity(other).tokenKey).export({ format: 'jwk' });
    rmSync(other, { recursive: true });
    for (const edit of [
      { earlier: foreign },
      { signed: { ...kept[0].signed, statement: { ...kept[0].signed.statement, time: 'later' } } },
    ]) {
      const [one] = kept;
      const isForm = !('signed' in edit);
      writeFileSync(file, JSON.stringify([{ ...one, ...edit }]));
      if (isForm) expect(listEarlierTokenKeys(folder, tokenKey)).toEqual([]);
      else expect(() => listEarlierTokenKeys(folder, tokenKey)).toThrow();
    }
    const later = { ...kept[0].signed.statement, valid_from: '2027-05-04T12:00:00.000Z' };
    writeFileSync(
      file,
      JSON.stringify([{ ...kept[0], signed: { ...kept[0].signed, statement: later } }]),
    );
    expect(listEarlierTokenKeys(folder, tokenKey)).toEqual([]);
  });
});

describe('the key that credentials are sealed to', () => {
  it('is replaced by another, and what was sealed before can still be opened', async () => {
    const before = loadIdentity(dataDir);
    const sealed = await before.sealOwn('a secret');
    for (let n = 0; n < 7; n++) rotateSealingKey(folder, nextSealingNumber(folder, now));
    const after = loadIdentity(dataDir);
    const { sealing_key, signing_key } = after.registrationRequest(about);
    expect(sealing_key).not.toEqual(before.registrationRequest(about).sealing_key);
    expect(signing_key).toEqual(before.registrationRequest(about).signing_key);
    expect(await after.openSealed(await after.sealOwn('a newer one'))).toBe('a newer one');
    // Only the newest five are kept, and this one was replaced seven times.
    expect(() => after.openSealedNow(sealed)).toThrow();
    expect(readdirSync(folder).filter((name) => name.includes('before'))).toHaveLength(5);
    const mine = await after.sealOwn('kept');
    rotateSealingKey(folder, nextSealingNumber(folder, now));
    expect(loadIdentity(dataDir).openSealedNow(mine)).toBe('kept');
  });
});

describe('rotate-keys', () => {
  async function run(...args: string[]) {
    const output: string[] = [];
    const out = {
      log: (text: string) => output.push(text),
      error: (text: string) => output.push(text),
    };
    const code = await runCommand(args, { SERVICE_DATA_DIR: dataDir }, out);
    return { code, output: output.join('\n') };
  }

  it('rotates both, and leaves the key of batches', async () => {
    expect(await run('rotate-keys')).toMatchObject({ code: 1 });
    const before = loadIdentity(dataDir);
    // A worker has a folder of its own.
    loadIdentity(join(dataDir, 'worker-2'), dataDir);
    const files = ['signing-key.pem', 'sealing-key.pem', 'token-key.pem'] as const;
    const old = new Map(files.map((name) => [name, pem(name)]));
    copyFileSync(join(dataDir, 'worker-2/identity/sealing-key.pem'), join(dataDir, 'w2'));
    const { code, output } = await run('rotate-keys');
    expect(code).toBe(0);
    const after = loadIdentity(dataDir);
    expect(files.map((name) => pem(name) === old.get(name))).toEqual([true, false, false]);
    expect(readFileSync(join(dataDir, 'worker-2/identity/sealing-key.pem'), 'utf8')).not.toBe(
      readFileSync(join(dataDir, 'w2'), 'utf8'),
    );
    expect(output).toContain((await ownTokenKey(after.tokenKey)).kid);
    expect(output).toContain((await ownTokenKey(before.tokenKey)).kid);
    expect((await run('rotate-keys', '--revoke')).output).toContain('is refused');
    expect(loadIdentity(dataDir).earlierTokenKeys).toEqual([]);
  });
});
