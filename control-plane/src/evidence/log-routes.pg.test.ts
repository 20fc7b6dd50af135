import { isCheckpointSignedBy, parseCheckpoint } from '@governance/shared/evidence/checkpoint';
import { isStatementSignedBy, SignedLogEpoch } from '@governance/shared/evidence/evidence-keys';
import { judgeLogView } from '@governance/shared/evidence/log-watch';
import { isConsistent } from '@governance/shared/evidence/merkle-proofs';
import { anchorDigest, TrustAnchor } from '@governance/shared/evidence/trust-anchor';
import { describe, expect, it, vi } from 'vitest';
import { testControlPlane } from '../../../tests/support/test-control-plane.ts';
import { beginLogEpoch } from './begin-log-epoch.ts';
import { createLogViews } from './watchers/log-views.ts';

let time = Date.now();
const plane = await testControlPlane({
  now: () => new Date(time),
  env: { SERVICE_CHECKPOINT_SECONDS: '1', VERIFIER_PUBLIC_URL: 'https://verify.example/' },
});
const { call, aTenantAdmin, aColleague } = plane;

const CHECKPOINTS = '/api/v1/evidence/checkpoints';

async function newest(token: string) {
  const { checkpoints } = (await call(CHECKPOINTS, { token })).json();
  return checkpoints[0] as { size: number; root: string; note: string } | undefined;
}

/** Does something that is recorded, and waits until the log has it. */
async function grow(token: string): Promise<{ size: number; root: string; note: string }> {
  const before = (await newest(token))?.size ?? 0;
  const body = { name: `grown ${before}`, description: '', permissions: [], resource_scopes: [] };
  expect((await call('/api/v1/roles', { token, body })).statusCode).toBe(201);
  return vi.waitFor(
    async () => {
      const checkpoint = await newest(token);
      if (!checkpoint || checkpoint.size <= before) throw new Error('the log has not grown');
      return checkpoint;
    },
    { timeout: 20_000, interval: 100 },
  );
}

const anchorOf = async (token: string) =>
  TrustAnchor.parse((await call('/api/v1/evidence/trust-anchor', { token })).json());

describe('the log', () => {
  it('gets a checkpoint by itself, which the anchor’s key has signed', async () => {
    const { token, scope } = await aTenantAdmin();
    const { note, size, root } = await grow(token);
    const anchor = await anchorOf(token);
    expect(anchor.tenant_id).toBe(scope.tenantId);
    expect(anchor.issuer).toBe('https://governance.example');
    expect(anchor.spec_url).toBe('https://verify.example/');
    expect(anchor.keys.map(({ purpose }) => purpose).sort()).toEqual(
      ['batch', 'bundle', 'checkpoint', 'evidence'].sort(),
    );
    const key = anchor.keys.find(({ purpose }) => purpose === 'checkpoint');
    const signed = parseCheckpoint(note);
    expect(signed.checkpoint).toMatchObject({ origin: anchor.log.origin, size, root });
    expect(isCheckpointSignedBy(signed, key?.jwk ?? expect.unreachable())).toBe(true);
  });

  it('shows by a proof that it went on from an earlier size', async () => {
    const { token } = await aTenantAdmin();
    const from = await grow(token);
    const to = await grow(token);
    const url = `/api/v1/evidence/proofs?from=${from.size}&to=${to.size}`;
    const { path } = (await call(url, { token })).json() as { path: string[] };
    const proof = { from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root, path };
    expect(isConsistent(proof)).toBe(true);
    expect(isConsistent({ ...proof, fromRoot: to.root })).toBe(false);

    const bySize = (await call(`${CHECKPOINTS}?size=${from.size}`, { token })).json();
    expect(bySize).toMatchObject({ checkpoints: [{ size: from.size }], total: 1 });
  });

  it('belongs to the tenant: another one reaches neither its proofs nor its checkpoints', async () => {
    const theirs = await aTenantAdmin();
    const { size } = await grow(theirs.token);
    const mine = await aTenantAdmin();
    const url = `/api/v1/evidence/proofs?from=${size}&to=${size}`;
    expect((await call(url, { token: mine.token })).statusCode).toBe(404);
    const listed = (await call(CHECKPOINTS, { token: mine.token })).json();
    expect(listed).toEqual({ checkpoints: [], total: 0 });
  });

  it('refuses sizes that it does not have, and those in the wrong order', async () => {
    const { token } = await aTenantAdmin();
    const { size } = await grow(token);
    const ask = async (query: string) =>
      (await call(`/api/v1/evidence/proofs?${query}`, { token })).statusCode;
    expect(await ask(`from=${size}&to=${size}`)).toBe(200);
    expect(await ask('from=1&to=1000000')).toBe(404);
    expect(await ask('from=2&to=1')).toBe(422);
    expect(await ask('from=0&to=1')).toBe(422);
    expect(await ask('from=x&to=1')).toBe(422);
    expect(await ask('to=1')).toBe(422);
  });
});

describe('log epochs', () => {
  it('are shown to who holds a place of before with a proof of where each began', async () => {
    const { token, scope } = await aTenantAdmin();
    const { tenantId } = scope;
    const { db } = plane.test;
    const { serviceKeys } = plane.controlPlane;
    const views = createLogViews({ db, serviceKeys, now: () => new Date(time) });
    await grow(token);
    const first = await views.read(tenantId, { epoch: 1, size: 0 });
    const trust = { tenantId, keys: first.keys, rotations: [], logEpochs: [] };
    const found = judgeLogView(null, trust, first);
    const known = found.kind === 'continues' ? found.seen : expect.unreachable();
    const key = await serviceKeys.evidenceKey('checkpoint');
    for (let i = 0; i < 2; i++) {
      await grow(token);
      await db.inTenant(scope, (tx) => beginLogEpoch(tx, key, new Date(time)));
    }
    await grow(token);
    const view = await views.read(tenantId, known);
    expect(view.restored?.map(({ epoch }) => epoch)).toEqual([3, 2]);
    expect(judgeLogView(known, trust, view)).toMatchObject({ kind: 'continues' });
    const swapped = view.restored?.map((one) => ({ ...one, epoch: 5 - one.epoch }));
    expect(judgeLogView(known, trust, { ...view, restored: swapped })).toMatchObject({
      reason: 'not_consistent',
    });
  });

  it('are listed with their signatures, the newest first, and the tenant’s own', async () => {
    const { token, scope } = await aTenantAdmin();
    const { size, root } = await grow(token);
    const EPOCHS = '/api/v1/evidence/log-epochs';
    expect((await call(EPOCHS, { token })).json()).toEqual({ log_epochs: [], total: 0 });
    const key = await plane.controlPlane.serviceKeys.evidenceKey('checkpoint');
    for (let i = 0; i < 2; i++) {
      await plane.test.db.inTenant(scope, (tx) => beginLogEpoch(tx, key, new Date(time)));
    }
    const listed = (await call(EPOCHS, { token })).json();
    expect(listed.total).toBe(2);
    const epochs = listed.log_epochs.map((one: unknown) => SignedLogEpoch.parse(one));
    expect(epochs.map(({ statement }: SignedLogEpoch) => statement.epoch)).toEqual([3, 2]);
    for (const one of epochs) expect(isStatementSignedBy(key.publicJwk, one)).toBe(true);
    expect(epochs[1].statement.restored).toEqual({ epoch: 1, size, root });
    const page = (await call(`${EPOCHS}?offset=1&limit=1`, { token })).json();
    expect(page).toEqual({ log_epochs: [epochs[1]], total: 2 });
    expect((await anchorOf(token)).log).toMatchObject({ epoch: 3, size, root });
    const other = await aTenantAdmin();
    expect((await call(EPOCHS, { token: other.token })).json().total).toBe(0);
  });
});

describe('the trust anchor', () => {
  it('has a new place in the log at most once a minute, and one digest for its keys', async () => {
    const { token } = await aTenantAdmin();
    await grow(token);
    const first = await anchorOf(token);
    await grow(token);
    const same = await anchorOf(token);
    expect(same.log).toEqual(first.log);
    time += 60_000;
    const next = await anchorOf(token);
    expect(next.log.size).toBeGreaterThan(first.log.size);
    expect(anchorDigest(next)).toBe(anchorDigest(first));
  });

  it('is an empty log’s where nothing was recorded yet, and an auditor’s to read', async () => {
    const { scope } = await aTenantAdmin();
    const auditor = await aColleague(scope, 'auditor');
    const anchor = await anchorOf(auditor.token);
    expect(anchor.log.epoch).toBe(1);
  });
});
