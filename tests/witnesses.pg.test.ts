/** Witnesses, from the setting to what both verifiers say of a package. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { runChecks } from '@governance/shared/evidence/checks/run-checks';
import { VOLUME_LIMITS } from '@governance/shared/evidence/evidence-package';
import { gunzip } from '@governance/shared/evidence/gunzip';
import { TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { readUstar } from '@governance/shared/evidence/ustar';
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  findMissingPython,
  opinionOf,
  secondOpinions,
} from '../verifier/testing/second-opinion.ts';
import { aWitness, type WitnessManner } from './support/a-witness.ts';
import { testControlPlane } from './support/test-control-plane.ts';

vi.setConfig({ testTimeout: 60_000 });

const witnesses = [await aWitness('one'), await aWitness('two'), await aWitness('three')];
const HOUR_MS = 3_600_000;
let time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: {
    SERVICE_CHECKPOINT_SECONDS: '1',
    SERVICE_EVIDENCE_WITNESS_URLS: witnesses.map(({ setting }) => setting).join(','),
  },
});
const { call, controlPlane } = plane;
const { publicJwk } = await controlPlane.serviceKeys.evidenceKey('checkpoint');
for (const witness of witnesses) witness.logKey = publicJwk;
const missing = findMissingPython();
const folder = mkdtempSync(join(tmpdir(), 'witnesses-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const behave = (...manners: WitnessManner[]) => {
  for (const [i, witness] of witnesses.entries()) witness.manner = manners[i] ?? 'honest';
};

let token: string;
beforeEach(async () => {
  behave();
  ({ token } = await plane.aTenantAdmin());
});

async function record(): Promise<void> {
  const body = { name: `role ${time}`, description: '', permissions: [] };
  expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
}

async function anchorNow(): Promise<TrustAnchor> {
  return TrustAnchor.parse((await call('/api/v1/evidence/trust-anchor', { token })).json());
}

/** The package of the hours around a time. */
async function exported(around: number): Promise<Buffer> {
  const [from, to] = [around - HOUR_MS, around + HOUR_MS].map((at) => new Date(at).toISOString());
  const answer = await call('/api/v1/evidence/packages', { token, body: { from, to } });
  expect(answer.statusCode, answer.body).toBe(202);
  const path = `/api/v1/evidence/packages/${answer.json().id}`;
  await vi.waitFor(async () => expect((await call(path, { token })).json().status).toBe('ready'), {
    timeout: 40_000,
    interval: 100,
  });
  return (await call(`${path}/download`, { token })).rawPayload;
}

/** What both verifiers say. */
async function opinions(packed: Buffer, anchor: TrustAnchor) {
  const trust = { anchor, issuers: [] };
  const own = opinionOf(await runChecks(Readable.from([packed]), trust, VOLUME_LIMITS));
  if (missing === undefined) {
    const [path, anchorPath] = [join(folder, 'evidence.tar.gz'), join(folder, 'anchor.json')];
    writeFileSync(path, packed);
    writeFileSync(anchorPath, JSON.stringify(anchor));
    expect(secondOpinions([path], anchorPath)).toEqual([own]);
  }
  return { verdict: own.verdict, quorum: own.checks['witness.quorum'] };
}

async function namesOf(packed: Buffer): Promise<string[]> {
  const names: string[] = [];
  const limits = { packedBytes: 1e8, unpackedBytes: 1e8, ratio: 1_000 };
  for await (const { name, content } of readUstar(gunzip(Readable.from([packed]), limits))) {
    names.push(name);
    for await (const _ of content);
  }
  return names;
}

describe('by an anchor that names witnesses, a package', () => {
  it('of what was just recorded is verified: they are asked while it is made', async () => {
    const anchor = await anchorNow();
    expect(anchor.witnesses).toEqual(witnesses.map(({ name, jwk: key }) => ({ name, key })));
    await record();
    const packed = await exported(time);
    expect(await opinions(packed, anchor)).toEqual({ verdict: 'VERIFIED', quorum: 'pass' });
  });

  it('that no witness saw the end of leads to a later checkpoint that they cosigned', async () => {
    const anchor = await anchorNow();
    behave('dies', 'dies', 'dies');
    await record();
    const then = time;
    for (let n = 0; n < 3; n++) {
      await exported(time);
      time += 1.5 * HOUR_MS;
      await record();
    }
    behave();
    const packed = await exported(then);
    const notes = (await namesOf(packed)).filter((name) => name.startsWith('checkpoints/'));
    expect(notes).toHaveLength(2);
    expect(await opinions(packed, anchor)).toEqual({ verdict: 'VERIFIED', quorum: 'pass' });
  });

  it('is verified while fewer than half of them are away, and not while more are', async () => {
    const anchor = await anchorNow();
    await record();
    behave('dies');
    const good = await opinions(await exported(time), anchor);
    expect(good).toEqual({ verdict: 'VERIFIED', quorum: 'pass' });
    behave('dies', 'forges');
    time += 4 * HOUR_MS;
    await record();
    const bad = await opinions(await exported(time), anchor);
    expect(bad).toEqual({ verdict: 'NOT_VERIFIED', quorum: 'fail' });
  });
});
