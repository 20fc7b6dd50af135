import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { logOrigin, signCheckpoint } from '@governance/shared/evidence/checkpoint';
import type { KeyEntry } from '@governance/shared/evidence/evidence-keys';
import { KEPT_LOG_FORMAT, type KeptLog } from '@governance/shared/evidence/kept-log';
import { TRUST_ANCHOR_FORMAT } from '@governance/shared/evidence/trust-anchor';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runVerifyEvidence } from './verify-evidence-command.ts';

const TENANT = '0190aaaa-0000-7000-8000-000000000001';
const TIME = '2026-05-04T12:00:00.000Z';
const origin = logOrigin(TENANT, 1);
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key: KeyEntry = {
  ...{
    kid: 'c',
    purpose: 'checkpoint',
    jwk: publicKey.export({ format: 'jwk' }) as { kty: string },
  },
  ...{ valid_from: TIME, valid_to: null, revoked_at: null },
};
const noteOf = (size: number, root: string) =>
  signCheckpoint({ origin, size, root: root.repeat(64), time: TIME }, privateKey);
const kept: KeptLog = {
  format: KEPT_LOG_FORMAT,
  tenant_id: TENANT,
  deployment_id: '0190aaaa-0000-7000-8000-000000000002',
  exported_at: TIME,
  notice: '',
  keys: [key],
  rotations: [],
  log_epochs: [],
  checkpoints: [{ note: noteOf(4, 'a'), line: 1, seen_at: TIME }],
  contradictions: [],
  contradictions_total: 0,
};
const anchorAt = (size: number, root: string) => ({
  ...{ format: TRUST_ANCHOR_FORMAT, issuer: 'i', tenant_id: TENANT, issued_at: TIME, keys: [key] },
  log: { origin, epoch: 1, size, root: root.repeat(64) },
  spec_url: 'https://verify.example/',
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kept-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function verify(file: unknown, anchor?: unknown, ...more: string[]) {
  const path = join(folder, 'kept.json');
  writeFileSync(path, typeof file === 'string' ? file : JSON.stringify(file));
  const args = ['--kept', path, ...more];
  if (anchor !== undefined) {
    const anchorPath = join(folder, 'anchor.json');
    writeFileSync(anchorPath, JSON.stringify(anchor));
    args.push('--trust-anchor', anchorPath);
  }
  let text = '';
  let error = '';
  const code = await runVerifyEvidence(args, {
    write: (more) => {
      text += more;
    },
    writeError: (more) => {
      error += more;
    },
  });
  return { code, text, error };
}

it('says what a data plane kept, and that it is not an independent witness', async () => {
  const { code, text } = await verify(kept, anchorAt(2, 'b'));
  expect(code).toBe(0);
  expect(text).toMatch(/^VERDICT: CONSISTENT\n/);
  expect(text).toContain('NOTICE: A data plane that is run by the operator of the log is no');
});

it('finds the anchor’s size with another root', async () => {
  const { code, text } = await verify(kept, anchorAt(4, 'b'));
  expect(code).toBe(1);
  expect(text).toMatch(/^VERDICT: CONTRADICTED\n/);
  expect(text).toContain('[PROVEN] log epoch 1, 4 leaves');
});

it('decides nothing without an anchor', async () => {
  const { code, text } = await verify(kept, undefined, '--json');
  expect(code).toBe(3);
  expect(JSON.parse(text)).toMatchObject({ verdict: 'UNDECIDED' });
});

it.each([
  ['no JSON', '{'],
  ['a member twice', '{"format": "a", "format": "b"}'],
  ['another format', { ...kept, format: 'x' }],
  ['a member too many', { ...kept, more: 1 }],
])('cannot read %s', async (_what, file) => {
  expect((await verify(file)).code).toBe(2);
});

it('takes no packages beside it', async () => {
  expect((await verify(kept, undefined, 'package.tar.gz')).code).toBe(2);
});
