import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicyEngine, PolicyOutcome } from '@governance/policies/contract';
import { uuidv7 } from '@governance/shared/ids';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aBundle, aBundleSigner, type TestBundle } from '../../testing/test-bundles.ts';
import {
  createTestControlPlane,
  type TestControlPlane,
  until,
} from '../../testing/test-control-plane.ts';
import type { SyncFailure } from '../link/sync-failure.ts';
import { createBundleFiles } from './bundle-files.ts';
import { type BundleSync, startBundleSync } from './bundle-sync.ts';
import type { LoadPolicyEngine } from './policy-activation.ts';

const tenantId = uuidv7();
const signer = aBundleSigner();
const { publicKey } = generateKeyPairSync('ed25519');
let dataDir: string;
let plane: TestControlPlane;
let syncs: BundleSync[];
let refused: SyncFailure[];
let loaded: string[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'bundles-'));
  plane = createTestControlPlane({ tenantId, deploymentId: uuidv7(), publicKey });
  syncs = [];
  refused = [];
  loaded = [];
});

afterEach(async () => {
  await Promise.all(syncs.map((sync) => sync.stop()));
  rmSync(dataDir, { recursive: true });
});

const allow: PolicyOutcome = { ok: true, verdict: { decision: 'allow', reasons: [] } };

/** A policy.wasm whose content says how its engine behaves. */
const load: LoadPolicyEngine = async (wasm): Promise<PolicyEngine> => {
  const text = Buffer.from(wasm).toString();
  loaded.push(text);
  if (text.includes('broken')) throw 'a string, as the library throws them';
  const fault = /fault:(\w+)/.exec(text)?.[1] as 'undefined' | 'out_of_fuel' | undefined;
  return { evaluate: () => (fault ? { ok: false, fault, message: 'no' } : allow) };
};

async function aSync(over: Partial<Parameters<typeof startBundleSync>[0]> = {}) {
  const sync = await startBundleSync({
    tenantId,
    link: plane.link,
    keys: () => [signer.public],
    files: createBundleFiles(dataDir, tenantId),
    load,
    onRefused: (failure) => refused.push(failure),
    log: { info: () => undefined, warn: () => undefined, error: () => undefined },
    now: Date.now,
    backoffLimits: { first: 5, longest: 20 },
    ...over,
  });
  syncs.push(sync);
  return sync;
}

const bundle = (revision: number, over: Partial<TestBundle> = {}) =>
  aBundle({ tenantId, revision, signer, ...over });

const kept = () => readdirSync(join(dataDir, 'bundles', tenantId)).sort();

describe('bundle sync', () => {
  it('has no rules before the first bundle, then the newest', async () => {
    const sync = await aSync();
    expect(sync.activeRules()).toBeNull();
    plane.offer(bundle(5, { settings: { limit: 1 } }));
    expect(await sync.waitFor(5, 15_000)).toBe(true);
    expect(sync.activeRules()).toMatchObject({ revision: 5, settings: { limit: 1 } });
    plane.offer(bundle(6));
    expect(await sync.waitFor(6, 15_000)).toBe(true);
    expect(sync.status()).toMatchObject({ active: { revision: 6 }, failure: null });
  });

  it('keeps the last good one whatever comes after it, says why, and recovers', async () => {
    const sync = await aSync();
    plane.offer(bundle(5));
    await sync.waitFor(5, 15_000);
    const good = sync.activeRules();
    const bad: [ReturnType<typeof bundle>, string, string][] = [
      [bundle(6, { signer: aBundleSigner() }), 'verify', 'signature_invalid'],
      [bundle(6, { scope: uuidv7() }), 'verify', 'scope_mismatch'],
      [bundle(4), 'verify', 'rollback'],
      [bundle(5, { settings: { other: 1 } }), 'verify', 'revision_reused'],
      [bundle(6, { wasm: Buffer.from('broken') }), 'activate', 'policy_not_loadable'],
      [bundle(6, { wasm: Buffer.from('fault:undefined') }), 'activate', 'smoke_failed'],
    ];
    for (const [download, stage, code] of bad) {
      plane.offer(download);
      await until(() => sync.status().failure?.code === code);
      expect(sync.status().failure).toMatchObject({ stage, code });
      expect(sync.activeRules()).toBe(good);
    }
    expect(refused.map(({ code }) => code)).toEqual(bad.map(([, , code]) => code));
    expect(kept()).toEqual(['5.tar.gz', 'high-water', 'high-waters.json']);
    plane.offer(bundle(7));
    expect(await sync.waitFor(7, 15_000)).toBe(true);
    expect(sync.status().failure).toBeNull();
  });

  it.each([
    'out_of_fuel',
    'out_of_memory',
    'trap',
    'builtin_error',
  ])('activates a policy whose author made it end with %s: it denies its own calls', async (fault) => {
    const sync = await aSync();
    plane.offer(bundle(5, { wasm: Buffer.from(`fault:${fault}`) }));
    expect(await sync.waitFor(5, 15_000)).toBe(true);
  });

  it('distinguishes an unreachable control plane from one whose bundle is refused', async () => {
    const sync = await aSync();
    plane.setAway(true);
    await until(() => sync.status().failure !== null);
    expect(sync.status().failure).toMatchObject({ stage: 'pull', code: 'UNAVAILABLE' });
    expect(refused).toEqual([]);
    plane.setAway(false);
    plane.offer(bundle(5));
    expect(await sync.waitFor(5, 15_000)).toBe(true);
  });

  it('is back with the last good bundle after a restart, with no control plane', async () => {
    const first = await aSync();
    for (const revision of [5, 6, 7]) {
      plane.offer(bundle(revision));
      await first.waitFor(revision, 15_000);
    }
    await until(() => kept().includes('7.tar.gz') && !kept().includes('5.tar.gz'));
    await first.stop();
    expect(kept()).toEqual(['6.tar.gz', '7.tar.gz', 'high-water', 'high-waters.json']);
    plane.setAway(true);
    const second = await aSync();
    expect(second.activeRules()?.revision).toBe(7);
  });

  it('does not go back to older rules when the newest file is damaged or old ones are put back', async () => {
    const first = await aSync();
    for (const revision of [5, 6]) {
      plane.offer(bundle(revision));
      await first.waitFor(revision, 15_000);
    }
    await first.stop();
    plane.setAway(true);
    writeFileSync(join(dataDir, 'bundles', tenantId, '6.tar.gz'), 'damaged');
    const second = await aSync();
    expect(second.activeRules()).toBeNull();
    plane.setAway(false);
    plane.offer(bundle(6));
    second.kick();
    expect(await second.waitFor(6, 15_000)).toBe(true);
  });

  it.each([
    'while it runs',
    'after a restart',
  ])('takes rules below those of a revoked key, %s: its holder kept all others out', async (when) => {
    const stolen = aBundleSigner('stolen');
    const next = aBundleSigner('next');
    let keys = [signer.public, stolen.public];
    let sync = await aSync({ keys: () => keys });
    plane.offer(bundle(6));
    await sync.waitFor(6, 15_000);
    plane.offer(bundle(Number.MAX_SAFE_INTEGER, { signer: stolen }));
    await sync.waitFor(Number.MAX_SAFE_INTEGER, 15_000);
    plane.offer(bundle(7));
    await until(() => sync.status().failure?.code === 'rollback');

    keys = [signer.public, next.public];
    if (when === 'after a restart') {
      await sync.stop();
      sync = await aSync({ keys: () => keys });
      expect(sync.activeRules()?.revision).toBe(6);
    }
    plane.offer(bundle(5));
    await until(() => sync.status().failure?.code === 'rollback');
    plane.offer(bundle(8, { signer: next }));
    await until(() => sync.activeRules()?.revision === 8);
    await until(() => !kept().includes(`${Number.MAX_SAFE_INTEGER}.tar.gz`));
    await sync.stop();
    plane.setAway(true);
    const restarted = await aSync({ keys: () => keys });
    expect(restarted.activeRules()?.revision).toBe(8);
  });

  it('keeps to the mark of an earlier version', async () => {
    const folder = join(dataDir, 'bundles', tenantId);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'high-water'), '6\n');
    const sync = await aSync();
    plane.offer(bundle(5));
    await until(() => sync.status().failure?.code === 'rollback');
    plane.offer(bundle(6));
    expect(await sync.waitFor(6, 15_000)).toBe(true);
  });

  it('activates what it cannot save, and saves it later', async () => {
    const files = createBundleFiles(dataDir, tenantId);
    let full = true;
    const keep = async (...bundle: Parameters<typeof files.keep>) => {
      if (full) throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      await files.keep(...bundle);
    };
    const sync = await aSync({ files: { ...files, keep } });
    plane.offer(bundle(5));
    expect(await sync.waitFor(5, 15_000)).toBe(true);
    await until(() => sync.status().failure?.stage === 'persist');
    expect(sync.activeRules()?.revision).toBe(5);
    full = false;
    await until(() => kept().includes('5.tar.gz'));
    sync.kick();
    plane.offer(bundle(6));
    await sync.waitFor(6, 15_000);
    expect(sync.status().failure).toBeNull();
  });

  it('does not ask again and again while nothing changes', async () => {
    let asked = 0;
    const impatient = {
      pullBundle: async () => {
        asked++;
        return null;
      },
    };
    await aSync({ link: impatient });
    await new Promise((resolve) => setTimeout(resolve, 250));
    expect(asked).toBeLessThan(5);
  });

  it('ends every wait when it stops', async () => {
    const sync = await aSync();
    const waiting = sync.waitFor(99, 60_000);
    await sync.stop();
    expect(await waiting).toBe(false);
  });
});
